"""Locks as rows: a key has one holder at a time, in any process, until its time is over.

Whoever takes or gives back a lock does so in a transaction of its own choice, so that a job and its lock are leased,
renewed and released together. The order is always the job's row, then the lock's, then other jobs' rows, which are
skipped where somebody else has them: no two transactions wait for each other.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import CursorResult, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.storage.database.tables import JobLockRow, JobRow

MAX_LOCK_LENGTH: Final = 200
_MAX_WOKEN: Final = 10
"""How many jobs are told that a lock is free. The others look again when its holder's time would have been over."""


def checked_key(key: str) -> str:
    """Return the key of a lock. Raises `ValueError` where it cannot be stored."""
    if not 0 < len(key) <= MAX_LOCK_LENGTH or "\0" in key:
        raise ValueError(f"the key of a lock has 1 to {MAX_LOCK_LENGTH} characters, and no NUL (got {len(key)})")
    return key


async def take(session: AsyncSession, key: str, token: str, *, now: datetime, until: datetime) -> datetime | None:
    """Take a lock that is free. Return `None`, or until when somebody else holds it.

    Where it is taken, its row stays locked for the rest of the transaction: it cannot become free meanwhile.
    """
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    values = {"token": token, "until": until}
    taking = insert(JobLockRow).values(key=key, **values)
    taking = taking.on_conflict_do_update(index_elements=["key"], set_=values, where=JobLockRow.until <= now)
    if await session.scalar(taking.returning(JobLockRow.key)) is not None:
        return None
    return await session.scalar(select(JobLockRow.until).where(JobLockRow.key == key))


async def renew(session: AsyncSession, key: str, token: str, until: datetime) -> bool:
    """Keep a lock until another time; tell whether it was still held."""
    held = (JobLockRow.key == key, JobLockRow.token == token)
    return await _changes_one(session, update(JobLockRow).where(*held).values(until=until))


async def release(session: AsyncSession, key: str, token: str, now: datetime) -> bool:
    """Give a lock back, and let jobs that wait for it run; tell whether it was still held."""
    held = (JobLockRow.key == key, JobLockRow.token == token)
    if not await _changes_one(session, delete(JobLockRow).where(*held)):
        return False
    waiting = select(JobRow.id).where(JobRow.waits_for == key, JobRow.due_at.is_not(None)).order_by(JobRow.created_at)
    woken = list(await session.scalars(waiting.limit(_MAX_WOKEN).with_for_update(skip_locked=True)))
    if woken:
        await _changes_one(session, update(JobRow).where(JobRow.id.in_(woken)).values(due_at=now))
    return True


async def forget_ended(session: AsyncSession, now: datetime) -> None:
    """Remove the locks of processes that were killed."""
    await session.execute(delete(JobLockRow).where(JobLockRow.until < now))


async def _changes_one(session: AsyncSession, change: Any) -> bool:
    result = await session.execute(change.execution_options(synchronize_session=False))
    return cast("CursorResult[Any]", result).rowcount == 1
