"""Background jobs that survive a restart."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol, runtime_checkable

JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]
"""The state of a job."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The status of a job. `progress` is 0 to 1; `message` is for people; `result` is set once it has succeeded."""

    id: str
    kind: str
    subject: str
    state: JobState
    progress: float
    message: str
    result: Mapping[str, Any] | None
    attempts: int
    created_at: datetime
    finished_at: datetime | None


class LeaseLost(Exception):
    """The lease has ended, or is about to: another process may do the work, and nothing more may be written."""


class LockTaken(Exception):
    """The lock is held elsewhere."""


class Lease(Protocol):
    """The exclusive right to do a piece of work. The host renews it while the work runs.

    It ends if the process cannot reach the database for the length of the lease. The work is then cancelled, and
    another process may start it. A process that was suspended for longer notices this late; call these methods to find
    out in time.
    """

    def check(self) -> None:
        """Check, without asking the database, that there is time left. Call it before a request that has effects.

        Raises:
            LeaseLost: the lease has ended, or less than a fifth of it is left.
        """

    async def keep(self, session: Any) -> None:
        """Renew the lease in the transaction of `session`, so that it is only committed while the lease is held.

        Raises:
            LeaseLost: it is no longer held. Do not catch it: the transaction must not be committed.
        """


class JobRun(Lease, Protocol):
    """One attempt at a job, which is also the lease of the job and of its lock."""

    id: str
    subject: str
    payload: Mapping[str, Any]
    attempt: int

    async def progress(self, fraction: float, message: str = "") -> None:
        """Report progress (0 to 1), and renew the lease. An outage of the database is ignored.

        Raises:
            asyncio.CancelledError: the job was cancelled, or taken over by another process.
            ValueError: `fraction` is not between 0 and 1.
        """


@dataclass(frozen=True, slots=True)
class Pause:
    """Return this from a job that has to wait: it frees its slot for other jobs, and runs again after `seconds`.

    The attempt does not count, and `progress` is kept. The attempt's state is not kept in memory: store whatever the
    job needs to continue in the database. `seconds` must be 0 or more.
    """

    seconds: float


@dataclass(frozen=True, slots=True)
class Reschedule:
    """Return this from a job that should run again later, such as the next night: it is queued until `at`.

    `at` must have a time zone. `payload`, if given, replaces the job's own, to pass information to the next run. The
    attempt count restarts, since this run counts as successful.
    """

    at: datetime
    payload: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of background job.

    `kind` begins with the plugin's id, such as `notes.tidy`. `run` is an async function that takes the attempt and
    returns a JSON object, which is the job's result, or a `Pause` or `Reschedule`. It must not block the event loop,
    and must be safe to repeat. If it raises an exception, the attempt fails; the job is tried again, with increasing
    delays, until all `attempts` are used up. Users see the message of a `CallError`; for any other exception, they only
    learn that the job failed. `lease` is the number of seconds that an unresponsive process has before another one
    takes over; `timeout` limits one attempt. With `every`, in seconds, the host enqueues the job automatically: once
    per period, counted from 1970 (UTC), whatever the number of processes.

    A process has a limited number of job slots; one kind or one account can use at most half of them, and one account
    at most half of a kind's share. A waiting job occupies a slot, so return a `Pause` if the job has nothing to do for
    more than a few seconds. Jobs that are `urgent` have their own slots and never wait for ordinary jobs: use this for
    short work that is due at a certain time, such as publishing. Work that takes minutes is not urgent.

    `lock` is an optional function that returns the key of a lock for a job's payload, such as
    `lambda payload: f"notes:{payload['book']}"`. The job holds the lock while it runs: two jobs with the same key never
    run at once in any process, whatever their kinds, and neither does code that holds the key with `Jobs.lock`. A job
    whose lock is taken stays queued, and does not use a slot. Begin keys with the plugin's id.
    """

    kind: str
    run: Callable[[JobRun], Awaitable[Mapping[str, Any] | Pause | Reschedule | None]]
    attempts: int = 3
    lease: float = 60.0
    timeout: float = 600.0
    every: float | None = None
    urgent: bool = False
    lock: Callable[[Mapping[str, Any]], str] | None = None


@runtime_checkable
class Jobs(Protocol):
    """The queue of background jobs."""

    async def enqueue(
        self,
        kind: str,
        payload: Mapping[str, Any],
        *,
        subject: str = "",
        key: str = "",
        run_at: datetime | None = None,
        session: Any = None,
    ) -> str:
        """Add a job and return its id. `run_at`, with a time zone, is when it should run; by default, immediately.

        With the `session` of a transaction, the job is added in that transaction, and only exists if the transaction is
        committed.

        If a job of this kind and subject already has the same `key` (at most 200 characters), its id is returned
        instead, until that job has finished and its retention time is over. `payload` is a JSON object.

        Raises:
            KeyError: no plugin contributes this kind.
            ValueError, TypeError: an argument cannot be stored.
            BackendError: the database failed.
        """

    async def status(self, job_id: str, *, subject: str | None = None) -> JobStatus:
        """Return the status of a job; with `subject`, only of a job of that account. Raises `NotFound`.

        If no active plugin of this server runs jobs of this kind, the message of a queued job says so.
        """

    async def cancel(self, job_id: str, *, subject: str | None = None) -> bool:
        """Cancel a job that has not finished, and return whether it was cancelled.

        With `subject`, only a job of that account. Raises `NotFound`.
        """

    def lock(self, key: str, *, wait: float = 0.0, lease: float = 60.0) -> AbstractAsyncContextManager[Lease]:
        """Hold a lock while a block runs outside of a job. No job that needs this key runs meanwhile, in any process.

        `wait` is how many seconds to wait for a lock that is held elsewhere. `lease` is the number of seconds after
        which a killed process loses the lock.

        Raises:
            ValueError: the key is empty, has more than 200 characters, or contains a NUL.
            LockTaken: the lock did not become free within `wait` seconds.
            LeaseLost: the lock was lost while the block ran, and the block was cancelled.
            BackendError: the database failed.
        """
