"""A site of a thousand pages: all are read, none is kept in memory, and a killed crawl resumes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pressroom_seo.crawler.engine import Crawl, CrawlPlan
from pressroom_seo.crawler.frontier import Limits
from pressroom_seo.crawler.http_client import Politeness
from pressroom_seo.crawler.records import LinkRecord, PageRecord, page_from_json, to_json
from pressroom_seo.site_checks.report import SiteReport, trend
from support.origins import Visit

from .sites import Handler, Reply, Site, TestClock, World, good_site, page, sitemap

PAGES = 1000
PADDING = "<!-- " + "x" * 60_000 + " -->"
"""Makes pages large, so that retained ones show up in memory use."""


def thousand() -> dict[str, Reply | Handler]:
    paths = [f"/section-{number % 10}/page-{number}" for number in range(PAGES - 1)]
    links = {path: paths[10 * number + 1 : 10 * number + 11] for number, path in enumerate(paths)}
    pages: dict[str, Reply | Handler] = {path: page(path, "/", *links[path], body=PADDING) for path in paths}
    return {**good_site(), **pages, "/": page("/", *paths[:11]), "/sitemap.xml": sitemap("/", *paths)}


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    fields = Path("/proc/self/statm").read_text("ascii").split()
    return int(fields[1]) * 4096


async def nothing(*_: Any) -> None:
    pass


async def test_a_thousand_pages_with_all_checks_and_flat_memory(world: World) -> None:
    memory: dict[int, int] = {}
    progress: list[float] = []
    async with world.site(thousand(), secure=False) as site, world.fetcher(site) as fetcher:
        report = SiteReport(site.url())
        count = 0

        async def take(record: PageRecord) -> None:
            nonlocal count
            report.add_page(record)
            count += 1
            if count in (300, PAGES):
                memory[count] = resident()

        async def on_progress(fraction: float, message: str) -> None:
            progress.append(fraction)
            assert message

        async def take_link(record: LinkRecord) -> None:
            report.add_link(record)

        plan = CrawlPlan(site.url(), 5000, Politeness.own_site())
        crawl = Crawl(fetcher, plan, page=take, link=take_link, progress=on_progress)
        facts = await crawl.run()
        check_ids = {issue.check_id for issue in report.finish(facts)}
    summary = report.summary()
    assert facts.complete
    assert summary.pages == PAGES
    assert "orphan_page" not in check_ids
    assert "crawl_trap" not in check_ids
    assert {issue.check_id: issue.count for issue in summary.issues}["not_https"] == PAGES
    assert len(next(issue for issue in summary.issues if issue.check_id == "not_https").sample_urls) == 10
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    assert 20 < len(progress) < 110
    # The pages between these two measurements would take 42 MB.
    assert memory[PAGES] - memory[300] < 16_000_000


async def test_the_page_cap_ends_a_crawl(world: World) -> None:
    async with world.site(thousand(), secure=False) as site, world.fetcher(site) as fetcher:
        facts = await Crawl(fetcher, CrawlPlan(site.url(), 40, Politeness.own_site()), page=nothing).run()
        paths = [path for path in site.seen if path == "/" or path.startswith("/section-")]
    assert facts.pages == len(paths) == 40
    assert not facts.complete


class Killed(Exception):
    """Simulates the end of the process."""


def small() -> dict[str, Reply | Handler]:
    paths = [f"/page-{number}" for number in range(180)]
    chain = {path: page(path, "/", *paths[3 * at + 1 : 3 * at + 4]) for at, path in enumerate(paths)}
    return {**good_site(), **chain, "/": page("/", "/page-0", "/bees", "/wood", "/clay")}


class Store:
    """A plugin's tables: records by URL, and the last checkpoint, as JSON."""

    def __init__(self, die_after: int | None = None) -> None:
        self.pages: dict[str, str] = {}
        self.state: str | None = None
        self.die_after = die_after
        self.taken = 0

    async def page(self, record: PageRecord) -> None:
        self.taken += 1
        if self.taken == self.die_after:
            raise Killed
        self.pages[record.url] = json.dumps(to_json(record))

    async def checkpoint(self, state: dict[str, Any]) -> None:
        self.state = json.dumps(state)

    async def crawl(self, world: World, site: Site) -> Any:
        state = json.loads(self.state) if self.state else None
        async with world.fetcher(site) as fetcher:
            plan = CrawlPlan(site.url(), 500, Politeness.own_site(), limits=Limits(500))
            crawl = Crawl(fetcher, plan, page=self.page, checkpoint=self.checkpoint, state=state, clock=TestClock())
            return await crawl.run()


