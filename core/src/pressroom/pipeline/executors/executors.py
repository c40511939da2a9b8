"""The executors of a server: each call runs in the one that its tool declares. Threads and coroutines are here."""

from __future__ import annotations

import asyncio
import time
import types
from collections.abc import Awaitable, Coroutine, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, TypeVar

from pressroom.config.models import ExecutorsSettings
from pressroom.errors import PressroomError
from pressroom.gate.attribution import raised_in
from pressroom.pipeline.executors.admission_queue import BaseExecutor, TaskExecutor
from pressroom.pipeline.executors.daemon import DaemonThreads
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.pipeline.executors.failures import timed_out, tool_failed
from pressroom.pipeline.executors.process import ProcessExecutor
from pressroom.sdk import ExecutorName

T = TypeVar("T")


async def within(seconds: float, awaitable: Awaitable[T]) -> T:
    """Await something for at most this many seconds.

    Its first step runs before any clock is set: most short tools end in that step, and a timer takes longer than they.
    The step cannot be cut off in any case, since nothing else runs meanwhile.

    Raises:
        OutOfTime: it took longer, and was cancelled.
        Exception: whatever the coroutine raises.
    """
    coroutine = awaitable if isinstance(awaitable, types.CoroutineType) else _awaited(awaitable)
    try:
        waits_for = coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    scope = asyncio.timeout(seconds)
    try:
        async with scope:
            return await _rest(coroutine, waits_for)
    except TimeoutError as error:
        if scope.expired():
            cancelled = error.__cause__ or error.__context__  # the latter before Python 3.12
            raise OutOfTime(tuple(raised_in(cancelled)) if cancelled is not None else ()) from None
        raise


class OutOfTime(Exception):
    """A coroutine was cancelled since its time was up; a `TimeoutError` of its own is something else.

    `frames` lead to where it was cancelled, the outermost first.
    """

    def __init__(self, frames: Sequence[FrameType] = ()) -> None:
        super().__init__()
        self.frames = frames


@types.coroutine
def _rest(coroutine: Coroutine[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """Continue with a coroutine that has begun (PEP 380 says how one generator stands for another)."""
    try:
        while True:
            try:
                value = yield waits_for
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001 - the coroutine decides what to do about it
                waits_for = coroutine.throw(error)
            else:
                waits_for = coroutine.send(value)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        coroutine.close()


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable


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
        except OutOfTime as late:
            raise timed_out(work, self.name, self.gate.retry_after()) from late
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


class ThreadExecutor(TaskExecutor):
    """Runs plain functions on threads, each call on one that does nothing else meanwhile.

    A thread cannot be stopped: when a tool runs out of time its caller is told so, but the thread continues and
    keeps its place until the function returns.
    """

    name: ClassVar[ExecutorName] = "thread"

    def __init__(self, capacity: int, queue: int) -> None:
        super().__init__(capacity, queue)
        self._threads = DaemonThreads()

    async def run(self, work: ExecutionRequest) -> Any:
        """Run a tool and return what it returned; see `BaseExecutor.run`."""
        task = await self._begin(work)
        try:
            async with asyncio.timeout(work.timeout):
                return await self._outcome(asyncio.shield(task))
        except TimeoutError:
            raise timed_out(work, self.name, self.gate.retry_after()) from None

    async def _execute(self, work: ExecutionRequest) -> Any:
        return await self._threads.run(f"thread executor: {work.call.tool}", work.function, work.params, work.call)

    async def close(self) -> None:
        """Stop what still waits for a thread, and end the idle threads."""
        await super().close()
        self._threads.close()


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
