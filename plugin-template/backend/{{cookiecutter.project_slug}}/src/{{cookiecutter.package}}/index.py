"""The cache index: which results exist, by content ID."""

from __future__ import annotations

import time
from collections import OrderedDict

from pressroom.sdk import CacheEntry

MAX_ENTRIES = 10_000


class MemoryIndex:
    """A cache index in this process's memory. Replace the dictionary with the server that you want to use.

    If that server is down, raise `BackendError` within a limited time.
    """

    def __init__(self) -> None:
        """Create an empty index. Connect in `open`, not here."""
        self._entries: OrderedDict[str, tuple[float, CacheEntry]] = OrderedDict()

    async def open(self) -> None:
        """Connect. An unreachable server is not an error: it may come back."""

    async def close(self) -> None:
        """Close connections."""
        self._entries.clear()

    async def get(self, content_id: str) -> CacheEntry | None:
        """Return the entry, or `None` if it is unknown or expired."""
        expires, entry = self._entries.get(content_id, (0.0, None))
        return entry if time.monotonic() < expires else None

    async def put(self, content_id: str, entry: CacheEntry, *, seconds: int) -> None:
        """Store an entry for at most `seconds`. If the index is full, the oldest entry is removed."""
        self._entries[content_id] = (time.monotonic() + seconds, entry)
        self._entries.move_to_end(content_id)
        if len(self._entries) > MAX_ENTRIES:
            self._entries.popitem(last=False)

    async def delete(self, content_id: str) -> None:
        """Remove an entry. An unknown one is not an error."""
        self._entries.pop(content_id, None)
