"""The executors of a server: each call runs in the one that its tool declares."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from pressroom.config.models import ExecutorsSettings
from pressroom.pipeline.executors.in_process import BaseExecutor, CoroutineExecutor, ThreadExecutor
from pressroom.pipeline.executors.process import ProcessExecutor
from pressroom.sdk import ExecutorName


class Executors:
    """Runs tools on the event loop, on threads and in worker processes, with a concurrency limit for each.

    `by_name` holds the executors. `preload` lists the plugin modules that worker processes import before their first
    call. `font_folders` are the operator's font folders, for rendering in worker processes.
    """

    def __init__(
        self, settings: ExecutorsSettings, preload: Sequence[str] = (), font_folders: tuple[Path, ...] = ()
    ) -> None:
        self._process = ProcessExecutor(
            settings.processes,
            settings.process_queue,
            niceness=settings.niceness,
            recycle_after=settings.recycle_after,
            preload=preload,
            font_folders=font_folders,
        )
        self.by_name: Mapping[ExecutorName, BaseExecutor] = {
            "async": CoroutineExecutor(settings.coroutines, settings.coroutine_queue),
            "thread": ThreadExecutor(settings.threads, settings.thread_queue),
            "process": self._process,
        }

    async def start(self) -> None:
        """Start the worker processes in the background; an early call waits for its worker."""
        self._process.start()

    async def ready(self) -> None:
        """Wait until every worker process runs.

        Raises:
            BrokenProcessPool: worker processes cannot be started on this system.
        """
        await self._process.ready()

    async def close(self, grace: float) -> None:
        """Refuse new calls, wait at most `grace` seconds for running and waiting ones, then cut those off.

        Refused and cut-off calls end with `Overloaded`. All worker processes have ended afterwards; a thread that is
        still busy is abandoned, and ends with the server.
        """
        for executor in self.by_name.values():
            executor.gate.close()
        drained = [asyncio.create_task(executor.gate.drained()) for executor in self.by_name.values()]
        _, pending = await asyncio.wait(drained, timeout=grace)
        for task in pending:
            task.cancel()
        await asyncio.gather(*(executor.close() for executor in self.by_name.values()))

    def expecting(self, executor: ExecutorName) -> AbstractContextManager[None]:
        """Reserve a place in an executor's queue while a call is prepared; leave the context just before `run`.

        Entering raises `Overloaded` if the queue is full, to avoid preparing a call that could not run.
        """
        return self.by_name[executor].gate.expecting()

    def queue_length(self, executor: ExecutorName) -> int:
        """Return the number of calls waiting for an executor."""
        return self.by_name[executor].gate.waiting

    def running(self, executor: ExecutorName) -> int:
        """Return the number of calls running in an executor."""
        return self.by_name[executor].gate.running
