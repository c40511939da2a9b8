"""What a crawler asks of a site besides its pages: robots.txt, sitemaps, llms.txt, a few addresses that tell much."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from pressroom_seo.crawler.llms_txt import LARGEST as LARGEST_LLMS_TXT
from pressroom_seo.crawler.llms_txt import LlmsTxt, read_llms_txt
from pressroom_seo.crawler.robots import Robots
from pressroom_seo.crawler.sitemaps import MOST_URLS, Kind, Sitemap, read_sitemap
from pressroom_seo.crawler.urls import Site, host_of, normalise
from pressroom_seo.crawler.visiting import ANYTHING, Answer, Visitor

SEARCH_ENGINE: Final = "Googlebot"
_XML: Final = "application/xml, text/xml, text/plain;q=0.8, */*;q=0.5"
_IMPOSSIBLE: Final = "/pressroom-looks-for-a-page-that-is-not-there"
_MOST_FILES = 50
_DEEPEST_INDEX = 3
_SAMPLES = 10


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """One sitemap, as it was found."""

    url: str
    status: int
    kind: Kind
    count: int
    problem: str = ""
    too_large: bool = False
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Probe:
    """The answer to an address that is asked for what the answer tells."""

    url: str
    status: int
    location: str = ""


@dataclass(slots=True)
class SiteFacts:
    """What is known of a site as a whole."""

    site: Site
    robots: Robots
    surveyed: bool = False
    """Whether more than robots.txt was asked for: a host may forbid it, or ask for too long a pause."""

    sitemaps: list[SitemapFile] = field(default_factory=list)
    listed: dict[str, str] = field(default_factory=dict)
    """The site's addresses in its sitemaps, with their `lastmod`."""

    listed_whole: bool = True
    """Whether these are all: sitemaps may be damaged, too large or too many."""

    foreign: list[str] = field(default_factory=list)
    """Addresses of other hosts in the sitemaps; samples."""

    bad_dates: list[str] = field(default_factory=list)
    """Addresses whose `lastmod` is no date, or one that has not come yet; samples."""

    missing: Probe | None = None
    """What the site answers to an address that cannot exist."""

    plain: Probe | None = None
    """What it answers to plain http."""

    other_host: Probe | None = None
    """What it answers by its name with `www.`, or without where it has that."""

    llms: LlmsTxt | None = None
    llms_status: int = 0
    pages: int = 0
    """How many addresses were asked for."""

    complete: bool = True
    """Whether every page that could be found was asked for."""

    stopped: str = ""
    """Why the crawl ended before its time: `crawl_delay` or `busy`; empty where it did not."""

    retry_after: float = 0.0
    """Seconds after which a crawl that the host was too busy for may go on."""

    refused: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    """By their reason: how many addresses the frontier refused, and samples of them."""


async def survey(
    visitor: Visitor, site: Site, *, now: float, most_urls: int, plain_url: str | None = None
) -> SiteFacts:
    """Return what is known of a site before its pages are read.

    Args:
        visitor: what asks.
        site: the site.
        now: the time, for dates that have not come yet.
        most_urls: how many addresses of sitemaps are kept.
        plain_url: the site's first page by plain http; left out, none is asked for where the site has a port.
    """
    robots = await visitor.robots(site.origin)
    facts = SiteFacts(site, robots)
    if visitor.delays(robots, site.origin):
        facts.stopped, facts.complete = "crawl_delay", False
        return facts
    if robots.unreachable:
        return facts
    facts.surveyed = True
    await _read_sitemaps(visitor, facts, now=now, most_urls=min(most_urls, MOST_URLS))
    facts.missing = await _probe(visitor, robots, f"{site.origin}{_IMPOSSIBLE}")
    usual = ":" not in host_of(site.origin)
    if plain_url is None and usual and site.origin.startswith("https:"):
        plain_url = f"http://{host_of(site.origin)}/"
    if plain_url is not None:
        facts.plain = await _probe(visitor, robots, plain_url)
    if usual:
        facts.other_host = await _probe(visitor, robots, f"https://{_other(host_of(site.origin))}/")
    llms_url = f"{site.origin}/llms.txt"
    if robots.allows(llms_url):
        answer = await visitor.visit(
            llms_url, accept="text/markdown, text/plain, */*;q=0.5", max_bytes=LARGEST_LLMS_TXT
        )
        facts.llms_status = answer.status
        if answer.status == 200 and answer.media_type != "text/html":
            facts.llms = read_llms_txt(answer.content, llms_url)
    return facts


