"""The queue of background jobs."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import structlog
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.columns import in_utc
from pressroom.config.models import JobsSettings
from pressroom.errors import BackendError
from pressroom.jobs.attempt import Attempt
from pressroom.jobs.locks import LockLease, checked_key
from pressroom.jobs.queries import JobSlots, WaitingJobs
from pressroom.jobs.store import AbandonedJob, JobStore, LeasedJob, lock_of
from pressroom.sdk import Job, JobStatus, Lease, LeaseLost, LockTaken
from pressroom.storage.database import SqlDatabase

log = structlog.get_logger()

MAX_KEY_LENGTH: Final = 200
MAX_SUBJECT_LENGTH: Final = 255

_NO_PLUGIN: Final = "this job waits, since its plugin is not active on this server; tell the operator"

_FORGET_SECONDS: Final = 600.0
_MIN_WAIT_SECONDS: Final = 0.05
_TIMER_SECONDS: Final = 0.002
"""How many seconds after a job's due time to look for it: timers of the event loop can end a millisecond early."""
_LOCK_PAUSE: Final = 0.1
"""Seconds between two attempts to take a lock that is held elsewhere."""

_LEASE_SECONDS: Final = 1.0
"""How many seconds a pending attempt to lease a job gets to finish when the queue closes."""

_STOP_SECONDS: Final = 2.0
"""How many seconds cancelled work gets to end and to record its outcome when the queue closes."""

_CUT_OFF_SECONDS: Final = 0.5
"""How many seconds the remaining work gets after a second cancellation; its lease then expires."""


