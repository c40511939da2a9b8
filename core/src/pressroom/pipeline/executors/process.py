"""The process executor: tools that compute, in processes that can be limited and killed."""

from __future__ import annotations

import asyncio
import os
import pickle
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pressroom.pipeline.executors import forkserver
from pressroom.pipeline.executors.base import TaskExecutor
from pressroom.pipeline.executors.child import Reply
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.pipeline.executors.failures import out_of_memory, timed_out, tool_failed_in_worker, worker_lost
from pressroom.pipeline.executors.worker import Worker, WorkerLost
from pressroom.sdk import ExecutorName

_MAX_DEFAULT_PROCESSES = 8


class ProcessExecutor(TaskExecutor):
    """Runs plain functions in worker processes.

    A tool that runs out of time or memory, or ends its process, costs its own call and nothing else. A call whose
    caller is cancelled leaves the queue, or runs on to its end if it has begun: killing the worker would cost more
    than the result, which may still be wanted.
    """

    name: ClassVar[ExecutorName] = "process"

    def __init__(
        self,
        processes: int,
        queue: int,
        *,
        niceness: int,
        recycle_after: int,
        preload: Sequence[str] = (),
        font_folders: tuple[Path, ...] = (),
    ) -> None:
        count = processes or min(_MAX_DEFAULT_PROCESSES, usable_cores())
        super().__init__(count, queue)
        forkserver.preload(preload)
        self._workers = [
            Worker(niceness=niceness, recycle_after=recycle_after, font_folders=font_folders) for _ in range(count)
        ]
        self._idle = deque(self._workers)

    def start(self) -> None:
        """Begin to start the worker processes."""
        for worker in self._workers:
            worker.open()

    async def ready(self) -> None:
        """Wait until every worker process runs."""
        await asyncio.gather(*(asyncio.shield(worker.open()) for worker in self._workers))

    async def run(self, work: ExecutionRequest) -> Any:
        """Run a tool and return what it returned; see `BaseExecutor.run`."""
        return await self._outcome(asyncio.shield(await self._begin(work)))

    async def close(self) -> None:
        """Cut off whatever still runs, and kill the worker processes."""
        await super().close()
        await asyncio.gather(*(worker.close() for worker in self._workers))

    async def _execute(self, work: ExecutionRequest) -> Any:
        arguments = pickle.dumps((work.params, work.call), pickle.HIGHEST_PROTOCOL)
        worker = self._idle.popleft()
        try:
            reply = await worker.run(work.reference, arguments, work.memory_mib, work.timeout)
        except TimeoutError:
            raise timed_out(work, self.gate.retry_after()) from None
        except WorkerLost as error:
            raise worker_lost(work, str(error)) from None
        finally:
            self._idle.append(worker)
        return _result(work, reply)


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _result(work: ExecutionRequest, reply: Reply) -> Any:
    if reply.kind == "done":
        return pickle.loads(reply.payload)  # noqa: S301  # pickled by our own worker
    if reply.kind == "refused":
        raise pickle.loads(reply.payload)  # noqa: S301  # pickled by our own worker
    traceback = reply.payload.decode()
    if reply.kind == "memory":
        raise out_of_memory(work, traceback)
    raise tool_failed_in_worker(work, traceback)
