"""Jobs as rows: every change of a job is one short transaction.

Whoever runs a job holds its lease: a random token in the row, and a time until which nobody else may take it. Every
change by a runner names the token, so that one whose lease has passed to another changes nothing any more. All times
are the database's where it is a server, so that the clocks of hosts need not agree.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from sqlalchemy import CursorResult, Select, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.errors import NotFound
from pressroom.models import JobRow
from pressroom.sdk import Job, JobState, JobStatus
from pressroom.storage.database import SqlDatabase
from pressroom.tables import as_id

VANISHED: Final = "the process that ran it came to an end"

_UNFINISHED: Final = ("queued", "running")


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run one attempt of a job. `token` proves it."""

    id: str
    kind: str
    subject: str
    payload: Mapping[str, Any]
    attempt: int
    token: str


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A job that was failed in the place of being leased: its last attempt ended with the process that ran it."""

    id: str
    kind: str


class JobStore:
    """The table of jobs. `retention` is how many seconds a finished job is kept."""

    def __init__(self, database: SqlDatabase, retention: float) -> None:
        self._database = database
        self._retention = retention

    async def add(
        self, kind: str, payload: Mapping[str, Any], *, subject: str, key: str, run_at: datetime | None
    ) -> tuple[str, bool]:
        """Add a job, and return its id and whether it is new. Raises `BackendError`."""
        while True:
            async with self._database.writing() as session:
                due_at = run_at or await _now(session)
                added = await self._insert(session, kind, payload, subject=subject, key=key, due_at=due_at)
                if added is not None:
                    return added, True
                same = select(JobRow.id).where(JobRow.kind == kind, JobRow.subject == subject, JobRow.key == key)
                found = await session.scalar(same)
            if found is not None:  # else it was forgotten between the two statements
                return found, False

    async def add_period(self, job: Job, every: float) -> float:
        """Add a periodic job for the period that it is now, once, and return the seconds to the next period.

        Raises `BackendError`.
        """
        async with self._database.writing() as session:
            now = await _now(session)
            period = math.floor(now.timestamp() / every)
            await self._insert(session, job.kind, {}, subject="", key=f"every:{every:g}:{period}", due_at=now)
        return (period + 1) * every - now.timestamp()

    async def status(self, job_id: str, subject: str | None) -> JobStatus:
        """Return a job. Raises `NotFound` and `BackendError`."""
        async with self._database.reading() as session:
            row = await session.get(JobRow, as_id(job_id))
        if row is None or subject not in (None, row.subject):
            raise _not_found(job_id)
        return JobStatus(
            id=row.id,
            kind=row.kind,
            subject=row.subject,
            state=cast("JobState", row.state),
            progress=row.progress,
            message=row.message,
            result=row.result,
            attempts=row.attempts,
            created_at=row.created_at,
            finished_at=row.finished_at,
        )

    async def cancel(self, job_id: str, subject: str | None) -> bool:
        """Cancel a job that has not finished; tell whether it was. Raises `NotFound` and `BackendError`."""
        async with self._database.writing() as session:
            row = await session.get(JobRow, as_id(job_id), with_for_update=True)
            if row is None or subject not in (None, row.subject):
                raise _not_found(job_id)
            if row.state not in _UNFINISHED:
                return False
            self._end(row, "cancelled", await _now(session), every=None)
            return True

    async def claim(self, jobs: Mapping[str, Job]) -> Lease | GivenUp | None:
        """Lease the job that is due longest, of those kinds, for the next attempt; `None` where there is none.

        Raises `BackendError`.
        """
        async with self._database.writing() as session:
            now = await _now(session)
            row = await session.scalar(due_job(jobs, now).with_for_update(skip_locked=True))
            if row is None:
                return None
            job = jobs[row.kind]
            if row.attempts >= job.attempts:
                row.message = VANISHED
                self._end(row, "failed", now, every=job.every)
                return GivenUp(row.id, row.kind)
            row.state = "running"
            row.attempts += 1
            row.lease = secrets.token_urlsafe(16)
            row.due_at = now + timedelta(seconds=job.lease)
            return Lease(row.id, row.kind, row.subject, row.payload, row.attempts, row.lease)

    async def seconds_to_next(self, jobs: Mapping[str, Job]) -> float | None:
        """Return in how many seconds a job of those kinds is due, or its lease ends. Raises `BackendError`."""
        async with self._database.reading() as session:
            now = await _now(session)
            due_at = await session.scalar(next_due(jobs))
        return None if due_at is None else (due_at - now).total_seconds()

    async def renew(
        self, lease: Lease, seconds: float, *, progress: float | None = None, message: str | None = None
    ) -> bool:
        """Keep a lease for so many seconds more; tell whether it is still held. Raises `BackendError`."""
        values: dict[str, Any] = {} if progress is None else {"progress": progress, "message": message}
        async with self._database.writing() as session:
            now = await _now(session)
            return await _change(session, lease, due_at=now + timedelta(seconds=seconds), **values)

    async def succeed(self, lease: Lease, result: Mapping[str, Any], *, every: float | None) -> bool:
        """Finish a job with its result; tell whether the lease was still held. Raises `BackendError`."""
        return await self._finish(lease, every, state="succeeded", result=dict(result), progress=1.0)

    async def fail(self, lease: Lease, message: str, *, every: float | None) -> bool:
        """Finish a job whose attempts are used up. Raises `BackendError`."""
        return await self._finish(lease, every, state="failed", message=message)

    async def retry(self, lease: Lease, message: str, *, seconds: float) -> bool:
        """Queue a job again, to be tried in so many seconds. Raises `BackendError`."""
        async with self._database.writing() as session:
            due_at = await _now(session) + timedelta(seconds=seconds)
            return await _change(session, lease, state="queued", lease="", due_at=due_at, message=message)

    async def release(self, lease: Lease) -> bool:
        """Give a lease back, so that another process takes the job at once; the attempt does not count.

        Raises `BackendError`.
        """
        async with self._database.writing() as session:
            now = await _now(session)
            return await _change(session, lease, state="queued", lease="", due_at=now, attempts=lease.attempt - 1)

    async def forget_expired(self) -> int:
        """Remove the finished jobs whose time is over, and return how many. Raises `BackendError`."""
        async with self._database.writing() as session:
            expired = delete(JobRow).where(JobRow.expires_at < await _now(session))
            return cast("CursorResult[Any]", await session.execute(expired)).rowcount

    async def _finish(self, lease: Lease, every: float | None, **values: Any) -> bool:
        async with self._database.writing() as session:
            now = await _now(session)
            expires_at = self._expiry(now, every)
            return await _change(
                session, lease, lease="", due_at=None, finished_at=now, expires_at=expires_at, **values
            )

    def _end(self, row: JobRow, state: JobState, now: datetime, *, every: float | None) -> None:
        row.state, row.lease, row.due_at = state, "", None
        row.finished_at, row.expires_at = now, self._expiry(now, every)

    def _expiry(self, now: datetime, every: float | None) -> datetime:
        # A periodic job has to stay while its period lasts: its row says that the period has been claimed.
        return now + timedelta(seconds=max(self._retention, 2 * (every or 0)))

    async def _insert(
        self,
        session: AsyncSession,
        kind: str,
        payload: Mapping[str, Any],
        *,
        subject: str,
        key: str,
        due_at: datetime,
    ) -> str | None:
        """Return the new job's id, or `None` where there is one with that key."""
        insert = sqlite.insert if self._database.dialect == "sqlite" else postgresql.insert
        values = {
            "id": f"j_{secrets.token_urlsafe(16)}",
            "kind": kind,
            "subject": subject,
            "key": key or None,
            "payload": dict(payload),
            "state": "queued",
            "created_at": await _now(session),
            "due_at": due_at,
        }
        return await session.scalar(insert(JobRow).values(values).on_conflict_do_nothing().returning(JobRow.id))


def due_job(jobs: Mapping[str, Job], now: datetime) -> Select[JobRow]:
    """Return the query for the job that is due longest: queued, or running with a lease that has ended."""
    due = select(JobRow).where(JobRow.due_at <= now, JobRow.kind.in_(jobs))
    return due.order_by(JobRow.due_at).limit(1)


def next_due(jobs: Mapping[str, Job]) -> Select[datetime | None]:
    """Return the query for the time at which the next job is due."""
    waiting = select(JobRow.due_at).where(JobRow.due_at.is_not(None), JobRow.kind.in_(jobs))
    return waiting.order_by(JobRow.due_at).limit(1)


async def _change(session: AsyncSession, held: Lease, **values: Any) -> bool:
    """Change a job whose lease is held; tell whether it was."""
    change = update(JobRow).where(JobRow.id == held.id, JobRow.lease == held.token).values(values)
    result = await session.execute(change.execution_options(synchronize_session=False))
    return cast("CursorResult[Any]", result).rowcount == 1


async def _now(session: AsyncSession) -> datetime:
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return cast("datetime", await session.scalar(select(func.clock_timestamp()))).astimezone(UTC)


def _not_found(job_id: str) -> NotFound:
    return NotFound(f"There is no job {job_id[:64]!r}.")
