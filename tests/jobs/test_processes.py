"""Several real processes on one database, some of which are killed."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from pressroom.config import Settings
from pressroom.jobs.queue import JobQueue
from pressroom.sdk import BackendError
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import JobRow
from sqlalchemy import select, update
from support.job_queues import Worker, Workers, lines_of, reached
from support.job_worker import EVERY, LEASE, kinds
from support.polling import until


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    workers = Workers()
    yield workers
    workers.close()


def storage_of(settings: Settings) -> dict[str, object]:
    """Return the storage settings that a worker needs."""
    storage: dict[str, object] = {"path": settings.storage.path}
    if settings.storage.database is not None:
        storage["database"] = settings.storage.database.get_secret_value()
    return storage


def starts(folder: Path) -> list[list[str]]:
    return [words for words in lines_of(folder) if words[0] == "begin"]


async def test_four_processes_run_each_job_once(
    workers: Workers, database_settings: Settings, database: SqlDatabase, tmp_path: Path
) -> None:
    queue = JobQueue(database, kinds(tmp_path / "none"))
    ids = [await queue.enqueue("quick", {}) for _ in range(60)]
    with workers.running(4, storage_of(database_settings), tmp_path):
        await until(lambda: len(list(tmp_path.glob("ready-*"))) == 4, seconds=80)
        ids += [await queue.enqueue("quick", {}) for _ in range(60)]
        for job_id in ids:
            await reached(queue, job_id, "succeeded", seconds=60)
    runs = Counter(words[1] for words in starts(tmp_path))
    assert runs == Counter(ids)
    assert len({words[2] for words in starts(tmp_path)}) > 1


async def test_four_processes_claim_each_period_once(
    workers: Workers, database_settings: Settings, database: SqlDatabase, tmp_path: Path
) -> None:
    with workers.running(4, storage_of(database_settings), tmp_path):
        await until(lambda: len(lines_of(tmp_path)) >= 5, seconds=80)
    ticks = [words for words in lines_of(tmp_path) if words[0] == "tick"]
    assert len({words[1] for words in ticks}) == len(ticks)
    # No period is skipped either: each begins when the one before ends.
    periods = sorted(await started_periods(database))
    assert [later - earlier for earlier, later in pairwise(periods)] == [1] * (len(periods) - 1)
    assert len(periods) - len(ticks) in (0, 1)


async def started_periods(database: SqlDatabase) -> list[int]:
    async with database.reading() as session:
        keys = await session.scalars(select(JobRow.key).where(JobRow.kind == "tick"))
    return [int(str(key).removeprefix(f"every:{EVERY:g}:")) for key in keys]


async def test_the_job_of_a_killed_process_is_taken_over_after_its_lease(
    workers: Workers, database_settings: Settings, database: SqlDatabase, tmp_path: Path
) -> None:
    queue = JobQueue(database, kinds(tmp_path / "none"))
    with workers.running(3, storage_of(database_settings), tmp_path) as started:
        await until(lambda: len(list(tmp_path.glob("ready-*"))) == 3, seconds=80)
        job_id = await queue.enqueue("slow", {})
        await until(lambda: len(starts(tmp_path)) == 1, seconds=80)
        victim = next(process for process in started if str(process.pid) == starts(tmp_path)[0][2])
        victim.end()
        await until(lambda: len(starts(tmp_path)) == 2, seconds=80)
        (tmp_path / "go").touch()
        status = await reached(queue, job_id, "succeeded")
    first, second = sorted(starts(tmp_path), key=lambda words: float(words[3]))
    assert first[2] != second[2]
    # The second process waits for the lease of the silent one, which began just before the job started to run.
    assert float(second[3]) - float(first[3]) > LEASE / 2
    assert status.attempts == 2
    assert [words[2] for words in lines_of(tmp_path) if words[0] == "end" and words[1] == job_id] == [second[2]]


async def stop_outside_of_transactions(process: Worker, database: SqlDatabase, job_id: str) -> None:
    """Stop a process while it holds no database lock; otherwise no other process could take its job."""
    for _ in range(50):
        process.send_signal(signal.SIGSTOP)
        if await can_write(database, job_id, seconds=2):
            return
        process.send_signal(signal.SIGCONT)
        # Stopped again immediately, it would never finish its transaction.
        assert await can_write(database, job_id, seconds=20)
    raise AssertionError("the process held a lock each time that it was stopped")


async def can_write(database: SqlDatabase, job_id: str, *, seconds: float) -> bool:
    with suppress(TimeoutError, BackendError):
        async with asyncio.timeout(seconds), database.writing() as session:
            await session.execute(update(JobRow).where(JobRow.id == job_id).values(attempts=JobRow.attempts))
        return True
    return False


async def test_a_process_suspended_beyond_its_lease_does_not_finish_the_job(
    workers: Workers, database_settings: Settings, database: SqlDatabase, tmp_path: Path
) -> None:
    queue = JobQueue(database, kinds(tmp_path / "none"))
    with workers.running(2, storage_of(database_settings), tmp_path) as started:
        await until(lambda: len(list(tmp_path.glob("ready-*"))) == 2, seconds=80)
        job_id = await queue.enqueue("slow", {})
        await until(lambda: len(starts(tmp_path)) == 1, seconds=80)
        sleeper = next(process for process in started if str(process.pid) == starts(tmp_path)[0][2])
        await stop_outside_of_transactions(sleeper, database, job_id)
        await until(lambda: len(starts(tmp_path)) == 2, seconds=80)
        sleeper.send_signal(signal.SIGCONT)
        (tmp_path / "go").touch()
        status = await reached(queue, job_id, "succeeded")
    # Not the first attempt. On a busy machine the second may lose its lease too.
    assert status.attempts >= 2
