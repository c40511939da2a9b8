"""How often, and how much at once, a host is asked, and the clock that this is measured by."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Protocol


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
