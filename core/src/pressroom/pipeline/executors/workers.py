"""Worker processes for plugin work besides tools: parsing, rendering and comparing untrusted content."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import structlog

from pressroom.config.models import ExecutorsSettings
from pressroom.errors import CallTimeout, InternalError, Overloaded, PluginError
from pressroom.fetch.shares import current_share
from pressroom.gate import PluginCall, PluginFailed, PluginGate
from pressroom.pipeline.executors.child import Reply
from pressroom.pipeline.executors.contributed import (
    DEFAULT_SETUP_SECONDS,
    ContributedCall,
    ContributedFailure,
    WorkerSetup,
)
from pressroom.pipeline.executors.forkserver import PluginWorkerProcess
from pressroom.pipeline.executors.in_process import AdmissionQueue
from pressroom.pipeline.executors.process import Worker, WorkerLost, usable_cores

log = structlog.get_logger()

T = TypeVar("T")

_MAX_DEFAULT_PROCESSES: Final = 2
_MAX_WAIT_SECONDS: Final = 60.0
"""The longest wait for a turn, in seconds."""

_MAX_CALLS_OF_OWNER: Final = 16
"""The maximum number of an owner's functions, running and waiting."""

_APPLIED: Final = "pressroom.pipeline.executors.child:applied"
_TIMED_OUT: Final = b"timed out"


@dataclass(slots=True)
class _Work:
    """A function to run. `pickled` holds the function and its arguments."""

    name: str
    pickled: bytes
    owner: str
    seconds: float
    memory_mib: int
    began: bool = False


class _OwnerQueue:
    """The running work of one owner (`slots`), and the number of its functions, running and waiting (`calls`)."""

    def __init__(self, slots: int) -> None:
        self.slots = asyncio.Semaphore(slots)
        self.calls = 0


