"""A cache of what was drawn, bounded by its bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Keeps what was used last. Threads may share it; one at a time makes what is missing."""

    def __init__(self, most_bytes: int, size: Callable[[V], int]) -> None:
        self._most_bytes = most_bytes
        self._size = size
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return what is kept under a key; else make it, and keep it while there is room."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
            made = make()
            self._entries[key] = made
            self.bytes += self._size(made)
            while self.bytes > self._most_bytes and len(self._entries) > 1:
                _, oldest = self._entries.popitem(last=False)
                self.bytes -= self._size(oldest)
            return made
