"""Run one attempt of a job while its lease is held."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession
from structlog.contextvars import bound_contextvars

from pressroom.errors import BackendError, CallError
from pressroom.fetch.shares import Share
from pressroom.gate import PluginFailed
from pressroom.gate.failures import one_line
from pressroom.jobs.locks import LockLease
from pressroom.jobs.outcomes import JobOutcome, checked_outcome
from pressroom.jobs.store import JobStore, LeasedJob
from pressroom.sdk import Job, LeaseLost, Pause, Reschedule

log = structlog.get_logger()

_MAX_MESSAGE_LENGTH: Final = 1000
_MAX_DELAY_SECONDS: Final = 3600.0
_LATE_SECONDS: Final = 2.0
"""How many seconds a job may exceed its timeout; the plugin gate has cancelled it by then."""

_OUTAGE_PAUSE: Final = 1.0
_MAX_PAUSE: Final = 86_400.0 * 366

INTERNAL_FAILURE: Final = "It failed with an internal error; the server's log has the details under the id of this job."


class Attempt:
    """One attempt at a job. Implements `pressroom.sdk.JobRun` for the plugin that does the work.

    The lease is renewed three times in its length. If that fails for the whole length, or the job was cancelled or
    taken by another process, the work is cancelled, since another process can start it. `lease_ends` is a reading of
    the event loop's clock, see `LockLease`.
    """

    def __init__(self, store: JobStore, job: Job, lease: LeasedJob, *, lease_ends: float, backoff: float) -> None:
        self.id = lease.id
        self.kind = lease.kind
        self.subject = lease.subject
        self.payload = lease.payload
        self.attempt = lease.attempt
        self._store = store
        self._job = job
        self._lease = lease
        self._held_lease = LockLease(
            job.lease,
            lease_ends,
            name=f"job {lease.id}",
            keep=lambda session: store.keep(session, lease, job.lease),
            renew=lambda: store.renew(lease, job.lease),
            lose=self._cancel,
        )
        self._backoff = backoff
        self._loop = asyncio.get_running_loop()
        self._work: asyncio.Task[JobOutcome] | None = None
        self._stopping = False

    async def progress(self, fraction: float, message: str = "") -> None:
        """See `pressroom.sdk.JobRun`. During a database outage, the work continues without recording its progress."""
        if not 0 <= fraction <= 1:
            raise ValueError(f"progress is from 0 to 1 (got {fraction})")

        def renew() -> Awaitable[bool]:
            text = _shortened(message)
            return self._store.renew(self._lease, self._job.lease, progress=float(fraction), message=text)

        with suppress(BackendError):
            if not await self._held_lease.renew(renew):
                self._held_lease.lose()
        if self._held_lease.lost:
            raise asyncio.CancelledError

    def check(self) -> None:
        """See `pressroom.sdk.Lease`."""
        self._held_lease.check()

    async def keep(self, session: AsyncSession) -> None:
        """See `pressroom.sdk.Lease`."""
        await self._held_lease.keep(session)

    def lose(self) -> None:
        """Stop the work: the job no longer belongs to this process."""
        self._held_lease.lose()

    def stop(self) -> None:
        """Stop the work and release the job, so that another process starts it again."""
        self._stopping = True
        self._cancel()

    async def run(self) -> None:
        """Do the work, and record the outcome."""
        self._work = asyncio.create_task(self._do(), name=f"job {self.id}")
        if self._stopping or self._held_lease.lost:
            self._work.cancel()
        heartbeat = asyncio.create_task(self._held_lease.beat())
        try:
            await asyncio.wait({self._work})
            await self._conclude(self._work)
        finally:
            heartbeat.cancel()
            self._work.cancel()

    def _cancel(self) -> None:
        if self._work is not None:
            self._work.cancel()

    async def _do(self) -> JobOutcome:
        owner = self.subject or f"job {self._job.kind}"
        with bound_contextvars(job=self.id, kind=self._job.kind), Share(owner, "background"):
            scope = asyncio.timeout(self._job.timeout + _LATE_SECONDS)
            try:
                async with scope:
                    result = await self._job.run(self)
            except PluginFailed as failure:
                if failure.reason == "timeout":
                    raise _TookTooLong from failure
                raise
            except TimeoutError as error:
                if scope.expired():
                    raise _TookTooLong from error
                raise
            return checked_outcome(result)

    async def _conclude(self, task: asyncio.Task[JobOutcome]) -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        every = self._job.every
        if self._held_lease.lost:
            if self._lease.lock:
                # The work has ended, so other jobs need not wait until the lock expires.
                with suppress(BackendError):
                    await self._store.release_lock(self._lease.lock, self._lease.token)
            return
        if error is None:
            result = task.result()
            if isinstance(result, Pause):
                seconds = min(_MAX_PAUSE, max(0.0, result.seconds))
                await self._note(lambda: self._store.release(self._lease, seconds))
            elif isinstance(result, Reschedule):
                await self._note(lambda: self._store.reschedule(self._lease, result.at, result.payload))
            else:
                await self._note(lambda: self._store.succeed(self._lease, result, every=every))
        elif self._stopping:
            await self._note(lambda: self._store.release(self._lease, 0.0))
        else:
            await self._fail(error)

    async def _fail(self, error: BaseException) -> None:
        message = self._message(error)
        final = self.attempt >= self._job.attempts
        is_expected = isinstance(error, CallError | LeaseLost | _TookTooLong)
        (log.error if final else log.warning)(
            "job failed" if final else "job failed and will be tried again",
            job=self.id,
            kind=self._job.kind,
            attempt=self.attempt,
            error=message if is_expected else one_line(error),
            exc_info=None if is_expected or isinstance(error, PluginFailed) else error,
        )
        if final:
            await self._note(lambda: self._store.fail(self._lease, message, every=self._job.every))
        else:
            # A lost lease does not mean that the work fails: there is no reason to back off.
            exponent = 0 if isinstance(error, LeaseLost) else min(self.attempt - 1, 30)
            delay = min(_MAX_DELAY_SECONDS, self._backoff * 2.0**exponent)
            await self._note(lambda: self._store.retry(self._lease, message, seconds=delay))

    def _message(self, error: BaseException) -> str:
        """Return the failure message that users can see."""
        if isinstance(error, CallError):
            return _shortened(error.message)
        if isinstance(error, _TookTooLong):
            return f"It took longer than {self._job.timeout:g} s."
        return INTERNAL_FAILURE

    async def _note(self, write: Callable[[], Awaitable[bool]]) -> None:
        """Write the outcome, retrying during a database outage until the lease ends."""
        while True:
            try:
                await write()
            except BackendError as error:
                if self._held_lease.lost or self._loop.time() >= self._held_lease.ends:
                    log.warning("the outcome of a job is lost", job=self.id, kind=self._job.kind, error=error.message)
                    return
                await asyncio.sleep(_OUTAGE_PAUSE)
            else:
                return


class _TookTooLong(Exception):
    """The job exceeded its own timeout."""


def _shortened(message: str) -> str:
    # PostgreSQL does not allow NUL in text, and no database surrogates.
    return message.replace("\0", "").encode(errors="replace").decode()[:_MAX_MESSAGE_LENGTH]
