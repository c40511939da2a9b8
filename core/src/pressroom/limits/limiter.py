"""The limiter: moving windows of requests, in whichever storage."""

from __future__ import annotations

import time
from collections.abc import Callable

from limits.aio.storage import Storage
from limits.aio.strategies import MovingWindowRateLimiter

from pressroom.limits.window import REQUEST, SECOND, WeightedWindows, WindowState, hundredths, window_item
from pressroom.sdk.backends import LimitStatus
from pressroom.sdk.rates import Rate


class MovingWindowLimiter(MovingWindowRateLimiter):
    """Counts requests in moving windows; keeps `pressroom.sdk.Limiter`.

    It is the limits package's strategy of that name, with weighted requests. A key and a rate name a window: two
    rates on one key are counted apart.

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
