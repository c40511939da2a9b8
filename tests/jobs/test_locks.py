"""Job locks, rescheduled jobs, and jobs added in a transaction, on every database."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pressroom.config.models import JobsSettings
from pressroom.jobs.queue import JobQueue
from pressroom.jobs.store import UNUSABLE_LOCK, JobStore
from pressroom.sdk import Job, JobRun, LeaseLost, LockTaken, Reschedule
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import JobLockRow, JobRow
from sqlalchemy import func, select, update
from support.job_queues import reached, running
from support.polling import eventually

NEVER_POLLS = JobsSettings.model_validate({"poll_interval": 3600})
MANY = JobsSettings.model_validate({"poll_interval": 0.1, "concurrency": 16})


def by_book(payload: Mapping[str, Any]) -> str:
    return f"notes:{payload['book']}"


class Readers:
    """A job that records how many of it run at the same time, per book and in total."""

    def __init__(self) -> None:
        self.now: dict[str, int] = {}
        self.most: dict[str, int] = {}
        self.most_of_all = 0

    async def __call__(self, run: JobRun) -> None:
        book = run.payload["book"]
        self.now[book] = self.now.get(book, 0) + 1
        self.most[book] = max(self.most.get(book, 0), self.now[book])
        self.most_of_all = max(self.most_of_all, sum(self.now.values()))
        await asyncio.sleep(0.02)
        self.now[book] -= 1


async def locks(database: SqlDatabase) -> int:
    async with database.reading() as session:
        return await session.scalar(select(func.count()).select_from(JobLockRow)) or 0


async def state_of(database: SqlDatabase, job_id: str) -> tuple[str, str]:
    async with database.reading() as session:
        row = await session.get_one(JobRow, job_id)
        return row.state, row.waits_for


async def test_two_jobs_with_one_lock_never_run_concurrently(database: SqlDatabase) -> None:
    readers = Readers()
    kinds = [Job(kind, readers, lock=by_book) for kind in ("read", "copy")]
    async with (
        running(database, *kinds, settings=MANY) as queue,
        running(database, *kinds, settings=MANY) as other,
    ):
        ids = [
            await (queue, other)[number % 2].enqueue(kind, {"book": book})
            for number in range(8)
            for kind in ("read", "copy")
            for book in ("a", "b", "c")
        ]
        for job_id in ids:
            await reached(queue, job_id, "succeeded")
    assert readers.most == {"a": 1, "b": 1, "c": 1}
    assert readers.most_of_all > 1, "other keys run beside it"
    assert await locks(database) == 0


async def test_a_job_waiting_for_its_lock_holds_no_slot_and_starts_once_it_is_free(database: SqlDatabase) -> None:
    go, began = asyncio.Event(), asyncio.Event()

    async def hold(_run: JobRun) -> None:
        began.set()
        await go.wait()

    async def quick(_run: JobRun) -> None: ...

    two = JobsSettings.model_validate({"poll_interval": 3600, "concurrency": 2})
    kinds = [Job("hold", hold, lock=by_book), Job("read", quick, lock=by_book, attempts=1), Job("other", quick)]
    async with running(database, *kinds, settings=two) as queue:
        await queue.enqueue("hold", {"book": "a"})
        await began.wait()
        waiting = await queue.enqueue("read", {"book": "a"})
        assert await eventually(lambda: state_of(database, waiting), lambda state: state[1] != "") == (
            "queued",
            "notes:a",
        )
        await reached(queue, await queue.enqueue("other", {}), "succeeded")
        go.set()
        status = await reached(queue, waiting, "succeeded", seconds=10)
    assert status.attempts == 1


async def test_code_outside_jobs_uses_the_same_lock(database: SqlDatabase) -> None:
    readers = Readers()
    async with running(database, Job("read", readers, lock=by_book), settings=NEVER_POLLS) as queue:
        async with queue.lock("notes:a"):
            job_id = await queue.enqueue("read", {"book": "a"})
            await eventually(lambda: state_of(database, job_id), lambda state: state[1] != "")
            with pytest.raises(LockTaken, match="notes:a"):
                async with queue.lock("notes:a", wait=0.2):
                    raise AssertionError("two have it")
            async with queue.lock("notes:b"):
                assert not readers.most
        await reached(queue, job_id, "succeeded", seconds=10)
        async with queue.lock("notes:a", wait=5):
            pass
    assert await locks(database) == 0


async def test_a_waiter_acquires_the_lock_once_it_is_free(database: SqlDatabase) -> None:
    queue, order = JobQueue(database, []), list[str]()

    async def hold(name: str) -> None:
        async with queue.lock("notes:a", wait=20):
            order.append(name)
            await asyncio.sleep(0.05)
            order.append(name)

    await asyncio.gather(*(hold(name) for name in "abc"))
    assert order[::2] == order[1::2]
    assert sorted(order) == sorted("aabbcc")


async def test_the_lock_of_a_killed_process_is_free_after_its_lease(database: SqlDatabase) -> None:
    queue, killed = JobQueue(database, []), JobStore(database, 3600)
    assert await killed.take_lock("notes:a", "killed", 0.3)
    began = asyncio.get_running_loop().time()
    async with queue.lock("notes:a", wait=20):
        assert asyncio.get_running_loop().time() - began > 0.1


async def test_a_lock_is_renewed_beyond_its_lease(database: SqlDatabase) -> None:
    queue = JobQueue(database, [])
    async with queue.lock("notes:a", lease=2) as lease:
        await asyncio.sleep(3)
        lease.check()
        with pytest.raises(LockTaken):
            async with queue.lock("notes:a"):
                raise AssertionError("two have it")


async def test_a_holder_that_lost_its_lock_is_stopped_and_writes_nothing_more(database: SqlDatabase) -> None:
    queue, refused = JobQueue(database, []), asyncio.Event()

    async def hold() -> None:
        async with queue.lock("notes:a", lease=1) as lease:
            async with database.writing() as session:
                await session.execute(update(JobLockRow).values(token="another"))
            try:
                async with database.writing() as session:
                    await lease.keep(session)
            except LeaseLost:
                refused.set()
            await asyncio.Event().wait()

    with pytest.raises(LeaseLost):
        await hold()
    assert refused.is_set()
    assert await locks(database) == 1, "it is the other one's"


async def test_a_job_can_write_only_while_it_holds_its_lease(database: SqlDatabase) -> None:
    began, go, refused = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def write(run: JobRun) -> None:
        run.check()
        async with database.writing() as session:
            await run.keep(session)
        began.set()
        await go.wait()
        try:
            async with database.writing() as session:
                await run.keep(session)
        except LeaseLost:
            refused.set()
            raise

    async with running(database, Job("write", write, lock=by_book, attempts=1), settings=NEVER_POLLS) as queue:
        await queue.enqueue("write", {"book": "a"})
        await began.wait()
        async with database.writing() as session:
            await session.execute(update(JobLockRow).values(token="another"))
        go.set()
        async with asyncio.timeout(20):
            await refused.wait()


async def test_a_transaction_that_keeps_a_lease_extends_it(database: SqlDatabase) -> None:
    until: list[datetime] = []

    async def write(run: JobRun) -> None:
        for _ in range(2):
            async with database.writing() as session:
                await run.keep(session)
            async with database.reading() as session:
                lock = (await session.scalars(select(JobLockRow.until))).one()
                due_at = await session.scalar(select(JobRow.due_at).where(JobRow.id == run.id))
            assert lock == due_at
            until.append(lock)

    async with running(database, Job("write", write, lock=by_book, attempts=1)) as queue:
        await reached(queue, await queue.enqueue("write", {"book": "a"}), "succeeded")
    assert until[0] < until[1]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\0b"])
async def test_an_invalid_lock_key_is_refused(database: SqlDatabase, key: str) -> None:
    queue = JobQueue(database, [Job("read", Readers(), lock=lambda _payload: key)])
    with pytest.raises(ValueError, match="key of a lock"):
        await queue.enqueue("read", {})
    with pytest.raises(ValueError, match="key of a lock"):
        async with queue.lock(key):
            raise AssertionError("it is held")


async def test_a_job_with_an_unusable_lock_fails_and_blocks_no_other(database: SqlDatabase) -> None:
    before = JobQueue(database, [Job("read", Readers())])
    bad = await before.enqueue("read", {"page": 1})
    async with running(database, Job("read", Readers(), lock=by_book)) as queue:
        assert (await reached(queue, bad, "failed")).message == UNUSABLE_LOCK
        await reached(queue, await queue.enqueue("read", {"book": "a"}), "succeeded")


async def test_a_cancelled_job_releases_its_lock(database: SqlDatabase) -> None:
    began = asyncio.Event()

    async def hold(_run: JobRun) -> None:
        began.set()
        await asyncio.Event().wait()

    async with running(database, Job("hold", hold, lock=by_book)) as queue:
        job_id = await queue.enqueue("hold", {"book": "a"})
        await began.wait()
        await queue.cancel(job_id)
        async with queue.lock("notes:a", wait=20):
            pass


async def test_a_rescheduled_job_runs_again_with_the_payload_it_returned(database: SqlDatabase) -> None:
    runs: list[tuple[datetime, int, Any]] = []
    at = datetime.now(UTC) + timedelta(seconds=1)

    async def work(run: JobRun) -> Mapping[str, Any] | Reschedule:
        runs.append((datetime.now(UTC), run.attempt, run.payload["page"]))
        match len(runs):
            case 1:
                raise RuntimeError("this counts")
            case 2:
                return Reschedule(at, {"page": 2})
            case 3:
                return Reschedule(datetime.now(UTC))
            case _:
                return {"pages": run.payload["page"]}

    serial = JobsSettings.model_validate({"poll_interval": 3600, "concurrency": 1})
    async with running(database, Job("work", work, attempts=2), settings=serial) as queue:
        job_id = await queue.enqueue("work", {"page": 1})
        status = await reached(queue, job_id, "succeeded")
    assert [(attempt, page) for _, attempt, page in runs] == [(1, 1), (2, 1), (1, 2), (1, 2)]
    assert runs[2][0] >= at
    assert (status.result, status.attempts) == ({"pages": 2}, 1)


@pytest.mark.parametrize(
    "outcome",
    [Reschedule(datetime(2030, 1, 1)), Reschedule(datetime.now(UTC), {"page": object()})],  # noqa: DTZ001
)
async def test_an_invalid_reschedule_fails_the_job(database: SqlDatabase, outcome: Reschedule) -> None:
    async def work(_run: JobRun) -> Reschedule:
        return outcome

    async with running(database, Job("work", work, attempts=1)) as queue:
        await reached(queue, await queue.enqueue("work", {}), "failed")


async def test_a_job_is_enqueued_only_if_its_transaction_commits(database: SqlDatabase) -> None:
    readers = Readers()
    async with running(database, Job("read", readers), settings=NEVER_POLLS) as queue:
        with suppress(RuntimeError):
            async with database.writing() as session:
                await queue.enqueue("read", {"book": "a"}, session=session)
                raise RuntimeError("nothing of this counts")
        async with database.writing() as session:
            job_id = await queue.enqueue("read", {"book": "b"}, key="k", session=session)
            assert await queue.enqueue("read", {"book": "b"}, key="k", session=session) == job_id
            await asyncio.sleep(0.2)
            assert not readers.most
        await reached(queue, job_id, "succeeded", seconds=10)
    assert readers.most == {"b": 1}
