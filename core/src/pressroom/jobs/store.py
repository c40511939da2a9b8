"""Jobs as rows: every change of a job is one short transaction.

The process that runs a job holds its lease: a random token in the row, and a time until which no other process can take
the job. Every change by a runner is conditional on the token, so that a runner whose lease has passed to another
changes nothing. A job's lock has the same token and the same time, and is taken, renewed and released together with the
job. With a database server, all times are the server's, so that the clocks of hosts need not agree.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, cast

import structlog
from sqlalchemy import CursorResult, Table, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.columns import as_id
from pressroom.errors import NotFound
from pressroom.jobs import locks
from pressroom.jobs.queries import MAX_SNAPSHOT, JobTime, WaitingJobs, coming_jobs, due_job, look, now_of, waiting_jobs
from pressroom.sdk import Job, JobState, JobStatus
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import PERIOD_KEY, JobRow

PROCESS_ENDED: Final = "the process that ran it ended"
UNUSABLE_LOCK: Final = "its lock cannot be named"

log = structlog.get_logger()

_UNFINISHED: Final = ("queued", "running")
_MAX_TRIES: Final = 20


@dataclass(frozen=True, slots=True)
class LeasedJob:
    """The right to run one attempt of a job. `token` proves it; `lock` is the key of the job's lock, if any."""

    id: str
    kind: str
    subject: str
    payload: Mapping[str, Any]
    attempt: int
    token: str
    lock: str = ""


@dataclass(frozen=True, slots=True)
class AbandonedJob:
    """A job that was failed instead of being leased. `reason` is the message of the failure."""

    id: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class BlockedJob:
    """A due job that has to wait for a lock that is held elsewhere."""

    id: str
    lock: str


