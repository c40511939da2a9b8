"""A thread that watches the event loop from outside: it names what blocks the loop, and ends a process that hangs.

The event loop cannot do either: whatever blocks it blocks signals, deadlines and the log as well.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, Final

import structlog

from pressroom.gate import PluginCall
from pressroom.gate.attribution import awaited_by
from pressroom.gate.deadlines import end_process
from pressroom.host.loaded_app import SLOW_SECONDS, LoadedApp
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.pipeline.executors.in_process import CoroutineExecutor

log = structlog.get_logger()

BLOCKED_SECONDS: Final = 1.0
"""How long one step on the event loop may take before the log names it; while the server starts, `SLOW_SECONDS`."""

_BEAT_SECONDS: Final = 0.25

_INTERRUPTING_SECONDS: Final = 10.0
"""How long after `[server] start_timeout` a plugin that blocks the start may take to be interrupted."""

_STACK_FRAMES: Final = 12
"""How many frames of the stack the log shows, the innermost first."""


class Supervisor:
    """Watches the event loop of this process until the process ends.

    `starting` is to be unset once requests are answered: until then a loop that is blocked for longer than plugins may
    take to start, and that could not be interrupted, ends the process, since nothing else could.
    """

    def __init__(self, compiled: LoadedApp, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread_id = threading.get_ident()
        self._start_timeout = compiled.settings.server.start_timeout + _INTERRUPTING_SECONDS
        self._gate = compiled.gate
        self.starting = True
        self._beat = time.monotonic()
        self._deadline: float | None = None
        self._code = 1

    def start(self) -> None:
        """Begin to watch the loop that runs in the calling thread."""
        self._pulse()
        threading.Thread(target=self._watch, name="pressroom-supervisor", daemon=True).start()

    def end_within(self, seconds: float, code: int) -> None:
        """End the process in this many seconds with an exit code, whatever runs then. It only gets sooner.

        It takes no lock, so that signal handlers may call it.
        """
        self._code = code
        wanted = time.monotonic() + seconds
        self._deadline = wanted if self._deadline is None else min(self._deadline, wanted)

    def _pulse(self) -> None:
        self._beat = time.monotonic()
        self._loop.call_later(_BEAT_SECONDS, self._pulse)

    def _watch(self) -> None:
        named = False
        while True:
            slept_from = time.monotonic()
            time.sleep(_BEAT_SECONDS)
            now = time.monotonic()
            if self._deadline is not None and now >= self._deadline:
                self._end("the process does not end by itself; it is ended", self._code, **self._left())
            if self._loop.is_closed():
                continue
            if now - slept_from > BLOCKED_SECONDS:
                self._beat = now  # the whole process stood still, such as with its machine
            blocked = now - self._beat
            if blocked < (SLOW_SECONDS if self.starting else BLOCKED_SECONDS):
                if named:
                    log.warning("the event loop runs again")
                named = False
            elif not named:
                named = True
                self._name_blocker()
            if self.starting and blocked > self._start_timeout:
                reason = f"the server cannot start: the event loop is blocked for {self._start_timeout:g} s"
                self._end(reason, 1, **self._blocker())

    def _end(self, event: str, code: int, **details: Any) -> None:
        log.error(event, exit_code=code, **details)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        end_process(code)

    def _name_blocker(self) -> None:
        blocker = self._blocker()
        if plugin := blocker.get("plugin"):
            self._gate.count(PluginCall(plugin, "event loop", blocker.get("tool", "")), "blocked", blocker["at"])
        log.warning("the event loop is blocked: nobody is answered meanwhile", **blocker)

    def _blocker(self) -> Mapping[str, Any]:
        """Return the plugin, the tool, the line and the stack that the event loop is busy with, as far as is known."""
        frames = list(_frames(_running().get(self._thread_id)))
        if not frames:
            return {}
        plugin = next(((id_, frame) for frame in frames if (id_ := self._plugin(frame))), None)
        run = next((frame for frame in frames if frame.f_code is CoroutineExecutor.run.__code__), None)
        work = run.f_locals.get("work") if run is not None else None
        return {
            **({"plugin": plugin[0]} if plugin else {}),
            **({"tool": work.call.tool} if isinstance(work, ExecutionRequest) else {}),
            "at": _place(plugin[1] if plugin else frames[0]),
            "stack": [_place(frame) for frame in frames[:_STACK_FRAMES]],
        }

    def _left(self) -> Mapping[str, list[str]]:
        """Return the tasks and the threads that keep the process from ending."""
        frames = _running()
        threads = [
            self._described(thread.name, [*_frames(frames.get(thread.ident or 0))])
            for thread in threading.enumerate()
            if not thread.daemon and thread is not threading.main_thread()
        ]
        try:
            running = [] if self._loop.is_closed() else [one for one in asyncio.all_tasks(self._loop) if not one.done()]
            tasks = [self._described(one.get_name(), [*awaited_by(one.get_coro())]) for one in running]
        except RuntimeError:  # the loop made or ended a task meanwhile
            tasks = []
        return {
            "tasks": tasks,
            "threads": threads,
            "main": [self._described("", [*_frames(frames.get(self._thread_id))])],
        }

    def _described(self, name: str, frames: Sequence[FrameType]) -> str:
        own = next((one for one in frames if self._plugin(one)), None)
        if own is not None:
            return f"{name} of plugin {self._plugin(own)} at {_place(own)}".strip()
        return f"{name} at {_place(frames[0])}".strip() if frames else name

    def _plugin(self, frame: FrameType) -> str:
        return self._gate.code.plugin_of(frame)


def _running() -> Mapping[int, FrameType]:
    """Return what each thread is at, by its id."""
    return sys._current_frames()  # noqa: SLF001 - the documented way, whatever its name


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame and those that called it, the innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _place(frame: FrameType) -> str:
    return f"{os.path.basename(frame.f_code.co_filename)}, line {frame.f_lineno}, in {frame.f_code.co_name}"  # noqa: PTH119 - may be no path
