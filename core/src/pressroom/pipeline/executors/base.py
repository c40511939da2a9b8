"""What the three executors have in common: turns, bookkeeping and the way down."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import Any, ClassVar

from pressroom.errors import PressroomError
from pressroom.pipeline.executors.admission_queue import AdmissionQueue
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.pipeline.executors.failures import tool_failed
from pressroom.sdk import ExecutorName

_CUT_OFF_SECONDS = 1.0


class BaseExecutor(ABC):
    """Lets calls in by its gate, and knows the tasks in which their tools run."""

    name: ClassVar[ExecutorName]

    def __init__(self, capacity: int, queue: int) -> None:
        self.gate = AdmissionQueue(self.name, capacity, queue)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._cut_off = False

    @abstractmethod
    async def run(self, work: ExecutionRequest) -> Any:
        """Run a tool and return what it returned.

        Raises:
            Overloaded: the queue is full, the call waited too long, or the server shuts down.
            CallTimeout: the tool ran out of time.
            PressroomError: whatever of this tree the tool raised, as it was.
            InternalError: the tool raised anything else, or its process ended.
        """

    async def close(self) -> None:
        """Cut off whatever still runs: those who wait for it get `Overloaded`."""
        self._cut_off = True
        self.gate.cut_off()
        if self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks, timeout=_CUT_OFF_SECONDS)


class TaskExecutor(BaseExecutor):
    """Runs each call in a task of its own, which holds a place of the gate for as long as the tool runs."""

    @abstractmethod
    async def _execute(self, work: ExecutionRequest) -> Any:
        """Run the tool on a place of the gate; return only when the place is free again."""

    async def _begin(self, work: ExecutionRequest) -> asyncio.Task[Any]:
        await self.gate.enter(work.timeout)
        began = time.monotonic()
        task = asyncio.create_task(self._guarded(work), name=f"{self.name} executor: {work.call.tool}")

        # A task that is cancelled before its first step never reaches a `finally` of its own.
        def leave(done: asyncio.Task[Any]) -> None:
            self._tasks.discard(done)
            if not done.cancelled():
                done.exception()  # asyncio would report it as lost where the caller has gone
            self.gate.leave(time.monotonic() - began)

        self._tasks.add(task)
        task.add_done_callback(leave)
        return task

    async def _outcome(self, waiting: Awaitable[Any]) -> Any:
        try:
            return await waiting
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if self._cut_off and not (caller and caller.cancelling()):
                raise self.gate.closing() from None
            raise

    async def _guarded(self, work: ExecutionRequest) -> Any:
        try:
            return await self._execute(work)
        except (PressroomError, asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as error:  # a tool may raise anything, such as a panic of native code
            raise tool_failed(work, self.name, error) from error
