"""The executors in the server's own process (coroutines and threads), and the queue in front of every executor."""

from __future__ import annotations

import asyncio
import math
import time
import types
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Coroutine, Generator, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, ClassVar, TypeVar

from pressroom.errors import Overloaded, PressroomError
from pressroom.gate.failures import own_exit, raised_in
from pressroom.pipeline.executors.daemon import DaemonThreads
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.pipeline.executors.failures import timed_out, tool_failed
from pressroom.sdk import ExecutorName

T = TypeVar("T")

MAX_RETRY_SECONDS = 60
"""The largest `Retry-After` of an executor, in seconds: longer estimates are too unreliable."""

_NEWEST_RUN_WEIGHT = 0.1
_FULL = "too many calls are waiting already"


class AdmissionQueue:
    """Lets `capacity` calls run at once and `queue` more wait, first come, first served."""

    def __init__(self, executor: ExecutorName, capacity: int, queue: int) -> None:
        self._executor = executor
        self._capacity = capacity
        self._queue = queue
        self._slots = asyncio.Semaphore(capacity)
        self._drained: asyncio.Event | None = None
        self._closed = False
        self._cut_off = False
        self._mean_run = 0.0
        self._expected = 0
        self.waiting = 0
        self.running = 0

    @contextmanager
    def expecting(self) -> Iterator[None]:
        """Reserve a slot in the queue for a call that still has to be prepared. Leave it just before `enter`.

        Raises:
            Overloaded: the queue is full or closed.
        """
        if self._closed:
            raise self.closing()
        if self.running + self.waiting + self._expected >= self._capacity + self._queue:
            raise self._busy(_FULL)
        self._expected += 1
        try:
            yield
        finally:
            self._expected -= 1

    async def enter(self, seconds: float) -> None:
        """Take a slot, waiting at most `seconds` seconds for one. A caller that gets in must call `leave` once.

        Raises:
            Overloaded: the queue is full or closed, or the wait took too long.
        """
        if self._closed:
            raise self.closing()
        if self.running + self.waiting < self._capacity:
            await self._slots.acquire()  # returns at once
            self.running += 1
        else:
            await self._wait(seconds)

    def leave(self, duration: float) -> None:
        """Return the slot after a run of `duration` seconds."""
        weight = _NEWEST_RUN_WEIGHT if self._mean_run else 1.0
        self._mean_run += weight * (duration - self._mean_run)
        self._give_back()

    def retry_after(self) -> int:
        """Estimate from recent runs when a new call would get its turn: in 1 to 60 seconds."""
        estimate = self._mean_run * (self.waiting + 1) / self._capacity
        return max(1, min(MAX_RETRY_SECONDS, math.ceil(estimate)))

    def close(self) -> None:
        """Refuse new calls; those already waiting are still admitted."""
        self._closed = True

    def cut_off(self) -> None:
        """Refuse all calls; those already waiting are turned away as slots become free."""
        self._closed = self._cut_off = True

    async def drained(self) -> None:
        """Wait until no call runs or waits."""
        if self.running or self.waiting:
            self._drained = self._drained or asyncio.Event()
            await self._drained.wait()

    def closing(self) -> Overloaded:
        """Return the error for a call that arrives while the server shuts down."""
        return Overloaded("The server is shutting down; send the call again.")

    async def _wait(self, seconds: float) -> None:
        if self.waiting + self._expected >= self._queue:
            raise self._busy(_FULL)
        self.waiting += 1
        try:
            async with asyncio.timeout(seconds):
                await self._slots.acquire()
            self.running += 1
        except TimeoutError:
            raise self._busy(f"the call waited {seconds:g} s for its turn") from None
        finally:
            self.waiting -= 1
            self._note_drained()
        if self._cut_off:
            self._give_back()
            raise self.closing()

    def _busy(self, reason: str) -> Overloaded:
        seconds = self.retry_after()
        return Overloaded(f"The server is busy: {reason}. Try again in {seconds} s.", retry_after=seconds)

    def _give_back(self) -> None:
        self.running -= 1
        self._slots.release()
        self._note_drained()

    def _note_drained(self) -> None:
        if self._drained is not None and not self.running and not self.waiting:
            self._drained.set()
            self._drained = None


_CUT_OFF_SECONDS = 1.0


class BaseExecutor(ABC):
    """Admits calls through its queue, and keeps track of the tasks that run tools."""

    name: ClassVar[ExecutorName]

    def __init__(self, capacity: int, queue: int) -> None:
        self.gate = AdmissionQueue(self.name, capacity, queue)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._cut_off = False

    @abstractmethod
    async def run(self, work: ExecutionRequest) -> Any:
        """Run a tool and return its result.

        A call waits at most `work.timeout` seconds in the queue; waiting does not count against its run time.

        Raises:
            Overloaded: the queue is full, the call waited too long, or the server is shutting down.
            CallTimeout: the tool ran out of time.
            PressroomError: the tool raised this error itself.
            InternalError: the tool raised anything else, needed too much memory, ended its process, or returned
                something that cannot be pickled. The log has the reason.
        """

    async def close(self) -> None:
        """Cut off all running calls; their callers get `Overloaded`."""
        self._cut_off = True
        self.gate.cut_off()
        if self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks, timeout=_CUT_OFF_SECONDS)


