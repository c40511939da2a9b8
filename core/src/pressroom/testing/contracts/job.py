"""The contract of a background job (`pressroom.sdk.Job`)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from pressroom.sdk import Job, Pause, Reschedule
from pressroom.testing.contracts.records import RecordInHost, check_record
from pressroom.testing.contracts.suite import ContractSuite, Finding, PromiseBroken, describe_error, expect
from pressroom.testing.running import RunningHost

_SECONDS: Final = 30.0
_CANCEL_SECONDS: Final = 5.0


@dataclass(slots=True)
class RecordedJobRun:
    """One attempt at a job that a test runs itself. It implements `pressroom.sdk.JobRun`; the lease is never lost.

    `steps` are the (fraction, message) pairs of the job's progress reports.
    """

    payload: Mapping[str, Any]
    subject: str = ""
    id: str = "j_contract"
    attempt: int = 1
    steps: list[tuple[float, str]] = field(default_factory=list)

    async def progress(self, fraction: float, message: str = "") -> None:
        """See `pressroom.sdk.JobRun`."""
        if not 0 <= fraction <= 1:
            raise ValueError(f"progress is from 0 to 1 (got {fraction})")
        self.steps.append((fraction, message))
        await asyncio.sleep(0)

    def check(self) -> None:
        """See `pressroom.sdk.Lease`."""

    async def keep(self, session: Any) -> None:
        """See `pressroom.sdk.Lease`."""


Subject: TypeAlias = RecordInHost[tuple[Job, Mapping[str, Any], str]]

JOB: Final = ContractSuite[Subject]("job")


def check_job(
    running: RunningHost, kind: str, payload: Mapping[str, Any] | None = None, *, subject: str = ""
) -> list[Finding]:
    """Check a job of a running host against the contract, and return the findings. The job runs several times.

    Args:
        running: the host, with the plugin.
        kind: the job's kind.
        payload: the payload of the job.
        subject: the id of the account that the job is for.

    Raises:
        LookupError: no active plugin offers this job.
    """
    for contribution in running.host.compiled.plugins.contributions.of(Job):
        if contribution.record.kind == kind:
            job_payload: Mapping[str, Any] = dict(payload or {})
            return check_record(
                JOB, running, contribution.plugin, (contribution.record, job_payload, subject), f"job {kind}"
            )
    raise LookupError(f"no active plugin offers the job {kind!r}")


async def _run(subject: Subject, attempt: int = 1) -> Any:
    job, payload, account = subject.record
    run = RecordedJobRun(payload, account, attempt=attempt)
    return await subject.on_host(lambda: job.run(run), seconds=min(_SECONDS, job.timeout))


@JOB.promise(
    "it returns a JSON object, a Pause, a Reschedule or None, within its timeout",
    fix="return a mapping of plain values; give the job a longer timeout, or return a Pause when it waits",
)
async def _returns(subject: Subject) -> None:
    result = await _run(subject)
    if isinstance(result, Pause | Reschedule) or result is None:
        expect(not isinstance(result, Reschedule) or result.at.tzinfo is not None, "Reschedule.at without a time zone")
        return
    expect(isinstance(result, Mapping), f"{type(result).__name__}")
    try:
        json.dumps(dict(result), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise PromiseBroken(describe_error(error)) from error


@JOB.promise(
    "it can run twice in a row",
    fix="check first whether the work is done, for example with a unique key; a job whose process died runs again",
)
async def _twice(subject: Subject) -> None:
    await _run(subject)
    try:
        await _run(subject, attempt=2)
    except PromiseBroken:
        raise
    except Exception as error:
        raise PromiseBroken(f"{describe_error(error)} the second time") from error


@JOB.promise(
    "it ends when it is interrupted, and the next attempt succeeds",
    fix="let CancelledError pass, and write in transactions, so that half-finished work is never kept",
)
async def _interrupted(subject: Subject) -> None:
    job, payload, account = subject.record

    async def interrupt() -> bool:
        task = asyncio.ensure_future(_started(job, RecordedJobRun(payload, account)))
        for _ in range(3):
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=_CANCEL_SECONDS)
        if done and not task.cancelled():
            task.exception()  # any failure is fine; only the next attempt matters
        return bool(done)

    ended = await subject.on_host(interrupt, seconds=_SECONDS)
    expect(ended, f"no end within {_CANCEL_SECONDS:g} s after it was cancelled")
    try:
        await _run(subject, attempt=2)
    except PromiseBroken:
        raise
    except Exception as error:
        raise PromiseBroken(f"{describe_error(error)} in the attempt after an interrupted one") from error


async def _started(job: Job, run: RecordedJobRun) -> Any:
    return await job.run(run)
