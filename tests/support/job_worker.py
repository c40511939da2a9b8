"""A process that runs jobs as a host does, and writes when each begins and ends; run by `support.job_queues`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

from pressroom.config import load
from pressroom.jobs.queue import JobQueue
from pressroom.sdk import Job, JobRun
from pressroom.storage.database import SqlDatabase

from support.job_queues import BACKOFF, QUICK

EVERY = 0.5
LEASE = 1.5


def kinds(note: Path) -> list[Job]:
    """Return the kinds of jobs: a quick one, a periodic one, and one that lasts until a file lets it end."""

    def write(*words: object) -> None:
        with note.open("a") as file:
            file.write(" ".join(map(str, (*words, time.time()))) + "\n")

    async def quick(run: JobRun) -> None:
        write("begin", run.id, os.getpid())
        await asyncio.sleep(0.005)
        write("end", run.id, os.getpid())

    async def tick(run: JobRun) -> None:
        write("tick", run.id, os.getpid())

    async def slow(run: JobRun) -> None:
        write("begin", run.id, os.getpid())
        while not (note.parent / "go").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.02)
        write("end", run.id, os.getpid())

    return [
        Job("quick", quick, lease=60),
        Job("slow", slow, lease=LEASE),
        Job("tick", tick, every=EVERY),
    ]


async def main(folder: Path) -> None:
    database = SqlDatabase(load(None).settings)
    await database.open()
    queue = JobQueue(database, kinds(folder / f"worker-{os.getpid()}"), QUICK, backoff=BACKOFF)
    await queue.open()
    (folder / f"ready-{os.getpid()}").touch()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
