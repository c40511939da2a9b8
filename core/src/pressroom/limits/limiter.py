"""Moving-window limits: the weighted window, its storage in memory, and the limiter for plugins and stages.

Windows in Redis are in `redis.py`, so that the client is only loaded if it is used.

Requests are counted in whole hundredths, times in whole microseconds. Nothing is rounded in between, so that ten
requests of a tenth are exactly one.
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
    """The state of a window after a request was counted or refused.

    `used` is in hundredths. After `wait` microseconds one more whole request is free than now; `wait` is 0 if
    nothing is used.
    """

    allowed: bool
    used: int
    wait: int


class WindowItem(RateLimitItemPerSecond):
    """A rate as an item of the limits package, with its amount in hundredths of a request."""

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
    """Return the item of a rate, cached, since rates are few and every request needs one."""
    return WindowItem(requests * REQUEST, window_seconds)


def hundredths(cost: float) -> int:
    """Round a cost to hundredths of a request.

    Raises:
        ValueError: it is not from 0.01 to 1.
    """
    if 1 / REQUEST <= cost <= 1:
        return round(cost * REQUEST)
    raise ValueError(f"cost: must be from 0.01 to 1 request (got {cost})")


def max_used_for_request(limit: int, used: int, amount: int = 0) -> int:
    """Return how much of `limit` can be used so that one more whole request than now is free, and `amount` fits."""
    free = limit - used
    needed = max((free // REQUEST + 1) * REQUEST, amount)
    return max(limit - needed, 0)


class WeightedWindows(MovingWindowSupport):
    """Adds weighted moving windows to a storage of the limits package, with one entry for each request.

    The package's own storages hold an entry for each unit of cost, and need separate calls to find out whether a
    request fits, how much is used and when the window begins. The package's strategies work with these storages too,
    and see the same windows.

    In all methods `limit` and `amount` are in hundredths of a request, `expiry` is the length of the window in
    seconds, and `key` is a result of `WindowItem.key_for`.
    """

    async def open(self) -> None:
        """Connect, if the storage has a server."""

    async def close(self) -> None:
        """Close the connections."""

    @abstractmethod
    async def take(self, key: str, limit: int, expiry: int, amount: int) -> WindowState:
        """Count a request if it fits, atomically."""

    @abstractmethod
    async def give_back(self, key: str, limit: int, expiry: int, amount: int) -> WindowState:
        """Remove the newest entry of that amount; `allowed` is whether a whole request fits afterwards."""

    @abstractmethod
    async def peek(self, key: str, limit: int, expiry: int) -> WindowState:
        """Return the state without counting anything; `allowed` is whether a whole request fits."""

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count a request if it fits, for the limits package's strategies."""
        return (await self.take(key, limit, expiry, amount)).allowed

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Return the start of the window and the amount used, for the limits package's strategies.

        The reported start is `expiry` seconds before one more request is free.
        """
        state = await self.peek(key, limit, expiry)
        return time.time() + state.wait / SECOND - expiry, state.used


def _monotonic() -> int:
    return time.monotonic_ns() // 1000


class _Window:
    """The counted requests of one window, oldest first, 12 bytes each.

    Entries before `start` have left the window; they are deleted once they are the majority.
    """

    __slots__ = ("amounts", "span", "start", "times", "used")

    def __init__(self, span: int) -> None:
        self.span = span
        self.times = array("q")
        self.amounts = array("I")
        self.start = 0
        self.used = 0

    def forget(self, now: int) -> None:
        """Drop the entries that have left the window."""
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

    def wait(self, max_used: int, now: int) -> int:
        """Return the microseconds until at most `max_used` is used."""
        excess = self.used - max_used
        index = self.start
        freed_at = now
        while excess > 0:
            excess -= self.amounts[index]
            freed_at = self.times[index] + self.span
            index += 1
        return freed_at - now

    def is_empty(self, now: int) -> bool:
        return not self.times or self.times[-1] <= now - self.span


class MemoryWindows(WeightedWindows, MemoryStorage):
    """Counts requests in this process, in the limits package's memory storage.

    The package's own moving windows keep an object for each unit of cost, without a limit on keys, and scan all keys on
    a thread after each hit. These keep 12 bytes per request, access a single key, and evict the least recently used
    keys. There is no `await` between reading and writing, so counting a request is atomic.

    Args:
        max_keys: the maximum number of windows; beyond it the least recently used ones are evicted.
        clock: returns microseconds from a monotonic clock.
    """

    def __init__(self, *, max_keys: int, clock: Callable[[], int] = _monotonic) -> None:
        super().__init__()
        self._max_keys = max_keys
        self._clock = clock
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of windows."""
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
            return WindowState(False, window.used, window.wait(max_used_for_request(limit, window.used, amount), now))
        window.add(now, amount)
        return WindowState(True, window.used, window.wait(max_used_for_request(limit, window.used), now))

    async def give_back(self, key: str, limit: int, expiry: int, amount: int) -> WindowState:
        """Remove the newest entry of that amount."""
        window = self._windows.get(key)
        if window is not None:
            window.forget(self._clock())
            window.remove_newest(amount)
        return await self.peek(key, limit, expiry)

    async def peek(self, key: str, limit: int, expiry: int) -> WindowState:
        """Return the state without counting anything."""
        window = self._windows.get(key)
        if window is None:
            return WindowState(limit >= REQUEST, 0, 0)
        now = self._clock()
        window.forget(now)
        if window.used == 0:
            del self._windows[key]
        wait = window.wait(max_used_for_request(limit, window.used), now)
        return WindowState(window.used + REQUEST <= limit, window.used, wait)

    async def clear(self, key: str) -> None:
        """Remove a window."""
        self._windows.pop(key, None)
        await super().clear(key)

    async def reset(self) -> int | None:
        """Remove every window, and return how many there were."""
        count = len(self._windows)
        self._windows.clear()
        return count + (await super().reset() or 0)

    def _add(self, key: str, span: int, now: int) -> _Window:
        windows = self._windows
        # Up to two empty windows go for each new one, so that a burst of clients does not occupy memory for ever.
        for oldest in [key for key, window in islice(windows.items(), 2) if window.is_empty(now)]:
            del windows[oldest]
        while len(windows) >= self._max_keys:
            windows.popitem(last=False)
        window = windows[key] = _Window(span)
        return window


