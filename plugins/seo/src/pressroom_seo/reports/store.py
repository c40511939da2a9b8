"""Storage of crawls: requesting, claiming and ending them, and writing their records in batches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast
from urllib.parse import urlsplit

from pressroom.columns import as_id, new_id
from pressroom.sdk import Database, InvalidInput, NotFound, PluginContext
from pressroom_content.contract import BUILTIN, Website
from sqlalchemy import CursorResult, delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import undefer

from pressroom_seo.config import CRAWL, SeoConfig
from pressroom_seo.crawler.records import LinkRecord, PageRecord, link_from_json, page_from_json, to_json
from pressroom_seo.reports.findings import finding_rows
from pressroom_seo.site_checks.model import Issue
from pressroom_seo.site_checks.report import SiteReport
from pressroom_seo.tables import BATCH, CrawledPageRow, CrawlRow, FindingRow, LinkRow, plain, upsert
from pressroom_seo.urls import host_of, normalise

_UNSTARTED: Final = timedelta(seconds=60)
"""Grace period for a crawl without a job: the process that created it may be about to enqueue one."""

BUSY_WAITS: Final = "busy_waits"
"""Member of a crawl job's payload: how often the crawl has waited for a busy site."""

_ALIVE: Final = frozenset({"queued", "running"})
_SHARED: Final = frozenset({"dev.to", "hashnode.com", "medium.com", "github.com", "wordpress.com"})
"""Hosts of platforms, whose home page is not the user's site."""

_COPIED_COLUMNS: Final = (
    *("id", "user_id", "website_id", "active", "start", "own", "max_pages", "status", "job_id", "created_at"),
)


def start_of(website: Website) -> str:
    """Return the normalised URL of a website's home page. Raises `InvalidInput` if it has none of its own."""
    start = normalise(website.url) if website.url else None
    if start is None:
        raise InvalidInput(
            "website_id", f"{website.name} has no URL that visitors can open; connect_website gives it one"
        )
    parts = urlsplit(start)
    if (parts.hostname or "").removeprefix("www.") in _SHARED and parts.path == "/":
        raise InvalidInput(
            "website_id",
            f"{parts.hostname} is the URL of the platform, not of your site; check single posts with check_page_seo",
        )
    return start


def is_own(config: SeoConfig, website: Website) -> bool:
    """Return whether a website may be crawled without pauses: built-in sites, and hosts whose owner agreed."""
    parts = urlsplit(website.url)
    return website.platform == BUILTIN or bool({parts.hostname, parts.netloc}.intersection(config.own_hosts))


