"""A memory of keys that were seen a short time ago."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable


class RecentKeys:
    """Remembers keys for `seconds` each, and at most `max_keys` of them: the ones added last.

    `clock` tells a time in seconds that never goes back.
    """

    __slots__ = ("_clock", "_expiry", "_max_keys", "_seconds")

    def __init__(self, seconds: float, max_keys: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._max_keys = max_keys
        self._clock = clock
        self._expiry: OrderedDict[str, float] = OrderedDict()

    def add(self, key: str) -> None:
        """Remember `key` from now on."""
        self._expiry[key] = self._clock() + self._seconds
        self._expiry.move_to_end(key)
        if len(self._expiry) > self._max_keys:
            self._expiry.popitem(last=False)

    def discard(self, key: str) -> None:
        """Forget `key`; one that is not remembered is not an error."""
        self._expiry.pop(key, None)

    def __contains__(self, key: str) -> bool:
        expiry = self._expiry.get(key)
        return expiry is not None and self._clock() < expiry

    def __len__(self) -> int:
        return len(self._expiry)
