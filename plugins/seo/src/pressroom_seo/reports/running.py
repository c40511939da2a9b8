"""The job that crawls a site: it continues where a process was killed, and forgets disconnected websites."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pressroom.sdk import JobRun, NotFound, Pause, PluginContext
from pressroom_content.contract import content_services
from sqlalchemy import delete, select

from pressroom_seo.crawler.engine import Crawl, CrawlPlan
from pressroom_seo.crawler.politeness import Politeness
from pressroom_seo.crawler.site_reader import SiteReader
from pressroom_seo.crawler.survey import SiteFacts
from pressroom_seo.reports.closing import close
from pressroom_seo.reports.records import CrawlRecords
from pressroom_seo.reports.store import Crawls
from pressroom_seo.site_checks.report import SiteReport
from pressroom_seo.tables import CrawledPageRow, CrawlRow, FindingRow, LinkRow, MarkRow


async def tidy_up(plugin: PluginContext) -> int:
    """Remove all that is kept of disconnected websites, and return how many there were. Safe to repeat."""
    database, websites = plugin.services.database, content_services(plugin).websites
    known = select(CrawlRow.user_id, CrawlRow.website_id).distinct()
    async with database.reading() as session:
        pairs = (await session.execute(known)).all()
    forgotten = 0
    for user_id, website_id in pairs:
        try:
            await websites.get(user_id, website_id)
        except NotFound:
            await _forget(plugin, website_id)
            forgotten += 1
    return forgotten


async def _forget(plugin: PluginContext, website_id: str) -> None:
    mine = select(CrawlRow.id).where(CrawlRow.website_id == website_id)
    async with plugin.services.database.writing() as session:
        for table in (CrawledPageRow, LinkRow, FindingRow):
            await session.execute(delete(table).where(table.crawl_id.in_(mine)))
        await session.execute(delete(MarkRow).where(MarkRow.website_id == website_id))
        await session.execute(delete(CrawlRow).where(CrawlRow.website_id == website_id))


MAX_WAITS: Final = 20
"""How often a crawl waits for a site or for another crawl of the same host before it ends with what it has."""

MAX_WAIT: Final = timedelta(hours=6)
_HOST_TAKEN: Final = timedelta(seconds=30)


PATIENCE: Final = 5.0
"""Seconds that a crawl waits for a site; before a longer wait it gives its place to other jobs."""

TURN: Final = 300.0
"""Seconds after which it does so in any case."""

_ELSEWHERE: Final = Politeness(longest_delay=PATIENCE, longest_wait=PATIENCE, retries=1)


async def crawl_website(plugin: PluginContext, run: JobRun) -> Mapping[str, Any] | Pause:
    """Crawl a website, and return the result. Safe to repeat: it resumes from the last checkpoint."""
    crawls = Crawls(plugin)
    row = await crawls.read(str(run.payload["crawl_id"]))
    if row is None or row.active is None:
        return {"crawl_id": run.payload["crawl_id"], "status": row.status if row else "gone"}
    try:
        await content_services(plugin).websites.get(row.user_id, row.website_id)
    except NotFound:
        await crawls.fail(row.id, "The website was disconnected.")
        return {"crawl_id": row.id, "status": "failed", "message": "the website was disconnected"}
    if not await crawls.take_host(row):
        return await _wait(crawls, row, _HOST_TAKEN)
    now = datetime.now(UTC)
    await crawls.change(row.id, status="running", job_id=run.id, started_at=row.started_at or now)
    row.started_at = row.started_at or now
    facts, report = await _crawl(plugin, run, row)
    if facts.stopped == "paused":
        return Pause(facts.retry_after)
    if facts.stopped == "busy" and row.restarts < MAX_WAITS and facts.retry_after <= MAX_WAIT.total_seconds():
        return await _wait(crawls, row, timedelta(seconds=facts.retry_after))
    await close(plugin.services.database, row, report, facts, plugin.config.kept_reports)
    done = await crawls.read(row.id)
    if done is None:
        return {"crawl_id": row.id, "status": "gone"}
    return {
        "crawl_id": row.id,
        "website_id": row.website_id,
        "status": done.status,
        "score": done.score,
        "pages": done.pages,
        "issues": dict(done.severities),
        "notes": list(done.notes),
    }


async def _crawl(plugin: PluginContext, run: JobRun, row: CrawlRow) -> tuple[SiteFacts, SiteReport]:
    plan = CrawlPlan(
        row.start,
        row.max_pages,
        Politeness.own_site() if row.own else Politeness(),
        _ELSEWHERE,
        max_links=plugin.config.crawl_links,
        whole_host=False,
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
    except ValueError:  # a checkpoint of another version of this plugin
        row.state = None
        running = crawl(None)
    if row.state is None:
        await records.forget()
    else:
        await records.restore()
    return await running.run(), report


async def _wait(crawls: Crawls, row: CrawlRow, pause: timedelta) -> Mapping[str, Any]:
    """Continue a crawl later, in a job of its own."""
    if row.restarts >= MAX_WAITS * 6:
        await crawls.fail(row.id, "Another crawl of the same host takes too long. Ask again later.")
        return {"crawl_id": row.id, "status": "failed", "message": "another crawl of the same host takes too long"}
    row.restarts += 1
    at = datetime.now(UTC) + pause
    await crawls.change(row.id, status="waiting", host=None, restarts=row.restarts)
    job_id = await crawls.enqueue(row, run_at=at)
    return {"crawl_id": row.id, "status": "waiting", "job_id": job_id, "goes_on_at": at.isoformat()}
