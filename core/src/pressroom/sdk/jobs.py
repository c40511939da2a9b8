"""Background work that survives a restart."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol, runtime_checkable

JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]
"""Where a job stands."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """What is known of a job. `progress` is 0 to 1; `message` is for people; `result` is there once it succeeded."""

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
    """The right to do the work has ended, or is about to: somebody else may do it, and nothing more may be written."""


class LockTaken(Exception):
    """Somebody else holds the lock."""


class Lease(Protocol):
    """The right to do a piece of work alone, which the host renews while the work runs.

    It ends where the process cannot reach the database for as long as the lease lasts. Then the work is cancelled, and
    another process may begin it. A process that was suspended for longer notices that late: hence these two.
    """

    def check(self) -> None:
        """Make sure, without asking the database, that there is time left. Call it before a request has effects.

        Raises:
            LeaseLost: the lease has ended, or less than a fifth of it is left.
        """

    async def keep(self, session: Any) -> None:
        """Renew the lease in the transaction of `session`, so that what it writes counts only while the lease is held.

        Raises:
            LeaseLost: it is no longer held. Let it through: the transaction must not be committed.
        """


class JobRun(Lease, Protocol):
    """One attempt at a job. It is the job's lease, and that of its lock."""

    id: str
    subject: str
    payload: Mapping[str, Any]
    attempt: int

    async def progress(self, fraction: float, message: str = "") -> None:
        """Say how far the work is (0 to 1), and keep the lease. An outage of the database is passed over.

        Raises:
            asyncio.CancelledError: the job was cancelled, or passed to another process.
            ValueError: `fraction` is not from 0 to 1.
        """


@dataclass(frozen=True, slots=True)
class Pause:
    """What a job returns that has to wait: it gives its place to others and is run again after `seconds`.

    The attempt does not count, and `progress` stays. Nothing of the attempt is left in memory: what the job has to know
    when it continues, it keeps in the database.
    """

    seconds: float


@dataclass(frozen=True, slots=True)
class Reschedule:
    """What a job returns that is to run again at another time, such as the next night: it is queued until `at`.

    `at` has a time zone. `payload`, where it is given, takes the place of the job's own and so is what the next run
    knows of this one. The attempts are counted anew: the job came as far as it should.
    """

    at: datetime
    payload: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of background work.

    `kind` begins with the plugin's id, as in `notes.tidy`. `run` is an async function that gets the attempt and returns
    a JSON object, the job's result, or a `Pause` or `Reschedule`. It must not block the event loop, and must be safe to
    repeat. What it raises fails the attempt; the job is tried again, later each time, until `attempts` are used up. The
    message of a `CallError` is for people; of anything else they learn only that it failed. `lease` is how many seconds
    a silent process is waited for before another takes over; `timeout` bounds one attempt. With `every`, in seconds,
    the host enqueues it by itself: once for each period since 1970 (UTC), whatever the number of processes.

    A process has a number of places for jobs, of which one kind and one account hold at most half. Waiting costs a
    place: a job that has nothing to do for more than some seconds returns a `Pause`. `urgent` jobs have places of their
    own and never wait behind others: that is for short work that somebody expects at a certain time, such as
    publishing. Whatever takes minutes is not urgent.

    `lock`, where it is given, is a function that returns the key of a lock for a job's payload, such as
    `lambda payload: f"notes:{payload['book']}"`. The job holds the lock while it runs: two jobs with the same key never
    run at once, in any process, whatever their kinds, and neither does code that has the key from `Jobs.lock`. A job
    whose lock is taken stays queued, without a place. Begin keys with the plugin's id.
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
    """The queue of background work."""

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
        """Add a job and return its id. `run_at`, with a time zone, is when it is to run; left out, at once.

        With the `session` of a transaction the job is added by that transaction: it is there exactly if what else the
        transaction writes is.

        With a `key` (at most 200 characters) that a job of this kind and subject has already, that job's id is returned
        instead, until the job has finished and is forgotten. `payload` is a JSON object.

        Raises:
            KeyError: no plugin contributes this kind.
            ValueError, TypeError: an argument cannot be stored.
            BackendError: the database failed.
        """

    async def status(self, job_id: str, *, subject: str | None = None) -> JobStatus:
        """Return a job, of that account where `subject` is given. Raises `NotFound`."""

    async def cancel(self, job_id: str, *, subject: str | None = None) -> bool:
        """Cancel a job that has not finished; tell whether it was cancelled. Raises `NotFound`."""

    def lock(self, key: str, *, wait: float = 0.0, lease: float = 60.0) -> AbstractAsyncContextManager[Lease]:
        """Hold a lock while a block runs, beside jobs: no job that needs this key runs meanwhile, in any process.

        `wait` is for how many seconds a lock is waited for that somebody else holds. `lease` is after how many seconds
        a process that was killed loses it.

        Raises:
            ValueError: the key has more than 200 characters, or a NUL, or is empty.
            LockTaken: somebody else held it all the time.
            LeaseLost: it was lost while the block ran, which was cancelled.
            BackendError: the database failed.
        """
