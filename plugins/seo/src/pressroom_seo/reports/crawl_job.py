"""The crawl job, which resumes after a crash, and the clean-up of disconnected websites.

At the end of a crawl, the job runs the site-wide checks, stores how pages link to each other, and computes the score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final, TypeVar

from pressroom.sdk import Database, JobRun, NotFound, Pause, PluginContext
from pressroom_content.contract import content_services
from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_seo.config import SeoConfig
from pressroom_seo.crawler.engine import Crawl, CrawlPlan
from pressroom_seo.crawler.http_client import Politeness
from pressroom_seo.crawler.links import link_report
from pressroom_seo.crawler.records import LinkRecord
from pressroom_seo.crawler.site_reader import SiteReader
from pressroom_seo.crawler.survey import SiteFacts
from pressroom_seo.reports.findings import add_groups, finding_rows, tally
from pressroom_seo.reports.store import BUSY_WAITS, CrawlRecords, Crawls
from pressroom_seo.site_checks.index import SiteIndex, SiteIndexEntry
from pressroom_seo.site_checks.report import IssueSummary, SiteReport, Summary, trend
from pressroom_seo.tables import CrawledPageRow, CrawlRow, FindingRow, LinkRow, MarkRow, upsert

_AT_ONCE: Final = 500
T = TypeVar("T")

MAX_WAITS: Final = 20
"""How often a crawl waits for a busy site before it finishes with what it has.

While another crawl holds the host, it may wait six times as often; then it fails.
"""

MAX_WAIT: Final = timedelta(hours=6)
_HOST_TAKEN: Final = timedelta(seconds=30)
PATIENCE: Final = 5.0
"""Longest wait for a site in seconds; for a longer one, the crawl yields to other jobs."""

TURN: Final = 300.0
"""Seconds after which the crawl yields to other jobs in any case."""

_ELSEWHERE: Final = Politeness(max_delay=PATIENCE, max_wait=PATIENCE, retries=1)


async def close(database: Database, crawl: CrawlRow, report: SiteReport, facts: SiteFacts, kept_reports: int) -> None:
    """Store the report of a completed crawl. Idempotent, so it can be repeated after a restart."""
    await _write_findings(database, crawl, report, facts)
    await _write_positions(database, crawl, report.index)
    await _write_links(database, crawl, report.index)
    async with database.writing() as session:
        row = await session.get_one(CrawlRow, crawl.id, populate_existing=True)
        if row.status == "finished":
            return
        await add_groups(session, row)
        row.pages, row.complete, row.notes = facts.pages, facts.complete, _notes(facts)
        await finish(session, row)
        await _forget_older(session, row, kept_reports)


async def finish(session: AsyncSession, row: CrawlRow) -> None:
    """Mark a crawl as finished, compute its score and compare it with the previous report."""
    row.status, row.active, row.host, row.state = "finished", None, None, None
    row.finished_at = datetime.now(UTC)
    await recount(session, row)
    previous = await session.scalar(
        select(CrawlRow)
        .where(CrawlRow.website_id == row.website_id, CrawlRow.status == "finished", CrawlRow.id != row.id)
        .order_by(CrawlRow.finished_at.desc())
        .limit(1)
    )
    row.trend = None
    if previous is not None:
        row.trend = trend(previous.counts, previous.score, _summary(row)) | {
            "since": previous.finished_at.isoformat() if previous.finished_at else None
        }


async def recount(session: AsyncSession, row: CrawlRow) -> None:
    """Recompute the counts and the score, after a crawl or when a finding is marked."""
    await session.flush()
    totals = await tally(session, row)
    row.counts, row.severities, row.score = dict(totals.counts), dict(totals.severities), totals.score


def _summary(row: CrawlRow) -> Summary:
    issues = tuple(IssueSummary(name, "notice", count, (), "", "") for name, count in row.counts.items())
    return Summary(row.score, row.pages, row.complete, issues)


def _notes(facts: SiteFacts) -> list[str]:
    if facts.stopped == "crawl_delay":
        slow = "robots.txt of the site asks for a longer pause between requests than a crawl has time for"
        return [f"{slow}; nothing was read. Lower its Crawl-delay to at most 60 seconds."]
    if facts.stopped == "busy":
        return ["The site kept responding that it is busy; the report covers what was read before."]
    if facts.robots.unreachable:
        return ["robots.txt of the site could not be read, which forbids crawling; see the issues."]
    if not facts.complete:
        return [f"The crawl stopped at its limit of {facts.pages} URLs; the site has more."]
    return []


async def _write_findings(database: Database, crawl: CrawlRow, report: SiteReport, facts: SiteFacts) -> None:
    issues = report.finish(facts)
    while batch := await asyncio.to_thread(_batch, issues):
        rows = finding_rows(crawl.id, crawl.website_id, batch)
        async with database.writing() as session:
            await upsert(session, FindingRow, rows, ("crawl_id", "id"))


def _batch(items: Iterator[T]) -> list[T]:
    return list(islice(items, _AT_ONCE))


async def _write_positions(database: Database, crawl: CrawlRow, index: SiteIndex) -> None:
    """Store each page's number of incoming links, its depth, and whether it is an orphan."""
    table: Any = CrawledPageRow.__table__
    change = (
        update(table)
        .where(table.c.crawl_id == crawl.id, table.c.url == bindparam("at"))
        .values(inlinks=bindparam("links"), depth=bindparam("far"), orphan=bindparam("alone"))
    )
    rows = await asyncio.to_thread(lambda: iter(list(_position_rows(index))))
    while batch := _batch(rows):
        async with database.writing() as session:
            await (await session.connection()).execute(change, batch)


