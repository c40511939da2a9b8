"""Who fetches, what for, and how much of the way out each may take.

A call or a job opens a `Share`; every fetch under it counts against it, also in tasks that it starts.
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
    """What one call or job fetches, within a `with` block: all fetches of the block count against it.

    `owner` is an account or the IP address of an anonymous client; empty where it is nobody's. `requests` counts the
    connections that were made. The bytes that a share holds in a `ByteBudget` are free again when it closes.
    """

    __slots__ = ("_held", "_token", "owner", "purpose", "requests")

    def __init__(self, owner: str, purpose: Purpose) -> None:
        self.owner = owner
        self.purpose = purpose
        self.requests = 0
        self._held: list[tuple[ByteBudget, int]] = []

    def __enter__(self) -> Self:
        """Count the fetches of this task, and of those that it starts, from now on."""
        self._token = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Let go of all bytes that are held, and count as before."""
        _current.reset(self._token)
        for budget, size in self._held:
            budget.give_back(self.owner, size)
        self._held.clear()

    def hold(self, budget: ByteBudget, size: int) -> None:
        """Hold some bytes until the share closes. Raises `Overloaded` where the budget has no room for them."""
        budget.take(self.owner, size)
        self._held.append((budget, size))


_NOBODY: Final = Share("", "call")
_current: ContextVar[Share] = ContextVar("fetch_share", default=_NOBODY)


def current_share() -> Share:
    """Return the share that fetches count against now."""
    return _current.get()


def share_of(caller: Caller) -> AbstractContextManager[Share]:
    """Return what the fetches of a call count against. The server's own calls keep the current share."""
    if caller.subject:
        return Share(caller.subject, "call")
    return Share(caller.client_ip, "anonymous") if caller.client_ip else nullcontext(current_share())


def current_purpose() -> Purpose:
    """Return what fetches are made for now."""
    return "publish" if publishing_now() else _current.get().purpose


class ByteBudget:
    """Bounds the bytes that are held at once: `total` in all, and half of them by one owner. 0 means no bound."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._taken: Counter[str] = Counter()
        self._sum = 0

    def take(self, owner: str, size: int) -> None:
        """Take some bytes. Raises `Overloaded` where there is no room for them."""
        if self._total and (self._sum + size > self._total or self._taken[owner] + size > self._total // 2):
            raise Overloaded(
                "The server holds as many fetched bytes for callers without an account as it may. Try again in some "
                "seconds, or use smaller images.",
                retry_after=_RETRY_SECONDS,
            )
        self._sum += size
        self._taken[owner] += size

    def give_back(self, owner: str, size: int) -> None:
        """Give back bytes that were taken."""
        self._sum -= size
        self._taken[owner] -= size
        if not self._taken[owner]:
            del self._taken[owner]


class FairPlaces:
    """This many fetches at once, shared between owners and purposes; others wait in the order in which they came.

    A quarter of the places is for publishing alone. Background jobs and anonymous clients each have three eighths at
    most. One owner has a quarter for each purpose, in the background an eighth. Without `fair`, all places are alike.
    """

    def __init__(self, places: int, *, fair: bool) -> None:
        self._places = places
        self._others = places if not fair else max(1, places - places // 4)
        part = max(1, places * 3 // 8)
        self._per_purpose = {"background": part, "anonymous": part} if fair else {}
        self._fair = fair
        self._taken: Counter[str] = Counter()
        self._by_owner: Counter[tuple[str, str]] = Counter()
        self._waiting: deque[tuple[str, str, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Hold a place for a fetch of the current share; wait for it as long as it takes."""
        share = current_share()
        owner, purpose = share.owner, current_purpose()
        await self._take(owner, purpose)
        try:
            yield
        finally:
            self._count(owner, purpose, -1)
            self._admit()

    async def _take(self, owner: str, purpose: str) -> None:
        if self._has_room(owner, purpose):
            self._count(owner, purpose, 1)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (owner, purpose, turn)
        self._waiting.append(entry)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._count(owner, purpose, -1)
                self._admit()
            else:
                self._waiting.remove(entry)
            raise

    def _admit(self) -> None:
        passed: deque[tuple[str, str, asyncio.Future[None]]] = deque()
        while self._waiting and sum(self._taken.values()) < self._places:
            owner, purpose, turn = entry = self._waiting.popleft()
            if self._has_room(owner, purpose):
                self._count(owner, purpose, 1)
                turn.set_result(None)
            else:
                passed.append(entry)
        passed.extend(self._waiting)
        self._waiting = passed

    def _has_room(self, owner: str, purpose: str) -> bool:
        taken = sum(self._taken.values())
        if taken >= self._places:
            return False
        if not self._fair:
            return True
        if purpose != "publish" and taken - self._taken["publish"] >= self._others:
            return False
        if self._taken[purpose] >= self._per_purpose.get(purpose, self._places):
            return False
        most = max(1, self._places // (8 if purpose == "background" else 4))
        return not owner or self._by_owner[owner, purpose] < most

    def _count(self, owner: str, purpose: str, change: int) -> None:
        self._taken[purpose] += change
        self._by_owner[owner, purpose] += change
        if not self._by_owner[owner, purpose]:
            del self._by_owner[owner, purpose]
