"""Shares of outgoing requests: the owner, the purpose, and the limits of each.

A call or a job opens a `Share`, and every fetch within it counts against it, including those of tasks that it starts.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from types import TracebackType
from typing import Final, Literal, Self

from pressroom.errors import Overloaded
from pressroom.sdk import Caller
from pressroom.sdk.services import publishing_now

Purpose = Literal["publish", "call", "background", "anonymous"]

_RETRY_SECONDS: Final = 5


class Share:
    """The fetches of one call or job, within a `with` block: all fetches of the block count against it.

    `owner` is an account or the IP address of an anonymous client; it can be empty. `requests` is the number of
    connections made. The bytes that a share holds in a `ByteBudget` are released when it closes.
    """

    __slots__ = ("_reserved", "_token", "owner", "purpose", "requests")

    def __init__(self, owner: str, purpose: Purpose) -> None:
        self.owner = owner
        self.purpose = purpose
        self.requests = 0
        self._reserved: list[tuple[ByteBudget, int]] = []

    def __enter__(self) -> Self:
        """Count the fetches of this task, and of tasks that it starts, against this share."""
        self._token = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Release all held bytes, and restore the previous share."""
        _current.reset(self._token)
        for budget, size in self._reserved:
            budget.give_back(self.owner, size)
        self._reserved.clear()

    def hold(self, budget: ByteBudget, size: int) -> None:
        """Hold some bytes until the share closes. Raises `Overloaded` if the budget has no room for them."""
        budget.take(self.owner, size)
        self._reserved.append((budget, size))


_NO_SHARE: Final = Share("", "call")
_current: ContextVar[Share] = ContextVar("fetch_share", default=_NO_SHARE)


def current_share() -> Share:
    """Return the share that fetches of this task count against."""
    return _current.get()


def share_of(caller: Caller) -> AbstractContextManager[Share]:
    """Return the share for the fetches of a call. The server's own calls keep the current share."""
    if caller.subject:
        return Share(caller.subject, "call")
    return Share(caller.client_ip, "anonymous") if caller.client_ip else nullcontext(current_share())


def current_purpose() -> Purpose:
    """Return the purpose of fetches of this task."""
    return "publish" if publishing_now() else _current.get().purpose


class ByteBudget:
    """Limits the bytes held at once: `total` in all, and half of them for one owner. 0 means no limit."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._in_use: Counter[str] = Counter()
        self._sum = 0

    def take(self, owner: str, size: int) -> None:
        """Take some bytes. Raises `Overloaded` if there is no room for them."""
        if self._total and (self._sum + size > self._total or self._in_use[owner] + size > self._total // 2):
            raise Overloaded(
                "The server already holds the maximum of fetched bytes for callers without an account. Try again in "
                "a few seconds, or use smaller images.",
                retry_after=_RETRY_SECONDS,
            )
        self._sum += size
        self._in_use[owner] += size

    def give_back(self, owner: str, size: int) -> None:
        """Give back bytes that were taken."""
        self._sum -= size
        self._in_use[owner] -= size
        if not self._in_use[owner]:
            del self._in_use[owner]


class FairSlots:
    """Limits concurrent fetches, with shares for owners and purposes; further ones wait, first come, first served.

    A quarter of the slots is reserved for publishing. Background jobs and anonymous clients each get at most three
    eighths. One owner gets a quarter for each purpose, or an eighth in the background. Without `fair`, there are no
    shares.
    """

    def __init__(self, slots: int, *, fair: bool) -> None:
        self._slots = slots
        self._shared_slots = slots if not fair else max(1, slots - slots // 4)
        part = max(1, slots * 3 // 8)
        self._per_purpose = {"background": part, "anonymous": part} if fair else {}
        self._fair = fair
        self._in_use: Counter[str] = Counter()
        self._by_owner: Counter[tuple[str, str]] = Counter()
        self._waiting: deque[tuple[str, str, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold a slot for a fetch of the current share, waiting for it without a timeout."""
        share = current_share()
        owner, purpose = share.owner, current_purpose()
        await self._take(owner, purpose)
        try:
            yield
        finally:
            self._count(owner, purpose, -1)
            self._admit()

    async def _take(self, owner: str, purpose: str) -> None:
        if self._has_capacity(owner, purpose):
            self._count(owner, purpose, 1)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (owner, purpose, future)
        self._waiting.append(entry)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._count(owner, purpose, -1)
                self._admit()
            elif entry in self._waiting:
                self._waiting.remove(entry)
            raise

    def _admit(self) -> None:
        still_waiting: deque[tuple[str, str, asyncio.Future[None]]] = deque()
        while self._waiting and sum(self._in_use.values()) < self._slots:
            owner, purpose, future = entry = self._waiting.popleft()
            if future.cancelled():
                continue  # its task has been cancelled and will run later
            if self._has_capacity(owner, purpose):
                self._count(owner, purpose, 1)
                future.set_result(None)
            else:
                still_waiting.append(entry)
        still_waiting.extend(self._waiting)
        self._waiting = still_waiting

    def _has_capacity(self, owner: str, purpose: str) -> bool:
        in_use = sum(self._in_use.values())
        if in_use >= self._slots:
            return False
        if not self._fair:
            return True
        if purpose != "publish" and in_use - self._in_use["publish"] >= self._shared_slots:
            return False
        if self._in_use[purpose] >= self._per_purpose.get(purpose, self._slots):
            return False
        limit = max(1, self._slots // (8 if purpose == "background" else 4))
        return not owner or self._by_owner[owner, purpose] < limit

    def _count(self, owner: str, purpose: str, change: int) -> None:
        self._in_use[purpose] += change
        self._by_owner[owner, purpose] += change
        if not self._by_owner[owner, purpose]:
            del self._by_owner[owner, purpose]