def _position_rows(index: SiteIndex) -> Iterator[dict[str, Any]]:
    orphans = {entry.url for entry in index.orphans()}
    for url in index.entries:
        depth = index.depths.get(url)
        yield {"at": url, "links": index.inlinks(url), "far": depth, "alone": url in orphans}


async def _write_links(database: Database, crawl: CrawlRow, index: SiteIndex) -> None:
    """Store the problems of links and the pages that contain them."""
    rows = await asyncio.to_thread(lambda: iter(_link_rows(crawl, index)))
    while batch := _batch(rows):
        async with database.writing() as session:
            for row in batch:
                # The row already has the record; only write what the finished crawl adds.
                row.pop("record", None)
            external = [row for row in batch if not row["internal"]]
            await _update_links(session, external)
            new = [{**row, "record": None} for row in batch if row["internal"]]
            await upsert(session, LinkRow, new, ("crawl_id", "url"))


async def _update_links(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> None:
    table: Any = LinkRow.__table__
    if not rows:
        return
    change = (
        update(table)
        .where(table.c.crawl_id == bindparam("of"), table.c.url == bindparam("at"))
        .values(problems=bindparam("wrong"), found_in=bindparam("pages"))
    )
    values = [
        {"of": row["crawl_id"], "at": row["url"], "wrong": row["problems"], "pages": row["found_in"]} for row in rows
    ]
    await (await session.connection()).execute(change, values)


def _link_rows(crawl: CrawlRow, index: SiteIndex) -> list[dict[str, Any]]:
    internal_records = {
        entry.url: _final_record(index, entry) for entry in index.entries.values() if entry.url in index.linked
    }
    records = {
        **index.looked_at,
        **{url: record for url, record in internal_records.items() if record.broken or record.location},
    }
    sources = index.found_in([url for url, record in records.items() if not record.image])
    sources |= index.found_in([url for url, record in records.items() if record.image], images=True)
    return [_link_row(crawl, record, sources[url], internal=url in internal_records) for url, record in records.items()]


def _final_record(index: SiteIndex, entry: SiteIndexEntry) -> LinkRecord:
    """Return the link record of a page of the site, with the status at the end of its redirects."""
    current, visited = entry, {entry.url}
    while current.location and current.location not in visited and current.location in index.entries:
        visited.add(current.location)
        current = index.entries[current.location]
    location = current.location or current.url if entry.location else ""
    return LinkRecord(entry.url, current.status, current.failure, location=location)  # type: ignore[arg-type]


def _link_row(crawl: CrawlRow, record: LinkRecord, found_in: Sequence[str], *, internal: bool) -> dict[str, Any]:
    report = link_report(record, found_in)
    return {
        "crawl_id": crawl.id,
        "url": record.url,
        "status": record.status,
        "location": record.location,
        "message": record.message[:1000],
        "image": record.image,
        "internal": internal,
        "problems": ",".join(report.problems),
        "found_in": list(report.found_in),
    }


async def _forget_older(session: AsyncSession, row: CrawlRow, max_reports: int) -> None:
    """Delete the details of the website's older crawls, the failed ones, and reports after the newest `max_reports`."""
    conditions = (CrawlRow.website_id == row.website_id, CrawlRow.id != row.id, CrawlRow.active.is_(None))
    statement = select(CrawlRow.id, CrawlRow.status).where(*conditions).order_by(CrawlRow.created_at.desc())
    older = (await session.execute(statement)).all()
    for table in (CrawledPageRow, LinkRow, FindingRow):
        await session.execute(delete(table).where(table.crawl_id.in_([crawl_id for crawl_id, _ in older])))
    finished = [crawl_id for crawl_id, status in older if status == "finished"]
    surplus = {crawl_id for crawl_id, _ in older} - set(finished[: max_reports - 1])
    await session.execute(delete(CrawlRow).where(CrawlRow.id.in_(surplus)))


async def tidy_up(plugin: PluginContext[SeoConfig]) -> int:
    """Delete all data of disconnected websites and return their number. Idempotent."""
    database, websites = plugin.services.database, content_services(plugin).websites
    statement = select(CrawlRow.user_id, CrawlRow.website_id).distinct()
    async with database.reading() as session:
        pairs = (await session.execute(statement)).all()
    forgotten = 0
    for user_id, website_id in pairs:
        try:
            await websites.get(user_id, website_id)
        except NotFound:
            await _forget(plugin, website_id)
            forgotten += 1
    return forgotten


async def _forget(plugin: PluginContext[SeoConfig], website_id: str) -> None:
    crawl_ids = select(CrawlRow.id).where(CrawlRow.website_id == website_id)
    async with plugin.services.database.writing() as session:
        for table in (CrawledPageRow, LinkRow, FindingRow):
            await session.execute(delete(table).where(table.crawl_id.in_(crawl_ids)))
        await session.execute(delete(MarkRow).where(MarkRow.website_id == website_id))
        await session.execute(delete(CrawlRow).where(CrawlRow.website_id == website_id))


async def crawl_website(plugin: PluginContext[SeoConfig], run: JobRun) -> Mapping[str, Any] | Pause:
    """Crawl a website and return the job's result. When repeated, it resumes from the last checkpoint."""
    crawls = Crawls(plugin)
    row = await crawls.read(str(run.payload["crawl_id"]))
    if row is None or row.active is None:
        return {"crawl_id": run.payload["crawl_id"], "status": row.status if row else "gone"}
    try:
        await content_services(plugin).websites.get(row.user_id, row.website_id)
    except NotFound:
        await crawls.fail(row.id, "The website was disconnected.")
        return {"crawl_id": row.id, "status": "failed", "message": "the website was disconnected"}
    busy_waits = int(run.payload.get(BUSY_WAITS, 0))
    if not await crawls.take_host(row):
        if row.restarts - busy_waits >= MAX_WAITS * 6:
            await crawls.fail(row.id, "Another crawl of the same host is taking too long. Start this one again later.")
            message = "another crawl of the same host takes too long"
            return {"crawl_id": row.id, "status": "failed", "message": message}
        return await _wait(crawls, row, _HOST_TAKEN, busy_waits)
    now = datetime.now(UTC)
    await crawls.change(row.id, status="running", job_id=run.id, started_at=row.started_at or now)
    row.started_at = row.started_at or now
    facts, report = await _crawl(plugin, run, row)
    if facts.stopped == "paused":
        return Pause(facts.retry_after)
    if facts.stopped == "busy" and busy_waits < MAX_WAITS and facts.retry_after <= MAX_WAIT.total_seconds():
        return await _wait(crawls, row, timedelta(seconds=facts.retry_after), busy_waits + 1)
    await close(plugin.services.database, row, report, facts, plugin.config.kept_reports)
    stored = await crawls.read(row.id)
    if stored is None:
        return {"crawl_id": row.id, "status": "gone"}
    return {
        "crawl_id": row.id,
        "website_id": row.website_id,
        "status": stored.status,
        "score": stored.score,
        "pages": stored.pages,
        "issues": dict(stored.severities),
        "notes": list(stored.notes),
    }


async def _crawl(plugin: PluginContext[SeoConfig], run: JobRun, row: CrawlRow) -> tuple[SiteFacts, SiteReport]:
    plan = CrawlPlan(
        row.start,
        row.max_pages,
        Politeness.own_site() if row.own else Politeness(),
        _ELSEWHERE,
        max_links=plugin.config.crawl_links,
        entire_host=False,
        patience=PATIENCE,
        turn=TURN,
    )
    report = SiteReport(row.start)
    records = CrawlRecords(plugin.services.database, row, report)

    def crawl(state: Mapping[str, Any] | None) -> Crawl:
        return Crawl(
            plugin.services.fetcher,
            plan,
            page=records.page,
            link=records.link,
            progress=run.progress,
            checkpoint=records.checkpoint,
            state=state,
            reader=SiteReader(plugin.services.workers, row.user_id),
        )

    try:
        running = crawl(row.state)
    except ValueError:  # the checkpoint was written by another version of this plugin
        row.state = None
        running = crawl(None)
    if row.state is None:
        await records.forget()
    else:
        await records.restore()
    return await running.run(), report


async def _wait(crawls: Crawls, row: CrawlRow, pause: timedelta, busy_waits: int) -> Mapping[str, Any]:
    """Continue a crawl later in a new job."""
    row.restarts += 1
    at = datetime.now(UTC) + pause
    await crawls.change(row.id, status="waiting", host=None, restarts=row.restarts)
    job_id = await crawls.enqueue(row, run_at=at, busy_waits=busy_waits)
    return {"crawl_id": row.id, "status": "waiting", "job_id": job_id, "goes_on_at": at.isoformat()}
