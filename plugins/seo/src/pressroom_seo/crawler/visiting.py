"""Requests URLs politely, and says plainly what came back.

Politeness is how often, and how much at once, a host is asked; a clock measures it.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Final, Literal, Protocol

from pressroom.sdk import Fetcher, FetchFailed, FetchRefused, FetchResponse

from pressroom_seo.crawler.records import CrawlResponse
from pressroom_seo.crawler.robots import MAX_ROBOTS_BYTES, Robots
from pressroom_seo.crawler.site_reader import SiteReader
from pressroom_seo.document.decoding import ENCODINGS, unpack
from pressroom_seo.urls import host_of, origin_of

SECONDS: Final = 10.0
"""How long one answer may take."""

MAX_BYTES: Final = 10_000_000
"""How large one answer may be, as it is sent and unpacked."""

MAX_REDIRECTS: Final = 10
PAGES: Final = "text/html, application/xhtml+xml;q=0.9, */*;q=0.5"
ANYTHING: Final = "*/*"
_ROBOTS: Final = "text/plain, */*;q=0.5"

_BUSY: Final = frozenset({429, 503})
_FIRST_WAIT = 5.0
_MAX_HOSTS = 500
_ROBOTS_REDIRECTS = 5


class Visitor:
    """Asks hosts, each at its own pace.

    Args:
        fetcher: the host's guarded fetcher, which checks every URL, redirects included.
        politeness: what every host is owed.
        own: hosts that are owed something else, such as one whose owner asks.
        clock: what waiting goes by.
        seconds: how long one answer may take.
        max_bytes: how large one answer may be.
        reader: what reads robots.txt, and other answers for whoever uses this.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        politeness: Politeness | None = None,
        *,
        own: Mapping[str, Politeness] | None = None,
        clock: Clock | None = None,
        seconds: float = SECONDS,
        max_bytes: int = MAX_BYTES,
        reader: SiteReader | None = None,
    ) -> None:
        self.reader = reader or SiteReader()
        self._fetcher = fetcher
        self._politeness = politeness or Politeness()
        self._own = dict(own or {})
        self._clock = clock or SystemClock()
        self._seconds = seconds
        self._max_bytes = max_bytes
        self.patience = math.inf
        """Seconds that one wait may last, if that is shorter than politeness allows."""
        self._gates: OrderedDict[str, HostGate] = OrderedDict()
        self._robots: OrderedDict[str, asyncio.Task[Robots]] = OrderedDict()

    def politeness_of(self, host: str) -> Politeness:
        """Return what a host is owed."""
        return self._own.get(host, self._politeness)

    def gate(self, host: str) -> HostGate:
        """Return what lets requests to a host through."""
        gate = self._gates.get(host)
        if gate is None:
            gate = self._gates[host] = HostGate(self.politeness_of(host), self._clock)
            if len(self._gates) > _MAX_HOSTS:
                self._gates.popitem(last=False)
        self._gates.move_to_end(host)
        return gate

    async def visit(
        self,
        url: str,
        *,
        accept: str = PAGES,
        method: Literal["GET", "HEAD"] = "GET",
        max_bytes: int | None = None,
    ) -> CrawlResponse:
        """Return the answer to a URL, after as many tries as is polite.

        A host that is busy (429 or 503) is left alone for as long as its `Retry-After` says, or for a time that
        doubles. A connection that fails is tried once more. Nothing is raised: a failure is an answer too.
        """
        host = host_of(url)
        gate, politeness = self.gate(host), self.politeness_of(host)
        failed = 0
        tries = 0
        while True:
            async with gate.turn():
                answer = await self._ask(url, accept, method, max_bytes or self._max_bytes)
            if answer.failure == "failed" and not failed:
                if gate.wait > self.patience:
                    return _with_wait(answer, gate.wait)
                failed += 1
                continue
            if answer.status not in _BUSY:
                return answer
            said = retry_after(answer.header("retry-after"), self._clock)
            wait = said if said is not None else _FIRST_WAIT * 2.0**tries
            if wait > min(politeness.longest_wait, self.patience):
                return _with_wait(answer, max(wait, gate.wait))
            if said is not None or tries < politeness.retries:
                gate.pause(wait)
            if tries >= politeness.retries:
                return answer
            tries += 1

    def take_robots(self, origin: str, robots: Robots) -> None:
        """Set the rules of a host that were fetched before."""
        self._robots[origin] = asyncio.ensure_future(_known(robots))
        self._keep_pace(origin, robots)

    async def robots(self, origin: str) -> Robots:
        """Return the rules of a host, which are requested only once. Up to five redirects are followed (RFC 9309)."""
        task = self._robots.get(origin)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._robots[origin] = asyncio.ensure_future(self._ask_for_robots(origin))
            while len(self._robots) > _MAX_HOSTS:
                self._robots.popitem(last=False)[1].cancel()
        return await task

    async def _ask_for_robots(self, origin: str) -> Robots:
        answer = await self.visit(f"{origin}/robots.txt", accept=_ROBOTS, max_bytes=MAX_ROBOTS_BYTES)
        for _ in range(_ROBOTS_REDIRECTS):
            following = answer.location
            if following is None:
                break
            answer = await self.visit(following, accept=_ROBOTS, max_bytes=MAX_ROBOTS_BYTES)
        robots = await self.reader.robots(answer)
        if answer.busy is not None:
            robots = replace(robots, busy=answer.busy)
        self._keep_pace(origin, robots)
        return robots

    def _keep_pace(self, origin: str, robots: Robots) -> None:
        host = host_of(origin)
        if self.politeness_of(host).crawl_delay:
            self.gate(host).slow_to(robots.crawl_delay)

    async def allowed(self, url: str) -> bool:
        """Return whether the robots.txt of a URL's host allows it, without too long a pause between requests."""
        robots = await self.robots(origin_of(url))
        return robots.allows(url) and not self.delays(robots, url)

    def delays(self, robots: Robots, url: str) -> bool:
        """Return whether a host asks for a longer pause between requests than the crawler has time for."""
        owed = self.politeness_of(host_of(url))
        return owed.crawl_delay and robots.crawl_delay > owed.longest_delay

    async def follow(self, url: str, *, accept: str = PAGES) -> list[CrawlResponse]:
        """Return the answers from a URL to the end of its redirects, in that order.

        A loop ends when a URL comes up a second time; at most ten redirects are followed.
        """
        answers = [await self.visit(url, accept=accept)]
        seen = {url}
        while len(answers) <= MAX_REDIRECTS:
            following = answers[-1].location
            if following is None or following in seen:
                break
            seen.add(following)
            answers.append(await self.visit(following, accept=accept))
        return answers

    async def _ask(self, url: str, accept: str, method: Literal["GET", "HEAD"], max_bytes: int) -> CrawlResponse:
        try:
            exchange = await self._fetcher.exchange(
                url,
                accept=accept,
                max_bytes=max_bytes,
                seconds=self._seconds,
                method=method,
                encodings=ENCODINGS,
                plain_http=True,
            )
        except FetchRefused as error:
            return CrawlResponse(url, failure="refused", message=error.message)
        except FetchFailed as error:
            return CrawlResponse(url, failure="failed", message=error.message)
        return _answer(url, exchange, max_bytes)


