"""Jobs as rows: every change of a job is one short transaction.

Whoever runs a job holds its lease: a random token in the row, and a time until which nobody else may take it. Every
change by a runner names the token, so that one whose lease has passed to another changes nothing any more. All times
are the database's where it is a server, so that the clocks of hosts need not agree.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, CursorResult, Select, String, delete, func, literal, select, union_all, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.columns import as_id
from pressroom.errors import NotFound
from pressroom.jobs.places import Waiting
from pressroom.sdk import Job, JobState, JobStatus
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import JobRow

VANISHED: Final = "the process that ran it came to an end"

_UNFINISHED: Final = ("queued", "running")
_WINDOW: Final = 200
"""How many jobs are read at once to find one that may run."""

_MAX_WAITING: Final = 1000
_MAX_TRIES: Final = 20


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
    """A job that was failed instead of being leased: its last attempt ended with the process that ran it."""

    id: str
    kind: str


class JobStore:
    """The table of jobs. `retention` is how many seconds a finished job is kept."""

    def __init__(self, database: SqlDatabase, retention: float) -> None:
        self._database = database
        self._retention = retention
        self._looked_at: datetime | None = None

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

    async def claim(
        self, jobs: Mapping[str, Job], choose: Callable[[list[Waiting]], Sequence[Waiting]] = list
    ) -> Lease | GivenUp | None:
        """Lease a job that is due, of those kinds, for the next attempt; `None` where there is none.

        `choose` gets what is due, the oldest first, and returns what may be leased, in the order in which it is tried.

        Raises `BackendError`.
        """
        async with self._database.reading() as session:
            now = self._looked_at = await _now(session)
            chosen = choose(await _waiting(session, jobs, now))[:_MAX_TRIES]
        if not chosen:
            return None
        async with self._database.writing() as session:
            for one in chosen:
                row = await session.scalar(due_job(one.kind, one.subject, now).with_for_update(skip_locked=True))
                if row is not None:
                    return self._lease(row, jobs[row.kind], await _now(session))
        return None

    async def seconds_to_next(
        self, jobs: Mapping[str, Job], admits: Callable[[str, str], bool] = lambda _kind, _subject: True
    ) -> float | None:
        """Return in how many seconds the next job of those kinds is due, or a lease of one ends.

        What was due already when `claim` looked last is left out: it could not be leased. So is what `admits` refuses,
        given the kind and the subject. Where the next jobs of all are such, it is the time after which to ask again.

        Raises `BackendError`.
        """
        async with self._database.reading() as session:
            now = await _now(session)
            rows = (await session.execute(next_due(self._looked_at or now))).all()
        for kind, subject, due_at in rows:
            if kind in jobs and admits(kind, subject):
                return _seconds_between(now, due_at)
        return _seconds_between(now, rows[-1].due_at) if len(rows) == _WINDOW else None

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

    async def release(self, lease: Lease, seconds: float = 0.0) -> bool:
        """Give a lease back, so that the job is taken again in so many seconds; the attempt does not count.

        Raises `BackendError`.
        """
        async with self._database.writing() as session:
            due_at = await _now(session) + timedelta(seconds=seconds)
            return await _change(session, lease, state="queued", lease="", due_at=due_at, attempts=lease.attempt - 1)

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

    def _lease(self, row: JobRow, job: Job, now: datetime) -> Lease | GivenUp:
        if row.attempts >= job.attempts:
            row.message = VANISHED
            self._end(row, "failed", now, every=job.every)
            return GivenUp(row.id, row.kind)
        row.state = "running"
        row.attempts += 1
        row.lease = secrets.token_urlsafe(16)
        row.due_at = now + timedelta(seconds=job.lease)
        return Lease(row.id, row.kind, row.subject, row.payload, row.attempts, row.lease)

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


def due_job(kind: str, subject: str, now: datetime) -> Select[JobRow]:
    """Return the query for the oldest due job of a kind and subject: queued, or with a lease that has ended."""
    due = select(JobRow).where(JobRow.kind == kind, JobRow.subject == subject, JobRow.due_at <= now)
    return due.order_by(JobRow.due_at).limit(1)


def oldest_due(now: datetime) -> Select[str, str, datetime | None]:
    """Return the query for the jobs that are due longest, whatever their kind."""
    due = select(JobRow.kind, JobRow.subject, JobRow.due_at).where(JobRow.due_at <= now)
    return due.order_by(JobRow.due_at).limit(_WINDOW)


def next_due(now: datetime) -> Select[str, str, datetime | None]:
    """Return the query for the jobs that are due next, whatever their kind."""
    coming = select(JobRow.kind, JobRow.subject, JobRow.due_at).where(JobRow.due_at > now)
    return coming.order_by(JobRow.due_at).limit(_WINDOW)


def due_subjects(kinds: Collection[str], now: datetime) -> Select[Any]:
    """Return the query for who has jobs of these kinds that are due, and since when.

    It goes from one subject to the next in the index, so that it costs the same however many jobs each of them has.
    """
    names = union_all(*(select(literal(kind, String).label("kind")) for kind in kinds)).subquery()
    first = _next_subject(names.c.kind)
    found = select(names.c.kind, first.label("subject")).cte("found", recursive=True)
    following = _next_subject(found.c.kind, found.c.subject)
    found = found.union_all(select(found.c.kind, following).where(found.c.subject.is_not(None)))
    oldest = select(JobRow.due_at).where(JobRow.kind == found.c.kind, JobRow.subject == found.c.subject)
    oldest = oldest.where(JobRow.due_at.is_not(None)).order_by(JobRow.due_at).limit(1)
    all_of_them = select(found.c.kind, found.c.subject, oldest.scalar_subquery().label("due_at"))
    heads = all_of_them.where(found.c.subject.is_not(None)).subquery()
    due = select(heads.c.kind, heads.c.subject, heads.c.due_at).where(heads.c.due_at <= now)
    return due.order_by(heads.c.due_at).limit(_MAX_WAITING)


def _next_subject(kind: ColumnElement[str], after: ColumnElement[str] | None = None) -> ColumnElement[str | None]:
    wanted = select(JobRow.subject).where(JobRow.kind == kind, JobRow.due_at.is_not(None))
    if after is not None:
        wanted = wanted.where(JobRow.subject > after)
    return wanted.order_by(JobRow.subject).limit(1).scalar_subquery()


async def _waiting(session: AsyncSession, kinds: Collection[str], now: datetime) -> list[Waiting]:
    """Return who has jobs of these kinds that are due, the oldest first."""
    if not kinds:
        return []
    rows = (await session.execute(oldest_due(now))).all()
    if len(rows) == _WINDOW:
        rows = (await session.execute(due_subjects(kinds, now))).all()
    first: dict[tuple[str, str], Waiting] = {}
    for kind, subject, due_at in rows:
        if kind in kinds and due_at is not None:
            first.setdefault((kind, subject), Waiting(kind, subject, due_at))
    return list(first.values())


async def _change(session: AsyncSession, held: Lease, **values: Any) -> bool:
    """Change a job whose lease is held; tell whether it was."""
    change = update(JobRow).where(JobRow.id == held.id, JobRow.lease == held.token).values(values)
    result = await session.execute(change.execution_options(synchronize_session=False))
    return cast("CursorResult[Any]", result).rowcount == 1


def _seconds_between(now: datetime, then: datetime | None) -> float:
    return 0.0 if then is None else (then - now).total_seconds()


async def _now(session: AsyncSession) -> datetime:
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return cast("datetime", await session.scalar(select(func.clock_timestamp()))).astimezone(UTC)


def _not_found(job_id: str) -> NotFound:
    return NotFound(f"There is no job {job_id[:64]!r}.")
