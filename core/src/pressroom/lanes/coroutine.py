"""The async lane: coroutines on the server's own event loop."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from pressroom.lanes.base import BaseLane
from pressroom.lanes.failures import timed_out, tool_failed
from pressroom.lanes.work import Work
from pressroom.sdk import Lane


class CoroutineLane(BaseLane):
    """Runs coroutine functions on the event loop.

    A tool that runs out of time, or whose caller is cancelled, is cancelled at its next `await`.
    One that never awaits blocks the whole server: such work belongs in another lane.
    """

    name: ClassVar[Lane] = "async"

    async def run(self, work: Work) -> Any:
        """Run a tool and return what it returned; see `BaseLane.run`."""
        return await self._outcome(await self._begin(work))

    async def _execute(self, work: Work) -> Any:
        scope = asyncio.timeout(work.timeout)
        try:
            async with scope:
                return await work.function(work.params, work.call)
        except TimeoutError:
            if scope.expired():
                raise timed_out(work, self.gate.retry_after()) from None
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task and task.cancelling():
                raise
            raise tool_failed(work, self.name, error) from error
