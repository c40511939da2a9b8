"""Marks that users set on findings: fixed or ignored."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from pressroom.columns import as_id
from pressroom.sdk import NotFound, PluginContext
from sqlalchemy import delete, select

from pressroom_seo.reports.crawl_job import recount
from pressroom_seo.reports.queries import CrawlFinding
from pressroom_seo.site_checks.report import CRAWL_CHECKS
from pressroom_seo.tables import CrawlRow, FindingRow, MarkRow, plain, upsert

MAX_NOTE_LENGTH: Final = 1000


async def mark(
    plugin: PluginContext, user_id: str, issue_id: str, status: str, note: str
) -> tuple[CrawlFinding, CrawlRow]:
    """Set or clear the mark of a finding, and recompute the report's score. Idempotent.

    Raises `NotFound` if no current report of the account has the finding.
    """
    database = plugin.services.database
    statement = (
        select(CrawlRow, FindingRow)
        .join(FindingRow, FindingRow.crawl_id == CrawlRow.id)
        .where(CrawlRow.user_id == user_id, CrawlRow.status == "finished", FindingRow.id == as_id(issue_id))
        .order_by(CrawlRow.finished_at.desc())
        .limit(1)
    )
    async with database.writing() as session:
        row = (await session.execute(statement)).one_or_none()
        if row is None:
            raise NotFound(
                f"no current report of this account has the issue {issue_id[:40]!r}; get_seo_report with section "
                "issues and a check_id names the ones that there are"
            )
        crawl, finding = row
        if status == "open":
            conditions = (MarkRow.website_id == crawl.website_id, MarkRow.issue_id == finding.id)
            await session.execute(delete(MarkRow).where(*conditions))
        else:
            await upsert(session, MarkRow, [_row(crawl, finding, status, note)], ("website_id", "issue_id"))
        await recount(session, crawl)
    check = CRAWL_CHECKS.get(finding.check_id)
    result = CrawlFinding(
        issue_id=finding.id,
        check_id=finding.check_id,
        severity=finding.severity,
        count=finding.count,
        sample_urls=(finding.url,) if finding.url else (),
        message=check.message if check else "",
        fix=check.fix if check else "",
        status=status,
        note=note if status != "open" else "",
    )
    return result, crawl


def _row(crawl: CrawlRow, finding: FindingRow, status: str, note: str) -> dict[str, Any]:
    return {
        "website_id": crawl.website_id,
        "issue_id": finding.id,
        "user_id": crawl.user_id,
        "check_id": finding.check_id,
        "url": finding.url,
        "status": status,
        "note": plain(note, MAX_NOTE_LENGTH),
        "updated_at": datetime.now(UTC),
    }
