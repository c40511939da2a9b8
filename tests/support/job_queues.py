"""Job queues for tests, and processes that run one."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from pressroom.config.models import JobsSettings
from pressroom.jobs.queue import JobQueue
from pressroom.sdk import Job, JobRun, JobState, JobStatus
from pressroom.storage.database import SqlDatabase

from support.polling import eventually

TESTS = Path(__file__).parents[1]
QUICK = JobsSettings.model_validate({"poll_interval": 0.1})
BACKOFF = 0.05


@asynccontextmanager
async def running(
    database: SqlDatabase, *kinds: Job, settings: JobsSettings = QUICK, patience: float = 0.0
) -> AsyncIterator[JobQueue]:
    """Run a queue until the block ends. Running jobs then have `patience` seconds to finish."""
    queue = JobQueue(database, kinds, settings, backoff=BACKOFF)
    await queue.open()
    try:
        yield queue
    finally:
        await queue.close(patience)


async def reached(queue: JobQueue, job_id: str, *states: JobState, seconds: float = 60) -> JobStatus:
    """Wait until a job is in one of these states, and return its status."""
    return await eventually(lambda: queue.status(job_id), lambda status: status.state in states, seconds=seconds)


async def double(run: JobRun) -> Mapping[str, Any]:
    """A job that doubles a number."""
    return {"doubled": 2 * run.payload["number"]}


class Steps:
    """A job that starts, waits to be released, and counts its starts."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.go = asyncio.Event()
        self.start_count = 0

    async def __call__(self, run: JobRun) -> None:
        self.start_count += 1
        self.began.set()
        await self.go.wait()


class Worker:
    """A process that runs jobs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, number)

    def end(self) -> None:
        """Kill the process, and wait until it has ended."""
        self.send_signal(signal.SIGKILL)
        ended, _, _ = select.select([self._descriptor], [], [], 20)
        assert ended, f"the process {self.pid} does not end"

    def forget(self) -> None:
        """Close the process's file descriptor."""
        os.close(self._descriptor)


class Workers:
    """Starts processes of `support.job_worker`."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(TESTS)}
        command = [sys.executable, "-m", "support.job_worker"]
        pipe = subprocess.PIPE
        self._forking = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)

    @contextmanager
    def running(self, count: int, storage: Mapping[str, object], folder: Path) -> Iterator[list[Worker]]:
        """Run `count` processes until the block ends. They log their actions to `folder`."""
        assert self._forking.stdin is not None
        assert self._forking.stdout is not None
        order = {"count": count, "folder": str(folder), "storage": {name: str(storage[name]) for name in storage}}
        self._forking.stdin.write(json.dumps(order) + "\n")
        self._forking.stdin.flush()
        started = [Worker(pid) for pid in json.loads(self._forking.stdout.readline())]
        try:
            yield started
        finally:
            for process in started:
                process.end()
                process.forget()

    def close(self) -> None:
        """End the fork server."""
        self._forking.communicate("", 20)


def lines_of(folder: Path) -> list[list[str]]:
    """Return the log lines of all workers, split into words."""
    return [line.split() for file in folder.glob("worker-*") for line in file.read_text().splitlines()]
