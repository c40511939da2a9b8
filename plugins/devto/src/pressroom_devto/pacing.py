"""Keeping to the pace that DEV asks for: a write a second, and nothing before the time of a `Retry-After`."""

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
"""Seconds for which nothing is sent where a 429 does not say how long."""

_MAX_PAUSE_SECONDS: Final = 3600.0
_QUEUE: Final = 20.0
_MAX_REMEMBERED: Final = 1000


class Pace:
    """The pace of one API key in this process.

    Args:
        interval: seconds between two writes.
        clock: tells a time in seconds that only goes forward.
        sleep: waits for this many seconds.
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
        self._held = 0.0

    @property
    def idle(self) -> bool:
        """Whether nothing has to be waited for."""
        return max(self._free, self._held) <= self._clock()

    async def turn(self, *, writes: bool) -> None:
        """Return once a request may be sent. Raises `SiteUnavailable` where that is too long to wait for."""
        now = self._clock()
        if now < self._held:
            pause = self._held - now
            raise SiteUnavailable(f"DEV wants no requests for another {pause:.0f} seconds", retry_after=ceil(pause))
        if not writes:
            return
        at = max(now, self._free)
        if at - now > _QUEUE:
            raise SiteUnavailable("too many posts wait for DEV, which takes one a second")
        self._free = at + self._interval
        if at > now:
            await self._sleep(at - now)

    def hold(self, retry_after: str) -> None:
        """Send nothing for as long as a `Retry-After` says: seconds or a date (RFC 9110, section 10.2.3)."""
        self._held = self._clock() + min(_MAX_PAUSE_SECONDS, max(0.0, _seconds(retry_after.strip())))


class Paces:
    """The paces of all API keys of this process."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._known: dict[bytes, Pace] = {}

    def of(self, key: str) -> Pace:
        """Return the pace of a key."""
        if len(self._known) > _MAX_REMEMBERED:
            self._known = {name: pace for name, pace in self._known.items() if not pace.idle}
        return self._known.setdefault(sha256(key.encode()).digest(), Pace(self._interval))


class PacedFetcher:
    """Sends requests through another fetcher, at a pace. It implements `pressroom.sdk.Fetcher`."""

    def __init__(self, fetcher: Fetcher, pace: Pace) -> None:
        self._fetcher = fetcher
        self._pace = pace

    async def get(self, url: str, *, accept: str, max_bytes: int, seconds: float, redirects: int = 3) -> Fetched:
        """Return what is at a URL."""
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
        """Send a request when it is its turn. Raises `SiteUnavailable`, without sending it, where that is far off."""
        await self._pace.turn(writes=method not in _SAFE)
        answer = await self._fetcher.request(
            method, url, headers=headers, content=content, max_bytes=max_bytes, seconds=seconds, redirects=redirects
        )
        if answer.status == _TOO_MANY:
            self._pace.hold(answer.headers.get("retry-after", ""))
        return answer

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
        """Return the answer to one request, as it came."""
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