class JobQueue:
    """Implements `pressroom.sdk.Jobs`, and runs jobs while it is open.

    Every process runs the kinds of jobs that its own plugins contribute, up to the operator's `concurrency` at once;
    `JobSlots` decides which.
    `backoff` is the delay in seconds before the first retry of a failed job; it doubles with each further retry.
    """

    def __init__(
        self, database: SqlDatabase, kinds: Iterable[Job], settings: JobsSettings | None = None, *, backoff: float = 5.0
    ) -> None:
        self._settings = settings or JobsSettings()
        self._kinds = {job.kind: job for job in kinds}
        self._store = JobStore(database, self._settings.retention)
        self._backoff = backoff
        self._slots = JobSlots(self._settings.concurrency)
        self._wake = asyncio.Event()
        self._closing = False
        self._loop: asyncio.Task[None] | None = None
        self._running: dict[asyncio.Task[None], Attempt] = {}
        self._next_periods: dict[str, float] = {}
        self._next_forgetting = 0.0

    def retain(self, kinds: Iterable[str]) -> None:
        """Drop all kinds but these, when plugins have been deactivated after loading."""
        retained = set(kinds)
        self._kinds = {kind: job for kind, job in self._kinds.items() if kind in retained}

    async def open(self) -> None:
        """Begin to lease and run jobs."""
        self._closing = False
        if self._kinds and self._settings.concurrency:
            self._loop = asyncio.create_task(self._lease_jobs(), name="jobs")

    async def close(self, seconds: float = 0.0) -> None:
        """Stop leasing jobs, give running ones `seconds` to end, then release their leases."""
        self._closing = True
        self._wake.set()
        loop, self._loop = self._loop, None
        if loop is not None:
            await asyncio.wait({loop}, timeout=_LEASE_SECONDS)
            loop.cancel()
        if self._running:
            await asyncio.wait(self._running.keys(), timeout=seconds)
        for attempt in self._running.values():
            attempt.stop()
        if self._running:
            await asyncio.wait(self._running.keys(), timeout=_STOP_SECONDS)
        for task, attempt in list(self._running.items()):
            log.warning("a job does not end; its lease is left to run out", job=attempt.id)
            task.cancel()
        if self._running:
            await asyncio.wait(self._running.keys(), timeout=_CUT_OFF_SECONDS)

    async def enqueue(
        self,
        kind: str,
        payload: Mapping[str, Any],
        *,
        subject: str = "",
        key: str = "",
        run_at: datetime | None = None,
        session: AsyncSession | None = None,
    ) -> str:
        """See `pressroom.sdk.Jobs`."""
        if kind not in self._kinds:
            raise KeyError(kind)
        _check(payload, subject, key, run_at)
        lock_of(self._kinds[kind], payload)
        if session is None:
            job_id, new = await self._store.add(kind, payload, subject=subject, key=key, run_at=run_at)
            if new:
                self._wake.set()
            return job_id
        added, new = None, False
        while added is None:
            added, new = await self._store.add_in(session, kind, payload, subject=subject, key=key, run_at=run_at)
        if new:
            # Before the commit, the queue would not find the job yet.
            event.listen(session.sync_session, "after_commit", lambda _session: self._wake.set(), once=True)
        return added

    @asynccontextmanager
    async def lock(self, key: str, *, wait: float = 0.0, lease: float = 60.0) -> AsyncIterator[Lease]:
        """See `pressroom.sdk.Jobs`."""
        token, loop, owner_task = secrets.token_urlsafe(16), asyncio.get_running_loop(), asyncio.current_task()
        latest, requested_at = loop.time() + wait, loop.time()
        while not await self._store.take_lock(checked_key(key), token, lease):
            if loop.time() >= latest:
                raise LockTaken(f"somebody else holds {key}")
            await asyncio.sleep(_LOCK_PAUSE)
            requested_at = loop.time()

        async def renew() -> bool:
            return await self._store.renew_lock(key, token, lease)

        def lose() -> None:
            if owner_task is not None:
                owner_task.cancel()

        held_lease = LockLease(
            lease,
            requested_at + lease,
            name=f"lock {key}",
            keep=lambda session: self._store.keep_lock(session, key, token, lease),
            renew=renew,
            lose=lose,
        )
        heartbeat = asyncio.create_task(held_lease.beat(), name=f"lock {key}")
        try:
            yield held_lease
        except asyncio.CancelledError:
            if not held_lease.lost:
                raise
            if owner_task is not None:
                owner_task.uncancel()
            raise LeaseLost(f"{key} was lost") from None
        finally:
            heartbeat.cancel()
            with suppress(BackendError):
                await asyncio.shield(self._store.release_lock(key, token))
            self._wake.set()

    async def status(self, job_id: str, *, subject: str | None = None) -> JobStatus:
        """See `pressroom.sdk.Jobs`."""
        status = await self._store.status(job_id, subject)
        if status.state == "queued" and status.kind not in self._kinds:
            return replace(status, message=_NO_PLUGIN)
        return status

    async def cancel(self, job_id: str, *, subject: str | None = None) -> bool:
        """See `pressroom.sdk.Jobs`. A job running in another process stops when that process renews the lease."""
        cancelled = await self._store.cancel(job_id, subject)
        if cancelled:
            for attempt in self._running.values():
                if attempt.id == job_id:
                    attempt.lose()
        return cancelled

    async def _lease_jobs(self) -> None:
        while not self._closing:
            self._wake.clear()
            try:
                seconds = await self._run_due_jobs()
            except BackendError:
                seconds = self._settings.poll_interval  # the outage itself has been logged
            except Exception:
                log.exception("the queue of jobs failed; it is tried again")
                seconds = self._settings.poll_interval
            with suppress(TimeoutError):
                async with asyncio.timeout(max(_MIN_WAIT_SECONDS, seconds)):
                    await self._wake.wait()

    async def _run_due_jobs(self) -> float:
        """Start as many jobs as possible, and return the seconds until the next look."""
        wait = min(self._settings.poll_interval, await self._add_periods())
        await self._forget()
        more = True
        while not self._closing and (open_kinds := self._slots.open_kinds(self._kinds, self._holders())):
            if more:
                more = await self._start_one(open_kinds)
            else:
                to_next = await self._store.seconds_to_next(open_kinds, self._admits)
                return wait if to_next is None else min(wait, to_next + _TIMER_SECONDS)
        return wait

    def _holders(self) -> list[tuple[str, str]]:
        return [(attempt.kind, attempt.subject) for attempt in self._running.values()]

    def _admits(self, kind: str, subject: str) -> bool:
        return self._slots.admits(self._kinds, kind, subject, self._holders())

    async def _start_one(self, kinds: Mapping[str, Job]) -> bool:
        """Start a due job, and return whether there may be another one."""

        def choose(waiting: list[WaitingJobs]) -> list[WaitingJobs]:
            return self._slots.order(entry for entry in waiting if self._admits(entry.kind, entry.subject))

        requested_at = asyncio.get_running_loop().time()
        # A job that has to wait for its lock is no longer due, and may have hidden others.
        claimed = await self._store.claim(kinds, choose)
        if isinstance(claimed, AbandonedJob):
            log.error("job failed", job=claimed.id, kind=claimed.kind, error=claimed.reason)
        elif isinstance(claimed, LeasedJob):
            self._slots.served(claimed.kind, claimed.subject)
            self._start(claimed, requested_at)
            return not self._store.was_last
        return claimed is not None

    def _start(self, lease: LeasedJob, requested_at: float) -> None:
        job = self._kinds[lease.kind]
        attempt = Attempt(self._store, job, lease, lease_ends=requested_at + job.lease, backoff=self._backoff)
        task = asyncio.create_task(attempt.run(), name=f"attempt at job {lease.id}")
        self._running[task] = attempt
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        attempt = self._running.pop(task)
        self._wake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the attempt at a job failed", job=attempt.id, exc_info=error)

    async def _add_periods(self) -> float:
        """Add the periodic jobs whose next period has begun, and return the seconds until the next one."""
        now = asyncio.get_running_loop().time
        periodic = [job for job in self._kinds.values() if job.every is not None]
        due = [job for job in periodic if self._next_periods.get(job.kind, 0.0) <= now()]
        if due:
            remaining = await self._store.add_periods(due)
            self._next_periods |= {kind: now() + seconds for kind, seconds in remaining.items()}
        return min((due_at - now() for due_at in self._next_periods.values()), default=float("inf"))

    async def _forget(self) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._next_forgetting:
            self._next_forgetting = now + _FORGET_SECONDS
            await self._store.forget_expired()


def _check(payload: Mapping[str, Any], subject: str, key: str, run_at: datetime | None) -> None:
    """Check that a job can be stored. Raises `ValueError` or `TypeError`."""
    json.dumps(dict(payload), allow_nan=False)
    for name, text, max_length in (("subject", subject, MAX_SUBJECT_LENGTH), ("key", key, MAX_KEY_LENGTH)):
        if len(text) > max_length or "\0" in text:
            raise ValueError(f"{name} has at most {max_length} characters, and no NUL (got {len(text)})")
    if run_at is not None:
        try:
            in_utc(run_at)
        except ValueError as error:
            raise ValueError(f"run_at: {error}") from None