class Crawls:
    """The crawls of all accounts. Queries by account treat other accounts' crawls as missing."""

    def __init__(self, plugin: PluginContext[SeoConfig]) -> None:
        self._plugin = plugin
        self._config: SeoConfig = plugin.config
        self._database = plugin.services.database

    async def newest(self, user_id: str, website_id: str) -> CrawlRow | None:
        """Return the newest finished crawl of a website, or `None`."""
        statement = select(CrawlRow).where(
            CrawlRow.user_id == user_id, CrawlRow.website_id == as_id(website_id), CrawlRow.status == "finished"
        )
        async with self._database.reading() as session:
            return cast(
                "CrawlRow | None", await session.scalar(statement.order_by(CrawlRow.finished_at.desc()).limit(1))
            )

    async def history(self, user_id: str, website_id: str, limit: int) -> list[CrawlRow]:
        """Return up to `limit` finished crawls of a website, newest first."""
        statement = select(CrawlRow).where(
            CrawlRow.user_id == user_id, CrawlRow.website_id == as_id(website_id), CrawlRow.status == "finished"
        )
        async with self._database.reading() as session:
            return list(await session.scalars(statement.order_by(CrawlRow.finished_at.desc()).limit(limit)))

    async def last_failure(self, user_id: str, website_id: str, since: datetime | None) -> str:
        """Return why the newest failed crawl failed; empty if none failed among those created after `since`."""
        statement = select(CrawlRow).where(
            CrawlRow.user_id == user_id, CrawlRow.website_id == as_id(website_id), CrawlRow.status == "failed"
        )
        if since is not None:
            statement = statement.where(CrawlRow.created_at > since)
        async with self._database.reading() as session:
            row = await session.scalar(statement.order_by(CrawlRow.created_at.desc()).limit(1))
        return " ".join(row.notes) if row is not None else ""

    async def active(self, user_id: str, website_id: str) -> CrawlRow | None:
        """Return the active crawl of a website, or `None`. Fails a crawl whose job is gone."""
        statement = select(CrawlRow).where(CrawlRow.user_id == user_id, CrawlRow.active == as_id(website_id))
        async with self._database.reading() as session:
            row: CrawlRow | None = await session.scalar(statement)
        if row is None or await self.is_alive(row):
            return row
        await self.fail(row.id, "The crawl failed repeatedly. Start a new one with refresh.")
        return None

    async def request(self, user_id: str, website: Website, plan: str) -> tuple[CrawlRow, bool]:
        """Queue a crawl of a website, or return the active one. The second value is whether the crawl is new.

        Raises `InvalidInput` if the website has no URL of its own.
        """
        start = start_of(website)
        row = CrawlRow(
            id=new_id("k"),
            user_id=user_id,
            website_id=website.id,
            active=website.id,
            start=start,
            own=is_own(self._config, website),
            max_pages=self._config.crawl_pages.get(plan, self._config.crawl_pages_default),
            status="queued",
            job_id="",
            created_at=datetime.now(UTC),
        )
        while True:
            active = await self.active(user_id, website.id)
            if active is not None:
                return active, False
            try:
                async with self._database.writing() as session:
                    session.add(row)
            except IntegrityError:  # lost a race against another request
                row = CrawlRow(**{name: getattr(row, name) for name in _COPIED_COLUMNS})
                continue
            row.job_id = await self.enqueue(row)
            return row, True

    async def enqueue(self, row: CrawlRow, *, run_at: datetime | None = None, busy_waits: int = 0) -> str:
        """Enqueue the job of a crawl, which has waited `busy_waits` times for a busy site, and return its ID."""
        key = f"{row.id}:{row.restarts}"
        payload = {"crawl_id": row.id, "website_id": row.website_id, BUSY_WAITS: busy_waits}
        job_id = await self._plugin.services.jobs.enqueue(CRAWL, payload, subject=row.user_id, key=key, run_at=run_at)
        await self.change(row.id, job_id=job_id)
        return job_id

    async def read(self, crawl_id: str) -> CrawlRow | None:
        """Return a crawl including its checkpoint, or `None`."""
        statement = select(CrawlRow).where(CrawlRow.id == crawl_id).options(undefer(CrawlRow.state))
        async with self._database.reading() as session:
            row: CrawlRow | None = await session.scalar(statement)
            return row

    async def change(self, crawl_id: str, **values: Any) -> None:
        """Update columns of a crawl."""
        async with self._database.writing() as session:
            await session.execute(update(CrawlRow).where(CrawlRow.id == crawl_id).values(**values))

    async def fail(self, crawl_id: str, reason: str) -> None:
        """Mark an active crawl as failed."""
        values = {"status": "failed", "active": None, "host": None, "state": None, "notes": [reason]}
        statement = update(CrawlRow).where(CrawlRow.id == crawl_id, CrawlRow.active.is_not(None))
        async with self._database.writing() as session:
            await session.execute(statement.values(**values, finished_at=datetime.now(UTC)))

    async def take_host(self, row: CrawlRow) -> bool:
        """Claim the host of a crawl and return whether that succeeded: two accounts may have the same site."""
        host = host_of(row.start).removeprefix("www.")
        if row.own and urlsplit(row.start).path != "/":
            host = f"{host}{urlsplit(row.start).path}"[:300]  # one of many sites on this server
        claim = update(CrawlRow).where(CrawlRow.id == row.id, CrawlRow.active.is_not(None))
        for _ in range(2):
            try:
                async with self._database.writing() as session:
                    result = await session.execute(claim.values(host=host))
                    return cast("CursorResult[Any]", result).rowcount == 1
            except IntegrityError:
                async with self._database.reading() as session:
                    holder = await session.scalar(select(CrawlRow).where(CrawlRow.host == host))
                if holder is not None and await self.is_alive(holder):
                    return False
                if holder is not None:
                    await self.fail(holder.id, "The crawl was interrupted. Start a new one with refresh.")
        return False

    async def is_alive(self, row: CrawlRow) -> bool:
        """Return whether a job for the crawl is queued or running, or is about to be enqueued."""
        if not row.job_id:
            return row.created_at > datetime.now(UTC) - _UNSTARTED
        try:
            return (await self._plugin.services.jobs.status(row.job_id)).state in _ALIVE
        except NotFound:
            return False


class CrawlRecords:
    """Checks and stores the records of a crawl. A checkpoint is committed with all records that precede it."""

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
        """Check a page and buffer its record."""
        async with self._checking:
            issues = await asyncio.to_thread(self._report.add_page, record)
        if record.url in self._pages:
            self._issues = [issue for issue in self._issues if issue.url != record.url]
        self._pages[record.url] = record
        self._issues += issues
        if len(self._pages) >= BATCH:
            await self._write()

    async def link(self, record: LinkRecord) -> None:
        """Buffer the record of a URL that was only checked."""
        self._report.add_link(record)
        self._links[record.url] = record
        if len(self._links) >= BATCH:
            await self._write()

    async def checkpoint(self, state: dict[str, Any]) -> None:
        """Save the state from which the crawl can resume, with all records up to it."""
        await self._write({"state": state, "pages": state["pages"]})

    async def forget(self) -> None:
        """Delete the records of an attempt that never reached a checkpoint."""
        async with self._database.writing() as session:
            for table in (CrawledPageRow, LinkRow, FindingRow):
                await session.execute(delete(table).where(table.crawl_id == self._crawl_id))

    async def restore(self) -> None:
        """Load the stored records into the report."""
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
            statement = select(table.url, table.record).where(table.crawl_id == self._crawl_id, table.url > last)
            statement = statement.where(table.record.is_not(None)).order_by(table.url).limit(BATCH)
            async with self._database.reading() as session:
                rows = (await session.execute(statement)).all()
            if not rows:
                return
            yield [record for _, record in rows]
            last = rows[-1][0]

    async def _write(self, values: dict[str, Any] | None = None) -> None:
        async with self._writing:
            pages, self._pages = self._pages, {}
            issues, self._issues = self._issues, []
            links, self._links = self._links, {}
            page_rows, link_rows, issue_rows = await asyncio.to_thread(self._rows, pages, links, issues)
            async with self._database.writing() as session:
                if page_rows:
                    stale = FindingRow.url.in_(list(pages))
                    await session.execute(delete(FindingRow).where(FindingRow.crawl_id == self._crawl_id, stale))
                    await upsert(session, CrawledPageRow, page_rows, ("crawl_id", "url"))
                    await upsert(session, FindingRow, issue_rows, ("crawl_id", "id"))
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
