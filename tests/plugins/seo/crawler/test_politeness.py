"""Crawler politeness as a server observes it. The clock is simulated, so nothing waits."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from pressroom_seo.crawler.http_client import Politeness, Visitor, retry_after
from support.origins import Visit

from .sites import Handler, Reply, TestClock, World, crawl, good_site, page, plain

ONE_BY_ONE = Politeness(connections=1)


def gaps(times: list[tuple[str, float]]) -> list[float]:
    return [round(later - earlier, 3) for (_, earlier), (_, later) in pairwise(times)]


async def test_one_request_a_second(world: World) -> None:
    clock = TestClock()
    async with world.site(good_site(), clock=clock) as site:
        await crawl(world, site, clock=clock, politeness=ONE_BY_ONE)
    assert len(site.times) > 8
    assert set(gaps(site.times)) == {1.0}


async def test_at_most_two_connections(world: World) -> None:
    async with world.site(good_site()) as site:
        await crawl(world, site, politeness=Politeness())
    assert site.most_at_once <= 2
    assert Politeness() == Politeness(interval=1.0, connections=2)


async def test_the_owner_of_a_site_may_request_more(world: World) -> None:
    clock = TestClock()
    pages = good_site()
    pages["/robots.txt"] = plain("User-agent: *\nCrawl-delay: 10\nDisallow: /wood\n")
    async with world.site(pages, clock=clock) as site:
        await crawl(world, site, clock=clock, politeness=Politeness.own_site())
    assert clock.slept == []
    assert "/wood" not in site.seen, "what is disallowed stays so"


async def test_crawl_delay_is_obeyed(world: World) -> None:
    clock = TestClock()
    pages = good_site()
    pages["/robots.txt"] = plain("User-agent: other\nCrawl-delay: 50\n\nUser-agent: Pressroom\nCrawl-delay: 7.5\n")
    async with world.site(pages, clock=clock) as site:
        await crawl(world, site, clock=clock, politeness=ONE_BY_ONE)
    assert site.seen[0] == "/robots.txt"
    assert set(gaps(site.times)[1:]) == {7.5}


async def test_a_crawl_delay_that_is_too_long_means_no_crawl(world: World) -> None:
    clock = TestClock()
    pages = good_site()
    pages["/robots.txt"] = plain("User-agent: *\nCrawl-delay: 86400\n")
    async with world.site(pages, clock=clock) as site:
        crawled = await crawl(world, site, clock=clock, politeness=ONE_BY_ONE)
    assert crawled.facts.stopped == "crawl_delay"
    assert site.seen == ["/robots.txt"]
    assert crawled.found() == {"crawl_delay_too_long"}
    assert crawled.report.summary().score == 0


async def test_robots_rules_are_obeyed(world: World) -> None:
    pages: dict[str, Reply | Handler] = {
        **good_site(),
        "/": page("/", "/bees", "/private/a", "/private/open/b", "/wood?sort=1", "/clay"),
        "/robots.txt": plain(
            "User-agent: *\nDisallow: /clay\n\nUser-agent: PRESSROOM\n"
            "Disallow: /private/\nAllow: /private/open/\nDisallow: /*?sort=\n"
        ),
        "/private/open/b": page("/private/open/b", "/"),
    }
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
    assert "/private/a" not in site.seen
    assert "/wood?sort=1" not in site.seen
    assert {"/private/open/b", "/clay"} <= set(site.seen)
    assert crawled.pages["/private/a"].failure == "disallowed"


@pytest.mark.parametrize("other", ["Crawl-delay: 1", "Noindex: /x", "Sitemap: https://example.org/sitemap.xml"])
async def test_other_fields_do_not_end_the_list_of_user_agents(world: World, other: str) -> None:
    pages: dict[str, Reply | Handler] = {
        **good_site(),
        "/robots.txt": plain(f"User-agent: Pressroom\n{other}\nUser-agent: other\nDisallow: /wood\n"),
    }
    async with world.site(pages) as site:
        await crawl(world, site)
    assert "/wood" not in site.seen
    assert "/bees" in site.seen


@pytest.mark.parametrize(
    ("status", "reads"),
    [("404 Not Found", True), ("403 Forbidden", True), ("503 Busy", False), ("429 Too Many Requests", False)],
)
async def test_missing_robots_txt(world: World, status: str, *, reads: bool) -> None:
    pages = {**good_site(), "/robots.txt": plain("", status=status)}
    async with world.site(pages) as site:
        crawled = await crawl(world, site)
    assert ("/bees" in site.seen) is reads
    assert ("robots_txt_failing" in crawled.found()) is not reads


async def test_robots_behind_a_redirect(world: World) -> None:
    pages = {
        **good_site(),
        "/robots.txt": Reply("", "301 Moved Permanently", {"Location": "/rules.txt"}),
        "/rules.txt": plain("User-agent: *\nDisallow: /bees\n"),
    }
    async with world.site(pages) as site:
        await crawl(world, site)
    assert "/bees" not in site.seen


async def test_every_host_of_a_site_has_its_own_rules(world: World) -> None:
    async def rules(visit: Visit) -> None:
        bare = (visit.header("Host") or "").startswith("example.org")
        await visit.respond(b"User-agent: *\nDisallow: /bees" if bare else b"User-agent: *\nDisallow:")

    pages = {**good_site(), "/robots.txt": rules}
    async with world.site(pages) as site:
        bare = site.origin.replace("www.", "")
        pages["/"] = page("/", "/bees", f"{bare}/bees", f"{bare}/wood")
        site.pages = pages
        crawled = await crawl(world, site)
        assert crawled.pages["/bees"].status == 200
        assert crawled.pages[f"{bare}/bees"].failure == "disallowed"
        assert crawled.pages[f"{bare}/wood"].status == 200


async def test_a_caller_that_gives_up_does_not_deprive_others_of_the_rules(world: World) -> None:
    requested = asyncio.Event()

    async def rules(visit: Visit) -> None:
        if not requested.is_set():
            requested.set()
            await visit.until_left()
        await visit.respond(b"User-agent: *\nDisallow: /bees")

    async with world.site({**good_site(), "/robots.txt": rules}) as site, world.fetcher(site) as fetcher:
        visitor = Visitor(fetcher, clock=TestClock())
        cancelled, other = (asyncio.ensure_future(visitor.allowed(site.url("/bees"))) for _ in range(2))
        await requested.wait()
        cancelled.cancel()
        assert not await other
        assert await visitor.allowed(site.url("/wood"))


def busy_once(path: str, status: str, retry_after: str | None) -> Handler:
    targets: list[str] = []

    async def reply(visit: Visit) -> None:
        targets.append(visit.target)
        if len(targets) == 1:
            headers = [f"Retry-After: {retry_after}"] if retry_after else []
            await visit.respond(b"", *headers, status=status)
        else:
            content, headers_ = page(path, "/").content("")
            await visit.respond(content, *(f"{name}: {value}" for name, value in headers_.items()))

    return reply


@pytest.mark.parametrize(
    ("status", "after", "seconds"),
    [
        ("429 Too Many Requests", "30", 30.0),
        ("503 Service Unavailable", "120", 120.0),
        ("503 Service Unavailable", None, 5.0),
        ("429 Too Many Requests", "soon", 5.0),
    ],
)
async def test_retry_after_is_obeyed(world: World, status: str, after: str | None, seconds: float) -> None:
    clock = TestClock()
    pages = {**good_site(), "/bees": busy_once("/bees", status, after)}
    async with world.site(pages, clock=clock) as site:
        crawled = await crawl(world, site, clock=clock, politeness=ONE_BY_ONE)
    first, second = (at for path, at in site.times if path == "/bees")
    assert second - first == pytest.approx(seconds)
    between = [path for path, at in site.times if first < at < second]
    assert not between, "the host is left alone, whatever is asked for"
    assert crawled.pages["/bees"].status == 200


async def test_a_host_that_is_busy_for_hours_ends_the_crawl_for_now(world: World) -> None:
    clock = TestClock()
    pages = {**good_site(), "/bees": busy_once("/bees", "503 Service Unavailable", "7200")}
    async with world.site(pages, clock=clock) as site:
        crawled = await crawl(world, site, clock=clock, politeness=ONE_BY_ONE)
    assert (crawled.facts.stopped, crawled.facts.retry_after) == ("busy", 7200.0)
    assert "/bees" not in crawled.pages
    assert not crawled.facts.complete


async def test_a_host_that_stays_busy_is_tried_three_times(world: World) -> None:
    async def busy(visit: Visit) -> None:
        await visit.respond(b"", status="503 Service Unavailable")

    clock = TestClock()
    async with world.site({**good_site(), "/bees": busy}, clock=clock) as site:
        crawled = await crawl(world, site, clock=clock, politeness=ONE_BY_ONE)
    assert site.seen.count("/bees") == 3
    assert crawled.pages["/bees"].status == 503


def test_dates_are_read_in_retry_after() -> None:
    clock = TestClock()
    clock.now = 0.0
    # 1,795,000,000 seconds after 1970 it is 2026-11-18 11:06:40 UTC.
    assert retry_after("Wed, 18 Nov 2026 11:08:20 GMT", clock) == 100.0
    assert retry_after("Wed, 18 Nov 2020 00:00:00 GMT", clock) == 0.0
    assert retry_after("120", clock) == 120.0
    for nonsense in ("", "soon", "-5", "1.5", "٣", "Wed, 99 Foo 2026"):
        assert retry_after(nonsense, clock) is None


def test_the_tests_of_this_file_never_wait() -> None:
    assert "asyncio." + "sleep" not in Path(__file__).read_text("utf-8")
