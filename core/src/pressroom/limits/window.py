"""What the storages of moving windows have in common.

Requests are counted as whole numbers of hundredths, times as whole microseconds: nothing is rounded on the way,
so that ten requests of a tenth are exactly one.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple

from limits import RateLimitItemPerSecond
from limits.aio.storage import MovingWindowSupport

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
