"""The cache index of a single process."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from pressroom.sdk.backends import CacheEntry


class MemoryCacheIndex:
    """Keeps cache entries in this process; implements `pressroom.sdk.CacheIndex`.

    Args:
        max_entries: the maximum number of entries; beyond it the least recently used ones are evicted.
        clock: returns seconds from a monotonic clock.
    """

    def __init__(self, *, max_entries: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_entries = max_entries
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, CacheEntry]] = OrderedDict()

    async def open(self) -> None:
        """Do nothing: there is nothing to connect to."""

    async def close(self) -> None:
        """Remove all entries."""
        self._entries.clear()

    async def get(self, content_id: str) -> CacheEntry | None:
        """Return the entry, or `None` if it is missing or has expired."""
        stored = self._entries.get(content_id)
        if stored is None:
            return None
        expires, entry = stored
        if expires <= self._clock():
            del self._entries[content_id]
            return None
        self._entries.move_to_end(content_id)
        return entry

    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        """Store an entry for at most `seconds`; 0 removes it."""
        self._entries.pop(content_id, None)
        if seconds <= 0:
            return
        while len(self._entries) >= self._max_entries:
            self._entries.popitem(last=False)
        self._entries[content_id] = (self._clock() + seconds, entry)

    async def delete(self, content_id: str) -> None:
        """Remove an entry; a missing one is not an error."""
        self._entries.pop(content_id, None)
