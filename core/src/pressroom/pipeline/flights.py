"""Single flight: identical calls at the same time share one run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from pressroom.pipeline.exchange import Made


class Flights:
    """The runs that are under way, by content id.

    A run goes on when the call that began it is cancelled, since others may be waiting for it, and since its result
    is worth keeping.
    """

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Made]] = {}
        self._alone: set[asyncio.Task[Made]] = set()

    def current(self, content_id: str) -> asyncio.Task[Made] | None:
        """Return the run of that content, if one is under way."""
        return self._tasks.get(content_id)

    def start(self, content_id: str, run: Coroutine[Any, Any, Made]) -> asyncio.Task[Made]:
        """Begin a run that later calls can join."""
        task = asyncio.get_running_loop().create_task(run)
        self._tasks[content_id] = task
        task.add_done_callback(lambda done: self._land(content_id, done))
        return task

    def start_alone(self, run: Coroutine[Any, Any, Made]) -> asyncio.Task[Made]:
        """Begin a run that nobody can join, and which like the others goes on when its caller leaves."""
        task = asyncio.get_running_loop().create_task(run)
        self._alone.add(task)
        task.add_done_callback(self._land_alone)
        return task

    async def settle(self, seconds: float) -> None:
        """Wait at most so long until every run that is under way has ended, whatever it came to."""
        if under_way := {*self._tasks.values(), *self._alone}:
            await asyncio.wait(under_way, timeout=seconds)

    def _land_alone(self, task: asyncio.Task[Made]) -> None:
        self._alone.discard(task)
        if not task.cancelled():
            task.exception()

    def _land(self, content_id: str, task: asyncio.Task[Made]) -> None:
        if self._tasks.get(content_id) is task:
            del self._tasks[content_id]
        if not task.cancelled():
            task.exception()  # marks it as seen: every call that waited may have gone
