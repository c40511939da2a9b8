"""What accounts store, and what their plans include."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class StorageKind:
    """A kind of thing that a plugin stores for accounts, and that counts against the bound of their plans.

    `title` is how people call it, as in `images`, and `advice` what they can do to make room: `delete images with
    delete_media`. `measure` is an async function that gets a session of the database and the account's id, and returns
    how many bytes the account has of it. It runs before many writes of every kind: let it read an index, not the
    things. `make_room`, where it is given, gets a session, the account's id and a number of bytes, and removes what
    nobody would miss, such as a trash, until this many are free; it runs before a write is refused, in its transaction.
    """

    name: str
    title: str
    measure: Callable[[Any, str], Awaitable[int]]
    advice: str
    make_room: Callable[[Any, str, int], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class StoredKind:
    """How many bytes an account stores of one kind."""

    name: str
    title: str
    size: int


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """How many bytes an account stores, by kind, and how many its plan includes; `None` means no bound."""

    kinds: tuple[StoredKind, ...]
    limit: int | None

    @property
    def used(self) -> int:
        """The bytes of all kinds together."""
        return sum(one.size for one in self.kinds)


@runtime_checkable
class Storage(Protocol):
    """What bounds the bytes that an account stores. `subject` is that of the caller."""

    async def reserve(self, session: Any, subject: str, size: int) -> None:
        """Refuse a write of `size` bytes for which an account has no room.

        Call it first in the transaction that writes. Until that ends, other writes for the account wait, so that two
        at once do not both take the last room. Far from the bound, small writes need not wait: each process of a server
        may write up to a 64th of what is free before it measures again, within ten seconds.

        Raises:
            QuotaExceeded: there is no room; the message says what takes how much, and what to delete.
        """

    async def storage(self, subject: str) -> StorageUsage:
        """Return what an account stores."""