def _other(host: str) -> str:
    return host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"


async def _probe(visitor: Visitor, robots: Robots, url: str) -> Probe | None:
    if not robots.allows(url):
        return None
    answer = await visitor.visit(url, accept=ANYTHING, max_bytes=65_536)
    return None if answer.failure else Probe(url, answer.status, answer.location or "")


async def _read_sitemaps(visitor: Visitor, facts: SiteFacts, *, now: float, most_urls: int) -> None:
    """Read the sitemaps that robots.txt names, or the usual one, and those that an index names."""
    named = [url for url in (normalise(text, facts.site.home) for text in facts.robots.sitemaps) if url is not None]
    waiting = deque((url, 0) for url in dict.fromkeys(named or [f"{facts.site.home}sitemap.xml"]))
    seen = {url for url, _ in waiting}
    while waiting and len(facts.sitemaps) < _MOST_FILES and len(facts.listed) < most_urls:
        url, depth = waiting.popleft()
        answer = await _sitemap_answer(visitor, url)
        if answer is None:
            continue
        if answer.status != 200:
            facts.sitemaps.append(SitemapFile(url, answer.status, "unknown", 0, answer.message))
            continue
        sitemap = read_sitemap(answer.url, answer.content, whole=answer.whole, most_urls=MOST_URLS)
        facts.sitemaps.append(_file(url, answer, sitemap))
        if sitemap.kind == "index":
            new = [entry.url for entry in sitemap.entries if entry.url not in seen and depth < _DEEPEST_INDEX]
            seen.update(new)
            waiting.extend((one, depth + 1) for one in new)
        else:
            _take(facts, sitemap, now=now, most_urls=most_urls)
    damaged = any(one.problem or one.too_large for one in facts.sitemaps)
    facts.listed_whole = not (waiting or damaged or len(facts.listed) >= most_urls)


async def _sitemap_answer(visitor: Visitor, url: str) -> Answer | None:
    if not await visitor.allowed(url):
        return None
    return (await visitor.follow(url, accept=_XML))[-1]


def _file(url: str, answer: Answer, sitemap: Sitemap) -> SitemapFile:
    return SitemapFile(
        url,
        answer.status,
        sitemap.kind,
        len(sitemap.entries),
        sitemap.problem,
        sitemap.too_large,
        sitemap.unreadable,
    )


def _take(facts: SiteFacts, sitemap: Sitemap, *, now: float, most_urls: int) -> None:
    for entry in sitemap.entries:
        if not facts.site.is_host_of(entry.url):
            if len(facts.foreign) < _SAMPLES:
                facts.foreign.append(entry.url)
        elif facts.site.contains(entry.url) and len(facts.listed) < most_urls:
            facts.listed.setdefault(entry.url, entry.lastmod)
        if entry.lastmod and len(facts.bad_dates) < _SAMPLES and not _is_past(entry.lastmod, now):
            facts.bad_dates.append(entry.url)


def _is_past(written: str, now: float) -> bool:
    """Return whether a date of W3C's profile of ISO 8601 can be read and has come; a day's difference is allowed."""
    text = written if len(written) > 7 else f"{written}-01" if len(written) == 7 else f"{written}-01-01"
    try:
        at = datetime.fromisoformat(text)
        return at.timestamp() <= now + 86_400
    except (ValueError, OverflowError):
        return False
