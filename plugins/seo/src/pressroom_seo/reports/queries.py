"""Paginated queries of a report: issues, pages, links and structured data."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pressroom.sdk import Database, InvalidInput
from sqlalchemy import case, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_seo.reports.findings import Group, PageMark, is_open, standing, with_marks
from pressroom_seo.site_checks.model import SEVERITIES
from pressroom_seo.site_checks.report import CRAWL_CHECKS
from pressroom_seo.site_checks.site_pages import MAX_DEPTH
from pressroom_seo.tables import CrawledPageRow, CrawlRow, FindingRow, LinkRow

SAMPLES: Final = 5
"""Maximum number of sample URLs per check in a list of issues."""


@dataclass(frozen=True, slots=True)
class CrawlFinding:
    """A check's findings on the whole site or at one URL. `status` is `open`, `fixed` or `ignored`."""

    issue_id: str
    check_id: str
    severity: str
    count: int
    sample_urls: tuple[str, ...]
    message: str
    fix: str
    status: str = "open"
    note: str = ""
    evidence: tuple[Mapping[str, Any], ...] = ()


def cursor_of(crawl: CrawlRow, position: str) -> str:
    """Encode a position in a crawl's list as a cursor."""
    return base64.urlsafe_b64encode(f"{crawl.id} {position}".encode()).decode().rstrip("=")


def position_of(crawl: CrawlRow, cursor: str | None) -> str:
    """Decode a cursor; empty without one. Raises `InvalidInput` if it is invalid or belongs to another report."""
    if cursor is None:
        return ""
    try:
        crawl_id, _, position = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(" ")
    except (binascii.Error, UnicodeError, ValueError):
        crawl_id, position = "", ""
    if crawl_id != crawl.id or not position:
        raise InvalidInput("cursor", "belongs to another report; there may be a newer one: leave it out to start again")
    return position


