"""The crawl of one site: streams each page record to a sink and keeps none of them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pressroom.sdk import Fetcher

from pressroom_seo.crawler.frontier import Frontier, FrontierItem, Limits
from pressroom_seo.crawler.http_client import MAX_BYTES, SECONDS, Clock, HostGate, Politeness, SystemClock, Visitor
from pressroom_seo.crawler.links import LinkChecker
from pressroom_seo.crawler.records import LinkRecord, PageRecord
from pressroom_seo.crawler.robots import Robots
from pressroom_seo.crawler.site_reader import SiteReader
from pressroom_seo.crawler.survey import SiteFacts, begin_survey, survey, survey_from_json, survey_to_json
from pressroom_seo.urls import SiteScope, host_of, is_file, normalise, origin_of

PageSink = Callable[[PageRecord], Awaitable[None]]
LinkSink = Callable[[LinkRecord], Awaitable[None]]
Progress = Callable[[float, str], Awaitable[None]]
Checkpoint = Callable[[dict[str, Any]], Awaitable[None]]

_VERSION: Final = 1
_CHECKPOINT_EVERY, _LINKS_AT_ONCE = 50, 8
_PAGES_BEGIN, _PAGES_END = 0.02, 0.85
_SURVEY_LASTS: Final = 86_400.0
_TOO_SLOW: Final = "the host asks for too long a pause between requests"


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """The settings of a crawl.

    Args:
        start: normalised URL of the site's home page.
        max_pages: maximum number of the site's URLs to request; the plan's page cap.
        politeness: politeness towards the site's own host.
        elsewhere: politeness towards other hosts that the site links to.
        max_links: maximum number of images, files and external links to check.
        limits: frontier limits; by default `Limits(max_pages)`.
        seconds: timeout of one request, in seconds.
        max_bytes: maximum size of one response.
        plain_url: the home page over plain HTTP, for sites that are not on port 443.
        entire_host: whether the site is the whole host; otherwise it is everything below the path of `start`.
        patience: longest wait for a host, in seconds; the crawl pauses if it has to wait longer.
        turn: seconds after which the crawl pauses to give other crawls a turn.
    """

    start: str
    max_pages: int
    politeness: Politeness = field(default_factory=Politeness)
    elsewhere: Politeness = field(default_factory=Politeness)
    max_links: int = 500
    limits: Limits | None = None
    seconds: float = SECONDS
    max_bytes: int = MAX_BYTES
    plain_url: str | None = None
    entire_host: bool = True
    patience: float = math.inf
    turn: float = math.inf

    @property
    def site(self) -> SiteScope:
        """The scope of the crawl."""
        return SiteScope.at(self.start) if self.entire_host else SiteScope.under(self.start)


async def _nowhere(*_: Any) -> None:
    """Discard the arguments; the default for omitted callbacks."""


class Crawl:
    """One crawl of one site. `run` it once; after an interruption, create a new one from its last checkpoint.

    Args:
        fetcher: the host's guarded fetcher.
        plan: the settings of the crawl.
        page: receives every page record. After a restart some arrive a second time; deduplicate by URL.
        link: receives the record of every URL that was checked but not parsed.
        progress: receives the progress, 0 to 1, and a message; raise in it to end the crawl.
        checkpoint: receives plain JSON data from which the crawl can resume: every 50 URLs, less often if the data is
            large.
        state: the last data that `checkpoint` received.
        clock: the clock that measures waits.
        reader: parses responses.

    Raises:
        ValueError: `plan.start` is not a normalised URL, or `state` belongs to another version or site.
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
        reader: SiteReader | None = None,
    ) -> None:
        if normalise(plan.start) != plan.start:
            raise ValueError(f"{plan.start} is not a normalised http or https URL")
        self._plan = plan
        self._site = plan.site
        self._clock = clock or SystemClock()
        host = host_of(plan.start)
        politeness_by_host = dict.fromkeys(
            (host, host.removeprefix("www."), f"www.{host.removeprefix('www.')}"), plan.politeness
        )
        self._visitor = Visitor(
            fetcher,
            plan.elsewhere,
            own=politeness_by_host,
            clock=self._clock,
            seconds=plan.seconds,
            max_bytes=plan.max_bytes,
        )
        self._visitor.reader = reader or SiteReader()
        self._visitor.patience = plan.patience
        self._page, self._link, self._progress, self._checkpoint = page, link, progress, checkpoint
        self._limits = plan.limits or Limits(plan.max_pages)
        self._frontier = Frontier(self._site, self._limits)
        self._targets: dict[str, bool] = {}
        self._pages = self._pages_at_checkpoint = self._links = 0
        self._links_in_progress: set[int] = set()
        self._last_progress = 0.0
        self._busy: float | None = None
        self._pause: float | None = None
        self._started_at = self._clock.monotonic()
        self._tries: dict[str, int] = {}
        self._facts: SiteFacts | None = None
        self._surveyed_at = 0.0
        self._changed = asyncio.Condition()
        if state is not None:
            self._restore(state)

    @property
    def visitor(self) -> Visitor:
        """The crawl's HTTP client, for further requests at the same pace."""
        return self._visitor

    async def run(self) -> SiteFacts:
        """Crawl the site and return its site-wide facts.

        If the crawl pauses, `stopped` of the result is `paused`; create another crawl from the checkpoint to continue.
        """
        self._started_at = self._clock.monotonic()
        facts = await self._survey()
        robots = facts.robots
        if facts.stopped:
            return facts
        if self._is_paused():
            return await self._paused(facts)
        self._frontier.add(self._plan.start, 0)
        for url in facts.listed:
            self._add(url, None)
        await self._all(self._plan.politeness.connections, lambda: self._read_pages(robots))
        if not self._stopped:
            await self._checkpoint(self.state())
            await self._all(_LINKS_AT_ONCE, self._check_link_targets)
        facts.pages = self._pages
        facts.complete = not self._stopped and not len(self._frontier) and "full" not in self._frontier.refused
        facts.refused = dict(self._frontier.refused)
        if self._busy is not None:
            facts.stopped, facts.retry_after = "busy", self._busy
        elif self._is_paused():
            return await self._paused(facts)
        await self._checkpoint(self.state())
        await self._report_progress(1.0, f"{self._pages} pages read")
        return facts

    async def _paused(self, facts: SiteFacts) -> SiteFacts:
        facts.complete, facts.stopped, facts.retry_after = False, "paused", max(self._pause or 0.0, self._own_gate.wait)
        await self._checkpoint(self.state())
        return facts

    def _is_paused(self) -> bool:
        return self._pause is not None

    @property
    def _stopped(self) -> bool:
        return self._busy is not None or self._is_paused()

    @property
    def _own_gate(self) -> HostGate:
        return self._visitor.gate(host_of(self._plan.start))

    async def _survey(self) -> SiteFacts:
        """Survey the site before its pages are crawled; a resumed crawl reuses a survey for up to a day."""
        now = self._clock.time()
        if self._facts is None or now - self._surveyed_at >= _SURVEY_LASTS:
            await self._report_progress(0.0, "reading robots.txt and sitemaps")
            robots = await self._visitor.robots(self._site.origin)
            facts = begin_survey(self._visitor, self._site, robots, plain_url=self._plan.plain_url)
            if robots.busy is not None and self._postpone_request(f"{self._site.origin}/robots.txt", robots.busy):
                return facts
            self._facts, self._surveyed_at = facts, now
        else:
            self._facts.robots = await self._visitor.reader.parse_robots(self._facts.robots)
            self._visitor.take_robots(self._site.origin, self._facts.robots)
        if not self._facts.stopped:
            await survey(
                self._visitor, self._facts, now=now, most_urls=self._limits.max_known, postpone=self._postpone_request
            )
        return self._facts

    def _postpone_request(self, url: str, wait: float | None) -> bool:
        """Return whether the survey defers a URL until the crawl resumes."""
        if wait is None:
            return self._must_pause(url)
        return wait <= self._plan.politeness.max_wait and self._postpone(url, wait)

    def _must_pause(self, url: str) -> bool:
        """Return whether the crawl must pause before requesting a URL."""
        wait = self._visitor.gate(host_of(url)).wait
        if wait > self._plan.patience:
            self._pause = max(self._pause or 0.0, wait)
        elif self._clock.monotonic() - self._started_at > self._plan.turn:
            self._pause = self._pause or 0.0
        return self._pause is not None

    def state(self) -> dict[str, Any]:
        """Return plain JSON data from which the crawl can resume."""
        return {
            "version": _VERSION,
            "start": self._plan.start,
            "frontier": self._frontier.state(),
            "pages": self._pages,
            "links": min(self._links_in_progress, default=self._links),
            "targets": [[url, image] for url, image in self._targets.items()],
            "tries": dict(self._tries),
            "survey": survey_to_json(self._facts) if self._facts is not None else None,
            "surveyed_at": self._surveyed_at,
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        if state.get("version") != _VERSION or state.get("start") != self._plan.start:
            raise ValueError("the checkpoint is of another version or another site")
        self._frontier = Frontier.from_state(self._site, self._limits, state["frontier"])
        self._pages = self._pages_at_checkpoint = state["pages"]
        self._links = state["links"]
        self._targets = {url: bool(image) for url, image in state["targets"]}
        self._tries = dict(state.get("tries", {}))
        if state.get("survey") is not None:
            self._facts = survey_from_json(self._site, state["survey"])
            self._surveyed_at = float(state["surveyed_at"])

    async def _all(self, workers: int, work: Callable[[], Awaitable[None]]) -> None:
        """Run several workers concurrently. The first exception cancels the others and propagates."""
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

    async def _next(self) -> FrontierItem | None:
        """Return the next page, waiting while pages in flight may still add some; `None` when the crawl is done."""
        async with self._changed:
            while True:
                under_way = self._frontier.under_way
                if self._stopped:
                    return None
                if self._pages + under_way < self._plan.max_pages:
                    item = self._frontier.take()
                    if item is not None:
                        return item
                if not under_way:
                    return None
                await self._changed.wait()

    async def _read(self, item: FrontierItem, robots: Robots) -> None:
        if not await self._may_request(item.url, robots):
            message = "robots.txt disallows it"
            await self._page(PageRecord(item.url, item.depth, 0, "disallowed", message))
            self._frontier.done(item)
            return
        if self._must_pause(item.url):
            self._frontier.put_back(item)
            return
        response = await self._visitor.visit(item.url)
        if response.busy is not None and self._postpone(item.url, response.busy):
            self._frontier.put_back(item)
            return
        self._tries.pop(item.url, None)
        record = await self._visitor.reader.page(response, item.depth)
        self._follow(record)
        await self._page(record)
        self._frontier.done(item, record.page.form_hash if record.is_page and record.page else "")
        self._pages += 1
        # Checkpoint a large state less often: serialising it would dominate the crawl.
        if self._pages - self._pages_at_checkpoint >= max(_CHECKPOINT_EVERY, self._frontier.known // 100):
            self._pages_at_checkpoint = self._pages
            await self._checkpoint(self.state())
        total = min(self._plan.max_pages, self._pages + len(self._frontier) + self._frontier.under_way)
        share = self._pages / max(1, total)
        await self._report_progress(_PAGES_BEGIN + share * (_PAGES_END - _PAGES_BEGIN), f"{self._pages} pages read")

    def _postpone(self, url: str, wait: float) -> bool:
        """Return whether to request a URL again after `wait` seconds; the crawl pauses or, if busy, stops."""
        if wait > self._plan.politeness.max_wait:
            self._busy = wait
            return True
        tries = self._tries.get(url, 0)
        if tries >= self._plan.politeness.retries:
            return False
        self._tries[url] = tries + 1
        self._pause = max(self._pause or 0.0, wait)
        return True

    async def _may_request(self, url: str, robots: Robots) -> bool:
        """Check a URL against the robots.txt of its own origin; a site has up to four origins (RFC 9309, 2.3)."""
        if origin_of(url) == self._site.origin:
            return robots.allows(url)
        other_robots = await self._visitor.robots(origin_of(url))
        # Without a response for robots.txt, the URL will fail too, which is worth reporting.
        return not other_robots.status or other_robots.allows(url)

    def _follow(self, record: PageRecord) -> None:
        """Queue a page's links. A redirect's target has the depth of the redirect."""
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
                # Without a depth, no path of links leads from the home page to this one.
                self._add(link.url, depth, record.url)
        if page.refresh and self._site.contains(page.refresh):
            self._add(page.refresh, record.depth, record.url)
        if record.canonical and record.canonical != record.url:
            # Request it even if nothing links to it: it may be broken. A canonical is not a link, so it has no depth.
            self._add(record.canonical, None, record.url)
        for image in page.images:
            if image.url:
                self._target(image.url, image=True)

    def _add(self, url: str, depth: int | None, found_on: str = "") -> None:
        if not self._site.contains(url) or is_file(url):
            self._target(url)
        else:
            self._frontier.add(url, depth, found_on)

    def _target(self, url: str, *, image: bool = False) -> None:
        if len(self._targets) < self._plan.max_links or url in self._targets:
            self._targets[url] = self._targets.get(url, False) or image

    # Links

    async def _check_link_targets(self) -> None:
        checker = LinkChecker(self._visitor)
        waiting = list(self._targets.items())
        while self._links < len(waiting):
            index = self._links
            url, image = waiting[index]
            too_slow = self._visitor.gate(host_of(url)).interval > self._plan.patience
            if not too_slow and self._must_pause(url):
                return
            self._links += 1
            self._links_in_progress.add(index)
            if too_slow:
                await self._link(LinkRecord(url, 0, "disallowed", _TOO_SLOW, image=image))
            else:
                await self._link(await checker.check(url, image=image))
            self._links_in_progress.discard(index)
            if self._links % _CHECKPOINT_EVERY == 0:
                await self._checkpoint(self.state())
            share = self._links / len(waiting)
            await self._report_progress(_PAGES_END + share * (1 - _PAGES_END) * 0.99, f"{self._links} links checked")

    async def _report_progress(self, fraction: float, message: str) -> None:
        """Report progress: monotonically, and only in steps of at least 1%."""
        fraction = min(1.0, max(fraction, self._last_progress))
        if fraction in (0.0, 1.0) or fraction - self._last_progress >= 0.01:
            self._last_progress = fraction
            await self._progress(fraction, message)