@pytest.mark.parametrize("dies_at", [120, 30])
async def test_a_killed_crawl_resumes(world: World, dies_at: int) -> None:
    store = Store(die_after=dies_at)
    async with world.site(small(), secure=False) as site:
        with pytest.raises(Killed):
            await store.crawl(world, site)
        before = len(site.seen)
        store.die_after = None
        facts = await store.crawl(world, site)
        uninterrupted = Store()
        await uninterrupted.crawl(world, site)
    assert store.pages.keys() == uninterrupted.pages.keys()
    assert facts.complete
    assert facts.pages == 184
    if dies_at == 120:
        assert before > 100
        assert store.taken - 184 <= 50 + 8, "no more is read again than since the last checkpoint"
    report = SiteReport(site.url())
    for text in store.pages.values():
        report.add_page(page_from_json(json.loads(text)))
    check_ids = {issue.check_id for issue in report.finish(facts)}
    assert "broken_link" not in check_ids
    assert report.summary().pages == 184


async def test_a_crawl_that_is_cancelled_leaves_nothing_behind(world: World) -> None:
    reached = asyncio.Event()

    async def take(_record: PageRecord) -> None:
        reached.set()

    async with world.site(small(), secure=False) as site, world.fetcher(site) as fetcher:
        running = asyncio.create_task(
            Crawl(fetcher, CrawlPlan(site.url(), 500, Politeness.own_site()), page=take).run()
        )
        await reached.wait()
        before = asyncio.all_tasks()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert running in before
        remaining = [task for task in asyncio.all_tasks() if "pressroom_seo" in repr(task)]
        assert remaining == []


async def test_concurrent_crawls_do_not_mix(world: World) -> None:
    first, second = Store(), Store()
    async with world.site(small(), secure=False) as first_site, world.site(good_site()) as second_site:
        facts = await asyncio.gather(first.crawl(world, first_site), second.crawl(world, second_site))
        assert [crawled.pages for crawled in facts] == [184, 4]
        assert all(url.startswith(second_site.origin) for url in second.pages)


@pytest.mark.parametrize("state", [{"version": 0}, {"version": 1, "start": "https://other.example.net/"}])
async def test_a_checkpoint_of_another_crawl_is_refused(world: World, state: dict[str, Any]) -> None:
    async with world.site(good_site()) as site, world.fetcher(site) as fetcher:
        with pytest.raises(ValueError, match="checkpoint"):
            Crawl(fetcher, CrawlPlan(site.url(), 10), page=nothing, state=state)
        with pytest.raises(ValueError, match="normalised"):
            Crawl(fetcher, CrawlPlan("example.org", 10), page=nothing)


async def test_a_later_report_says_what_changed(world: World) -> None:
    def report_of(records: list[PageRecord], facts: Any, start: str) -> Any:
        report = SiteReport(start)
        for record in records:
            report.add_page(record)
        list(report.finish(facts))
        return report.summary()

    crawled_pages: list[PageRecord] = []

    async def take(record: PageRecord) -> None:
        crawled_pages.append(record)

    pages = good_site()
    async with world.site(pages) as site, world.fetcher(site) as fetcher:
        plan = CrawlPlan(site.url(), 50, Politeness.own_site())
        pages["/bees"] = page("/bees", "/", replace={' lang="en"': "", "<h1>The bees</h1>": ""})
        first = report_of(crawled_pages, await Crawl(fetcher, plan, page=take, clock=TestClock()).run(), site.url())
        crawled_pages.clear()
        pages["/bees"] = page("/bees", "/", replace={'name="twitter:card"': "x"})
        second = report_of(crawled_pages, await Crawl(fetcher, plan, page=take, clock=TestClock()).run(), site.url())
    changed = trend(first.counts(), first.score, second)
    assert changed["new"] == ["twitter_card_missing"]
    assert changed["fixed"] == ["h1_missing", "language_missing"]
    assert changed["score"] == second.score - first.score > 0
    assert json.dumps(changed)


async def test_a_crawl_that_a_busy_host_interrupted_resumes_later(world: World) -> None:
    targets: list[str] = []

    async def busy_at_first(visit: Visit) -> None:
        targets.append(visit.target)
        if len(targets) == 1:
            await visit.respond(b"", "Retry-After: 7200", status="503 Service Unavailable")
        else:
            await visit.respond(b"<title>Bees</title>", "Content-Type: text/html")

    store = Store()
    async with world.site({**good_site(), "/bees": busy_at_first}, secure=False) as site:
        facts = await store.crawl(world, site)
        assert (facts.stopped, facts.retry_after) == ("busy", 7200.0)
        assert site.url("/bees") not in store.pages
        facts = await store.crawl(world, site)
        assert (facts.stopped, facts.complete, facts.pages) == ("", True, 4)
        assert site.url("/bees") in store.pages
