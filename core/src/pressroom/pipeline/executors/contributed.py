"""Attribution of plugins' code in worker processes: which plugin's code runs, and which of it failed.

Code contributed to a plugin is called deep within a function that the server sent, and `worker_setup` before any of
them. A note in memory shared by both processes records whose code runs, and stays readable after the worker has died.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.sharedctypes import RawArray
from typing import Any, Final, Literal, NamedTuple

from pressroom.errors import PluginError, PressroomError

_NOTE_BYTES: Final = 256
_MAX_FAILURES: Final = 20
_MAX_TRACE: Final = 4000

DEFAULT_SETUP_SECONDS: Final = 60.0
"""How long a function of `Plugin(worker_setup=…)` may take; the server uses `[server] start_timeout`."""

_READY, _RUNNING, _GIVEN_UP = range(3)


class ContributedCall(NamedTuple):
    """A call of contributed code: the plugin that contributed it, its name in the log, and the extension point."""

    plugin: str
    what: str
    point: str = "extension"


class ContributedFailure(NamedTuple):
    """A failure of contributed code: the error as one line, and the traceback if there is one."""

    call: ContributedCall
    reason: Literal["failed", "timeout"]
    error: str
    trace: str = ""


class SharedNote:
    """Memory shared by the server and a worker process that records whose code the worker runs."""

    def __init__(self) -> None:
        self._memory: Any = RawArray("c", _NOTE_BYTES)

    def write(self, text: bytes) -> None:
        """Replace the note. Text over 255 bytes is truncated."""
        self._memory.value = text[: _NOTE_BYTES - 1]

    def read(self) -> bytes:
        """Return the note, which is empty if no contributed code runs."""
        return bytes(self._memory.value)

    def call(self) -> ContributedCall | None:
        """Return the call that the note describes, or None if it is empty."""
        plugin, point, what = (*self.read().decode(errors="replace").split("\n", 2), "", "")[:3]
        return ContributedCall(plugin, what, point) if plugin else None


class _Process:
    """The note of this process, and its failures that have not been reported to the server yet."""

    def __init__(self) -> None:
        self.note: SharedNote | None = None
        self.failures: list[ContributedFailure] = []


_process = _Process()


def note_in(note: SharedNote) -> None:
    """Use this memory to record whose code runs in this process."""
    note.write(b"")
    _process.note = note


def take_failures() -> tuple[ContributedFailure, ...]:
    """Return the failures since the last call of this function, at most 20."""
    failures, _process.failures = tuple(_process.failures[:_MAX_FAILURES]), []
    return failures


@contextmanager
def contain(plugin: str, what: str, seconds: float) -> Iterator[None]:
    """See `pressroom.sdk.calling_in_worker`."""
    # The gate imports the server's logging, which workers that run tools do without.
    from pressroom.gate.deadlines import Overdue, alarm, no_exit  # noqa: PLC0415

    call = ContributedCall(plugin, what)
    with _noted(call):
        try:
            with no_exit(), alarm(seconds, _nothing, imports=False):
                yield
        except PressroomError:
            raise
        except Overdue:
            message = f"{what} did not end within {seconds:g} s"
            _process.failures.append(ContributedFailure(call, "timeout", message))
            raise PluginError(message, plugin=plugin) from None
        except BaseException as error:
            message = _note_failure(call, error, _innermost_module(error))
            if isinstance(error, MemoryError):
                raise  # the server adds the memory limit to the error
            raise PluginError(message, plugin=plugin) from error


class WorkerSetup:
    """The functions of `Plugin(worker_setup=…)`, as pairs of a plugin and a reference, and the time that each may take.

    The states are in memory shared by the server, a worker process and the processes that replace it: a function that
    exceeded its time, or during which the process ended, is not run again.
    """

    def __init__(self, functions: tuple[tuple[str, str], ...] = (), seconds: float = DEFAULT_SETUP_SECONDS) -> None:
        self._functions = functions
        self._seconds = seconds
        self._states: Any = RawArray("b", max(1, len(functions)))

    @property
    def max_seconds(self) -> float:
        """The time that all functions together may take."""
        return self._seconds * len(self._functions)

    def run(self, resolve: Callable[[str], Callable[[], object]]) -> None:
        """Run the functions, found with `resolve`. A failure is noted, and never raised."""
        for index, (plugin, reference) in enumerate(self._functions):
            call = ContributedCall(plugin, reference, "worker setup")
            if self._states[index] == _RUNNING:
                self._states[index] = _GIVEN_UP
                _process.failures.append(ContributedFailure(call, "failed", "its worker process ended"))
            elif self._states[index] != _GIVEN_UP:
                self._states[index] = _RUNNING
                self._states[index] = _READY if self._ends_in_time(call, resolve) else _GIVEN_UP

    def _ends_in_time(self, call: ContributedCall, resolve: Callable[[str], Callable[[], object]]) -> bool:
        from pressroom.gate.deadlines import Overdue, alarm, no_exit  # noqa: PLC0415 - see `contain`

        with _noted(call):
            try:
                with no_exit(), alarm(self._seconds, _nothing):
                    resolve(call.what)()
            except Overdue:
                message = f"it did not end within {self._seconds:g} s"
                _process.failures.append(ContributedFailure(call, "timeout", message))
                return False
            except BaseException as error:  # noqa: BLE001 - a plugin can raise anything
                _note_failure(call, error, call.what.partition(":")[0])
        return True


@contextmanager
def _noted(call: ContributedCall) -> Iterator[None]:
    note = _process.note
    before = note.read() if note is not None else b""
    if note is not None:
        note.write(f"{call.plugin}\n{call.point}\n{call.what}".encode())
    try:
        yield
    finally:
        if note is not None:
            note.write(before)


def _note_failure(call: ContributedCall, error: BaseException, module: str) -> str:
    """Keep a failure for the server, and return it as one line."""
    from pressroom.gate.failures import one_line  # noqa: PLC0415 - see `contain`

    message = one_line(error, module)
    trace = traceback.format_exc(limit=-8)[-_MAX_TRACE:]
    _process.failures.append(ContributedFailure(call, "failed", message, trace))
    return message


def _innermost_module(error: BaseException) -> str:
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return str(frames[-1].f_globals.get("__name__", "")) if frames else ""


def _nothing() -> None:
    pass
