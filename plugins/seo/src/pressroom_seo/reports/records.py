"""The records of a crawl on their way to the database and back, a batch at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from pressroom.sdk import Database
from sqlalchemy import delete, select, update

from pressroom_seo.crawler.records import LinkRecord, PageRecord, link_from_json, page_from_json, to_json
from pressroom_seo.reports.findings import finding_rows
from pressroom_seo.site_checks.model import Issue
from pressroom_seo.site_checks.report import SiteReport
from pressroom_seo.tables import BATCH, CrawledPageRow, CrawlRow, FindingRow, LinkRow, plain, upsert


class CrawlRecords:
    """Takes what a crawl reads, checks it, and keeps it. A checkpoint is kept together with all that came before it."""

    def __init__(self, database: Database, crawl: CrawlRow, report: SiteReport) -> None:
        self._database = database
        self._crawl_id = crawl.id
        self._website_id = crawl.website_id
        self._report = report
        self._pages: dict[str, PageRecord] = {}
        self._issues: list[Issue] = []
        self._links: dict[str, LinkRecord] = {}
        self._checking = asyncio.Lock()
        self._writing = asyncio.Lock()

    async def page(self, record: PageRecord) -> None:
        """Add a page."""
        async with self._checking:
            found = await asyncio.to_thread(self._report.add_page, record)
        if record.url in self._pages:
            self._issues = [one for one in self._issues if one.url != record.url]
        self._pages[record.url] = record
        self._issues += found
        if len(self._pages) >= BATCH:
            await self._write()

    async def link(self, record: LinkRecord) -> None:
        """Add a URL that was only checked."""
        self._report.add_link(record)
        self._links[record.url] = record
        if len(self._links) >= BATCH:
            await self._write()

    async def checkpoint(self, state: dict[str, Any]) -> None:
        """Save the state from which the crawl can resume, with all records up to it."""
        await self._write({"state": state, "pages": state["pages"]})

    async def forget(self) -> None:
        """Remove what an attempt left that did not come as far as a checkpoint."""
        async with self._database.writing() as session:
            for table in (CrawledPageRow, LinkRow, FindingRow):
                await session.execute(delete(table).where(table.crawl_id == self._crawl_id))

    async def restore(self) -> None:
        """Put what is stored into the report again."""
        async for records in self._stored(CrawledPageRow):
            await asyncio.to_thread(self._restore_pages, records)
        async for records in self._stored(LinkRow):
            for data in records:
                self._report.add_link(link_from_json(data))

    def _restore_pages(self, records: Sequence[dict[str, Any]]) -> None:
        for data in records:
            self._report.add_page(page_from_json(data))

    async def _stored(self, table: Any) -> AsyncIterator[list[dict[str, Any]]]:
        last = ""
        while True:
            wanted = select(table.url, table.record).where(table.crawl_id == self._crawl_id, table.url > last)
            wanted = wanted.where(table.record.is_not(None)).order_by(table.url).limit(BATCH)
            async with self._database.reading() as session:
                found = (await session.execute(wanted)).all()
            if not found:
                return
            yield [record for _, record in found]
            last = found[-1][0]

    async def _write(self, values: dict[str, Any] | None = None) -> None:
        async with self._writing:
            pages, self._pages = self._pages, {}
            issues, self._issues = self._issues, []
            links, self._links = self._links, {}
            page_rows, link_rows, found = await asyncio.to_thread(self._rows, pages, links, issues)
            async with self._database.writing() as session:
                if page_rows:
                    stale = FindingRow.url.in_(list(pages))
                    await session.execute(delete(FindingRow).where(FindingRow.crawl_id == self._crawl_id, stale))
                    await upsert(session, CrawledPageRow, page_rows, ("crawl_id", "url"))
                    await upsert(session, FindingRow, found, ("crawl_id", "id"))
                await upsert(session, LinkRow, link_rows, ("crawl_id", "url"))
                if values:
                    await session.execute(update(CrawlRow).where(CrawlRow.id == self._crawl_id).values(**values))

    def _rows(
        self, pages: dict[str, PageRecord], links: dict[str, LinkRecord], issues: list[Issue]
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
        page_rows = [self._page_row(record) for record in pages.values()]
        link_rows = [self._link_row(record) for record in links.values()]
        return page_rows, link_rows, finding_rows(self._crawl_id, self._website_id, issues)

    def _page_row(self, record: PageRecord) -> dict[str, Any]:
        page = record.page if record.is_page else None
        items = to_json(record)["page"]["structured"] if page is not None else []
        return {
            "crawl_id": self._crawl_id,
            "url": record.url,
            "status": record.status,
            "title": plain(page.titles[0], 500) if page and page.titles else "",
            "words": page.words if page else 0,
            "counted": not record.location and record.failure != "disallowed",
            "inlinks": 0,
            "depth": record.depth,
            "orphan": False,
            "structured": list(items) or None,
            "record": to_json(record),
        }

    def _link_row(self, record: LinkRecord) -> dict[str, Any]:
        return {
            "crawl_id": self._crawl_id,
            "url": record.url,
            "status": record.status,
            "location": record.location,
            "message": plain(record.message, 1000),
            "image": record.image,
            "internal": False,
            "problems": "",
            "found_in": [],
            "record": to_json(record),
        }
