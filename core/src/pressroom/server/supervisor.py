"""A thread that watches the event loop from outside: it logs what blocks the loop, and kills a process that hangs.

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
from pressroom.gate.deadlines import end_process
from pressroom.gate.failures import awaited_by
from pressroom.host.loaded_app import SLOW_SECONDS, LoadedApp
from pressroom.pipeline.executors.execution_request import ExecutionRequest
from pressroom.pipeline.executors.in_process import CoroutineExecutor

log = structlog.get_logger()

BLOCKED_SECONDS: Final = 1.0
"""How many seconds one step on the event loop can take before it is logged; during the start, `SLOW_SECONDS`."""

_BEAT_SECONDS: Final = 0.25

_INTERRUPTING_SECONDS: Final = 10.0
"""How many seconds after `[server] start_timeout` a plugin that blocks the start must have been interrupted."""

_STACK_FRAMES: Final = 12
"""How many stack frames are logged, innermost first."""


class Supervisor:
    """Watches the event loop of this process until the process ends.

    Clear `starting` once requests are served. Until then, a loop that is blocked for longer than plugins can take to
    start, and that could not be interrupted, kills the process, since nothing else could end it.
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
        """Begin to watch the event loop of the calling thread."""
        self._pulse()
        threading.Thread(target=self._watch, name="pressroom-supervisor", daemon=True).start()

    def end_within(self, seconds: float, code: int) -> None:
        """Kill the process in `seconds` with an exit code, whatever is running.

        Later calls can only shorten the time. Takes no lock, so that signal handlers can call it.
        """
        self._code = code
        deadline = time.monotonic() + seconds
        self._deadline = deadline if self._deadline is None else min(self._deadline, deadline)

    def _pulse(self) -> None:
        self._beat = time.monotonic()
        self._loop.call_later(_BEAT_SECONDS, self._pulse)

    def _watch(self) -> None:
        reported = False
        while True:
            slept_from = time.monotonic()
            time.sleep(_BEAT_SECONDS)
            now = time.monotonic()
            if self._deadline is not None and now >= self._deadline:
                self._end("the process does not end by itself; it is ended", self._code, **self._left())
            if self._loop.is_closed():
                continue
            if now - slept_from > BLOCKED_SECONDS:
                self._beat = now  # the whole process was suspended, such as with its machine
            blocked = now - self._beat
            if blocked < (SLOW_SECONDS if self.starting else BLOCKED_SECONDS):
                if reported:
                    log.warning("the event loop runs again")
                reported = False
            elif not reported:
                reported = True
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
        log.warning("the event loop is blocked, so no request is handled", **blocker)

    def _blocker(self) -> Mapping[str, Any]:
        """Return the plugin, tool, line and stack that block the event loop, as far as known."""
        frames = list(_frames(_running().get(self._thread_id)))
        if not frames:
            return {}
        plugin = next(((id_, frame) for frame in frames if (id_ := self._plugin(frame))), None)
        run = next((frame for frame in frames if frame.f_code is CoroutineExecutor.run.__code__), None)
        work = run.f_locals.get("work") if run is not None else None
        return {
            **({"plugin": plugin[0]} if plugin else {}),
            **({"tool": work.call.tool} if isinstance(work, ExecutionRequest) else {}),
            "at": _location(plugin[1] if plugin else frames[0]),
            "stack": [_location(frame) for frame in frames[:_STACK_FRAMES]],
        }

    def _left(self) -> Mapping[str, list[str]]:
        """Return the tasks and threads that keep the process from ending."""
        frames = _running()
        threads = [
            self._described(thread.name, [*_frames(frames.get(thread.ident or 0))])
            for thread in threading.enumerate()
            if not thread.daemon and thread is not threading.main_thread()
        ]
        try:
            running = (
                [] if self._loop.is_closed() else [task for task in asyncio.all_tasks(self._loop) if not task.done()]
            )
            tasks = [self._described(task.get_name(), [*awaited_by(task.get_coro())]) for task in running]
        except RuntimeError:  # the loop created or ended a task meanwhile
            tasks = []
        return {
            "tasks": tasks,
            "threads": threads,
            "main": [self._described("", [*_frames(frames.get(self._thread_id))])],
        }

    def _described(self, name: str, frames: Sequence[FrameType]) -> str:
        plugin_frame = next((frame for frame in frames if self._plugin(frame)), None)
        if plugin_frame is not None:
            return f"{name} of plugin {self._plugin(plugin_frame)} at {_location(plugin_frame)}".strip()
        return f"{name} at {_location(frames[0])}".strip() if frames else name

    def _plugin(self, frame: FrameType) -> str:
        return self._gate.code.plugin_of(frame)


def _running() -> Mapping[int, FrameType]:
    """Return the current frame of each thread by thread id."""
    return sys._current_frames()  # noqa: SLF001 - the documented way, whatever its name


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame and its callers, innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _location(frame: FrameType) -> str:
    return f"{os.path.basename(frame.f_code.co_filename)}, line {frame.f_lineno}, in {frame.f_code.co_name}"  # noqa: PTH119 - may be no path
