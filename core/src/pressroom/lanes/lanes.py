"""The lanes of a server: each call runs in the one that its tool declares."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from pressroom.config.models import LanesSettings
from pressroom.lanes.base import BaseLane
from pressroom.lanes.coroutine import CoroutineLane
from pressroom.lanes.process import ProcessLane
from pressroom.lanes.thread import ThreadLane
from pressroom.lanes.work import Work
from pressroom.sdk import Lane


class Lanes:
    """Runs tools on the event loop, on threads and in worker processes, so many at once and no more.

    `preload` names modules that worker processes should have imported before their first call: those of the plugins.
    `font_folders` are the operator's, for what worker processes draw.
    """

    def __init__(
        self, settings: LanesSettings, preload: Sequence[str] = (), font_folders: tuple[Path, ...] = ()
    ) -> None:
        self._process = ProcessLane(
            settings.processes,
            settings.process_queue,
            niceness=settings.niceness,
            recycle_after=settings.recycle_after,
            preload=preload,
            font_folders=font_folders,
        )
        self._lanes: dict[Lane, BaseLane] = {
            "async": CoroutineLane(settings.coroutines, settings.coroutine_queue),
            "thread": ThreadLane(settings.threads, settings.thread_queue),
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
        for lane in self._lanes.values():
            lane.gate.close()
        drained = [asyncio.create_task(lane.gate.drained()) for lane in self._lanes.values()]
        _, late = await asyncio.wait(drained, timeout=grace)
        for task in late:
            task.cancel()
        await asyncio.gather(*(lane.close() for lane in self._lanes.values()))

    def run(self, lane: Lane, work: Work) -> Coroutine[Any, Any, Any]:
        """Run a tool in a lane and return what it returned.

        A call that has to wait waits at most `work.timeout` seconds, which do not count against its own time.

        Raises:
            Overloaded: the queue is full, the call waited too long, or the server shuts down.
            CallTimeout: the tool ran out of time.
            PressroomError: whatever of this tree the tool raised, as it was.
            InternalError: the tool raised anything else, needed too much memory, ended its process, or returned
                something that cannot be pickled. The log has the reason.
        """
        return self._lanes[lane].run(work)

    def expecting(self, lane: Lane) -> AbstractContextManager[None]:
        """Keep a place in a lane's queue while a call is prepared for its run; leave it just before `run`.

        Entering raises `Overloaded` where the queue is full: what could not run anyway is not prepared.
        """
        return self._lanes[lane].gate.expecting()

    def queue_length(self, lane: Lane) -> int:
        """Return how many calls wait in a lane."""
        return self._lanes[lane].gate.waiting

    def running(self, lane: Lane) -> int:
        """Return how many calls run in a lane."""
        return self._lanes[lane].gate.running