async def _known(robots: Robots) -> Robots:
    return robots


def _answer(url: str, exchange: FetchResponse, max_bytes: int) -> CrawlResponse:
    codings = ", ".join(value for name, value in exchange.headers if name == "content-encoding")
    unpacked = unpack(exchange.content, codings, max_bytes)
    return CrawlResponse(
        url=url,
        status=exchange.status,
        headers=exchange.headers,
        content=unpacked.content,
        whole=exchange.whole and unpacked.whole,
        transferred=len(exchange.content),
        first_byte=exchange.first_byte,
        seconds=exchange.seconds,
        message=unpacked.problem,
    )


def _with_wait(answer: CrawlResponse, wait: float) -> CrawlResponse:
    return CrawlResponse(answer.url, answer.status, answer.headers, message=answer.message, busy=wait)


class Clock(Protocol):
    """Tells the time and waits."""

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""

    def time(self) -> float:
        """Return the seconds since 1970 (UTC)."""

    async def sleep(self, seconds: float) -> None:
        """Wait this many seconds."""


class SystemClock:
    """The clock of the machine."""

    def monotonic(self) -> float:
        """See `Clock`."""
        return time.monotonic()

    def time(self) -> float:
        """See `Clock`."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """See `Clock`."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Politeness:
    """What a crawler owes to a host.

    Args:
        interval: seconds from one request to the next.
        connections: how many requests are under way at once.
        crawl_delay: whether a `Crawl-delay` of robots.txt that is longer than `interval` takes its place.
        longest_delay: seconds; a host that asks for a longer delay between requests is not crawled.
        longest_wait: seconds; a host that asks by `Retry-After` to wait longer ends the crawl for now.
        retries: how often a request is made again that was answered with 429 or 503.
    """

    interval: float = 1.0
    connections: int = 2
    crawl_delay: bool = True
    longest_delay: float = 60.0
    longest_wait: float = 300.0
    retries: int = 2

    @classmethod
    def own_site(cls) -> Politeness:
        """Return what owners may ask of their own site: four requests at once, without a pause between them.

        What robots.txt disallows stays disallowed, and `Retry-After` is obeyed.
        """
        return cls(interval=0.0, connections=4, crawl_delay=False)


class HostGate:
    """Lets requests to one host through, no faster and no more at once than is polite."""

    def __init__(self, politeness: Politeness, clock: Clock) -> None:
        self._clock = clock
        self._interval = politeness.interval
        self._slots = asyncio.Semaphore(politeness.connections)
        self._turnstile = asyncio.Lock()
        self._next = 0.0

    @property
    def interval(self) -> float:
        """Seconds from one request to the next."""
        return self._interval

    @property
    def wait(self) -> float:
        """Seconds until the next request may be made."""
        return max(0.0, self._next - self._clock.monotonic())

    def slow_to(self, interval: float) -> None:
        """Leave at least this many seconds between requests from now on."""
        self._interval = max(self._interval, interval)

    def pause(self, seconds: float) -> None:
        """Let nothing through for this many seconds."""
        self._next = max(self._next, self._clock.monotonic() + seconds)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until a request may be made; it is under way for as long as the context lasts."""
        async with self._slots:
            # One waits at a time, so that a pause that begins meanwhile holds for all who come after.
            async with self._turnstile:
                while (wait := self._next - self._clock.monotonic()) > 0:
                    await self._clock.sleep(wait)
                self._next = self._clock.monotonic() + self._interval
            yield


def retry_after(value: str, clock: Clock) -> float | None:
    """Return the seconds that a `Retry-After` header asks for (RFC 9110, section 10.2.3); `None` without a reading."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
        return max(0.0, at.timestamp() - clock.time())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
