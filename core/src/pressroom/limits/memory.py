"""Moving windows in the memory of one process."""

from __future__ import annotations

import time
from array import array
from collections import OrderedDict
from collections.abc import Callable
from itertools import islice

from limits.aio.storage import MemoryStorage

from pressroom.limits.window import REQUEST, SECOND, WeightedWindows, WindowState, most_used_for_one_more


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
