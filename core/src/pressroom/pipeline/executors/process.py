"""The process executor: CPU-bound tools run in worker processes, which can be limited and killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, ClassVar

import structlog
from pebble import ProcessExpired, ProcessPool

from pressroom.pipeline.executors import child
from pressroom.pipeline.executors.child import Reply
from pressroom.pipeline.executors.contributed import (
    ContributedCall,
    ContributedFailure,
    SharedNote,
    WorkerSetup,
    take_failures,
)
from pressroom.pipeline.executors.daemon import on_daemon_thread
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.pipeline.executors.failures import out_of_memory, timed_out, tool_failed_in_worker, worker_lost
from pressroom.pipeline.executors.forkserver import WorkerContext, WorkerProcess
from pressroom.pipeline.executors.in_process import TaskExecutor
from pressroom.sdk import ExecutorName

_STUCK_AFTER = 10.0
"""How many seconds after its deadline an operation counts as stuck and is given up."""

_START_PAUSES = (0.1, 1.0)

_log = structlog.get_logger()


class WorkerLost(Exception):
    """The worker process ended, or stopped responding, during a call."""


class Worker:
    """A worker process that takes one call at a time, and is replaced whenever it may be damaged.

    It is a pebble pool with a single process. In one pool for all, the workers would share a pipe and its locks: a
    worker killed while sending would break the others. `note` receives the failures of setup functions.
    """

    def __init__(
        self,
        *,
        niceness: int,
        recycle_after: int,
        font_folders: tuple[Path, ...] = (),
        setup: WorkerSetup | None = None,
        note: Callable[[ContributedFailure], object] | None = None,
        process: type[WorkerProcess] = WorkerProcess,
    ) -> None:
        self._note = SharedNote()
        self._setup = (niceness, font_folders, setup, self._note)
        self._setup_seconds = setup.max_seconds if setup is not None else 0.0
        self._note_failure = note
        self._process = process
        self._recycle_after = recycle_after
        self._calls = 0
        self._opening: asyncio.Task[ProcessPool] | None = None
        self._stopping: set[asyncio.Task[None]] = set()
        self._reporting: asyncio.Task[None] | None = None

    def open(self) -> asyncio.Task[ProcessPool]:
        """Begin to start the process unless that has happened already; the task ends once it runs."""
        if self._opening is None or _failed(self._opening):
            self._opening = asyncio.create_task(on_daemon_thread("worker start", self._open_pool))
            self._opening.add_done_callback(_failed)  # retrieves the exception, which asyncio would otherwise log
            if self._note_failure is not None:
                self._reporting = asyncio.create_task(self._report_setup(self._opening, self._note_failure))
        return self._opening

    async def run(self, reference: str, arguments: bytes, memory_mib: int, seconds: float) -> child.Reply:
        """Run a tool in the process for at most `seconds` from when it takes the call; see `child.execute`.

        Raises:
            TimeoutError: the tool ran out of time, and was killed.
            WorkerLost: the process ended during the call.
        """
        try:
            reply = await self._reply(reference, arguments, memory_mib, seconds)
        except TimeoutError:
            raise
        except (WorkerLost, BrokenProcessPool, OSError, RuntimeError) as error:
            self.renew()
            raise WorkerLost(str(error)) from error
        self._calls += 1
        if reply.kind == "memory" or self._calls == self._recycle_after:
            self.renew()
        return reply

    def contributed_call(self) -> ContributedCall | None:
        """Return the contributed call that ran when the process was last killed or lost, or None."""
        return self._note.call()

    async def _reply(self, reference: str, arguments: bytes, memory_mib: int, seconds: float) -> child.Reply:
        scope = asyncio.timeout(seconds + _STUCK_AFTER + self._remaining_setup())
        try:
            async with scope:
                pool = await asyncio.shield(self.open())
                if not pool.active:  # the process ended between two calls
                    self.renew()
                    pool = await asyncio.shield(self.open())
                future = pool.schedule(child.execute, args=(reference, arguments, memory_mib), timeout=seconds)
                return await asyncio.wrap_future(future)
        except TimeoutError:
            if scope.expired():
                raise WorkerLost("it stopped responding") from None
            raise
        except ProcessExpired as error:
            raise WorkerLost(f"it ended with exit status {error.exitcode}") from None

    def _remaining_setup(self) -> float:
        """Return how long the setup functions may still take, at most, before the process takes a call."""
        is_set_up = self._reporting is not None and self._reporting.done()
        return 0.0 if is_set_up else self._setup_seconds

    def renew(self) -> None:
        """Replace the process with a new one, in the background."""
        self._discard()
        self.open()

    async def close(self) -> None:
        """Kill the process and wait a limited time until it has ended."""
        self._discard()
        if self._stopping:
            await asyncio.wait(self._stopping, timeout=_STUCK_AFTER)

    async def _report_setup(
        self, opening: asyncio.Task[ProcessPool], note: Callable[[ContributedFailure], object]
    ) -> None:
        """Report which setup functions failed as soon as the process has run them, without waiting for a call."""
        with contextlib.suppress(WorkerLost, ProcessExpired, BrokenProcessPool, OSError, RuntimeError):
            pool = await asyncio.shield(opening)
            for failure in await asyncio.wrap_future(pool.schedule(take_failures)):
                note(failure)

    def _discard(self) -> None:
        if self._reporting is not None:
            self._reporting.cancel()
        self._reporting = None
        if self._opening is not None:
            task = asyncio.create_task(_stop(self._opening))
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)
        self._opening = None
        self._calls = 0

    def _open_pool(self) -> ProcessPool:
        for pause in _START_PAUSES:
            try:
                return self._start_pool()
            except (BrokenProcessPool, OSError) as error:
                # A module that cannot be imported outside the server takes the whole fork server down.
                _log.warning("worker process did not start; trying without preloaded modules", reason=str(error))
                self._process.fork_server.preload(())
                time.sleep(pause)
        return self._start_pool()

    def _start_pool(self) -> ProcessPool:
        context = WorkerContext(self._process)
        pool = ProcessPool(max_workers=1, initializer=child.prepare, initargs=self._setup, context=context)
        try:
            running = pool.active  # reading the property starts the pool
        except BrokenProcessPool:
            _stop_pool(pool)
            raise
        if not running:
            _stop_pool(pool)
            raise BrokenProcessPool("it ended at once")
        return pool


def _failed(opening: asyncio.Task[ProcessPool]) -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)


async def _stop(opening: asyncio.Task[ProcessPool]) -> None:
    try:
        pool = await opening
    except (BrokenProcessPool, OSError):
        return
    await on_daemon_thread("worker stop", _stop_pool, pool)


def _stop_pool(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]  # pebble leaves it without annotations
    pool.join()


_MAX_DEFAULT_PROCESSES = 8


class ProcessExecutor(TaskExecutor):
    """Runs plain functions in worker processes.

    A tool that runs out of time or memory, or ends its process, affects only its own call. If the caller is
    cancelled, a waiting call leaves the queue and a running one continues to its end: killing the worker would cost
    more than completing the result, which may still be wanted.
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
        count = processes or default_processes()
        super().__init__(count, queue)
        WorkerProcess.fork_server.preload(preload)
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
        """Run a tool and return its result; see `BaseExecutor.run`."""
        return await self._outcome(asyncio.shield(await self._begin(work)))

    async def close(self) -> None:
        """Cut off all running calls, and kill the worker processes."""
        await super().close()
        await asyncio.gather(*(worker.close() for worker in self._workers))

    async def _execute(self, work: ExecutionRequest) -> Any:
        arguments = pickle.dumps((work.params, work.call), pickle.HIGHEST_PROTOCOL)
        worker = self._idle.popleft()
        try:
            reply = await worker.run(work.reference, arguments, work.memory_mib, work.timeout)
        except TimeoutError:
            raise timed_out(work, self.name, self.gate.retry_after()) from None
        except WorkerLost as error:
            raise worker_lost(work, str(error)) from None
        finally:
            self._idle.append(worker)
        return _result(work, reply)


def default_processes() -> int:
    """Return the number of worker processes if the operator has not set one."""
    return min(_MAX_DEFAULT_PROCESSES, usable_cores())


def usable_cores() -> int:
    """Return the number of CPU cores available to this process."""
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