class WorkerPool:
    """Implements `pressroom.sdk.Workers`.

    The processes start with the first work, or with `start`. If there are several, no owner ever occupies all of them.
    `setup` lists functions of plugins, as pairs of a plugin and a reference, that each process runs before its first
    work; each may take `setup_seconds`. `preload` lists modules that the fork server imports for all of them. `gate`
    counts failures of setup functions and of contributed code for the plugin that the code belongs to.
    """

    def __init__(
        self,
        settings: ExecutorsSettings,
        font_folders: tuple[Path, ...] = (),
        setup: tuple[tuple[str, str], ...] = (),
        preload: Collection[str] = (),
        gate: PluginGate | None = None,
        setup_seconds: float = DEFAULT_SETUP_SECONDS,
    ) -> None:
        PluginWorkerProcess.fork_server.preload(sorted(preload))
        count = settings.plugin_processes or min(_MAX_DEFAULT_PROCESSES, usable_cores())
        self._plugins = gate
        self._gate = AdmissionQueue("process", count, settings.process_queue)
        self._workers = tuple(
            Worker(
                niceness=settings.niceness,
                recycle_after=settings.recycle_after,
                font_folders=font_folders,
                setup=WorkerSetup(setup, setup_seconds),
                note=self._note if setup else None,
                process=PluginWorkerProcess,
            )
            for _ in range(count)
        )
        self._idle = list(self._workers)
        self._owner_queues: defaultdict[str, _OwnerQueue] = defaultdict(lambda: _OwnerQueue(max(1, count - 1)))
        self._tasks: set[asyncio.Task[Reply]] = set()

    async def open(self) -> None:
        """Do nothing: the processes start with the first work."""

    def start(self) -> None:
        """Begin to start the processes, so that the first work does not wait for them."""
        for worker in self._workers:
            worker.open()

    async def close(self) -> None:
        """Refuse new work and kill the processes: callers that wait get `Overloaded`."""
        self._gate.cut_off()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.close() for worker in self._workers))

    async def run(
        self,
        function: Callable[..., T],
        *arguments: Any,
        owner: str = "",
        what: str = "it",
        seconds: float = 20.0,
        memory_mib: int = 512,
    ) -> T:
        """See `pressroom.sdk.Workers`."""
        pickled = pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL)
        work = _Work(_name_of(function), pickled, owner or current_share().owner, seconds, memory_mib)
        task = asyncio.create_task(self._done(work), name=f"worker: {work.name}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        try:
            reply = await asyncio.shield(task)
        except asyncio.CancelledError:
            if not work.began:
                task.cancel()
            caller = asyncio.current_task()
            if task.cancelled() and not (caller and caller.cancelling()):
                raise self._gate.closing() from None
            raise
        failed = [self._note(failure) for failure in reply.failures]
        try:
            result: T = _result(reply, work, what)
        except (CallTimeout, InternalError) as error:
            if failed and reply.kind != "refused":
                raise error from failed[-1]
            raise
        return result

    def _note(self, failure: ContributedFailure) -> PluginFailed:
        """Count and log a failure of a plugin's code, and return it as an error."""
        call = PluginCall(failure.call.plugin, failure.call.point, failure.call.what)
        cause = PluginError(failure.error)
        if failure.trace:
            cause.add_note(failure.trace)
        if self._plugins is not None:
            self._plugins.note(call, failure.reason, cause if failure.trace else failure.error)
        return PluginFailed(call, failure.reason, failure.error, cause, logged=True)

    def _ended(self, task: asyncio.Task[Reply]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as retrieved: asyncio would log it if the caller has gone

    async def _done(self, work: _Work) -> Reply:
        """Run a function in its turn. It runs to its end, and keeps its slot until then, even if its caller leaves."""
        queue = self._owner_queues[work.owner]
        if queue.calls >= _MAX_CALLS_OF_OWNER:
            raise Overloaded(
                "Too much work of this caller is already waiting. Try again in a few seconds.", retry_after=5
            )
        queue.calls += 1
        try:
            await _patiently(queue.slots.acquire())
            try:
                return await self._in_worker(work)
            finally:
                queue.slots.release()
        finally:
            queue.calls -= 1
            if not queue.calls:
                del self._owner_queues[work.owner]

    async def _in_worker(self, work: _Work) -> Reply:
        await self._gate.enter(_MAX_WAIT_SECONDS)
        began, work.began = time.monotonic(), True
        worker = self._idle.pop()  # the most recently used one: its caches are warm
        try:
            return await worker.run(_APPLIED, work.pickled, work.memory_mib, work.seconds)
        except TimeoutError:
            message = f"it did not end within {work.seconds:g} s"
            return Reply("failed", _TIMED_OUT, _fault_of(worker.contributed_call(), "timeout", message))
        except WorkerLost as error:
            fault = _fault_of(worker.contributed_call(), "failed", f"its worker process was lost: {error}")
            return Reply("failed", str(error).encode(), fault)
        finally:
            self._idle.append(worker)
            self._gate.leave(time.monotonic() - began)


def _fault_of(
    call: ContributedCall | None, reason: Literal["failed", "timeout"], error: str
) -> tuple[ContributedFailure, ...]:
    return (ContributedFailure(call, reason, error),) if call is not None else ()


def _name_of(function: Callable[..., object]) -> str:
    target = function.func if isinstance(function, partial) else function
    return f"{target.__module__}.{target.__qualname__}"


async def _patiently(turn: Awaitable[object]) -> None:
    try:
        async with asyncio.timeout(_MAX_WAIT_SECONDS):
            await turn
    except TimeoutError:
        raise Overloaded(
            "Too much work of this caller is already waiting. Try again in a minute.", retry_after=60
        ) from None


def _result(reply: Reply, work: _Work, what: str) -> Any:
    if reply.kind == "done":
        return pickle.loads(reply.payload)  # noqa: S301  # pickled by our own worker
    if reply.kind == "refused":
        raise pickle.loads(reply.payload)  # noqa: S301  # pickled by our own worker
    subject = f"{what[:1].upper()}{what[1:]}"
    if reply.payload == _TIMED_OUT:
        raise CallTimeout(f"{subject} took longer than {work.seconds:g} s to process; make it shorter or simpler.")
    reason = reply.payload.decode().strip()
    log.error("work in a worker process failed", function=work.name, owner=work.owner, reason=reason)
    if reply.kind == "memory":
        raise InternalError(f"{subject} needs more than {work.memory_mib} MiB of memory; make it smaller or simpler.")
    raise InternalError(
        f"{subject} could not be processed: an internal error occurred. The server's log has the reason."
    )