class JobStore:
    """The table of jobs. `retention` is how many seconds a finished job is kept."""

    def __init__(self, database: SqlDatabase, retention: float) -> None:
        self._database = database
        self._retention = retention
        self._snapshot_at: datetime | None = None
        self._snapshot_clock = 0.0
        self.was_last = False
        """Whether at most one job of any kind was due when `claim` last looked."""

        self._coming: tuple[Sequence[JobTime], bool] | None = None

    async def add(
        self, kind: str, payload: Mapping[str, Any], *, subject: str, key: str, run_at: datetime | None
    ) -> tuple[str, bool]:
        """Add a job, and return its id and whether it is new. Raises `BackendError`."""
        while True:
            async with self._database.writing() as session:
                job_id, new = await self.add_in(session, kind, payload, subject=subject, key=key, run_at=run_at)
            if job_id is not None:  # otherwise it was deleted between the two statements
                return job_id, new

    async def add_in(
        self,
        session: AsyncSession,
        kind: str,
        payload: Mapping[str, Any],
        *,
        subject: str,
        key: str,
        run_at: datetime | None,
    ) -> tuple[str | None, bool]:
        """Add a job in a transaction, and return its id and whether it is new.

        The id is `None` if a job with that key was being deleted at that moment; the call can then be repeated.
        """
        now = await now_of(session)
        row = _queued(kind, payload, subject=subject, key=key, created_at=now, due_at=run_at or now)
        added: str | None = await session.scalar(self._insert().values(row).returning(JobRow.id))
        if added is not None:
            return added, True
        statement = select(JobRow.id).where(JobRow.kind == kind, JobRow.subject == subject, JobRow.key == key)
        return await session.scalar(statement), False

    async def add_periods(self, jobs: Sequence[Job]) -> Mapping[str, float]:
        """Add periodic jobs for the current period, each once, in one transaction.

        Returns:
            The seconds until the next period, by kind. Jobs that are not periodic are left out.

        Raises `BackendError`.
        """
        remaining: dict[str, float] = {}
        rows = []
        async with self._database.writing() as session:
            now = await now_of(session)
            # In the same order on all hosts, so that two that add the same jobs at once do not deadlock.
            for job in sorted(jobs, key=attrgetter("kind")):
                if job.every is not None:
                    period = math.floor(now.timestamp() / job.every)
                    key = f"{PERIOD_KEY}{job.every:g}:{period}"
                    rows.append(_queued(job.kind, {}, subject="", key=key, created_at=now, due_at=now))
                    remaining[job.kind] = (period + 1) * job.every - now.timestamp()
            if rows:
                await session.execute(self._insert(), rows)
        return remaining

    async def status(self, job_id: str, subject: str | None) -> JobStatus:
        """Return the status of a job. Raises `NotFound` and `BackendError`."""
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
        """Cancel an unfinished job, and return whether it was unfinished. Raises `NotFound` and `BackendError`."""
        async with self._database.writing() as session:
            row = await session.get(JobRow, as_id(job_id), with_for_update=True)
            if row is None or subject not in (None, row.subject):
                raise _not_found(job_id)
            if row.state not in _UNFINISHED:
                return False
            self._end(row, "cancelled", await now_of(session), every=None)
            return True

    async def claim(
        self, jobs: Mapping[str, Job], choose: Callable[[list[WaitingJobs]], Sequence[WaitingJobs]] = list
    ) -> LeasedJob | AbandonedJob | BlockedJob | None:
        """Lease a due job of these kinds for the next attempt, together with its lock; return `None` if none is due.

        `choose` gets the due jobs, oldest first, and returns those that can be leased, in the order in which to try
        them. A job whose lock is taken is postponed until the holder's lease ends or the lock is released.

        Raises `BackendError`.
        """
        async with self._database.reading() as session:
            self._snapshot_clock = time.monotonic()
            snapshot = await look(session)
            now = self._snapshot_at = snapshot.now
            candidates = choose(await waiting_jobs(session, jobs, snapshot))[:_MAX_TRIES]
            self.was_last = bool(jobs) and len(snapshot.due) <= 1
            self._coming = None
            if self.was_last or not candidates:
                all_due = len(snapshot.due) == MAX_SNAPSHOT
                self._coming = await coming_jobs(session, now) if all_due else (snapshot.coming, snapshot.more)
        if not candidates:
            return None
        blocked: BlockedJob | None = None
        async with self._database.writing() as session:
            for candidate in candidates:
                row = await session.scalar(
                    due_job(candidate.kind, candidate.subject, now).with_for_update(skip_locked=True)
                )
                if row is None:
                    continue
                leased = await self._lease(session, row, jobs[row.kind], await now_of(session))
                if not isinstance(leased, BlockedJob):
                    return leased
                blocked = leased
        return blocked

    async def seconds_to_next(
        self, jobs: Mapping[str, Job], admits: Callable[[str, str], bool] = lambda _kind, _subject: True
    ) -> float | None:
        """Return the seconds until the next job of these kinds is due, or the lease of one ends.

        Jobs that were already due at the last `claim` are left out, since they could not be leased. So are jobs whose
        kind and subject `admits` rejects. If all of the next jobs were left out, it is the time until the next look.

        Raises `BackendError`.
        """
        looked_at, coming = self._snapshot_at, self._coming
        if coming is None:
            async with self._database.reading() as session:
                now = await now_of(session)
                coming = await coming_jobs(session, looked_at or now)
        else:
            now = cast("datetime", looked_at) + timedelta(seconds=time.monotonic() - self._snapshot_clock)
        rows, has_more = coming
        for kind, subject, due_at in rows:
            if kind in jobs and admits(kind, subject):
                return _seconds_between(now, due_at)
        return _seconds_between(now, rows[-1][2]) if has_more else None

    async def renew(
        self, lease: LeasedJob, seconds: float, *, progress: float | None = None, message: str | None = None
    ) -> bool:
        """Renew a lease for `seconds`, and return whether it was still held. Raises `BackendError`."""
        values: dict[str, Any] = {} if progress is None else {"progress": progress, "message": message}
        async with self._database.writing() as session:
            return await self.keep(session, lease, seconds, **values)

    async def keep(self, session: AsyncSession, lease: LeasedJob, seconds: float, **values: Any) -> bool:
        """Renew a lease and that of its lock in a transaction, and return whether they were still held."""
        until = await now_of(session) + timedelta(seconds=seconds)
        if not await _change(session, lease, due_at=until, **values):
            return False
        return not lease.lock or await locks.renew(session, lease.lock, lease.token, until)

    async def succeed(self, lease: LeasedJob, result: Mapping[str, Any], *, every: float | None) -> bool:
        """Finish a job with its result, and return whether the lease was still held. Raises `BackendError`."""
        return await self._finish(lease, every, state="succeeded", result=dict(result), progress=1.0)

    async def fail(self, lease: LeasedJob, message: str, *, every: float | None) -> bool:
        """Finish a job that has used up its attempts. Raises `BackendError`."""
        return await self._finish(lease, every, state="failed", message=message)

    async def retry(self, lease: LeasedJob, message: str, *, seconds: float) -> bool:
        """Queue a job again, due in `seconds`. Raises `BackendError`."""
        async with self._database.writing() as session:
            now = await now_of(session)
            due_at = now + timedelta(seconds=seconds)
            return await _release_job(session, lease, now, state="queued", due_at=due_at, message=message)

    async def release(self, lease: LeasedJob, seconds: float = 0.0) -> bool:
        """Release a lease, so that the job is due again in `seconds`. The attempt does not count.

        Raises `BackendError`.
        """
        async with self._database.writing() as session:
            now = await now_of(session)
            due_at = now + timedelta(seconds=seconds)
            return await _release_job(session, lease, now, state="queued", due_at=due_at, attempts=lease.attempt - 1)

    async def reschedule(self, lease: LeasedJob, run_at: datetime, payload: Mapping[str, Any] | None) -> bool:
        """Release a lease, so that the job runs at another time with no attempts counted. Raises `BackendError`."""
        values: dict[str, Any] = {} if payload is None else {"payload": dict(payload)}
        async with self._database.writing() as session:
            now = await now_of(session)
            return await _release_job(session, lease, now, state="queued", due_at=run_at, attempts=0, **values)

    async def take_lock(self, key: str, token: str, seconds: float) -> bool:
        """Take a lock outside of jobs for `seconds`, and return whether it was free. Raises `BackendError`."""
        async with self._database.writing() as session:
            now = await now_of(session)
            return await locks.take(session, key, token, now=now, until=now + timedelta(seconds=seconds)) is None

    async def renew_lock(self, key: str, token: str, seconds: float) -> bool:
        """Renew a lock for `seconds`, and return whether it was still held. Raises `BackendError`."""
        async with self._database.writing() as session:
            return await self.keep_lock(session, key, token, seconds)

    async def keep_lock(self, session: AsyncSession, key: str, token: str, seconds: float) -> bool:
        """Renew a lock for `seconds` in a transaction, and return whether it was still held."""
        return await locks.renew(session, key, token, await now_of(session) + timedelta(seconds=seconds))

    async def release_lock(self, key: str, token: str) -> bool:
        """Release a lock, so that waiting jobs run, and return whether it was held. Raises `BackendError`."""
        async with self._database.writing() as session:
            return await locks.release(session, key, token, await now_of(session))

    async def forget_expired(self) -> int:
        """Delete expired locks and finished jobs, and return the number of jobs. Raises `BackendError`."""
        async with self._database.writing() as session:
            now = await now_of(session)
            await locks.forget_ended(session, now)
            expired = delete(JobRow).where(JobRow.expires_at < now)
            return cast("CursorResult[Any]", await session.execute(expired)).rowcount

    async def _finish(self, lease: LeasedJob, every: float | None, **values: Any) -> bool:
        async with self._database.writing() as session:
            now = await now_of(session)
            expires_at = self._expiry(now, every)
            return await _release_job(
                session, lease, now, due_at=None, finished_at=now, expires_at=expires_at, **values
            )

    async def _lease(
        self, session: AsyncSession, row: JobRow, job: Job, now: datetime
    ) -> LeasedJob | AbandonedJob | BlockedJob:
        if row.attempts >= job.attempts:
            return self._give_up(row, job, now, PROCESS_ENDED)
        try:
            lock = lock_of(job, row.payload)
        except Exception:
            log.exception("the lock of a job cannot be named", job=row.id, kind=row.kind)
            return self._give_up(row, job, now, UNUSABLE_LOCK)
        token, until = secrets.token_urlsafe(16), now + timedelta(seconds=job.lease)
        locked_until = await locks.take(session, lock, token, now=now, until=until) if lock else None
        if locked_until is not None:
            row.state, row.lease, row.waits_for, row.due_at = "queued", "", lock, locked_until
            return BlockedJob(row.id, lock)
        row.state, row.lease, row.waits_for, row.due_at = "running", token, "", until
        row.attempts += 1
        return LeasedJob(row.id, row.kind, row.subject, row.payload, row.attempts, token, lock)

    def _give_up(self, row: JobRow, job: Job, now: datetime, reason: str) -> AbandonedJob:
        row.message = reason
        self._end(row, "failed", now, every=job.every)
        return AbandonedJob(row.id, row.kind, reason)

    def _end(self, row: JobRow, state: JobState, now: datetime, *, every: float | None) -> None:
        row.state, row.lease, row.waits_for, row.due_at = state, "", "", None
        row.finished_at, row.expires_at = now, self._expiry(now, every)

    def _expiry(self, now: datetime, every: float | None) -> datetime:
        # A periodic job has to outlast its period: its row marks the period as claimed.
        return now + timedelta(seconds=max(self._retention, 2 * (every or 0)))

    def _insert(self) -> sqlite.Insert | postgresql.Insert:
        """Return the statement that inserts jobs, skipping those whose key already exists."""
        insert = sqlite.insert if self._database.dialect == "sqlite" else postgresql.insert
        return insert(cast("Table", JobRow.__table__)).on_conflict_do_nothing()


