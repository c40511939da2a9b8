"""Site responses cannot stop the server: worker processes parse them, in time proportional to their size."""

from __future__ import annotations

import asyncio
import gzip
import os
from collections.abc import AsyncIterator, Callable

import pytest
from pressroom.config.models import ExecutorsSettings
from pressroom.pipeline.executors.workers import WorkerPool
from pressroom_seo.crawler import records as responses
from pressroom_seo.crawler import robots, site_files, site_reader
from pressroom_seo.crawler.records import CrawlResponse
from pressroom_seo.crawler.robots import Robots
from pressroom_seo.crawler.site_files import read_sitemap
from pressroom_seo.crawler.site_reader import SiteReader
from pressroom_seo.urls import SiteScope, normalise
from support.growth import grows

SITE = "https://site.example"
HTML = (("content-type", "text/html"),)


def _groups(size: int) -> bytes:
    """Return a robots.txt with one group of many names and many rules."""
    names = b"".join(b"User-agent: a%d\n" % number for number in range(size // 40))
    return names + b"allow:/a\n" * (size // 20)


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "a group of many names and many rules": _groups,
    "wildcards in one rule": lambda size: b"User-agent: *\nDisallow: /" + b"*a" * (size // 2),
    "rules with wildcards": lambda size: b"User-agent: *\n" + b"".join(
        b"Disallow: /%d*a*b*c$\n" % number for number in range(size // 20)
    ),
    "words": lambda size: b"a " * (size // 2),
    "one line": lambda size: b"User-agent: *\nallow:" + b" %" * (size // 2),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_robots_txt_cannot_block_the_server(name: str) -> None:
    def read(content: bytes) -> None:
        Robots.read(200, content).allows(f"{SITE}/{'a' * 500}b")

    grown = grows(read, HOSTILE[name], 40_000)
    assert not grown, grown


def test_rules_are_those_of_the_longest_pattern_of_the_crawlers_own_groups() -> None:
    text = (
        b"User-agent: other\nUser-agent: pressroom/1.0\nDisallow: /a\nAllow: /a/*.html$\n\nUser-agent: *\nDisallow: /\n"
        b"user-agent: PRESSROOM\nDisallow: /caf%c3%a9\nCrawl-delay: 3\nSitemap: /one.xml\n"
    )
    rules = Robots.read(200, text)
    allowed = [
        rules.allows(f"{SITE}{path}") for path in ("/", "/a", "/a/b.html", "/a/b.html?c", "/café", "/robots.txt")
    ]
    assert allowed == [True, False, True, False, False, True]
    assert (rules.crawl_delay, rules.sitemaps) == (3, ["/one.xml"])
    assert not rules.allows_search_engine(f"{SITE}/b")


@pytest.fixture
async def reader() -> AsyncIterator[SiteReader]:
    workers = WorkerPool(ExecutorsSettings(plugin_processes=1, niceness=0))
    yield SiteReader(workers, "u_1")
    await workers.close()


async def test_no_response_of_a_site_is_parsed_in_the_server_itself(
    monkeypatch: pytest.MonkeyPatch, reader: SiteReader
) -> None:
    def here(*_: object, **__: object) -> None:
        raise AssertionError("it is read in the server")

    # The patches affect only this process.
    monkeypatch.setattr(responses, "read_page", here)
    monkeypatch.setattr(site_reader, "read_sitemap", here)
    monkeypatch.setattr(site_files, "normalise", here)
    monkeypatch.setattr(robots.RobotsRules, "read", here)
    page = await reader.page(CrawlResponse(f"{SITE}/a", 200, HTML, b"<title>A</title><p>a" * 10), 1)
    assert page.page is not None
    assert page.page.titles[0] == "A"
    url_list = gzip.compress(b"".join(b"%s/%d\n" % (SITE.encode(), number) for number in range(20_000)))
    sitemap = await reader.sitemap(
        CrawlResponse(f"{SITE}/sitemap.txt", 200, (), url_list), SiteScope.at(f"{SITE}/"), 0, 100
    )
    assert (sitemap.count, len(sitemap.listed)) == (20_000, 100)
    rules = await reader.robots(CrawlResponse(f"{SITE}/robots.txt", 200, (), _groups(40_000)))
    assert rules.allows(f"{SITE}/a")
    llms = await reader.llms_txt(CrawlResponse(f"{SITE}/llms.txt", 200, (), b"# A\n" + b"- [a](/b)\n" * 3_000))
    assert llms.title == "A"


class Ending(str):
    """A string that ends the process it is sent to, like a page that triggers a bug in a parser."""

    def __reduce__(self) -> tuple[Callable[[int], object], tuple[int]]:
        return os._exit, (1,)


async def test_a_page_that_kills_its_process_is_left_out_and_the_others_are_read(reader: SiteReader) -> None:
    responses = [
        CrawlResponse(f"{SITE}/{number}", 200, HTML, b"<title>A</title>", message=Ending() if number == 1 else "")
        for number in range(4)
    ]
    records = await asyncio.gather(*(reader.page(response, 1) for response in responses))
    assert [record.page is not None for record in records] == [True, False, True, True]
    assert records[1].message.startswith("the page could not be read")
    assert records[1].size == len(b"<title>A</title>")


async def test_an_abandoned_page_does_not_stop_the_others(reader: SiteReader) -> None:
    responses = [CrawlResponse(f"{SITE}/{number}", 200, HTML, b"<title>A</title>") for number in range(4)]
    first, given_up, *remaining = [asyncio.ensure_future(reader.page(response, 1)) for response in responses]
    await first  # the second one now has all the others read
    given_up.cancel()
    records = await asyncio.gather(*remaining)
    assert [record.url for record in records] == [f"{SITE}/2", f"{SITE}/3"]
    assert all(record.page is not None for record in records)


def test_a_list_of_urls_is_read_only_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    normalised: list[str] = []
    original = normalise

    def counted(url: str, base: str = "") -> str | None:
        normalised.append(url)
        return original(url, base)

    monkeypatch.setattr(site_files, "normalise", counted)
    sitemap = read_sitemap(f"{SITE}/sitemap.txt", b"a\n" * 100_000, most_urls=100)
    assert (len(sitemap.entries), sitemap.too_large, len(normalised)) == (100, True, 100)