class MovingWindowLimiter(MovingWindowRateLimiter):
    """Counts requests in moving windows; implements `pressroom.sdk.Limiter`.

    It is the limits package's strategy of that name, with weighted requests. A key and a rate identify a window: two
    different rates on one key are counted separately.

    Args:
        windows: the storage that counts requests.
        clock: returns the Unix time in seconds, for `reset_at`. Windows use their storage's own clock, so neither a
            step of the system clock nor a Redis server with a different clock changes what callers are told.
    """

    def __init__(self, windows: WeightedWindows, *, clock: Callable[[], float] = time.time) -> None:
        if not isinstance(windows, Storage):
            raise TypeError(f"{type(windows).__name__} must be a storage of the limits package as well")
        super().__init__(windows)
        self._windows = windows
        self._clock = clock

    async def open(self) -> None:
        """Connect. An unreachable server is not an error, since it may come back."""
        await self._windows.open()

    async def close(self) -> None:
        """Close the connections."""
        await self._windows.close()

    async def take(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        """Count a request if it fits, atomically.

        Raises:
            BackendError: the storage is down, did not respond in time, or refused the command.
            ValueError: the cost is not from 0.01 to 1.
        """
        item = window_item(rate.requests, rate.window_seconds)
        amount = hundredths(cost)
        return self._status(rate, await self._windows.take(item.key_for(key), item.amount, rate.window_seconds, amount))

    async def give_back(self, rate: Rate, key: str, cost: float) -> LimitStatus:
        """Undo the newest request counted with that cost, if any.

        `allowed` is whether one whole request would fit afterwards.

        Raises:
            BackendError: the storage is down, did not respond in time, or refused the command.
            ValueError: the cost is not from 0.01 to 1.
        """
        item = window_item(rate.requests, rate.window_seconds)
        amount = hundredths(cost)
        return self._status(
            rate, await self._windows.give_back(item.key_for(key), item.amount, rate.window_seconds, amount)
        )

    async def peek(self, rate: Rate, key: str) -> LimitStatus:
        """Return the state without counting anything; `allowed` is whether one whole request would fit.

        Raises:
            BackendError: the storage is down, did not respond in time, or refused the command.
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
