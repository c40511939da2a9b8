"""Rate limiting as DEV requires it: one write per second, and no request before a `Retry-After` has passed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from math import ceil
from typing import Final, Literal

from pressroom.sdk import Fetched, Fetcher, FetchResponse
from pressroom_content.contract import SiteUnavailable

_SAFE: Final = frozenset({"GET", "HEAD"})
_TOO_MANY: Final = 429
_USUAL: Final = 30.0
"""The pause after a 429 without a valid `Retry-After`, in seconds."""

_MAX_PAUSE_SECONDS: Final = 3600.0
_QUEUE: Final = 20.0
_MAX_REMEMBERED: Final = 1000


class Pace:
    """The rate limiter of one API key in this process.

    Args:
        interval: seconds between two writes.
        clock: returns a monotonic time in seconds.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        interval: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._interval = interval
        self._clock = clock
        self._sleep = sleep
        self._free = 0.0
        self._paused_until = 0.0

    @property
    def idle(self) -> bool:
        """Whether the next request can be sent immediately."""
        return max(self._free, self._paused_until) <= self._clock()

    async def turn(self, *, writes: bool) -> None:
        """Wait until a request may be sent. Raises `SiteUnavailable` if that takes too long."""
        now = self._clock()
        if now < self._paused_until:
            pause = self._paused_until - now
            raise SiteUnavailable(
                f"DEV does not accept requests for another {pause:.0f} seconds", retry_after=ceil(pause)
            )
        if not writes:
            return
        at = max(now, self._free)
        if at - now > _QUEUE:
            raise SiteUnavailable(f"too many posts are waiting for DEV, which receives one every {self._interval:g} s")
        self._free = at + self._interval
        if at > now:
            await self._sleep(at - now)

    def hold(self, retry_after: str) -> None:
        """Pause all requests for the duration of a `Retry-After`: seconds or a date (RFC 9110, section 10.2.3).

        A longer pause that is under way continues.
        """
        until = self._clock() + min(_MAX_PAUSE_SECONDS, max(0.0, _seconds(retry_after.strip())))
        self._paused_until = max(self._paused_until, until)


class Paces:
    """The rate limiters of all API keys of this process."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._known: dict[bytes, Pace] = {}

    def of(self, key: str) -> Pace:
        """Return the rate limiter of a key."""
        if len(self._known) > _MAX_REMEMBERED:
            self._known = {name: pace for name, pace in self._known.items() if not pace.idle}
        return self._known.setdefault(sha256(key.encode()).digest(), Pace(self._interval))


class PacedFetcher:
    """Wraps a fetcher, and limits the rate of `request`. Implements `pressroom.sdk.Fetcher`."""

    def __init__(self, fetcher: Fetcher, pace: Pace) -> None:
        self._fetcher = fetcher
        self._pace = pace

    async def get(self, url: str, *, accept: str, max_bytes: int, seconds: float, redirects: int = 3) -> Fetched:
        """Fetch a URL, without rate limiting."""
        return await self._fetcher.get(url, accept=accept, max_bytes=max_bytes, seconds=seconds, redirects=redirects)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        max_bytes: int,
        seconds: float,
        redirects: int = 0,
    ) -> Fetched:
        """Send a request when the rate limit allows it. If that takes too long, raise `SiteUnavailable`."""
        await self._pace.turn(writes=method not in _SAFE)
        response = await self._fetcher.request(
            method, url, headers=headers, content=content, max_bytes=max_bytes, seconds=seconds, redirects=redirects
        )
        if response.status == _TOO_MANY:
            self._pace.hold(response.headers.get("retry-after", ""))
        return response

    async def exchange(
        self,
        url: str,
        *,
        accept: str,
        max_bytes: int,
        seconds: float,
        method: Literal["GET", "HEAD"] = "GET",
        encodings: str = "identity",
        plain_http: bool = False,
    ) -> FetchResponse:
        """Send one request without rate limiting, and return the raw response."""
        return await self._fetcher.exchange(
            url,
            accept=accept,
            max_bytes=max_bytes,
            seconds=seconds,
            method=method,
            encodings=encodings,
            plain_http=plain_http,
        )

    def connect(
        self, host: str, port: int, *, seconds: float
    ) -> AbstractAsyncContextManager[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Connect to a host for a protocol other than HTTP."""
        return self._fetcher.connect(host, port, seconds=seconds)


def _seconds(text: str) -> float:
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return float(text)
    try:
        return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return _USUAL
