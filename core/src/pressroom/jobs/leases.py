"""The lease that a process holds, and the heartbeat that renews it: for jobs, and for locks beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.errors import BackendError
from pressroom.sdk import LeaseLost

log = structlog.get_logger()

_MARGIN: Final = 0.2
"""The share of a lease that has to be left for something to be begun."""


class HeldLease:
    """A lease of `seconds`, which ends at `ends`: a reading of the event loop's clock.

    It is taken early, so that this process stops before another can begin. `keep` renews the lease in a transaction and
    tells whether it was still held; `renew` does so in one of its own. `lose` is called once where the lease ends:
    from then on somebody else may do the work. `name` is for the log. Implements `pressroom.sdk.Lease`.
    """

    def __init__(
        self,
        seconds: float,
        ends: float,
        *,
        name: str,
        keep: Callable[[AsyncSession], Awaitable[bool]],
        renew: Callable[[], Awaitable[bool]],
        lose: Callable[[], None],
    ) -> None:
        self.ends = ends
        self.lost = False
        self._seconds = seconds
        self._name = name
        self._keep = keep
        self._renew = renew
        self._lose = lose
        self._loop = asyncio.get_running_loop()

    def check(self) -> None:
        """See `pressroom.sdk.Lease`."""
        if self.lost or self._loop.time() >= self.ends - self._seconds * _MARGIN:
            raise LeaseLost("the lease has ended, or is about to")

    async def keep(self, session: AsyncSession) -> None:
        """See `pressroom.sdk.Lease`."""
        ends = self._loop.time() + self._seconds
        if self.lost or not await self._keep(session):
            raise LeaseLost("somebody else holds the lease")

        def extend(_session: Any) -> None:
            self._extend(ends)

        event.listen(session.sync_session, "after_commit", extend, once=True)

    async def renew(self, renew: Callable[[], Awaitable[bool]] | None = None) -> bool:
        """Renew the lease in a transaction of its own; tell whether it was still held. Raises `BackendError`."""
        ends = self._loop.time() + self._seconds
        if not await (renew or self._renew)():
            return False
        self._extend(ends)
        return True

    def lose(self) -> None:
        """Give the lease up: somebody else may do the work."""
        if not self.lost:
            self.lost = True
            self._lose()

    async def beat(self) -> None:
        """Renew the lease three times in its length, until it is lost."""
        while not self.lost:
            # What is written meanwhile renews it too.
            due = self.ends - self._seconds * 2 / 3
            if (wait := due - self._loop.time()) > 0:
                await asyncio.sleep(wait)
                continue
            try:
                async with asyncio.timeout_at(self.ends):
                    if not await self.renew():
                        self.lose()
            except (BackendError, TimeoutError):
                left = self.ends - self._loop.time()
                if left <= 0:
                    log.warning("a lease could not be kept", lease=self._name)
                    self.lose()
                else:
                    await asyncio.sleep(min(self._seconds / 3, left))

    def _extend(self, ends: float) -> None:
        self.ends = max(self.ends, ends)