class CrawlReport:
    """The report of one finished crawl."""

    def __init__(self, database: Database, crawl: CrawlRow) -> None:
        self._database = database
        self._crawl = crawl

    async def groups(
        self, *, severity: str | None, limit: int, cursor: str | None
    ) -> tuple[list[CrawlFinding], str | None]:
        """Return a page of the checks with open findings, most severe and then most frequent first."""
        position = position_of(self._crawl, cursor)
        offset = int(position) if position.isdecimal() else 0
        counting = with_marks(select(FindingRow.check_id, FindingRow.severity, func.count().label("n")), self._crawl)
        counting = counting.where(*self._open())
        if severity is not None:
            counting = counting.where(FindingRow.severity == severity)
        rank = case({name: number for number, name in enumerate(SEVERITIES)}, value=FindingRow.severity, else_=9)
        counting = counting.group_by(FindingRow.check_id, FindingRow.severity)
        counting = counting.order_by(rank, func.count().desc(), FindingRow.check_id).offset(offset).limit(limit + 1)
        async with self._database.reading() as session:
            rows = (await session.execute(counting)).all()
            urls = await self._samples(session, [row.check_id for row in rows[:limit]])
            ids = await self._group_ids(session, [row.check_id for row in rows[:limit]])
        findings = [
            _finding(ids.get(row.check_id, ""), row.check_id, row.severity, row.n, urls.get(row.check_id, ()))
            for row in rows[:limit]
        ]
        return findings, cursor_of(self._crawl, str(offset + limit)) if len(rows) > limit else None

    async def findings_of(
        self, check_id: str, *, limit: int, cursor: str | None
    ) -> tuple[list[CrawlFinding], str | None]:
        """Return a page of a check's findings, one per URL, with status and note."""
        last = position_of(self._crawl, cursor)
        statement = with_marks(select(FindingRow, PageMark, Group), self._crawl)
        statement = statement.where(FindingRow.crawl_id == self._crawl.id, FindingRow.check_id == check_id)
        statement = statement.where(FindingRow.url > last).order_by(FindingRow.url).limit(limit + 1)
        async with self._database.reading() as session:
            rows = (await session.execute(statement)).all()
        findings = []
        for row, own, group in rows[:limit]:
            mark = own if standing(own, self._crawl) != "open" else group
            mark_fields = {"status": standing(mark, self._crawl), "note": mark.note if mark is not None else ""}
            evidence = {"evidence": tuple(row.evidence)}
            findings.append(_finding(row.id, row.check_id, row.severity, 1, (row.url,), **mark_fields, **evidence))
        return findings, cursor_of(self._crawl, rows[limit - 1][0].url) if len(rows) > limit else None

    async def pages(self, *, limit: int, cursor: str | None) -> tuple[list[dict[str, Any]], str | None]:
        """Return a page of the requested URLs, each with its number of open issues."""
        rows, next_cursor = await self._page_rows((), limit, cursor)
        counting = with_marks(select(FindingRow.url, func.count()), self._crawl).where(*self._open())
        counting = counting.where(FindingRow.url.in_([row.url for row in rows])).group_by(FindingRow.url)
        async with self._database.reading() as session:
            issues: dict[str, int] = {row[0]: row[1] for row in await session.execute(counting)}
        entries = [
            {
                "url": row.url,
                "status": row.status,
                "title": row.title,
                "words": row.words,
                "inlinks": row.inlinks,
                "depth": row.depth,
                "issues": issues.get(row.url, 0),
            }
            for row in rows
        ]
        return entries, next_cursor

    async def structured_data(self, *, limit: int, cursor: str | None) -> tuple[list[dict[str, Any]], str | None]:
        """Return a page of the URLs with structured data, and its items."""
        rows, next_cursor = await self._page_rows((CrawledPageRow.structured.is_not(None),), limit, cursor)
        return [{"url": row.url, "items": list(row.structured or ())} for row in rows], next_cursor

    async def orphans(self, limit: int) -> list[dict[str, Any]]:
        """Return pages without incoming links, then pages that are too deep, deepest first."""
        condition = or_(CrawledPageRow.orphan.is_(True), CrawledPageRow.depth > MAX_DEPTH)
        statement = select(CrawledPageRow.url, CrawledPageRow.inlinks, CrawledPageRow.depth).where(
            CrawledPageRow.crawl_id == self._crawl.id, condition
        )
        statement = statement.order_by(
            CrawledPageRow.orphan.desc(), CrawledPageRow.depth.desc(), CrawledPageRow.url
        ).limit(limit)
        async with self._database.reading() as session:
            return [
                {"url": url, "inlinks": inlinks, "depth": depth}
                for url, inlinks, depth in await session.execute(statement)
            ]

    async def links(self, *, limit: int, cursor: str | None = None) -> tuple[list[dict[str, Any]], str | None]:
        """Return a page of the broken, redirected and insecure links."""
        last = position_of(self._crawl, cursor)
        statement = select(LinkRow).where(
            LinkRow.crawl_id == self._crawl.id, LinkRow.problems != "", LinkRow.url > last
        )
        async with self._database.reading() as session:
            rows = list(await session.scalars(statement.order_by(LinkRow.url).limit(limit + 1)))
        entries = [
            {
                "url": row.url,
                "status": row.status,
                "location": row.location,
                "found_in": list(row.found_in),
                "problems": row.problems.split(","),
                "message": row.message,
            }
            for row in rows[:limit]
        ]
        return entries, cursor_of(self._crawl, rows[limit - 1].url) if len(rows) > limit else None

    async def targets(self, limit: int) -> dict[str, list[str]]:
        """Return up to `limit` links of the crawl with the pages that contain them; links with problems come first."""
        statement = select(LinkRow.url, LinkRow.found_in).where(LinkRow.crawl_id == self._crawl.id)
        statement = statement.order_by(case((LinkRow.problems != "", 0), else_=1), LinkRow.url).limit(limit)
        async with self._database.reading() as session:
            return {url: list(found_in) for url, found_in in await session.execute(statement)}

    def _open(self) -> tuple[Any, ...]:
        return (FindingRow.crawl_id == self._crawl.id, FindingRow.url != "", is_open(self._crawl))

    async def _page_rows(self, conditions: Any, limit: int, cursor: str | None) -> tuple[list[Any], str | None]:
        last = position_of(self._crawl, cursor)
        columns = (
            CrawledPageRow.url,
            CrawledPageRow.status,
            CrawledPageRow.title,
            CrawledPageRow.words,
            CrawledPageRow.inlinks,
            CrawledPageRow.depth,
            CrawledPageRow.structured,
        )
        statement = select(*columns).where(
            CrawledPageRow.crawl_id == self._crawl.id, CrawledPageRow.url > last, *conditions
        )
        async with self._database.reading() as session:
            rows = (await session.execute(statement.order_by(CrawledPageRow.url).limit(limit + 1))).all()
        return list(rows[:limit]), cursor_of(self._crawl, rows[limit - 1].url) if len(rows) > limit else None

    async def _samples(self, session: AsyncSession, check_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        number = func.row_number().over(partition_by=FindingRow.check_id, order_by=FindingRow.url).label("number")
        inner = with_marks(select(FindingRow.check_id, FindingRow.url, number), self._crawl)
        inner = inner.where(*self._open(), FindingRow.check_id.in_(check_ids)).subquery()
        statement = select(inner.c.check_id, inner.c.url).where(inner.c.number <= SAMPLES).order_by(inner.c.url)
        urls: dict[str, tuple[str, ...]] = {}
        for check_id, url in await session.execute(statement):
            urls[check_id] = (*urls.get(check_id, ()), url)
        return urls

    async def _group_ids(self, session: AsyncSession, check_ids: Sequence[str]) -> dict[str, str]:
        statement = select(FindingRow.check_id, FindingRow.id).where(
            FindingRow.crawl_id == self._crawl.id, FindingRow.url == "", FindingRow.check_id.in_(check_ids)
        )
        return {row[0]: row[1] for row in await session.execute(statement)}


def _finding(
    issue_id: str, check_id: str, severity: str, count: int, urls: Sequence[str], **fields: Any
) -> CrawlFinding:
    check = CRAWL_CHECKS.get(check_id)
    message, fix = (check.message, check.fix) if check is not None else ("", "")
    return CrawlFinding(issue_id, check_id, severity, count, tuple(urls), message, fix, **fields)
