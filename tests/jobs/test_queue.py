"""The job queue's contract for plugins, on every database."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any, Final

import pytest
import structlog
from pressroom.config.models import JobsSettings
from pressroom.errors import CallError, NotFound
from pressroom.jobs.attempt import INTERNAL_FAILURE
from pressroom.jobs.queue import JobQueue
from pressroom.jobs.store import JobStore
from pressroom.sdk import Job, JobRun, Reschedule
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import JobRow
from sqlalchemy import func, select
from support.job_queues import Steps, double, reached, running
from support.polling import eventually

NEVER: Final = datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))
"""A moment that has no date in UTC."""


async def forever(_run: JobRun) -> None:
    await asyncio.Event().wait()


async def rows(database: SqlDatabase) -> int:
    async with database.reading() as session:
        return await session.scalar(select(func.count()).select_from(JobRow)) or 0


async def test_a_job_runs_and_its_result_can_be_read(database: SqlDatabase) -> None:
    async with running(database, Job("double", double)) as queue:
        job_id = await queue.enqueue("double", {"number": 21}, subject="u_1")
        status = await reached(queue, job_id, "succeeded")
    assert (status.result, status.subject, status.attempts, status.progress) == ({"doubled": 42}, "u_1", 1, 1.0)
    assert status.finished_at is not None
    assert status.finished_at >= status.created_at


async def test_an_account_sees_only_its_own_jobs(database: SqlDatabase) -> None:
    queue = JobQueue(database, [Job("double", double)])
    job_id = await queue.enqueue("double", {"number": 1}, subject="u_1")
    assert (await queue.status(job_id, subject="u_1")).state == "queued"
    for other_subject in ("u_2", ""):
        with pytest.raises(NotFound):
            await queue.status(job_id, subject=other_subject)
        with pytest.raises(NotFound):
            await queue.cancel(job_id, subject=other_subject)
    with pytest.raises(NotFound, match="no job 'j_unknown'"):
        await queue.status("j_unknown")


async def test_a_queued_job_without_an_active_plugin_reports_it(database: SqlDatabase) -> None:
    queue = JobQueue(database, [Job("double", double)])
    job_id = await queue.enqueue("double", {"number": 1})
    assert (await queue.status(job_id)).message == ""
    status = await JobQueue(database, []).status(job_id)
    assert (status.state, "its plugin is not active" in status.message) == ("queued", True)


@pytest.mark.parametrize("job_id", ["", "\0", "\ud800", "x" * 5000])
async def test_an_unknown_id_is_not_found(database: SqlDatabase, job_id: str) -> None:
    queue = JobQueue(database, [])
    with pytest.raises(NotFound):
        await queue.status(job_id)
    with pytest.raises(NotFound):
        await queue.cancel(job_id)


async def test_a_key_creates_one_job_per_account_and_kind(database: SqlDatabase) -> None:
    queue = JobQueue(database, [Job("double", double), Job("triple", double)])
    same_key = await asyncio.gather(*(queue.enqueue("double", {}, subject="u_1", key="k") for _ in range(20)))
    assert len(set(same_key)) == 1
    other_keys = {
        await queue.enqueue("double", {}, subject="u_2", key="k"),
        await queue.enqueue("triple", {}, subject="u_1", key="k"),
        await queue.enqueue("double", {}, subject="u_1"),
        await queue.enqueue("double", {}, subject="u_1"),
    }
    assert len(other_keys | set(same_key)) == 5
    assert await rows(database) == 5


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"kind": "unknown", "payload": {}}, KeyError),
        ({"kind": "double", "payload": {"number": object()}}, TypeError),
        ({"kind": "double", "payload": {"number": float("nan")}}, ValueError),
        ({"kind": "double", "payload": {}, "key": "k" * 201}, ValueError),
        ({"kind": "double", "payload": {}, "subject": "u\0"}, ValueError),
        ({"kind": "double", "payload": {}, "run_at": datetime(2026, 1, 1)}, ValueError),  # noqa: DTZ001
        ({"kind": "double", "payload": {}, "run_at": NEVER}, ValueError),
    ],
)
async def test_an_invalid_job_is_refused(
    database: SqlDatabase, arguments: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await JobQueue(database, [Job("double", double)]).enqueue(**arguments)
    assert await rows(database) == 0


async def test_a_job_scheduled_for_later_waits(database: SqlDatabase) -> None:
    ran_at: list[datetime] = []

    async def note(_run: JobRun) -> None:
        ran_at.append(datetime.now(UTC))

    when = datetime.now(UTC) + timedelta(seconds=0.5)
    async with running(database, Job("note", note)) as queue:
        await reached(queue, await queue.enqueue("note", {}, run_at=when), "succeeded")
    assert ran_at[0] >= when


async def test_enqueuing_wakes_the_process_immediately(database: SqlDatabase) -> None:
    never_polls = JobsSettings.model_validate({"poll_interval": 3600})
    async with running(database, Job("double", double), settings=never_polls) as queue:
        for number in range(3):
            await reached(queue, await queue.enqueue("double", {"number": number}), "succeeded")


async def test_a_failing_job_is_retried_until_its_attempts_are_used_up(database: SqlDatabase) -> None:
    attempts: list[tuple[int, float]] = []

    async def fail(run: JobRun) -> None:
        attempts.append((run.attempt, asyncio.get_running_loop().time()))
        raise RuntimeError("password=hunter2 at /srv/secret")

    with structlog.testing.capture_logs() as logs:
        async with running(database, Job("fail", fail, attempts=4)) as queue:
            job_id = await queue.enqueue("fail", {})
            status = await reached(queue, job_id, "failed")
    assert [number for number, _ in attempts] == [1, 2, 3, 4]
    times = [at for _, at in attempts]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert all(pause >= minimum for pause, minimum in zip(pauses, (0.05, 0.1, 0.2), strict=True))
    assert (status.message, status.attempts, status.result) == (INTERNAL_FAILURE, 4, None)
    failures = [(line["log_level"], line["job"]) for line in logs if line["event"].startswith("job failed")]
    assert failures == [("warning", job_id)] * 3 + [("error", job_id)]
    assert logs[-1]["error"] == "RuntimeError: password=hunter2 at /srv/secret"


async def test_a_call_error_is_the_jobs_message(database: SqlDatabase) -> None:
    async def refuse(_run: JobRun) -> None:
        raise CallError("The site \ud800 answered\0 404.")

    async with running(database, Job("refuse", refuse, attempts=1)) as queue:
        status = await reached(queue, await queue.enqueue("refuse", {}), "failed")
    assert status.message == "The site ? answered 404."


async def test_a_time_that_cannot_be_stored_fails_its_job_and_holds_up_no_other(database: SqlDatabase) -> None:
    async def postpone(_run: JobRun) -> Reschedule:
        return Reschedule(NEVER)

    async with running(database, Job("postpone", postpone, attempts=1), Job("double", double)) as queue:
        await reached(queue, await queue.enqueue("postpone", {}), "failed")
        await reached(queue, await queue.enqueue("double", {"number": 1}), "succeeded")


@pytest.mark.parametrize("result", [["no", "object"], {"number": float("inf")}, {"what": object()}])
async def test_a_result_that_is_not_a_json_object_fails(database: SqlDatabase, result: Any) -> None:
    async def rubbish(_run: JobRun) -> Any:
        return result

    async with running(database, Job("rubbish", rubbish, attempts=1)) as queue:
        status = await reached(queue, await queue.enqueue("rubbish", {}), "failed")
    assert status.message == INTERNAL_FAILURE


async def test_an_attempt_that_takes_too_long_fails(database: SqlDatabase) -> None:
    async with running(database, Job("forever", forever, attempts=1, timeout=0.1)) as queue:
        status = await reached(queue, await queue.enqueue("forever", {}), "failed")
    assert status.message == "It took longer than 0.1 s."


async def test_progress_can_be_read_while_the_job_runs(database: SqlDatabase) -> None:
    steps = Steps()

    async def work(run: JobRun) -> None:
        await run.progress(0.5, "half\0 of it")
        await steps(run)

    async with running(database, Job("work", work)) as queue:
        job_id = await queue.enqueue("work", {})
        await steps.began.wait()
        status = await queue.status(job_id)
        assert (status.state, status.progress, status.message) == ("running", 0.5, "half of it")
        steps.go.set()
        await reached(queue, job_id, "succeeded")


async def test_progress_out_of_bounds_is_an_error(database: SqlDatabase) -> None:
    problems: list[str] = []

    async def work(run: JobRun) -> None:
        for fraction in (-0.1, 1.1, float("nan")):
            with pytest.raises(ValueError, match="from 0 to 1") as raised:
                await run.progress(fraction)
            problems.append(str(raised.value))

    async with running(database, Job("work", work)) as queue:
        await reached(queue, await queue.enqueue("work", {}), "succeeded")
    assert len(problems) == 3


async def test_concurrent_jobs_are_limited(database: SqlDatabase) -> None:
    most = now = 0
    four_run = asyncio.Event()

    async def work(_run: JobRun) -> None:
        nonlocal most, now
        now += 1
        most = max(most, now)
        if now == 4:
            four_run.set()
        await four_run.wait()
        await asyncio.sleep(0.05)  # long enough for a fifth job to start
        now -= 1

    kinds = [Job("one", work), Job("two", work), Job("three", work)]
    four = JobsSettings.model_validate({"poll_interval": 0.1, "concurrency": 4})
    async with running(database, *kinds, settings=four) as queue:
        ids = [await queue.enqueue(job.kind, {}) for _ in range(4) for job in kinds]
        for job_id in ids:
            await reached(queue, job_id, "succeeded")
    assert most == 4


async def test_zero_concurrency_leaves_the_jobs_to_other_processes(database: SqlDatabase) -> None:
    none = JobsSettings.model_validate({"concurrency": 0})
    async with running(database, Job("double", double), settings=none) as queue:
        job_id = await queue.enqueue("double", {"number": 4})
        async with running(database, Job("other", forever), Job("double", double)) as other:
            assert (await reached(other, job_id, "succeeded")).result == {"doubled": 8}


async def test_jobs_of_unknown_kinds_remain_queued(database: SqlDatabase) -> None:
    unknown = await JobQueue(database, [Job("unknown", double)]).enqueue("unknown", {"number": 1})
    async with running(database, Job("double", double)) as queue:
        await reached(queue, await queue.enqueue("double", {"number": 1}), "succeeded")
        assert (await queue.status(unknown)).state == "queued"


async def test_finished_jobs_are_deleted_but_not_within_their_period(database: SqlDatabase) -> None:
    daily = Job("daily", double, every=86_400 * 365)
    store = JobStore(database, 0)
    jobs = {"daily": daily, "double": Job("double", double)}
    assert list(await store.add_periods(list(jobs.values()))) == ["daily"]
    await store.add("double", {}, subject="", key="", run_at=None)
    for _ in range(2):
        lease = await store.claim(jobs)
        assert lease is not None
        await store.succeed(lease, {}, every=jobs[lease.kind].every)  # type: ignore[arg-type, union-attr]
    await eventually(store.forget_expired, lambda forgotten: forgotten == 1)
    await store.add_periods([daily])
    assert await store.claim(jobs) is None
    assert await rows(database) == 1
