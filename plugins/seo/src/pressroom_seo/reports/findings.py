"""Findings of a crawl: their rows, which of them are open, and the resulting score."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pressroom.columns import BASE62
from sqlalchemy import ColumnElement, and_, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressroom_seo.site_checks.model import SEVERITIES, Issue, Severity, health, score
from pressroom_seo.site_checks.report import CRAWL_CHECKS
from pressroom_seo.tables import CrawledPageRow, CrawlRow, FindingRow, MarkRow, upsert

MAX_EVIDENCE: Final = 5
"""Maximum number of pieces of evidence to keep per check and URL."""

_LETTERS: Final = 22

PageMark = aliased(MarkRow)
Group = aliased(MarkRow)


def issue_id(website_id: str, check_id: str, url: str = "") -> str:
    """Return a finding's ID, which is stable across crawls; without `url`, the ID of the check's group of findings."""
    number = int.from_bytes(hashlib.sha256(f"{website_id}\0{check_id}\0{url}".encode()).digest()[:17], "big")
    digits = []
    for _ in range(_LETTERS):
        number, digit = divmod(number, len(BASE62))
        digits.append(BASE62[digit])
    return f"s_{''.join(digits)}"


def finding_rows(crawl_id: str, website_id: str, issues: Iterable[Issue]) -> list[dict[str, Any]]:
    """Convert issues to rows, one for each check and URL."""
    rows: dict[str, dict[str, Any]] = {}
    for issue in issues:
        id_ = issue_id(website_id, issue.check_id, issue.url)
        row = rows.setdefault(
            id_,
            {
                "crawl_id": crawl_id,
                "id": id_,
                "group_id": issue_id(website_id, issue.check_id),
                "check_id": issue.check_id,
                "severity": issue.severity,
                "url": issue.url,
                "count": 1,
                "evidence": [],
            },
        )
        if len(row["evidence"]) < MAX_EVIDENCE:
            row["evidence"].append(dict(issue.evidence))
    return list(rows.values())


async def add_groups(session: AsyncSession, crawl: CrawlRow) -> None:
    """Replace the group rows of a crawl: one for each check with findings, counting its URLs."""
    counting = (
        select(FindingRow.check_id, func.count())
        .where(FindingRow.crawl_id == crawl.id, FindingRow.url != "")
        .group_by(FindingRow.check_id)
    )
    counts = (await session.execute(counting)).all()
    await session.execute(delete(FindingRow).where(FindingRow.crawl_id == crawl.id, FindingRow.url == ""))
    rows = []
    for check_id, count in counts:
        id_ = issue_id(crawl.website_id, check_id)
        severity = CRAWL_CHECKS[check_id].severity if check_id in CRAWL_CHECKS else "notice"
        common = {"crawl_id": crawl.id, "id": id_, "group_id": id_, "check_id": check_id, "severity": severity}
        rows.append({**common, "url": "", "count": count, "evidence": []})
    if rows:
        await upsert(session, FindingRow, rows, ("crawl_id", "id"))


def with_marks(statement: Any, crawl: CrawlRow) -> Any:
    """Join a query of findings with the marks on the finding itself (`PageMark`) and on its check (`GroupMark`)."""
    own = and_(PageMark.website_id == crawl.website_id, PageMark.issue_id == FindingRow.id)
    group = and_(Group.website_id == crawl.website_id, Group.issue_id == FindingRow.group_id)
    return statement.outerjoin(PageMark, own).outerjoin(Group, group)


def is_open(crawl: CrawlRow) -> ColumnElement[bool]:
    """Return the condition for open findings: neither ignored nor marked as fixed since the crawl began."""
    return and_(_counts(PageMark, crawl), _counts(Group, crawl))


def _counts(mark: Any, crawl: CrawlRow) -> ColumnElement[bool]:
    fixed_before = and_(mark.status == "fixed", mark.updated_at < (crawl.started_at or crawl.created_at))
    return or_(mark.status.is_(None), fixed_before)


def standing(mark: MarkRow | None, crawl: CrawlRow) -> str:
    """Return a finding's status under a mark: `open`, `fixed` or `ignored`."""
    if mark is None or (mark.status == "fixed" and mark.updated_at < (crawl.started_at or crawl.created_at)):
        return "open"
    return mark.status


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of open findings of a crawl, by check and by severity, and the resulting score."""

    counts: Mapping[str, int]
    severities: Mapping[str, int]
    score: int


async def tally(session: AsyncSession, crawl: CrawlRow) -> Tally:
    """Count the open findings of a crawl, by the formula of `pressroom_seo.site_checks.model`."""
    conditions = (FindingRow.crawl_id == crawl.id, FindingRow.url != "", is_open(crawl))
    by_check = with_marks(select(FindingRow.check_id, FindingRow.severity, func.count()), crawl)
    rows = (await session.execute(by_check.where(*conditions).group_by(FindingRow.check_id, FindingRow.severity))).all()
    severities: Counter[str] = Counter()
    for _, severity, count in rows:
        severities[severity] += count
    by_url = with_marks(select(FindingRow.url, CrawledPageRow.counted, FindingRow.severity, func.count()), crawl)
    by_url = by_url.outerjoin(
        CrawledPageRow, and_(CrawledPageRow.crawl_id == FindingRow.crawl_id, CrawledPageRow.url == FindingRow.url)
    )
    by_url = (
        by_url.where(*conditions)
        .group_by(FindingRow.url, CrawledPageRow.counted, FindingRow.severity)
        .order_by(FindingRow.url)
    )
    healths, counted = await _healths(session, by_url)
    statement = select(func.count()).where(CrawledPageRow.crawl_id == crawl.id, CrawledPageRow.counted.is_(True))
    pages = int(await session.scalar(statement) or 0)
    healths += [1.0] * (pages - counted)
    return Tally(
        counts={check_id: count for check_id, _, count in rows},
        severities={name: severities[name] for name in SEVERITIES},
        score=score(healths if pages else [], (check_id for check_id, _, _ in rows)),
    )


async def _healths(session: AsyncSession, by_url: Any) -> tuple[list[float], int]:
    """Return the health of each URL with open findings, and how many of these URLs are pages counted in the score."""
    healths: list[float] = []
    counted = 0
    last: str | None = None
    severities: list[Severity] = []
    async for url, counts, severity, count in await session.stream(by_url):
        if url != last:
            healths += [health(severities)] if last is not None else []
            last, severities = url, []
            counted += bool(counts)
        severities += [severity] * count
    healths += [health(severities)] if last is not None else []
    return healths, counted
