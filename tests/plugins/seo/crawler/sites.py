"""Local sites made by the tests, without faults except those a test adds."""

from __future__ import annotations

import gzip
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pressroom.fetch import GuardedFetcher
from pressroom_seo.crawler.engine import Crawl, CrawlPlan
from pressroom_seo.crawler.http_client import Clock, Politeness
from pressroom_seo.crawler.records import LinkRecord, PageRecord
from pressroom_seo.crawler.survey import SiteFacts
from pressroom_seo.site_checks.model import Issue
from pressroom_seo.site_checks.report import SiteReport
from support.origins import Authority, Origin, StubNames, Visit, origin

NAME = "www.example.org"
DEAF = 9
"""A port that fetchers may connect to and that nothing listens on."""

_WORDS = """
garden river stone bread window letter mountain yellow quiet market engine paper summer copper
forest teacher bridge candle harbour island kitchen ladder meadow needle orchard pencil quarry ribbon
saddle timber valley willow anchor basket cotton drawer feather guitar hammer jacket kettle lantern
mirror napkin oyster parcel
"""
WORDS = tuple(_WORDS.split())

SECURE = {
    "Strict-Transport-Security": "max-age=31536000",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
}
HTML = "text/html; charset=utf-8"


def text(seed: str, words: int = 150) -> str:
    """Return a text that depends on the seed."""
    return " ".join(random.Random(seed).choices(WORDS, k=words))


@dataclass
class Reply:
    """The response for a path; `{origin}` in the body stands for the site's own origin."""

    body: str | bytes = ""
    status: str = "200 OK"
    headers: dict[str, str] = field(default_factory=dict)
    zipped: bool = True

    def content(self, origin: str) -> tuple[bytes, dict[str, str]]:
        headers = {name: value.replace("{origin}", origin) for name, value in self.headers.items()}
        content = self.body.replace("{origin}", origin).encode() if isinstance(self.body, str) else self.body
        if self.zipped and len(content) > 500:
            content = gzip.compress(content, 1)
            headers["Content-Encoding"] = "gzip"
        return content, headers


Handler = Callable[[Visit], Awaitable[None]]


def page(path: str, *links: str, head: str = "", body: str = "", replace: Mapping[str, str] | None = None) -> Reply:
    """Return a page without faults, except those in the given parts."""
    name = path.strip("/").replace("/", " ") or "home"
    anchors = " ".join(f'<a href="{link}">All about {link.strip("/") or "home"}</a>' for link in links)
    words = text(name, 4)
    html = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A long story of the {name} and its making</title>
