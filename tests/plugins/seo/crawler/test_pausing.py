"""Pausing: a crawl that has to wait pauses, and another one resumes it without repeating requests."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from pressroom_seo.crawler.engine import Crawl, CrawlPlan
from pressroom_seo.crawler.http_client import Politeness
from pressroom_seo.crawler.records import LinkRecord, PageRecord
from pressroom_seo.crawler.survey import SiteFacts
from support.origins import Visit

from .sites import Handler, Reply, Site, TestClock, World, crawl, good_site, plain

PATIENCE = 5.0


class Resumed:
    """A crawl resumed over many attempts, each of which behaves like a new process."""

    def __init__(self, clock: TestClock, **plan: Any) -> None:
        self.clock = clock
        self.plan = {"patience": PATIENCE, **plan}
        self.pages: list[PageRecord] = []
        self.links: list[LinkRecord] = []
        self.pauses: list[float] = []
        self.state = ""

    async def run(self, world: World, site: Site, politeness: Politeness) -> SiteFacts:
        while True:
            facts = await self._attempt(world, site, politeness)
            if facts.stopped != "paused":
                return facts
            self.pauses.append(facts.retry_after)
            assert len(self.pauses) < 500
            self.clock.now += facts.retry_after

    async def _attempt(self, world: World, site: Site, politeness: Politeness) -> SiteFacts:
        async def page(record: PageRecord) -> None:
            self.pages.append(record)

        async def link(record: LinkRecord) -> None:
            self.links.append(record)

        async def checkpoint(state: dict[str, Any]) -> None:
            self.state = json.dumps(state)

        async with world.fetcher(site) as fetcher:
            return await Crawl(
                fetcher,
                CrawlPlan(site.url(), 200, politeness, **self.plan),
                page=page,
                link=link,
                checkpoint=checkpoint,
                state=json.loads(self.state) if self.state else None,
                clock=self.clock,
            ).run()


@pytest.mark.parametrize("connections", [1, 2])
async def test_a_site_that_demands_a_minute_between_requests(world: World, connections: int) -> None:
    clock = TestClock()
    pages = good_site()
    pages["/robots.txt"] = plain("User-agent: *\nCrawl-delay: 60\nSitemap: /sitemap.xml\n")
    resumed = Resumed(clock)
    async with world.site(pages, clock=clock) as site:
        facts = await resumed.run(world, site, Politeness(connections=connections))
        times = list(site.times)
        uninterrupted = await crawl(world, site, politeness=Politeness(connections=connections))
    assert all(seconds <= PATIENCE for seconds in clock.slept), "nobody slept for longer than the crawl's patience"
    assert [round(later - earlier) for (_, earlier), (_, later) in pairwise(times[1:])] == [60] * (len(times) - 2)
    paths = [path for path, _ in times]
    assert len(paths) == len(set(paths)), "nothing was asked twice"
    assert sorted(page.url for page in resumed.pages) == sorted(site.url(path) for path in uninterrupted.pages)
    assert (facts.complete, facts.pages, facts.listed) == (True, uninterrupted.facts.pages, uninterrupted.facts.listed)
    assert (facts.sitemaps, facts.missing, facts.llms) == (
        uninterrupted.facts.sitemaps,
        uninterrupted.facts.missing,
        uninterrupted.facts.llms,
    )
    assert facts.robots.text == uninterrupted.facts.robots.text


@pytest.mark.parametrize("path", ["/robots.txt", "/sitemap.xml", "/bees"])
async def test_a_page_that_is_temporarily_busy_is_fetched_again_later(world: World, path: str) -> None:
    times: list[float] = []
    clock = TestClock()
    pages: dict[str, Reply | Handler] = {**good_site()}
    reply = pages[path]

    async def busy_twice(visit: Visit) -> None:
        times.append(clock.now)
        if len(times) <= 2:
            await visit.respond(b"", "Retry-After: 120", status="503 Service Unavailable")
        else:
            assert isinstance(reply, Reply)
            content, headers = reply.content(site.origin)
            await visit.respond(content, *(f"{name}: {value}" for name, value in headers.items()))

    pages[path] = busy_twice
    resumed = Resumed(clock)
    async with world.site(pages, clock=clock) as site:
        facts = await resumed.run(world, site, Politeness.own_site())
    assert resumed.pauses == [120.0, 120.0]
    assert (facts.complete, facts.pages, facts.listed_whole) == (True, 4, True)
    assert not facts.robots.unreachable


async def test_a_page_that_stays_busy_does_not_delay_the_crawl_for_ever(world: World) -> None:
    pages: dict[str, Reply | Handler] = {**good_site()}

    async def busy(visit: Visit) -> None:
        await visit.respond(b"", "Retry-After: 299", status="503 Service Unavailable")

    pages["/bees"] = busy
    resumed = Resumed(TestClock())
    async with world.site(pages) as site:
        facts = await resumed.run(world, site, Politeness.own_site())
    assert resumed.pauses == [299.0, 299.0]
    assert {page.url: page.status for page in resumed.pages}[site.url("/bees")] == 503
    assert facts.pages == 4


async def test_a_long_crawl_gives_others_their_turn(world: World) -> None:
    clock = TestClock()
    resumed = Resumed(clock, turn=3.0)
    async with world.site(good_site(), clock=clock) as site:
        facts = await resumed.run(world, site, Politeness(connections=1))
        paths = list(site.seen)
    assert resumed.pauses
    assert all(pause <= 1.0 for pause in resumed.pauses)
    assert (facts.complete, facts.pages) == (True, 4)
    assert len(paths) == len(set(paths)), "nothing was asked twice"
