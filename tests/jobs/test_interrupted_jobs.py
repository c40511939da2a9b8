"""Jobs that are cancelled, paused, requeued, or lost with their process."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from pressroom.config.models import JobsSettings
from pressroom.jobs.queue import JobQueue
from pressroom.jobs.store import JobStore, LeasedJob
from pressroom.sdk import Job, JobRun, Pause
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import JobRow
from sqlalchemy import func, select, update
from support.job_queues import QUICK, Steps, double, reached, running
from support.polling import eventually


async def test_a_cancelled_job_never_runs(database: SqlDatabase) -> None:
    steps = Steps()
    queue = JobQueue(database, [Job("steps", steps)], QUICK)
    job_id = await queue.enqueue("steps", {})
    assert await queue.cancel(job_id)
    assert not await queue.cancel(job_id)
    await queue.open()
    await reached(queue, job_id, "cancelled")
    other = await queue.enqueue("steps", {})
    await steps.began.wait()
    steps.go.set()
    await reached(queue, other, "succeeded")
    await queue.close()
    assert steps.start_count == 1


@pytest.mark.parametrize("here", [True, False])
async def test_cancelling_stops_a_running_job(database: SqlDatabase, here: bool) -> None:
    stopped = asyncio.Event()
    began = asyncio.Event()

    async def work(_run: JobRun) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    job = Job("work", work, lease=0.3)
    async with running(database, job) as queue:
        job_id = await queue.enqueue("work", {})
        await began.wait()
        assert await (queue if here else JobQueue(database, [job])).cancel(job_id)
        async with asyncio.timeout(20):
            await stopped.wait()
        assert (await queue.status(job_id)).state == "cancelled"


async def test_a_long_job_renews_its_lease(database: SqlDatabase) -> None:
    steps = Steps()
    lease = 6.0  # a busy machine can stall for a second or two
    job = Job("steps", steps, lease=lease)
    async with running(database, job) as queue, running(database, job):
        job_id = await queue.enqueue("steps", {})
        await steps.began.wait()
        claimed_until = await due_at(database, job_id)
        # One lease later, the first attempt is still running.
        one_lease_later = claimed_until + timedelta(seconds=lease)
        await eventually(lambda: due_at(database, job_id), lambda until: until > one_lease_later)
        steps.go.set()
        status = await reached(queue, job_id, "succeeded")
    assert (steps.start_count, status.attempts) == (1, 1)


async def due_at(database: SqlDatabase, job_id: str) -> datetime:
    async with database.reading() as session:
        value = await session.scalar(select(JobRow.due_at).where(JobRow.id == job_id))
    return value or datetime.max.replace(tzinfo=UTC)


async def test_an_attempt_that_lost_its_lease_changes_nothing(database: SqlDatabase) -> None:
    queue = JobQueue(database, [Job("double", double)])
    job_id = await queue.enqueue("double", {"number": 1})
    jobs = {"double": Job("double", double)}
    store = JobStore(database, 3600)
    first = await store.claim(jobs)
    assert first is not None
    assert await store.claim(jobs) is None
    async with database.writing() as session:
        past = datetime.now(UTC) - timedelta(hours=1)
        await session.execute(update(JobRow).where(JobRow.id == job_id).values(due_at=past))
    second = await store.claim(jobs)
    assert second is not None
    assert not await store.renew(first, 60)  # type: ignore[arg-type]
    assert not await store.succeed(first, {"by": "first"}, every=None)  # type: ignore[arg-type]
    assert not await store.release(first)  # type: ignore[arg-type]
    assert await store.succeed(second, {"by": "second"}, every=None)  # type: ignore[arg-type]
    status = await queue.status(job_id)
    assert (status.state, status.result, status.attempts) == ("succeeded", {"by": "second"}, 2)


async def test_a_job_whose_last_attempt_vanished_fails(database: SqlDatabase) -> None:
    job = Job("steps", Steps(), attempts=1)
    store = JobStore(database, 3600)
    queue = JobQueue(database, [job], QUICK)
    job_id = await queue.enqueue("steps", {})
    await store.claim({"steps": job})
    async with database.writing() as session:
        await session.execute(update(JobRow).values(due_at=datetime.now(UTC) - timedelta(hours=1)))
    async with running(database, job) as running_queue:
        status = await reached(running_queue, job_id, "failed")
    assert status.message == "the process that ran it ended"


async def test_closing_waits_for_running_jobs(database: SqlDatabase) -> None:
    steps = Steps()
    async with running(database, Job("steps", steps), patience=20) as queue:
        job_id = await queue.enqueue("steps", {})
        await steps.began.wait()
        asyncio.get_running_loop().call_later(0.1, steps.go.set)
    assert (await queue.status(job_id)).state == "succeeded"


async def test_a_job_that_does_not_end_in_time_is_requeued_immediately(database: SqlDatabase) -> None:
    first, second = Steps(), Steps()
    async with running(database, Job("steps", first, lease=3600)) as queue:
        job_id = await queue.enqueue("steps", {})
        await first.began.wait()
    status = await queue.status(job_id)
    assert (status.state, status.attempts) == ("queued", 0)
    second.go.set()
    async with running(database, Job("steps", second, lease=3600)) as other:
        await reached(other, job_id, "succeeded")
    assert (first.start_count, second.start_count) == (1, 1)


async def test_a_paused_job_continues_later_without_using_an_attempt(database: SqlDatabase) -> None:
    attempts: list[int] = []

    async def work(run: JobRun) -> Pause | None:
        await run.progress(0.25, "a quarter")
        attempts.append(run.attempt)
        return Pause(0.1) if len(attempts) < 5 else None

    serial = JobsSettings.model_validate({"poll_interval": 3600, "concurrency": 1})
    async with running(database, Job("work", work, attempts=1), Job("double", double), settings=serial) as queue:
        job_id = await queue.enqueue("work", {})
        await reached(queue, await queue.enqueue("double", {"number": 1}), "succeeded")
        status = await reached(queue, job_id, "succeeded")
    assert attempts == [1] * 5
    assert (status.attempts, status.message) == (1, "a quarter")


async def test_a_job_that_becomes_due_between_two_polls_is_not_missed(database: SqlDatabase) -> None:
    store = JobStore(database, 60)
    kinds = {"double": Job("double", double)}
    job_id, _ = await store.add(
        "double", {"number": 1}, subject="", key="", run_at=datetime.now(UTC) + timedelta(seconds=1)
    )
    assert await store.claim(kinds) is None

    async def due() -> bool:
        async with database.reading() as session:
            row = await session.get(JobRow, job_id)
            on_server = database.dialect == "postgresql"
            now = (
                (await session.execute(select(func.clock_timestamp()))).scalar_one() if on_server else datetime.now(UTC)
            )
            return bool(row and row.due_at and row.due_at <= now)

    await eventually(due, bool)
    seconds = await store.seconds_to_next(kinds)
    assert seconds is not None
    assert seconds <= 0
    assert isinstance(await store.claim(kinds), LeasedJob)


async def test_a_paused_job_keeps_its_progress_and_can_be_cancelled(database: SqlDatabase) -> None:
    async def work(run: JobRun) -> Pause:
        await run.progress(0.5, "half")
        return Pause(3600)

    async with running(database, Job("work", work)) as queue:
        job_id = await queue.enqueue("work", {})
        paused = await eventually(
            lambda: queue.status(job_id), lambda status: status.progress > 0 and status.state == "queued"
        )
        assert (paused.progress, paused.message, paused.attempts) == (0.5, "half", 0)
        assert await queue.cancel(job_id)
        assert (await queue.status(job_id)).state == "cancelled"
