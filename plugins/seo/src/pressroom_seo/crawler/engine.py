"""A crawl: one site, page after page, each handed on and forgotten."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.sdk import Fetcher

from pressroom_seo.crawler.clock import Clock, SystemClock
from pressroom_seo.crawler.frontier import Frontier, Item, Limits
from pressroom_seo.crawler.links import LinkChecker
from pressroom_seo.crawler.parsing import read_page
from pressroom_seo.crawler.politeness import Politeness
from pressroom_seo.crawler.records import LinkRecord, PageFacts, PageRecord
from pressroom_seo.crawler.robots import Robots
from pressroom_seo.crawler.survey import SiteFacts, survey
from pressroom_seo.crawler.urls import Site, host_of, normalise, origin_of
from pressroom_seo.crawler.visiting import MOST_BYTES, SECONDS, Answer, Visitor

PageSink = Callable[[PageRecord], Awaitable[None]]
LinkSink = Callable[[LinkRecord], Awaitable[None]]
Progress = Callable[[float, str], Awaitable[None]]
Checkpoint = Callable[[dict[str, Any]], Awaitable[None]]

KEPT_HEADERS: Final = (
    "cache-control",
    "content-encoding",
    "content-security-policy",
    "content-type",
    "referrer-policy",
    "strict-transport-security",
    "x-content-type-options",
    "x-frame-options",
    "x-robots-tag",
)
"""What a record keeps of an answer's headers."""

_VERSION: Final = 1
_CHECKPOINT_EVERY = 50
_LINKS_AT_ONCE = 8
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_FILES = re.compile(
    r"\.(?:7z|avi|avif|bin|bmp|css|csv|dmg|docx?|epub|exe|gif|gz|ico|iso|jpe?g|js|json|mov|mp[34]|mpe?g|og[gv]|otf|pdf|"
    r"png|pptx?|rar|svg|tar|tiff?|ttf|wav|webm|webp|woff2?|xlsx?|xml|zip)",
    re.IGNORECASE,
)
_CANONICAL = re.compile(r"<([^>]*)>\s*;[^,]*\brel\s*=\s*\"?canonical\b", re.IGNORECASE)
_PAGES_BEGIN, _PAGES_END = 0.02, 0.85


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """What a crawl is to do.

    Args:
        start: the site's first page, normalised.
        max_pages: how many addresses of the site are asked for; the plan's page cap.
        politeness: what the site is owed.
        elsewhere: what other hosts are owed, whose pages the site links to.
        max_links: how many pictures, files and links to other sites are looked at.
        limits: where the frontier ends; left out, the usual limits.
        seconds: how long one answer may take.
        max_bytes: how large one answer may be.
        plain_url: the first page by plain http, for sites that do not lie on port 443.
        whole_host: whether the site is all of its host; otherwise it is what lies under the path of `start`.
    """

    start: str
    max_pages: int
    politeness: Politeness = field(default_factory=Politeness)
    elsewhere: Politeness = field(default_factory=Politeness)
    max_links: int = 500
    limits: Limits | None = None
    seconds: float = SECONDS
    max_bytes: int = MOST_BYTES
    plain_url: str | None = None
    whole_host: bool = True

    @property
    def site(self) -> Site:
        """The site that is crawled."""
        return Site.at(self.start) if self.whole_host else Site.under(self.start)


async def _nowhere(*_: Any) -> None:
    """Take what nobody asked for."""