<meta name="description" content="What there is to know of the {name}, told from its beginning to its end, {words}">
<meta name="viewport" content="width=device-width"><link rel="icon" href="/favicon.svg">
<link rel="canonical" href="{{origin}}{path}">
<meta property="og:title" content="{name}"><meta property="og:type" content="article">
<meta property="og:url" content="{{origin}}{path}"><meta property="og:image" content="https://img.example.org/{name}.png">
<meta name="twitter:card" content="summary">
<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "WebPage", "name": "{name}"}}</script>
{head}</head><body><nav>{anchors}</nav><main><h1>The {name}</h1><p>{text(path)}</p>
<h2>More of it</h2><p><img src="/image.png" alt="An image" width="10" height="10">{body}</p></main></body></html>"""
    for old, new in (replace or {}).items():
        assert old in html, old
        html = html.replace(old, new)
    return Reply(html, headers={"Content-Type": HTML, **SECURE})


def plain(body: str, media_type: str = "text/plain", status: str = "200 OK", **headers: str) -> Reply:
    return Reply(body, status, {"Content-Type": media_type, **headers})


def redirect(to: str, status: str = "301 Moved Permanently") -> Reply:
    return Reply("", status, {"Location": to})


def sitemap(*paths: str, lastmod: str = "2026-01-01") -> Reply:
    rows = "".join(
        f"<url><loc>{path if '://' in path else '{origin}' + path}</loc><lastmod>{lastmod}</lastmod></url>"
        for path in paths
    )
    return plain(
        f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>',
        "application/xml",
    )


def good_site() -> dict[str, Reply | Handler]:
    """Return a small site without faults."""
    paths = ("/", "/bees", "/wood", "/clay")
    pages: dict[str, Reply | Handler] = {path: page(path, *paths) for path in paths}
    return {
        **pages,
        "/robots.txt": plain("User-agent: *\nDisallow: /private/\nSitemap: {origin}/sitemap.xml\n"),
        "/sitemap.xml": sitemap(*paths),
        "/llms.txt": plain(
            "# Example\n\n> About things.\n\n## Pages\n\n- [Bees]({origin}/bees): of bees\n", "text/markdown"
        ),
        "/image.png": Reply(b"\x89PNG", headers={"Content-Type": "image/png"}),
        "/favicon.svg": Reply("<svg/>", headers={"Content-Type": "image/svg+xml"}),
    }


class Site:
    """A running site. `seen` lists the requested paths in order."""

    def __init__(self, pages: Mapping[str, Reply | Handler], clock: Clock | None = None) -> None:
        self.pages = pages
        self.clock = clock
        self.seen: list[str] = []
        self.times: list[tuple[str, float]] = []
        self.at_once = 0
        self.most_at_once = 0
        self.running: Origin
        self.scheme = "https"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{NAME}:{self.running.port}"

    def url(self, path: str = "/") -> str:
        return f"{self.origin}{path}"

    async def reply(self, visit: Visit) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self._reply(visit)
        finally:
            self.at_once -= 1

    async def _reply(self, visit: Visit) -> None:
        path = visit.target
        self.seen.append(path)
        if self.clock is not None:
            self.times.append((path, self.clock.monotonic()))
        reply = self.pages.get(path) or self.pages.get("*")
        if reply is None:
            await visit.respond(b"<title>Not found</title>", f"Content-Type: {HTML}", status="404 Not Found")
        elif not isinstance(reply, Reply):
            await reply(visit)
        else:
            content, headers = reply.content(self.origin)
            lines = [f"{name}: {value}" for name, value in headers.items()]
            if visit.head.startswith("HEAD"):
                head = "\r\n".join([f"HTTP/1.1 {reply.status}", *lines, f"Content-Length: {len(content)}", "", ""])
                await visit.send(head.encode("latin-1"))
            else:
                await visit.respond(content, *lines, status=reply.status)


class World:
    """Runs sites, and creates fetchers that may access them."""

    def __init__(self, authority: Authority, tls: Any) -> None:
        self._authority = authority
        self._tls = tls

    @asynccontextmanager
    async def site(
        self, pages: Mapping[str, Reply | Handler], *, clock: Clock | None = None, secure: bool = True
    ) -> AsyncIterator[Site]:
        site = Site(pages, clock)
        site.scheme = "https" if secure else "http"
        async with origin(site.reply, self._tls if secure else None) as running:
            site.running = running
            yield site

    def fetcher(self, *sites: Site) -> GuardedFetcher:
        return GuardedFetcher(
            concurrency=16,
            tls=self._authority.client_context(),
            resolver=StubNames(["127.0.0.1"]),
            exempt=[("127.0.0.1", DEAF), *(("127.0.0.1", site.running.port) for site in sites)],
        )


class TestClock:
    """A clock whose sleeps advance it instead of waiting. Its dates are in November 2026."""

    __test__ = False

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return 1_795_000_000.0 + self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class Crawled:
    """The result of a crawl."""

    facts: SiteFacts
    report: SiteReport
    pages: dict[str, PageRecord]
    links: dict[str, LinkRecord]
    issues: list[Issue]
    progress: list[float]

    def found(self) -> set[str]:
        """Return the IDs of the checks with issues, except slow responses, which depend on the machine."""
        return {issue.check_id for issue in self.issues} - {"slow_answer"}

    def evidence(self, check_id: str) -> list[Mapping[str, Any]]:
        return [issue.evidence for issue in self.issues if issue.check_id == check_id]

    def urls(self, check_id: str) -> list[str]:
        return [issue.url for issue in self.issues if issue.check_id == check_id]


OWN = Politeness.own_site()


async def crawl(
    world: World,
    site: Site,
    *,
    clock: Clock | None = None,
    max_pages: int = 200,
    politeness: Politeness = OWN,
    others: Sequence[Site] = (),
    **plan: Any,
) -> Crawled:
    """Crawl a site with all checks."""
    issues: list[Issue] = []
    report = SiteReport(site.url(), issues.append)
    pages: dict[str, PageRecord] = {}
    links: dict[str, LinkRecord] = {}
    progress: list[float] = []

    async def take_page(record: PageRecord) -> None:
        pages[record.url.removeprefix(site.origin)] = record
        report.add_page(record)

    async def take_link(record: LinkRecord) -> None:
        links[record.url.removeprefix(site.origin)] = record
        report.add_link(record)

    async def on_progress(fraction: float, _message: str) -> None:
        progress.append(fraction)

    async with world.fetcher(site, *others) as fetcher:
        running = Crawl(
            fetcher,
            CrawlPlan(site.url(), max_pages, politeness, **plan),
            page=take_page,
            link=take_link,
            progress=on_progress,
            clock=clock or TestClock(),
        )
        facts = await running.run()
    list(report.finish(facts))
    return Crawled(facts, report, pages, links, issues, progress)
