"""The async executor: coroutines on the server's own event loop."""

from __future__ import annotations

import asyncio
import time
from typing import Any, ClassVar

from pressroom.errors import PressroomError
from pressroom.pipeline.executors.base import BaseExecutor
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.pipeline.executors.failures import timed_out, tool_failed
from pressroom.pipeline.executors.within import OutOfTime, within
from pressroom.sdk import ExecutorName


class CoroutineExecutor(BaseExecutor):
    """Runs coroutine functions in the tasks of their callers: a task of its own would cost more than many a tool.

    A tool that runs out of time, or whose caller is cancelled, is cancelled at its next `await`.
    One that never awaits blocks the whole server: such work belongs in another executor.
    """

    name: ClassVar[ExecutorName] = "async"

    async def run(self, work: ExecutionRequest) -> Any:
        """Run a tool and return what it returned; see `BaseExecutor.run`."""
        await self.gate.enter(work.timeout)
        began = time.monotonic()
        caller = asyncio.current_task()
        if caller is None:
            raise RuntimeError("a tool can be run in a task only")
        self._tasks.add(caller)
        try:
            return await within(work.timeout, work.function(work.params, work.call))
        except OutOfTime:
            raise timed_out(work, self.gate.retry_after()) from None
        except PressroomError:
            raise
        except asyncio.CancelledError as error:
            if not caller.cancelling():
                raise tool_failed(work, self.name, error) from error
            # `close` cancels those whose tools still run; the callers themselves continue, and answer.
            if self._cut_off and not caller.uncancel():
                raise self.gate.closing() from None
            raise
        except GeneratorExit:
            raise
        except BaseException as error:  # a tool may raise anything, such as a panic of native code
            raise tool_failed(work, self.name, error) from error
        finally:
            self._tasks.discard(caller)
            self.gate.leave(time.monotonic() - began)
