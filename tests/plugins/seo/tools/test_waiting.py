"""Crawls that wait for a busy site, and data deleted with a website, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pressroom.config import Settings
from pressroom.sdk import Pause, PluginContext, Reschedule
from pressroom.storage.database.tables.jobs import JobRow
from pressroom.testing.running import settings_for_test
from pressroom_content.records import Website
from pressroom_content.websites.store import Websites
from pressroom_seo.plugin import pressroom_jobs
from pressroom_seo.reports.crawl_job import MAX_WAITS
from pressroom_seo.reports.store import Crawls
from pressroom_seo.tables import CrawledPageRow, CrawlRow, FindingRow, LinkRow, MarkRow
from sqlalchemy import func, select
from support import databases
from support.origins import Visit

from ..crawler.sites import HTML, Handler, Reply, good_site, page  # noqa: TID252 - the sites of the crawler's own tests
from .conftest import LocalSite, serving
from .crawl_world import configuration, world

PATHS = [f"/page-{number}-{chr(97 + number)}" for number in range(12)]


@dataclass
class Attempt:
    """One attempt at a job, without a queue."""

    id: str
    payload: Mapping[str, Any]
    subject: str = "u_ada"
    attempt: int = 1
    fractions: list[float] = field(default_factory=list)

    async def progress(self, fraction: float, message: str = "") -> None:
        del message
        self.fractions.append(fraction)

    def check(self) -> None: ...

    async def keep(self, session: Any) -> None: ...


class BusySite:
    """A site whose pages return 503 once `after` of them were read, until it is free."""

    def __init__(self, after: int, wait: str) -> None:
        self.left, self.wait, self.free = after, wait, False

    def pages(self) -> dict[str, Reply | Handler]:
        return {
            **good_site(),
            "/": page("/", *PATHS),
            "/sitemap.xml": Reply("", "404 Not Found"),
            "*": self.respond,
        }

    async def respond(self, visit: Visit) -> None:
        if visit.target not in PATHS:
            await visit.respond(b"", status="404 Not Found")
        elif self.left <= 0 and not self.free:
            await visit.respond(b"busy", f"Retry-After: {self.wait}", status="503 Service Unavailable")
        else:
            self.left -= 1
            html = f"<title>The page {visit.target}</title><h1>{visit.target}</h1><a href='/'>home</a>"
            await visit.respond(html.encode(), f"Content-Type: {HTML}")


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module", params=databases.KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def config(kind: str, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Yield a configuration with a separate database."""
    with databases.database_config(kind, tmp_path) as storage:
        yield configuration(storage)