class Crawl:
    """One crawl of one site. `run` it once; where it was broken off, make another one of its last checkpoint.

    Args:
        fetcher: the host's guarded fetcher.
        plan: what is to be done.
        page: takes every record of a page. After a restart some come a second time: the address is the key.
        link: takes every record of what was only looked at.
        progress: told how far the crawl is, 0 to 1; it may raise to end it.
        checkpoint: takes plain JSON data from which the crawl can go on: every 50 addresses, more seldom where it is
            large.
        state: what `checkpoint` took last.
        clock: what waiting goes by.

    Raises:
        ValueError: `plan.start` is no normalised address, or `state` is of another version or site.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        plan: CrawlPlan,
        *,
        page: PageSink,
        link: LinkSink = _nowhere,
        progress: Progress = _nowhere,
        checkpoint: Checkpoint = _nowhere,
        state: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
    ) -> None:
        if normalise(plan.start) != plan.start:
            raise ValueError(f"{plan.start} is not a normalised http or https address")
        self._plan = plan
        self._site = plan.site
        self._clock = clock or SystemClock()
        host = host_of(plan.start)
        owed = dict.fromkeys((host, host.removeprefix("www."), f"www.{host.removeprefix('www.')}"), plan.politeness)
        self._visitor = Visitor(
            fetcher, plan.elsewhere, own=owed, clock=self._clock, seconds=plan.seconds, max_bytes=plan.max_bytes
        )
        self._page, self._link, self._progress, self._checkpoint = page, link, progress, checkpoint
        self._limits = plan.limits or Limits(plan.max_pages)
        self._frontier = Frontier(self._site, self._limits)
        self._targets: dict[str, bool] = {}
        self._pages = 0
        self._kept = 0
        self._links = 0
        self._looking: set[int] = set()
        self._told = 0.0
        self._busy: float | None = None
        self._changed = asyncio.Condition()
        if state is not None:
            self._restore(state)

    @property
    def visitor(self) -> Visitor:
        """What asks, for further questions at the same pace."""
        return self._visitor

    async def run(self) -> SiteFacts:
        """Crawl, and return what is known of the site as a whole."""
        await self._tell(0.0, "reading robots.txt and sitemaps")
        facts = await survey(
            self._visitor,
            self._site,
            now=self._clock.time(),
            most_urls=self._limits.most_known,
            plain_url=self._plan.plain_url,
        )
        robots = facts.robots
        if facts.stopped:
            return facts
        self._frontier.add(self._plan.start, 0)
        for url in facts.listed:
            self._add(url, None)
        await self._all(self._plan.politeness.connections, lambda: self._read_pages(robots))
        if self._busy is None:
            await self._checkpoint(self.state())
            await self._all(_LINKS_AT_ONCE, self._look_at_links)
        facts.pages = self._pages
        facts.complete = self._busy is None and not len(self._frontier) and "full" not in self._frontier.refused
        facts.refused = dict(self._frontier.refused)
        if self._busy is not None:
            facts.stopped, facts.retry_after = "busy", self._busy
        await self._checkpoint(self.state())
        await self._tell(1.0, f"{self._pages} pages read")
        return facts

    def state(self) -> dict[str, Any]:
        """Return plain JSON data from which the crawl can go on."""
        return {
            "version": _VERSION,
            "start": self._plan.start,
            "frontier": self._frontier.state(),
            "pages": self._pages,
            "links": min(self._looking, default=self._links),
            "targets": [[url, image] for url, image in self._targets.items()],
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        if state.get("version") != _VERSION or state.get("start") != self._plan.start:
            raise ValueError("the checkpoint is of another version or another site")
        self._frontier = Frontier.from_state(self._site, self._limits, state["frontier"])
        self._pages = self._kept = state["pages"]
        self._links = state["links"]
        self._targets = {url: bool(image) for url, image in state["targets"]}

    async def _all(self, workers: int, work: Callable[[], Awaitable[None]]) -> None:
        """Do work several times at once. What one of them raises ends the others, and is raised."""
        tasks = [asyncio.ensure_future(work()) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # Pages

    async def _read_pages(self, robots: Robots) -> None:
        while (item := await self._next()) is not None:
            try:
                await self._read(item, robots)
            finally:
                async with self._changed:
                    self._changed.notify_all()

    async def _next(self) -> Item | None:
        """Return the next page; wait while others under way may still find some."""
        async with self._changed:
            while True:
                under_way = self._frontier.under_way
                if self._busy is not None:
                    return None
                if self._pages + under_way < self._plan.max_pages:
                    item = self._frontier.take()
                    if item is not None:
                        return item
                if not under_way:
                    return None
                await self._changed.wait()

    async def _read(self, item: Item, robots: Robots) -> None:
        if not await self._may_ask(item.url, robots):
            message = "robots.txt disallows it"
            await self._page(PageRecord(item.url, item.depth, 0, "disallowed", message))
            self._frontier.done(item)
            return
        answer = await self._visitor.visit(item.url)
        if answer.busy is not None:
            self._busy = answer.busy
            self._frontier.put_back(item)
            return
        record = await asyncio.to_thread(record_of, answer, item.depth)
        self._follow(record)
        await self._page(record)
        self._frontier.done(item, record.page.form_hash if record.is_page and record.page else "")
        self._pages += 1
        # A large state is kept less often, so that keeping it never becomes the work.
        if self._pages - self._kept >= max(_CHECKPOINT_EVERY, self._frontier.known // 100):
            self._kept = self._pages
            await self._checkpoint(self.state())
        whole = min(self._plan.max_pages, self._pages + len(self._frontier) + self._frontier.under_way)
        share = self._pages / max(1, whole)
        await self._tell(_PAGES_BEGIN + share * (_PAGES_END - _PAGES_BEGIN), f"{self._pages} pages read")

    async def _may_ask(self, url: str, robots: Robots) -> bool:
        """Return whether robots.txt of an address's own host allows it; the site has up to four (RFC 9309, 2.3)."""
        if origin_of(url) == self._site.origin:
            return robots.allows(url)
        other = await self._visitor.robots(origin_of(url))
        # Where not even robots.txt has an answer, the address has none either, and that is worth saying.
        return not other.status or other.allows(url)

    def _follow(self, record: PageRecord) -> None:
        """Take in where a page leads. A redirect leads no deeper than the address that it stands for."""
        if record.location and self._site.contains(record.location):
            self._add(record.location, record.depth, record.url)
        page = record.page
        if page is None or record.status != 200:
            return
        followed = "nofollow" not in record.robots
        depth = None if record.depth is None else record.depth + 1
        for link in page.links:
            if not self._site.contains(link.url):
                self._target(link.url)
            elif followed and not link.nofollow:
                # A page that only a sitemap names is no way to anywhere from the first page.
                self._add(link.url, depth, record.url)
        if page.refresh and self._site.contains(page.refresh):
            self._add(page.refresh, record.depth, record.url)
        for image in page.images:
            if image.url:
                self._target(image.url, image=True)

    def _add(self, url: str, depth: int | None, found_on: str = "") -> None:
        ending = urlsplit(url).path.rpartition("/")[2].rpartition(".")
        if ending[1] and _FILES.fullmatch(f".{ending[2]}"):
            self._target(url)
        else:
            self._frontier.add(url, depth, found_on)

    def _target(self, url: str, *, image: bool = False) -> None:
        if len(self._targets) < self._plan.max_links or url in self._targets:
            self._targets[url] = self._targets.get(url, False) or image

    # What is only looked at

    async def _look_at_links(self) -> None:
        checker = LinkChecker(self._visitor)
        waiting = list(self._targets.items())
        while self._links < len(waiting):
            place = self._links
            url, image = waiting[place]
            self._links += 1
            self._looking.add(place)
            await self._link(await checker.check(url, image=image))
            self._looking.discard(place)
            if self._links % _CHECKPOINT_EVERY == 0:
                await self._checkpoint(self.state())
            share = self._links / len(waiting)
            await self._tell(_PAGES_END + share * (1 - _PAGES_END) * 0.99, f"{self._links} links looked at")

    async def _tell(self, fraction: float, message: str) -> None:
        """Tell how far it is: never less than before, and not more often than people can see."""
        fraction = min(1.0, max(fraction, self._told))
        if fraction in (0.0, 1.0) or fraction - self._told >= 0.01:
            self._told = fraction
            await self._progress(fraction, message)


