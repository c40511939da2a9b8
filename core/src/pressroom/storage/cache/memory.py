"""The cache index of a single process."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from pressroom.sdk.backends import CacheEntry


class MemoryCacheIndex:
    """Remembers results in this process; implements `pressroom.sdk.CacheIndex`.

    Args:
        max_entries: how many results are remembered; beyond that the least recently used ones are forgotten.
        clock: seconds, from a clock that never goes back.
    """

    def __init__(self, *, max_entries: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_entries = max_entries
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, CacheEntry]] = OrderedDict()

    async def open(self) -> None:
        """Do nothing: there is nothing to connect to."""

    async def close(self) -> None:
        """Forget everything."""
        self._entries.clear()

    async def get(self, content_id: str) -> CacheEntry | None:
        """Return the entry, or `None`."""
        found = self._entries.get(content_id)
        if found is None:
            return None
        expires, entry = found
        if expires <= self._clock():
            del self._entries[content_id]
            return None
        self._entries.move_to_end(content_id)
        return entry

    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        """Remember an entry for at most `seconds`; with 0 it is forgotten."""
        self._entries.pop(content_id, None)
        if seconds <= 0:
            return
        while len(self._entries) >= self._max_entries:
            self._entries.popitem(last=False)
        self._entries[content_id] = (self._clock() + seconds, entry)

    async def delete(self, content_id: str) -> None:
        """Forget an entry; one that is not there is no error."""
        self._entries.pop(content_id, None)