@pytest.fixture(scope="module")
def shared_settings(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    folder = tmp_path_factory.mktemp("waiting")
    with databases.database_config(kind, folder) as storage:
        yield settings_for_test(configuration(storage), folder)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plugin(shared_settings: Settings) -> AsyncIterator[PluginContext]:
    """Yield the shared plugin context; only the tests work on its jobs."""
    async with world(shared_settings) as context:
        yield context


async def connected(plugin: PluginContext, url: str, user_id: str = "u_ada") -> Website:
    return await Websites(plugin.required["content"]).add(
        user_id, "wordpress", name="Site", url=url, credential={"key": "x"}
    )


async def work(plugin: PluginContext, kind: str, row: CrawlRow | None = None) -> dict[str, Any]:
    """Run a job of a kind once, as a worker would, and return its result."""
    run = next(job.run for job in pressroom_jobs(plugin) if job.kind == kind)
    payload: Mapping[str, Any] = {}
    if row is not None:
        async with plugin.services.database.reading() as session:
            payload = (await session.get_one(JobRow, row.job_id)).payload
    result = await run(Attempt(row.job_id if row is not None else "j_1", payload))
    assert not isinstance(result, Pause | Reschedule)
    return dict(result or {})


async def work_on(plugin: PluginContext, row: CrawlRow) -> dict[str, Any]:
    """Do the newest job of a crawl once."""
    newest = await Crawls(plugin).read(row.id)
    return await work(plugin, "seo.crawl", newest)


async def stored(plugin: PluginContext, table: Any) -> int:
    async with plugin.services.database.reading() as session:
        return int(await session.scalar(select(func.count()).select_from(table)) or 0)


def requested_pages(site: LocalSite) -> list[str]:
    return [path for path in site.seen if path in PATHS]


async def test_the_crawl_of_a_busy_site_pauses_and_resumes_where_it_stopped(plugin: PluginContext) -> None:
    busy = BusySite(5, "3600")
    crawls = Crawls(plugin)
    with serving(busy.pages()) as site:
        website = await connected(plugin, site.origin)
        row, _ = await crawls.request("u_ada", website, "free")
        before = datetime.now(UTC)
        result = await work(plugin, "seo.crawl", row)

        assert result["status"] == "waiting"
        goes_on = datetime.fromisoformat(result["goes_on_at"])
        assert timedelta(seconds=3600) <= goes_on - before < timedelta(seconds=3720)
        waiting = await crawls.read(row.id)
        assert waiting is not None
        assert (waiting.status, waiting.active, waiting.host) == ("waiting", website.id, None)
        assert waiting.job_id == result["job_id"] != row.job_id
        assert (await plugin.services.jobs.status(waiting.job_id)).state == "queued"
        assert (await crawls.request("u_ada", website, "free"))[0].id == row.id, "it is still under way"
        assert await crawls.newest("u_ada", website.id) is None

        read_before = len(set(requested_pages(site)))
        busy.free = True
        site.seen.clear()
        resumed_result = await work(plugin, "seo.crawl", waiting)

    assert resumed_result["status"] == "finished"
    assert resumed_result["pages"] == len(PATHS) + 1
    requests = requested_pages(site)
    assert len(requests) == len(set(requests)), "no page is asked for twice"
    assert len(requests) <= len(PATHS) - 5
    assert read_before + len(requests) >= len(PATHS)
    finished = await crawls.read(row.id)
    assert finished is not None
    assert (finished.complete, finished.active, finished.state) == (True, None, None)


async def test_a_site_that_is_busy_for_too_long_gets_a_partial_report(plugin: PluginContext) -> None:
    busy = BusySite(4, "86400")
    with serving(busy.pages()) as site:
        website = await connected(plugin, site.origin)
        row, _ = await Crawls(plugin).request("u_ada", website, "free")
        result = await work(plugin, "seo.crawl", row)
    assert result["status"] == "finished"
    assert 1 < result["pages"] <= len(PATHS)
    finished = await Crawls(plugin).newest("u_ada", website.id)
    assert finished is not None
    assert not finished.complete
    assert any("busy" in note for note in finished.notes), finished.notes


async def test_a_crawl_that_has_waited_often_enough_ends_with_a_partial_report(plugin: PluginContext) -> None:
    crawls, busy = Crawls(plugin), BusySite(4, "3600")
    with serving(busy.pages()) as site:
        row, _ = await crawls.request("u_ada", await connected(plugin, site.origin), "free")
        statuses = [(await work_on(plugin, row))["status"] for _ in range(MAX_WAITS + 1)]
    assert statuses == ["waiting"] * MAX_WAITS + ["finished"]


async def test_waiting_for_another_crawl_does_not_count_as_waiting_for_a_busy_site(plugin: PluginContext) -> None:
    crawls, busy = Crawls(plugin), BusySite(4, "3600")
    with serving(busy.pages()) as site:
        other, _ = await crawls.request("u_eve", await connected(plugin, site.origin, "u_eve"), "free")
        assert await crawls.take_host(other)
        row, _ = await crawls.request("u_ada", await connected(plugin, site.origin), "free")
        assert {(await work_on(plugin, row))["status"] for _ in range(MAX_WAITS)} == {"waiting"}
        assert site.seen == []
        await crawls.fail(other.id, "It broke off.")
        assert (await work_on(plugin, row))["status"] == "waiting"
        assert requested_pages(site)
        busy.free = True
        assert (await work_on(plugin, row))["status"] == "finished"


async def test_a_crawl_whose_website_is_disconnected_meanwhile_ends(plugin: PluginContext) -> None:
    crawls = Crawls(plugin)
    with serving(good_site()) as site:
        website = await connected(plugin, site.origin)
        row, _ = await crawls.request("u_ada", website, "free")
        await Websites(plugin.required["content"]).disconnect("u_ada", website.id)
        result = await work(plugin, "seo.crawl", row)
        assert site.seen == []
    assert result["status"] == "failed"
    assert "disconnected" in result["message"]
    assert (await work(plugin, "seo.crawl", row))["status"] == "failed", "a second attempt changes nothing"


async def test_a_checkpoint_of_another_version_starts_over(plugin: PluginContext) -> None:
    crawls = Crawls(plugin)
    with serving(good_site()) as site:
        row, _ = await crawls.request("u_ada", await connected(plugin, site.origin), "free")
        await crawls.change(row.id, state={"version": 0, "start": row.start})
        result = await work(plugin, "seo.crawl", row)
    assert (result["status"], result["pages"]) == ("finished", 4)


async def test_data_of_a_disconnected_website_is_deleted(config: dict[str, Any], tmp_path: Path) -> None:
    async with world(settings_for_test(config, tmp_path)) as plugin:
        await _read_and_forgotten(plugin)


async def _read_and_forgotten(plugin: PluginContext) -> None:
    crawls, websites = Crawls(plugin), Websites(plugin.required["content"])
    flawed = {**good_site(), "/bees": page("/bees", "/", "/gone", replace={"<h1>The bees</h1>": ""})}
    with serving(flawed) as leaves, serving(flawed) as stays:
        disconnected = await connected(plugin, leaves.origin)
        remaining = await connected(plugin, stays.origin, "u_eve")
        for user_id, website in (("u_ada", disconnected), ("u_eve", remaining)):
            row, _ = await crawls.request(user_id, website, "free")
            assert (await work(plugin, "seo.crawl", row))["status"] == "finished"
            async with plugin.services.database.writing() as session:
                session.add(_mark(user_id, website.id))
    tables = (CrawlRow, CrawledPageRow, LinkRow, FindingRow, MarkRow)
    counts = [await stored(plugin, table) for table in tables]
    assert all(number >= 2 for number in counts), counts

    assert await work(plugin, "seo.tidy") == {"forgotten": 0}
    assert [await stored(plugin, table) for table in tables] == counts
    await websites.disconnect("u_ada", disconnected.id)
    assert await work(plugin, "seo.tidy") == {"forgotten": 1}
    assert [await stored(plugin, table) for table in tables] == [number // 2 for number in counts]
    assert await crawls.newest("u_ada", disconnected.id) is None
    assert await crawls.newest("u_eve", remaining.id) is not None
    assert await work(plugin, "seo.tidy") == {"forgotten": 0}


async def test_a_limited_number_of_reports_is_kept_with_details_of_the_newest(
    config: dict[str, Any], tmp_path: Path
) -> None:
    config["plugins"]["seo"]["config"]["kept_reports"] = 2
    async with world(settings_for_test(config, tmp_path)) as plugin:
        crawls = Crawls(plugin)
        with serving(good_site()) as site:
            website = await connected(plugin, site.origin)
            rows = []
            for _ in range(4):
                rows.append((await crawls.request("u_ada", website, "free"))[0])
                assert (await work(plugin, "seo.crawl", rows[-1]))["status"] == "finished"
                failed, _ = await crawls.request("u_ada", website, "free")
                await crawls.fail(failed.id, "It broke off.")
        history = await crawls.history("u_ada", website.id, 10)
        assert [row.id for row in history] == [rows[3].id, rows[2].id]
        assert await stored(plugin, CrawledPageRow) == 4, "the pages of one crawl"


def _mark(user_id: str, website_id: str) -> MarkRow:
    return MarkRow(
        user_id=user_id,
        website_id=website_id,
        issue_id="i_1",
        check_id="h1_missing",
        status="ignored",
        updated_at=datetime.now(UTC),
    )