def _queued(
    kind: str, payload: Mapping[str, Any], *, subject: str, key: str, created_at: datetime, due_at: datetime
) -> dict[str, Any]:
    """Return the row of a new job."""
    return {
        "id": f"j_{secrets.token_urlsafe(16)}",
        "kind": kind,
        "subject": subject,
        "key": key or None,
        "payload": dict(payload),
        "state": "queued",
        "created_at": created_at,
        "due_at": due_at,
    }


def lock_of(job: Job, payload: Mapping[str, Any]) -> str:
    """Return the key of the lock that a job with this payload holds, or an empty string if its kind has none.

    Raises whatever the kind's own function raises, and `ValueError`.
    """
    return locks.checked_key(job.lock(payload)) if job.lock is not None else ""


async def _release_job(session: AsyncSession, leased_job: LeasedJob, now: datetime, **values: Any) -> bool:
    """Update a leased job and release the lease and the lock; return whether the lease was held."""
    changed = await _change(session, leased_job, lease="", **values)
    if leased_job.lock:
        await locks.release(session, leased_job.lock, leased_job.token, now)
    return changed


async def _change(session: AsyncSession, leased_job: LeasedJob, **values: Any) -> bool:
    """Update a leased job, and return whether the lease was held."""
    change = update(JobRow).where(JobRow.id == leased_job.id, JobRow.lease == leased_job.token).values(values)
    result = await session.execute(change.execution_options(synchronize_session=False))
    return cast("CursorResult[Any]", result).rowcount == 1


def _seconds_between(now: datetime, due_at: datetime | None) -> float:
    return 0.0 if due_at is None else (due_at - now).total_seconds()


def _not_found(job_id: str) -> NotFound:
    return NotFound(f"There is no job {job_id[:64]!r}.")
