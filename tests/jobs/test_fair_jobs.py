"""Fair scheduling: one account's jobs do not delay those of others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pressroom.config.models import JobsSettings
from pressroom.jobs.queue import JobQueue
from pressroom.sdk import Job, JobRun
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import JobRow
from sqlalchemy import insert
from support.job_queues import reached, running
from support.polling import eventually

MANY = 100_000


class Endless:
    """A job that never ends, and the subjects whose jobs hold a place."""

    def __init__(self) -> None:
        self.holders: list[str] = []

    async def __call__(self, run: JobRun) -> None:
        self.holders.append(run.subject)
        try:
            await asyncio.Event().wait()
        finally:
            self.holders.remove(run.subject)


async def quick(_run: JobRun) -> None: ...


def places(number: int) -> JobsSettings:
    return JobsSettings.model_validate({"concurrency": number, "poll_interval": 0.1})


async def queued(database: SqlDatabase, kind: str, subject: str, number: int, *, seconds_ago: float = 3600) -> None:
    """Insert queued jobs directly, which is cheaper than enqueueing each."""
    due_at = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    empty = {"kind": kind, "subject": subject, "payload": {}, "state": "queued", "created_at": due_at, "due_at": due_at}
    async with database.writing() as session:
        for begin in range(0, number, 10_000):
            ids = range(begin, min(number, begin + 10_000))
            await session.execute(insert(JobRow), [{**empty, "id": f"j_{kind}{subject}{index}"} for index in ids])


async def test_endless_crawls_of_one_account_cannot_hold_all_slots(database: SqlDatabase) -> None:
    endless = Endless()
    kinds = [Job("seo.crawl", endless), Job("content.read_site", quick)]
    async with running(database, *kinds, settings=places(4)) as queue:
        for _ in range(8):
            await queue.enqueue("seo.crawl", {}, subject="bob")
        await eventually(_holders(endless), bool)
        # Another account's crawl and another kind of job start, although this account's crawls have waited longer.
        await queue.enqueue("seo.crawl", {}, subject="alice")
        await eventually(_holders(endless), lambda holders: "alice" in holders)
        await reached(queue, await queue.enqueue("content.read_site", {}, subject="alice"), "succeeded")
        await reached(queue, await queue.enqueue("content.read_site", {}, subject="bob"), "succeeded")
        assert sorted(endless.holders) == ["alice", "bob"]


@pytest.mark.parametrize("number", [1, 4])
async def test_endless_jobs_cannot_delay_publishing(database: SqlDatabase, number: int) -> None:
    endless = Endless()
    kinds = [Job("a", endless), Job("b", endless), Job("c", endless), Job("publish", quick, urgent=True)]
    async with running(database, *kinds, settings=places(number)) as queue:
        for subject in ("bob", "eve", "mallory"):
            for job in kinds[:3]:
                await queue.enqueue(job.kind, {}, subject=subject)
        await eventually(_holders(endless), lambda holders: len(holders) == number)
        await reached(queue, await queue.enqueue("publish", {}, subject="alice"), "succeeded")
        assert len(endless.holders) == number


async def test_hanging_posts_of_one_account_cannot_hold_all_publishing_slots(database: SqlDatabase) -> None:
    endless = Endless()

    async def publish(run: JobRun) -> None:
        if run.subject == "bob":
            await endless(run)

    async with running(database, Job("publish", publish, urgent=True), settings=places(4)) as queue:
        for _ in range(9):
            await queue.enqueue("publish", {}, subject="bob")
        await eventually(_holders(endless), bool)
        await reached(queue, await queue.enqueue("publish", {}, subject="alice"), "succeeded")


async def test_an_account_with_a_long_queue_does_not_come_first(database: SqlDatabase) -> None:
    order: list[str] = []

    async def work(run: JobRun) -> None:
        order.append(run.subject)

    await queued(database, "work", "bob", 50)
    await queued(database, "work", "mallory", 50)
    await queued(database, "work", "alice", 3, seconds_ago=1)
    async with running(database, Job("work", work), settings=places(1)):
        await eventually(_copied(order), lambda done: len(done) >= 12)
    assert order[:9].count("alice") == 3, "accounts take turns"


async def test_100_000_jobs_of_one_account_do_not_slow_down_the_search_for_others(database: SqlDatabase) -> None:
    endless = Endless()
    kinds = [Job("work", endless), Job("other", quick)]
    await queued(database, "work", "bob", MANY)
    async with running(database, *kinds, settings=places(4)) as queue:
        await eventually(_holders(endless), bool)
        before = time.process_time()
        for _ in range(20):
            await reached(queue, await queue.enqueue("other", {}, subject="alice"), "succeeded")
        assert time.process_time() - before < 5
        assert endless.holders == ["bob"]


async def test_jobs_that_may_not_run_yet_cause_no_busy_loop(database: SqlDatabase) -> None:
    endless = Endless()
    turns = 0

    class Counting(JobQueue):
        async def _run_due_jobs(self) -> float:
            nonlocal turns
            turns += 1
            return await super()._run_due_jobs()

    await queued(database, "work", "bob", 500)
    settings = JobsSettings.model_validate({"concurrency": 4, "poll_interval": 3600})
    async with _open(Counting(database, [Job("work", endless)], settings)) as queue:
        await eventually(_holders(endless), bool)
        for _ in range(3):
            await queue.status("j_workbob499")
            await asyncio.sleep(0.2)  # long enough for a busy loop to show
        assert turns <= 3


async def test_a_skipped_job_runs_as_soon_as_its_account_has_a_free_slot(database: SqlDatabase) -> None:
    go = asyncio.Event()
    began: list[str] = []

    async def work(run: JobRun) -> None:
        began.append(run.id)
        await go.wait()

    never_polls = JobsSettings.model_validate({"concurrency": 2, "poll_interval": 3600})
    async with running(database, Job("work", work), settings=never_polls) as queue:
        ids = [await queue.enqueue("work", {}, subject="bob") for _ in range(5)]
        await eventually(_copied(began), bool)
        go.set()
        for job_id in ids:
            await reached(queue, job_id, "succeeded")


@asynccontextmanager
async def _open(queue: JobQueue) -> AsyncIterator[JobQueue]:
    await queue.open()
    try:
        yield queue
    finally:
        await queue.close()


def _holders(endless: Endless) -> Any:
    return _copied(endless.holders)


def _copied(items: list[str]) -> Any:
    async def read() -> list[str]:
        return list(items)

    return read
