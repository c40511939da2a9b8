"""Moving-window limits: the counting window, windows in memory, and the limiter that plugins and stages ask.

Windows in Redis are in `redis.py`, so that its client loads only where it is used.

Requests are counted as whole numbers of hundredths, times as whole microseconds: nothing is rounded on the way,
so that ten requests of a tenth are exactly one.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from array import array
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Final, NamedTuple

from limits import RateLimitItemPerSecond
from limits.aio.storage import MemoryStorage, MovingWindowSupport, Storage
from limits.aio.strategies import MovingWindowRateLimiter

from pressroom.sdk.backends import LimitStatus, Rate

REQUEST: Final = 100
"""One whole request, in hundredths."""

SECOND: Final = 1_000_000
"""One second, in microseconds."""


class WindowState(NamedTuple):
    """A window after a request was counted or refused.

    `used` is in hundredths. After `wait` microseconds one whole request more is free than now; it is 0 where
    nothing is used.
    """

    allowed: bool
    used: int
    wait: int


class WindowItem(RateLimitItemPerSecond):
    """A rate, as the limits package describes one; its amount is in hundredths of a request."""

    __slots__: list[str] = []

    def key_for(self, *identifiers: bytes | str | float) -> str:
        """Return the name of a window: of fixed length, and different for different identifiers or rates."""
        return f"{_digest(*identifiers)}:{self.amount}:{self.multiples}"


@lru_cache(maxsize=8192, typed=True)
def _digest(*identifiers: bytes | str | float) -> str:
    digest = blake2b(digest_size=16)
    for identifier in identifiers:
        encoded = identifier if isinstance(identifier, bytes) else str(identifier).encode(errors="surrogatepass")
        digest.update(b"%d:%b" % (len(encoded), encoded))
    return digest.hexdigest()


@lru_cache(maxsize=1024)
def window_item(requests: int, window_seconds: int) -> WindowItem:
    """Return the item of a rate; rates are few and asked for with every request."""
    return WindowItem(requests * REQUEST, window_seconds)


def hundredths(cost: float) -> int:
    """Return a cost in hundredths of a request, the nearest.

    Raises:
        ValueError: it is not from 0.01 to 1.
    """
    if 0.005 < cost <= 1:
        return round(cost * REQUEST)
    raise ValueError(f"cost: must be from 0.01 to 1 request (got {cost})")


def most_used_for_one_more(limit: int, used: int, amount: int = 0) -> int:
    """Return how much of `limit` may be used so that one whole request more than now is free, and `amount` fits."""
    free = limit - used
    wanted = max((free // REQUEST + 1) * REQUEST, amount)
    return max(limit - wanted, 0)


class WeightedWindows(MovingWindowSupport):
    """Adds to a storage of the limits package moving windows that hold one weighted entry for each request.

    The limits package's own storages hold an entry for each unit of cost, and answer whether a request fits, how
    much is used and when the window begins in separate calls. Its strategies work on these storages too, and see the
    same windows.

    In all methods `limit` and `amount` are in hundredths of a request, `expiry` is the length of the window in
    seconds, and `key` is what `WindowItem.key_for` returns.
    """

    async def open(self) -> None:
        """Connect, where there is something to connect to."""

    async def close(self) -> None:
        """Let go of connections."""

    @abstractmethod
    async def take(self, key: str, limit: int, expiry: int, amount: int) -> WindowState:
        """Count a request if it fits, in one step that no other can come between."""

    @abstractmethod
    async def give_back(self, key: str, limit: int, expiry: int, amount: int) -> WindowState:
        """Remove the newest entry of that amount; `allowed` tells whether a whole request fits now."""

    @abstractmethod
    async def peek(self, key: str, limit: int, expiry: int) -> WindowState:
        """Return the state and count nothing; `allowed` tells whether a whole request fits."""

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count a request if it fits, for the limits package's strategies."""
        return (await self.take(key, limit, expiry, amount)).allowed

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Return when the window begins and the part that is used, for the limits package's strategies.

        It is said to begin `expiry` seconds before one more request is free.
        """
        state = await self.peek(key, limit, expiry)
        return time.time() + state.wait / SECOND - expiry, state.used


def _monotonic() -> int:
    return time.monotonic_ns() // 1000


class _Window:
    """The counted requests of one window, oldest first, in 12 bytes each.

    Entries before `start` have left the window; they are cut off once they are the greater part.
    """

    __slots__ = ("amounts", "span", "start", "times", "used")

    def __init__(self, span: int) -> None:
        self.span = span
        self.times = array("q")
        self.amounts = array("I")
        self.start = 0
        self.used = 0

    def forget(self, now: int) -> None:
        """Let entries leave that are as old as the window is long."""
        times, start = self.times, self.start
        count, oldest = len(times), now - self.span
        while start < count and times[start] <= oldest:
            self.used -= self.amounts[start]
            start += 1
        if start > 16 and start * 2 > count:
            del times[:start], self.amounts[:start]
            start = 0
        self.start = start

    def add(self, now: int, amount: int) -> None:
        self.times.append(now)
        self.amounts.append(amount)
        self.used += amount

    def remove_newest(self, amount: int) -> None:
        amounts = self.amounts
        for index in range(len(amounts) - 1, self.start - 1, -1):
            if amounts[index] == amount:
                del amounts[index], self.times[index]
                self.used -= amount
                return

    def wait(self, most: int, now: int) -> int:
        """Return the microseconds until no more than `most` is used."""
        excess = self.used - most
        index = self.start
        left = now
        while excess > 0:
            excess -= self.amounts[index]
            left = self.times[index] + self.span
            index += 1
        return left - now

    def is_empty(self, now: int) -> bool:
        return not self.times or self.times[-1] <= now - self.span


class MemoryWindows(WeightedWindows, MemoryStorage):
    """Counts requests in this process, in the limits package's memory storage.

    The package's moving windows there keep an object for each unit of cost, without a bound on keys, and after each
    hit look through all keys on a thread. These keep 12 bytes a request, look at one key, and forget the least
    recently used ones. Nothing is awaited between reading and writing, so a request is counted in one step.

    Args:
        max_keys: how many windows are kept; beyond that the least recently used ones are forgotten.
        clock: microseconds, from a clock that never goes back.
    """

    def __init__(self, *, max_keys: int, clock: Callable[[], int] = _monotonic) -> None:
        super().__init__()
        self._max_keys = max_keys
        self._clock = clock
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    def __len__(self) -> int:
        """Return how many windows are kept."""
        return len(self._windows)

    async def take(self, key: str, limit: int, expiry: int, amount: int) -> WindowState:
        """Count a request if it fits."""
        now = self._clock()
        window = self._windows.get(key)
        if window is None:
            window = self._add(key, expiry * SECOND, now)
        else:
            self._windows.move_to_end(key)
            window.forget(now)
        if window.used + amount > limit:
            return WindowState(False, window.used, window.wait(most_used_for_one_more(limit, window.used, amount), now))
        window.add(now, amount)
        return WindowState(True, window.used, window.wait(most_used_for_one_more(limit, window.used), now))

    async def give_back(self, key: str, limit: int, expiry: int, amount: int) -> WindowState:
        """Remove the newest entry of that amount."""
        window = self._windows.get(key)
        if window is not None:
            window.forget(self._clock())
            window.remove_newest(amount)
        return await self.peek(key, limit, expiry)

    async def peek(self, key: str, limit: int, expiry: int) -> WindowState:
        """Return the state and count nothing."""
        window = self._windows.get(key)
        if window is None:
            return WindowState(limit >= REQUEST, 0, 0)
        now = self._clock()
        window.forget(now)
        if window.used == 0:
            del self._windows[key]
        wait = window.wait(most_used_for_one_more(limit, window.used), now)
        return WindowState(window.used + REQUEST <= limit, window.used, wait)

    async def clear(self, key: str) -> None:
        """Forget a window."""
        self._windows.pop(key, None)
        await super().clear(key)

    async def reset(self) -> int | None:
        """Forget every window; return how many there were."""
        count = len(self._windows)
        self._windows.clear()
        return count + (await super().reset() or 0)

    def _add(self, key: str, span: int, now: int) -> _Window:
        windows = self._windows
        # Two for one, so that a burst of clients does not occupy memory for ever.
        for oldest in [key for key, window in islice(windows.items(), 2) if window.is_empty(now)]:
            del windows[oldest]
        while len(windows) >= self._max_keys:
            windows.popitem(last=False)
        window = windows[key] = _Window(span)
        return window


class MovingWindowLimiter(MovingWindowRateLimiter):
    """Counts requests in moving windows; implements `pressroom.sdk.Limiter`.

    It is the limits package's strategy of that name, with weighted requests. A key and a rate name a window: two
    different rates on one key are counted separately.

    Args:
        windows: where requests are counted.
        clock: the Unix time in seconds, for `reset_at`. Windows are measured by their storage's own clock, so
            neither a step of the system's clock nor a Redis server whose clock differs shifts what callers are told.
    """

    def __init__(self, windows: WeightedWindows, *, clock: Callable[[], float] = time.time) -> None:
        if not isinstance(windows, Storage):
            raise TypeError(f"{type(windows).__name__} must be a storage of the limits package as well")
        super().__init__(windows)
        self._windows = windows
        self._clock = clock

    async def open(self) -> None:
        """Connect; an unreachable server is not an error, it may come back."""
        await self._windows.open()

    async def close(self) -> None:
        """Let go of connections."""
        await self._windows.close()

    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        """Count a request if it fits, atomically.

        Raises:
            BackendError: the storage is down, did not answer in time, or refused.
            ValueError: the cost is not from 0.01 to 1.
        """
        item = window_item(rate.requests, rate.window_seconds)
        amount = hundredths(cost)
        return self._status(rate, await self._windows.take(item.key_for(key), item.amount, rate.window_seconds, amount))

    async def give_back(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        """Undo the newest counting of that cost; if absent, nothing changes.

        `allowed` tells whether one whole request would fit now.

        Raises:
            BackendError: the storage is down, did not answer in time, or refused.
            ValueError: the cost is not from 0.01 to 1.
        """
        item = window_item(rate.requests, rate.window_seconds)
        amount = hundredths(cost)
        return self._status(
            rate, await self._windows.give_back(item.key_for(key), item.amount, rate.window_seconds, amount)
        )

    async def peek(self, rate: Rate, key: str) -> LimitStatus:
        """Return the state without counting anything; `allowed` tells whether one whole request would fit.

        Raises:
            BackendError: the storage is down, did not answer in time, or refused.
        """
        item = window_item(rate.requests, rate.window_seconds)
        return self._status(rate, await self._windows.peek(item.key_for(key), item.amount, rate.window_seconds))

    def _status(self, rate: Rate, state: WindowState) -> LimitStatus:
        return LimitStatus(
            allowed=state.allowed,
            limit=rate.requests,
            remaining=(rate.requests * REQUEST - state.used) // REQUEST,
            reset_at=self._clock() + state.wait / SECOND,
        )
