"""Leases that a process holds and renews, and locks stored as rows: a key has one holder at a time, in any process.

Locks are taken and released in the caller's transaction, so that a job and its lock are leased, renewed and released
together. The order is always the job's row, then the lock's, then the rows of other jobs, skipping those that are
locked, so that no two transactions wait for each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Final, cast

import structlog
from sqlalchemy import CursorResult, delete, event, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.errors import BackendError
from pressroom.sdk import LeaseLost
from pressroom.storage.database.tables import JobLockRow, JobRow

log = structlog.get_logger()

_MARGIN: Final = 0.2
"""The fraction of a lease that must be left to begin something."""


class LockLease:
    """A lease of `seconds`, which ends at `ends`: a reading of the event loop's clock.

    `ends` counts from before the lease is written, so that this process stops before another one can begin. `keep`
    renews the lease in a given transaction and returns whether it was still held; `renew` does so in its own
    transaction. `lose` is called once if the lease ends: from then on another process can do the work. `name` is for
    the log. Implements `pressroom.sdk.Lease`.
    """

    def __init__(
        self,
        seconds: float,
        ends_at: float,
        *,
        name: str,
        keep: Callable[[AsyncSession], Awaitable[bool]],
        renew: Callable[[], Awaitable[bool]],
        lose: Callable[[], None],
    ) -> None:
        self.ends = ends_at
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
        ends_at = self._loop.time() + self._seconds
        if self.lost or not await self._keep(session):
            raise LeaseLost("somebody else holds the lease")

        def extend(_session: Any) -> None:
            self._extend(ends_at)

        event.listen(session.sync_session, "after_commit", extend, once=True)

    async def renew(self, renew: Callable[[], Awaitable[bool]] | None = None) -> bool:
        """Renew the lease in its own transaction, and return whether it was still held. Raises `BackendError`."""
        ends_at = self._loop.time() + self._seconds
        if not await (renew or self._renew)():
            return False
        self._extend(ends_at)
        return True

    def lose(self) -> None:
        """Give up the lease: another process can do the work."""
        if not self.lost:
            self.lost = True
            self._lose()

    async def beat(self) -> None:
        """Renew the lease three times in its length, until it is lost."""
        while not self.lost:
            # Other writes renew the lease too, which moves `ends`.
            due = self.ends - self._seconds * 2 / 3
            if (wait := due - self._loop.time()) > 0:
                await asyncio.sleep(wait)
                continue
            try:
                async with asyncio.timeout_at(self.ends):
                    if not await self.renew():
                        self.lose()
            except (BackendError, TimeoutError):
                remaining = self.ends - self._loop.time()
                if remaining <= 0:
                    log.warning("a lease could not be kept", lease=self._name)
                    self.lose()
                else:
                    await asyncio.sleep(min(self._seconds / 3, remaining))

    def _extend(self, ends_at: float) -> None:
        self.ends = max(self.ends, ends_at)


MAX_LOCK_LENGTH: Final = 200
_MAX_WOKEN: Final = 10
"""How many waiting jobs are woken when a lock is released. The others retry when its lease would have ended."""


def checked_key(key: str) -> str:
    """Return the key of a lock. Raises `ValueError` if it cannot be stored."""
    if not 0 < len(key) <= MAX_LOCK_LENGTH or "\0" in key:
        raise ValueError(f"the key of a lock has 1 to {MAX_LOCK_LENGTH} characters, and no NUL (got {len(key)})")
    return key


async def take(session: AsyncSession, key: str, token: str, *, now: datetime, until: datetime) -> datetime | None:
    """Take a lock if it is free and return `None`; otherwise return when the current holder's lease ends.

    Once taken, its row stays locked for the rest of the transaction, so that it cannot be released meanwhile.
    """
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    values = {"token": token, "until": until}
    statement = insert(JobLockRow).values(key=key, **values)
    statement = statement.on_conflict_do_update(index_elements=["key"], set_=values, where=JobLockRow.until <= now)
    if await session.scalar(statement.returning(JobLockRow.key)) is not None:
        return None
    return await session.scalar(select(JobLockRow.until).where(JobLockRow.key == key))


async def renew(session: AsyncSession, key: str, token: str, until: datetime) -> bool:
    """Extend a lock until `until`, and return whether it was still held."""
    condition = (JobLockRow.key == key, JobLockRow.token == token)
    return await _changes_one(session, update(JobLockRow).where(*condition).values(until=until))


async def release(session: AsyncSession, key: str, token: str, now: datetime) -> bool:
    """Release a lock, wake jobs that wait for it, and return whether it was still held."""
    condition = (JobLockRow.key == key, JobLockRow.token == token)
    if not await _changes_one(session, delete(JobLockRow).where(*condition)):
        return False
    statement = select(JobRow.id).where(JobRow.waits_for == key, JobRow.due_at.is_not(None)).order_by(JobRow.created_at)
    job_ids = list(await session.scalars(statement.limit(_MAX_WOKEN).with_for_update(skip_locked=True)))
    if job_ids:
        await _changes_one(session, update(JobRow).where(JobRow.id.in_(job_ids)).values(due_at=now))
    return True


async def forget_ended(session: AsyncSession, now: datetime) -> None:
    """Delete the expired locks, which processes that were killed left behind."""
    await session.execute(delete(JobLockRow).where(JobLockRow.until < now))


async def _changes_one(session: AsyncSession, change: Any) -> bool:
    result = await session.execute(change.execution_options(synchronize_session=False))
    return cast("CursorResult[Any]", result).rowcount == 1
