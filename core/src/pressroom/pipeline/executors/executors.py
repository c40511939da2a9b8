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
    """Runs tools on the event loop, on threads and in worker processes, this many at once and no more.

    `by_name` holds the executors. `preload` names modules that worker processes should have imported before their first
    call: those of the plugins. `font_folders` are the operator's, for what worker processes draw.
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
        """Begin to start the worker processes, and return at once: a call that comes early waits for its worker."""
        self._process.start()

    async def ready(self) -> None:
        """Wait until every worker process runs.

        Raises:
            BrokenProcessPool: worker processes cannot be started on this system.
        """
        await self._process.ready()

    async def close(self, grace: float) -> None:
        """Take no new calls, wait at most `grace` seconds for the ones that run or wait, then cut those off.

        A call that comes now, or is cut off, ends with `Overloaded`. Worker processes are gone afterwards; a thread
        that is still busy is left behind, and ends with the server.
        """
        for executor in self.by_name.values():
            executor.gate.close()
        drained = [asyncio.create_task(executor.gate.drained()) for executor in self.by_name.values()]
        _, late = await asyncio.wait(drained, timeout=grace)
        for task in late:
            task.cancel()
        await asyncio.gather(*(executor.close() for executor in self.by_name.values()))

    def expecting(self, executor: ExecutorName) -> AbstractContextManager[None]:
        """Keep a place in an executor's queue while a call is prepared for its run; leave it just before `run`.

        Entering raises `Overloaded` where the queue is full: what could not run anyway is not prepared.
        """
        return self.by_name[executor].gate.expecting()

    def queue_length(self, executor: ExecutorName) -> int:
        """Return how many calls wait in an executor."""
        return self.by_name[executor].gate.waiting

    def running(self, executor: ExecutorName) -> int:
        """Return how many calls run in an executor."""
        return self.by_name[executor].gate.running
