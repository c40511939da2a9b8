"""The crawler's HTTP client. It limits the rate and concurrency of requests per host."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Final, Literal, Protocol

from pressroom.sdk import Fetcher, FetchFailed, FetchRefused, FetchResponse

from pressroom_seo.crawler.records import CrawlResponse
from pressroom_seo.crawler.robots import MAX_ROBOTS_BYTES, Robots
from pressroom_seo.crawler.site_reader import SiteReader
from pressroom_seo.document.decoding import ENCODINGS, unpack
from pressroom_seo.urls import host_of, origin_of

SECONDS: Final = 10.0
"""Default timeout of one request, in seconds."""

MAX_BYTES: Final = 10_000_000
"""Default maximum size of one response, both compressed and decompressed."""

MAX_REDIRECTS: Final = 10
PAGES: Final = "text/html, application/xhtml+xml;q=0.9, */*;q=0.5"
ANYTHING: Final = "*/*"
_ROBOTS: Final = "text/plain, */*;q=0.5"

_BUSY: Final = frozenset({429, 503})
_FIRST_WAIT = 5.0
_MAX_HOSTS = 500
_ROBOTS_REDIRECTS = 5


class Visitor:
    """An HTTP client that paces its requests to each host.

    Args:
        fetcher: the host's guarded fetcher, which checks every URL, redirects included.
        politeness: default politeness.
        own: politeness for particular hosts, such as the site of the account that crawls.
        clock: the clock that measures waits.
        seconds: timeout of one request, in seconds.
        max_bytes: maximum size of one response.
        reader: parses robots.txt, and other responses for callers.
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
        """Longest wait in seconds, if shorter than the host's `max_wait`."""
        self._gates: OrderedDict[str, HostGate] = OrderedDict()
        self._robots: OrderedDict[str, _OriginRobots] = OrderedDict()

    def politeness_of(self, host: str) -> Politeness:
        """Return the politeness towards a host."""
        return self._own.get(host, self._politeness)

    def gate(self, host: str) -> HostGate:
        """Return the gate that paces requests to a host."""
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
        """Request a URL, with retries. Redirects are not followed.

        If the host is busy (429 or 503), wait as long as its `Retry-After` states, or with exponential backoff from 5
        seconds. A failed connection is retried once. Failures are returned as a response, never raised.
        """
        host = host_of(url)
        gate, politeness = self.gate(host), self.politeness_of(host)
        failed = 0
        tries = 0
        while True:
            async with gate.turn():
                response = await self._ask(url, accept, method, max_bytes or self._max_bytes)
            if response.failure == "failed" and not failed:
                if gate.wait > self.patience:
                    return _busy_response(response, gate.wait)
                failed += 1
                continue
            if response.status not in _BUSY:
                return response
            requested_wait = retry_after(response.header("retry-after"), self._clock)
            wait = requested_wait if requested_wait is not None else _FIRST_WAIT * 2.0**tries
            if wait > min(politeness.max_wait, self.patience):
                return _busy_response(response, max(wait, gate.wait))
            if requested_wait is not None or tries < politeness.retries:
                gate.pause(wait)
            if tries >= politeness.retries:
                return response
            tries += 1

    def take_robots(self, origin: str, robots: Robots) -> None:
        """Set the robots.txt rules of an origin from an earlier fetch."""
        self._robots[origin] = _OriginRobots(robots)
        self._apply_crawl_delay(origin, robots)

    async def robots(self, origin: str) -> Robots:
        """Return the cached robots.txt of an origin, fetching it first. Follows up to five redirects (RFC 9309)."""
        entry = self._robots.get(origin)
        if entry is None:
            entry = self._robots[origin] = _OriginRobots()
            if len(self._robots) > _MAX_HOSTS:
                self._robots.popitem(last=False)
        # One caller fetches it while the others wait. If that caller is cancelled, the next one fetches it.
        async with entry.turn:
            if entry.robots is None:
                entry.robots = await self._fetch_robots(origin)
            return entry.robots

    async def _fetch_robots(self, origin: str) -> Robots:
        response = await self.visit(f"{origin}/robots.txt", accept=_ROBOTS, max_bytes=MAX_ROBOTS_BYTES)
        for _ in range(_ROBOTS_REDIRECTS):
            next_url = response.location
            if next_url is None:
                break
            response = await self.visit(next_url, accept=_ROBOTS, max_bytes=MAX_ROBOTS_BYTES)
        robots = await self.reader.robots(response)
        if response.busy is not None:
            robots = replace(robots, busy=response.busy)
        self._apply_crawl_delay(origin, robots)
        return robots

    def _apply_crawl_delay(self, origin: str, robots: Robots) -> None:
        host = host_of(origin)
        if self.politeness_of(host).crawl_delay:
            self.gate(host).slow_to(robots.crawl_delay)

    async def allowed(self, url: str) -> bool:
        """Return whether a URL's robots.txt allows it and does not set too long a crawl delay."""
        robots = await self.robots(origin_of(url))
        return robots.allows(url) and not self.delays(robots, url)

    def delays(self, robots: Robots, url: str) -> bool:
        """Return whether a host's crawl delay exceeds the longest one that the crawler accepts."""
        politeness = self.politeness_of(host_of(url))
        return politeness.crawl_delay and robots.crawl_delay > politeness.max_delay

    async def follow(self, url: str, *, accept: str = PAGES) -> list[CrawlResponse]:
        """Return the responses along a URL's redirects, in order.

        Stops before a URL repeats and after at most ten redirects.
        """
        responses = [await self.visit(url, accept=accept)]
        visited = {url}
        while len(responses) <= MAX_REDIRECTS:
            next_url = responses[-1].location
            if next_url is None or next_url in visited:
                break
            visited.add(next_url)
            responses.append(await self.visit(next_url, accept=accept))
        return responses

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
        return _response(url, exchange, max_bytes)


