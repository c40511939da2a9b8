"""Queues of jobs for tests, and processes that run one."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

from pressroom.config.models import JobsSettings
from pressroom.jobs.queue import JobQueue
from pressroom.sdk import Job, JobState, JobStatus
from pressroom.storage.database import SqlDatabase

T = TypeVar("T")

TESTS = Path(__file__).parents[1]
QUICK = JobsSettings.model_validate({"poll_interval": 0.1})
BACKOFF = 0.05


@asynccontextmanager
async def running(
    database: SqlDatabase, *kinds: Job, settings: JobsSettings = QUICK, patience: float = 0.0
) -> AsyncIterator[JobQueue]:
    """Run a queue until the block ends; running jobs get `patience` seconds then."""
    queue = JobQueue(database, kinds, settings, backoff=BACKOFF)
    await queue.open()
    try:
        yield queue
    finally:
        await queue.close(patience)


async def reached(queue: JobQueue, job_id: str, *states: JobState, seconds: float = 20) -> JobStatus:
    """Wait until a job is in one of these states, and return it."""
    return await eventually(lambda: queue.status(job_id), lambda status: status.state in states, seconds=seconds)


async def eventually(read: Callable[[], Awaitable[T]], right: Callable[[T], bool], *, seconds: float = 20) -> T:
    """Read something again and again until it is right."""
    async with asyncio.timeout(seconds):
        while not right(value := await read()):  # noqa: ASYNC110 - it changes in a database
            await asyncio.sleep(0.01)
    return value


@contextmanager
def processes(count: int, database: Mapping[str, object], folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run so many processes of `support.job_worker` until the block ends; they write what they do into `folder`."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PRESSROOM_STORAGE__PATH": str(database["path"])}
    if "database" in database:
        environment["PRESSROOM_STORAGE__DATABASE"] = str(database["database"])
    command = [sys.executable, "-m", "support.job_worker", str(folder)]
    started = [subprocess.Popen(command, env=environment) for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait(20)


def lines_of(folder: Path) -> list[list[str]]:
    """Return what all workers wrote: the words of each line."""
    return [line.split() for file in folder.glob("worker-*") for line in file.read_text().splitlines()]
