"""An in-memory cache of verified credentials and of the last use of each connection."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

from pressroom.sdk import Identity

MAX_ENTRIES: Final = 4096


def cache_key(credential: str) -> bytes:
    """Return the cache key of a credential: a hash, so that no credential stays in memory.

    The hash is BLAKE2b (RFC 7693), which takes half as long for such short input as SHA-256, the hash in the database.
    """
    return hashlib.blake2b(credential.encode(errors="surrogatepass"), digest_size=32).digest()


class CredentialCache:
    """Caches valid credentials for some seconds, to spare the database a query per request.

    Keys come from `cache_key`, for API keys and access tokens alike. Only valid credentials are cached, never
    rejections. An entry's lifetime starts when its look-up begins, so a change committed by any process is seen
    everywhere within that lifetime. A process invalidates entries for its own changes and sees them at once: a look-up
    already in flight is then neither cached nor shared with later callers.

    `uses` maps connection IDs to the time and IP address of their last use since `Connections` last wrote it to the
    database.
    """

    def __init__(
        self, seconds: float, *, most_entries: int = MAX_ENTRIES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._max_entries = most_entries
        self._clock = clock
        self._entries: OrderedDict[bytes, tuple[Identity, float]] = OrderedDict()
        self._look_ups: dict[bytes, asyncio.Task[Identity]] = {}
        self.uses: dict[str, tuple[float, str]] = {}

    def get(self, key: bytes) -> Identity | None:
        """Return the cached identity of a credential, or `None` if it is missing or expired."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        identity, until = entry
        if self._clock() >= until:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return identity

    async def identity(
        self, key: bytes, look_up: Callable[[], Awaitable[Identity]], *, seconds: float = math.inf
    ) -> Identity:
        """Return the cached identity, or the result of `look_up`, which concurrent callers share (single-flight).

        `seconds` is the remaining lifetime of the credential itself, such as an access token. Exceptions of `look_up`
        propagate.
        """
        cached = self.get(key)
        if cached is not None:
            return cached
        if self._seconds <= 0:
            return await look_up()
        task = self._look_ups.get(key)
        if task is None:
            until = self._clock() + min(self._seconds, seconds)
            task = self._look_ups[key] = asyncio.create_task(_awaited(look_up))
            task.add_done_callback(lambda finished: self._store_result(key, until, finished))
        # Cancelling one caller must not cancel the others that wait.
        return await asyncio.shield(task)

    def note_use(self, connection_id: str, client_ip: str) -> None:
        """Record that a connection was used now."""
        self.uses[connection_id] = time.time(), client_ip

    def forget_connection(self, connection_id: str) -> None:
        """Invalidate the cached credentials of a connection."""
        self._forget(lambda identity: identity.connection == connection_id)

    def forget_account(self, user_id: str) -> None:
        """Invalidate all cached credentials of an account."""
        self._forget(lambda identity: identity.subject == user_id)

    def clear(self) -> None:
        """Invalidate all cached credentials."""
        self._forget(lambda _identity: True)

    def _forget(self, matches: Callable[[Identity], bool]) -> None:
        # The owners of in-flight look-ups are unknown, so none of their results can be cached.
        self._look_ups.clear()
        for key in [key for key, (identity, _) in self._entries.items() if matches(identity)]:
            del self._entries[key]

    def _store_result(self, key: bytes, until: float, task: asyncio.Task[Identity]) -> None:
        valid = not task.cancelled() and task.exception() is None
        if self._look_ups.get(key) is not task:
            return
        del self._look_ups[key]
        if valid:
            self._entries[key] = task.result(), until
            self._entries.move_to_end(key)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)


async def _awaited(look_up: Callable[[], Awaitable[Identity]]) -> Identity:
    return await look_up()