class TaskExecutor(BaseExecutor):
    """Runs each call in its own task, which holds a slot in the queue for as long as the tool runs."""

    @abstractmethod
    async def _execute(self, work: ExecutionRequest) -> Any:
        """Run the tool in its slot; return only when the slot is free again."""

    async def _begin(self, work: ExecutionRequest) -> asyncio.Task[Any]:
        await self.gate.enter(work.timeout)
        began = time.monotonic()
        task = asyncio.create_task(self._guarded(work), name=f"{self.name} executor: {work.call.tool}")

        # A task that is cancelled before its first step never reaches its own `finally`.
        def leave(done: asyncio.Task[Any]) -> None:
            self._tasks.discard(done)
            if not done.cancelled():
                done.exception()  # marks it as retrieved: asyncio would log it if the caller has gone
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
        except BaseException as error:  # a tool can raise anything, such as a panic of native code
            raise tool_failed(work, self.name, error) from error


async def within(seconds: float, awaitable: Awaitable[T]) -> T:
    """Await something for at most `seconds`.

    The first step runs before the timer is set: most short tools end in that step, and setting a timer takes longer
    than they do. That step cannot be interrupted anyway, since nothing else runs meanwhile.

    Raises:
        OutOfTime: it took longer, and was cancelled.
        RuntimeError: the coroutine raised `GeneratorExit`, which would end its caller as if that was closed.
        Exception: whatever else the coroutine raises.
    """
    coroutine = awaitable if isinstance(awaitable, types.CoroutineType) else _awaited(awaitable)
    try:
        yielded = coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    except GeneratorExit as error:
        raise own_exit(error) from error
    scope = asyncio.timeout(seconds)
    try:
        async with scope:
            return await _rest(coroutine, yielded)
    except TimeoutError as error:
        if scope.expired():
            cancelled = error.__cause__ or error.__context__  # `__context__` before Python 3.12
            raise OutOfTime(tuple(raised_in(cancelled)) if cancelled is not None else ()) from None
        raise


class OutOfTime(Exception):
    """Raised when a coroutine was cancelled because its time was up, unlike a `TimeoutError` that it raises itself.

    `frames` are the stack frames that lead to where it was cancelled, outermost first.
    """

    def __init__(self, frames: Sequence[FrameType] = ()) -> None:
        super().__init__()
        self.frames = frames


@types.coroutine
def _rest(coroutine: Coroutine[Any, Any, T], yielded: Any) -> Generator[Any, Any, T]:
    """Continue a coroutine that has already begun (delegation follows PEP 380)."""
    value: Any = None
    thrown: BaseException | None = None
    try:
        while True:
            thrown = None
            try:
                value = yield yielded
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001 - the coroutine decides how to handle it
                thrown = error
            # Not in the handler: what the coroutine raises after it handled the error has another cause.
            try:
                yielded = coroutine.send(value) if thrown is None else coroutine.throw(thrown)
            except GeneratorExit as error:
                raise own_exit(error) from error
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        thrown = None  # its traceback refers to this frame
        coroutine.close()


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable


class CoroutineExecutor(BaseExecutor):
    """Runs coroutine functions in the tasks of their callers: a new task would cost more than many tools.

    A tool that runs out of time, or whose caller is cancelled, is cancelled at its next `await`.
    A tool that never awaits blocks the whole server: such work belongs in another executor.
    """

    name: ClassVar[ExecutorName] = "async"

    async def run(self, work: ExecutionRequest) -> Any:
        """Run a tool and return its result; see `BaseExecutor.run`."""
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
            # `close` cancels callers whose tools still run; the callers themselves continue and respond.
            if self._cut_off and not caller.uncancel():
                raise self.gate.closing() from None
            raise
        except GeneratorExit:
            raise
        except BaseException as error:  # a tool can raise anything, such as a panic of native code
            raise tool_failed(work, self.name, error) from error
        finally:
            self._tasks.discard(caller)
            self.gate.leave(time.monotonic() - began)


class ThreadExecutor(TaskExecutor):
    """Runs plain functions on threads, each call on a thread of its own.

    A thread cannot be stopped: when a tool runs out of time its caller gets an error, but the thread continues and
    keeps its slot until the function returns.
    """

    name: ClassVar[ExecutorName] = "thread"

    def __init__(self, capacity: int, queue: int) -> None:
        super().__init__(capacity, queue)
        self._threads = DaemonThreads()

    async def run(self, work: ExecutionRequest) -> Any:
        """Run a tool and return its result; see `BaseExecutor.run`."""
        task = await self._begin(work)
        try:
            async with asyncio.timeout(work.timeout):
                return await self._outcome(asyncio.shield(task))
        except TimeoutError:
            raise timed_out(work, self.name, self.gate.retry_after()) from None

    async def _execute(self, work: ExecutionRequest) -> Any:
        return await self._threads.run(f"thread executor: {work.call.tool}", work.function, work.params, work.call)

    async def close(self) -> None:
        """Cut off the running calls, and end the idle threads."""
        await super().close()
        self._threads.close()