def record_of(answer: Answer, depth: int | None) -> PageRecord:
    """Return what is kept of an answer; reading its page takes a while.

    Args:
        answer: the answer.
        depth: links from the first page; `None` where that is not known.
    """
    page = None
    if answer.content and not answer.is_redirect and _is_html(answer):
        page = _with_header(read_page(answer.content, answer.header("content-type"), answer.url), answer)
    headers = {name: answer.header(name)[:500] for name in KEPT_HEADERS}
    return PageRecord(
        url=answer.url,
        depth=depth,
        status=answer.status,
        failure=answer.failure,
        message=answer.message,
        location=answer.location or "",
        media_type=answer.media_type,
        headers={name: value for name, value in headers.items() if value},
        size=len(answer.content),
        transferred=answer.transferred,
        whole=answer.whole,
        first_byte=round(answer.first_byte, 4),
        seconds=round(answer.seconds, 4),
        page=page,
    )


def _is_html(answer: Answer) -> bool:
    if answer.media_type:
        return answer.media_type in _HTML
    start = answer.content[:512].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--"))


def _with_header(page: PageFacts, answer: Answer) -> PageFacts:
    """Add the canonical address of the header `Link` (RFC 6596), where the page has none itself."""
    match = _CANONICAL.search(answer.header("link")[:4000])
    if match is None or page.canonicals:
        return page
    return replace(page, canonicals=(normalise(match[1], answer.url) or "",))
