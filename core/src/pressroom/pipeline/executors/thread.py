"""The thread executor: plain functions that wait for something, beside the event loop."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from pressroom.pipeline.executors.base import TaskExecutor
from pressroom.pipeline.executors.daemon import on_daemon_thread
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.pipeline.executors.failures import timed_out
from pressroom.sdk import ExecutorName


class ThreadExecutor(TaskExecutor):
    """Runs plain functions on threads, one for each call.

    A thread cannot be stopped: when a tool runs out of time its caller is told so, but the thread continues and
    keeps its place until the function returns.
    """

    name: ClassVar[ExecutorName] = "thread"

    async def run(self, work: ExecutionRequest) -> Any:
        """Run a tool and return what it returned; see `BaseExecutor.run`."""
        task = await self._begin(work)
        try:
            async with asyncio.timeout(work.timeout):
                return await self._outcome(asyncio.shield(task))
        except TimeoutError:
            raise timed_out(work, self.gate.retry_after()) from None

    async def _execute(self, work: ExecutionRequest) -> Any:
        return await on_daemon_thread(f"thread executor: {work.call.tool}", work.function, work.params, work.call)
