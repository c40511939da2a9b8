"""Processes that run jobs as a host does, and log when each begins and ends; started by `support.job_queues`.

They are forked from a process that has imported everything, because imports take longer than most of these tests.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

from pressroom.config import Settings
from pressroom.jobs.queue import JobQueue
from pressroom.sdk import Job, JobRun
from pressroom.storage.database import SqlDatabase

from support.job_queues import BACKOFF, QUICK

EVERY = 2.0
"""On a busy machine a process can stall for a while, but hardly for a whole period."""

LEASE = 3.0


def kinds(note: Path) -> list[Job]:
    """Return the kinds of jobs: a fast one, a periodic one, and one that runs until the file `go` exists."""

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


async def work(folder: Path, storage: dict[str, str]) -> None:
    database = SqlDatabase(Settings.model_validate({"storage": storage}))
    await database.open()
    queue = JobQueue(database, kinds(folder / f"worker-{os.getpid()}"), QUICK, backoff=BACKOFF)
    await queue.open()
    (folder / f"ready-{os.getpid()}").touch()
    await asyncio.Event().wait()


def main() -> None:
    """For each line of standard input, fork the requested number of processes, and write their ids."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies: the system reaps ended processes
    for line in sys.stdin:
        order = json.loads(line)
        started = []
        for _ in range(order["count"]):
            process = os.fork()
            if process == 0:
                os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
                asyncio.run(work(Path(order["folder"]), order["storage"]))
            started.append(process)
        sys.stdout.write(json.dumps(started) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
