"""What a process remembers of credentials: whose they are, and when they were used last."""

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
    """Return what a credential is remembered by: a hash, so that no credential stays in memory.

    It is BLAKE2b (RFC 7693), which takes half as long for so short a text as SHA-256, by which the database finds it.
    """
    return hashlib.blake2b(credential.encode(errors="surrogatepass"), digest_size=32).digest()


class CredentialCache:
    """Believes a valid credential for some seconds without a look at the database.

    Keys are those of `cache_key`, of API keys as of access tokens. Only what was valid is remembered, never a refusal.
    The seconds count from the beginning of the look-up, so a change that any process commits is seen everywhere
    that many seconds later. What this process changes itself it makes the cache forget, and sees at once: a
    look-up that was under way then is neither remembered nor shared with anyone who asks later.

    `uses` says when and from which IP address connections were used since `Connections` last wrote it down.
    """

    def __init__(
        self, seconds: float, *, most_entries: int = MAX_ENTRIES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._most_entries = most_entries
        self._clock = clock
        self._entries: OrderedDict[bytes, tuple[Identity, float]] = OrderedDict()
        self._look_ups: dict[bytes, asyncio.Task[Identity]] = {}
        self.uses: dict[str, tuple[float, str]] = {}

    def get(self, key: bytes) -> Identity | None:
        """Return whom the credential belongs to, where that is believed still."""
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
        """Return what is remembered, else what `look_up` returns; of several at the same time one looks up for all.

        `seconds` is how long the credential itself is valid still, such as an access token. Raises what `look_up` does.
        """
        known = self.get(key)
        if known is not None:
            return known
        if self._seconds <= 0:
            return await look_up()
        task = self._look_ups.get(key)
        if task is None:
            until = self._clock() + min(self._seconds, seconds)
            task = self._look_ups[key] = asyncio.create_task(_awaited(look_up))
            task.add_done_callback(lambda done: self._land(key, until, done))
        # A caller that leaves must not cancel the others that wait.
        return await asyncio.shield(task)

    def note_use(self, connection_id: str, client_ip: str) -> None:
        """Remember that a connection was used now."""
        self.uses[connection_id] = time.time(), client_ip

    def forget_connection(self, connection_id: str) -> None:
        """Look the credentials of a connection up again from now on."""
        self._forget(lambda identity: identity.connection == connection_id)

    def forget_account(self, user_id: str) -> None:
        """Look all credentials of an account up again from now on."""
        self._forget(lambda identity: identity.subject == user_id)

    def clear(self) -> None:
        """Look every credential up again from now on."""
        self._forget(lambda _identity: True)

    def _forget(self, concerned: Callable[[Identity], bool]) -> None:
        # Whom the look-ups under way belong to is not known yet: none of them may count for later.
        self._look_ups.clear()
        for key in [key for key, (identity, _) in self._entries.items() if concerned(identity)]:
            del self._entries[key]

    def _land(self, key: bytes, until: float, task: asyncio.Task[Identity]) -> None:
        valid = not task.cancelled() and task.exception() is None
        if self._look_ups.get(key) is not task:
            return
        del self._look_ups[key]
        if valid:
            self._entries[key] = task.result(), until
            self._entries.move_to_end(key)
            while len(self._entries) > self._most_entries:
                self._entries.popitem(last=False)


async def _awaited(look_up: Callable[[], Awaitable[Identity]]) -> Identity:
    return await look_up()