@dataclass(slots=True)
class _OriginRobots:
    """The robots.txt of an origin; `None` until it was fetched."""

    robots: Robots | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


def _response(url: str, exchange: FetchResponse, max_bytes: int) -> CrawlResponse:
    codings = ", ".join(value for name, value in exchange.headers if name == "content-encoding")
    unpacked = unpack(exchange.content, codings, max_bytes, whole=exchange.whole)
    return CrawlResponse(
        url=url,
        status=exchange.status,
        headers=exchange.headers,
        content=unpacked.content,
        whole=unpacked.whole,
        transferred=len(exchange.content),
        first_byte=exchange.first_byte,
        seconds=exchange.seconds,
        message=unpacked.problem,
    )


def _busy_response(response: CrawlResponse, wait: float) -> CrawlResponse:
    return CrawlResponse(response.url, response.status, response.headers, message=response.message, busy=wait)


class Clock(Protocol):
    """A clock that can sleep."""

    def monotonic(self) -> float:
        """Return monotonic time in seconds."""

    def time(self) -> float:
        """Return seconds since 1970 (UTC)."""

    async def sleep(self, seconds: float) -> None:
        """Sleep for this many seconds."""


class SystemClock:
    """The system clock."""

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
    """The pace of requests to a host.

    Args:
        interval: seconds between the starts of two requests.
        connections: maximum number of concurrent requests.
        crawl_delay: whether to obey a `Crawl-delay` in robots.txt that is longer than `interval`.
        max_delay: longest accepted `Crawl-delay`, in seconds; a host with a longer one is not crawled.
        max_wait: longest accepted `Retry-After`, in seconds; a longer one stops the crawl for the time being.
        retries: number of retries after a 429 or 503.
    """

    interval: float = 1.0
    connections: int = 2
    crawl_delay: bool = True
    max_delay: float = 60.0
    max_wait: float = 300.0
    retries: int = 2

    @classmethod
    def own_site(cls) -> Politeness:
        """Return the politeness for a site whose owner consents: four concurrent requests without pauses.

        Disallow rules in robots.txt and `Retry-After` still apply.
        """
        return cls(interval=0.0, connections=4, crawl_delay=False)


class HostGate:
    """Limits the rate and concurrency of requests to one host."""

    def __init__(self, politeness: Politeness, clock: Clock) -> None:
        self._clock = clock
        self._interval = politeness.interval
        self._slots = asyncio.Semaphore(politeness.connections)
        self._turnstile = asyncio.Lock()
        self._next = 0.0

    @property
    def interval(self) -> float:
        """Seconds between the starts of two requests."""
        return self._interval

    @property
    def wait(self) -> float:
        """Seconds until the next request may start."""
        return max(0.0, self._next - self._clock.monotonic())

    def slow_to(self, interval: float) -> None:
        """Raise the interval between requests to at least this many seconds."""
        self._interval = max(self._interval, interval)

    def pause(self, seconds: float) -> None:
        """Block all requests for this many seconds."""
        self._next = max(self._next, self._clock.monotonic() + seconds)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a slot, and hold it until the context exits."""
        async with self._slots:
            # Only one task waits at a time, so a pause that starts meanwhile applies to all after it.
            async with self._turnstile:
                while (wait := self._next - self._clock.monotonic()) > 0:
                    await self._clock.sleep(wait)
                self._next = self._clock.monotonic() + self._interval
            yield


def retry_after(value: str, clock: Clock) -> float | None:
    """Parse a `Retry-After` header into seconds (RFC 9110, section 10.2.3); `None` if missing or invalid."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
        return max(0.0, at.timestamp() - clock.time())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
