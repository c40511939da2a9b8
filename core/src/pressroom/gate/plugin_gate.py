"""The gate: attributes calls to plugins, limits their time, and counts and logs failures."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import CodeType, FrameType
from typing import Final, Literal, TypeVar

import structlog

from pressroom.errors import PluginError, PressroomError
from pressroom.gate.deadlines import (
    CANCEL_SECONDS,
    SUPERVISED,
    DeadlineExceeded,
    Overdue,
    alarm,
    bounded,
    no_exit,
    operator_interrupts,
    time_limit,
)
from pressroom.gate.failures import PluginCode, one_line, raised_in

log = structlog.get_logger()
T = TypeVar("T")
Reason = Literal["failed", "timeout", "blocked"]
"""The kind of failure: the call raised an exception, exceeded its time, or blocked the event loop."""

_LATE_HINT: Final = "see what it waits for, or tell the plugin's authors"
_START_HINT: Final = "see what it waits for, give it more time with [server] start_timeout"
BLOCKED_GRACE: Final = 0.5
"""Extra seconds before a coroutine that blocks the event loop is interrupted; one that awaits is cancelled earlier."""

_PHASES: Final = {
    "import": "its import",
    "config": "the check of its configuration",
    "register": "the registration of its hooks",
    "collect": "its hooks",
    "validate": "the check of its records",
    "wrap": "its wrappers",
}
"""Names of the loading phases in messages; the plugin has no records yet."""


@dataclass(frozen=True, slots=True)
class PluginCall:
    """A call into a plugin: its extension point, such as `authenticator`, and the name of the record."""

    plugin: str
    point: str
    name: str = ""

    def __str__(self) -> str:
        """Return the name used in error messages, such as `the check fonts`."""
        return _PHASES.get(self.point) or f"the {self.point} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """A failure of a plugin, as shown in the status of a running server."""

    call: PluginCall
    reason: Reason
    error: str
    at: datetime


class PluginFailed(PluginError):
    """A call into a plugin failed. `cause` is the exception; for a timeout, `DeadlineExceeded` or `Overdue`.

    `logged` states whether the failure has been logged. Failures during loading are not: the plugin's record shows
    them.
    """

    def __init__(
        self, call: PluginCall, reason: Reason, message: str, cause: BaseException, hint: str = "", *, logged: bool
    ) -> None:
        super().__init__(message, hint=hint, plugin=call.plugin)
        self.call = call
        self.reason = reason
        self.cause = cause
        self.logged = logged


class PluginGate:
    """Calls plugins for one host. Any exception they raise is turned into `PluginFailed`, counted and logged.

    Three things pass unchanged: exceptions of the types in `passes`, which are addressed to a caller; cancellation of
    the calling task by the host; and Ctrl-C. `failures` counts by plugin, extension point and reason; `latest` contains
    each plugin's most recent failure. `code` attributes failures if one plugin calls what another contributed. With
    `traces`, every call is logged as a debug event. Commands, which show failures themselves, set `logs` to false.
    """

    def __init__(self) -> None:
        self.failures: Counter[tuple[str, str, Reason]] = Counter()
        self.latest: dict[str, PluginFailure] = {}
        self.logs = True
        self.traces = False
        self.code = PluginCode()
        self.on_failure: Callable[[], None] = _nothing
        self._failing: set[PluginCall] = set()

    def note(self, call: PluginCall, reason: Reason, error: BaseException | str, *, repeats: bool = False) -> str:
        """Count and log a failure, and return it as one line.

        With `repeats`, only the first failure is logged until `works` is called, so that a call that always fails, such
        as during an outage, does not flood the log.
        """
        text = error if isinstance(error, str) else one_line(error)
        if isinstance(error, BaseException):
            call = self.blamed(call, raised_in(error))
        self.count(call, reason, text)
        if not (repeats and call in self._failing):
            self._log(call, reason, text, error if isinstance(error, BaseException) else None)
        if repeats:
            self._failing.add(call)
        return text

    def traced(self, call: PluginCall) -> AbstractContextManager[None]:
        """Log the call made in this block, with its duration and outcome, if tracing is enabled."""
        return _traced(call) if self.traces else _UNTRACED

    def blamed(self, call: PluginCall, frames: Iterable[FrameType]) -> PluginCall:
        """Return the call, reassigned to the plugin whose code failed according to the frames."""
        plugin = self.code.culprit(call.plugin, frames)
        return call if plugin == call.plugin else replace(call, plugin=plugin)

    def report(self, failure: PluginFailed) -> None:
        """Log a failure that was counted, unless it has been logged."""
        if not failure.logged:
            failure.logged = True
            self._log(failure.call, failure.reason, failure.message, failure.cause)

    def _log(self, call: PluginCall, reason: Reason, text: str, error: BaseException | None) -> None:
        if self.logs:
            log.error(
                "a plugin failed",
                plugin=call.plugin,
                point=call.point,
                name=call.name,
                reason=reason,
                error=text,
                exc_info=error if reason == "failed" else None,
            )

    def count(self, call: PluginCall, reason: Reason, text: str) -> None:
        """Count a failure that is logged elsewhere. Any thread can call it."""
        self.failures[call.plugin, call.point, reason] += 1
        self.latest[call.plugin] = PluginFailure(call, reason, text, datetime.now(UTC))
        self.on_failure()

    def works(self, call: PluginCall) -> None:
        """Record that a call works again after repeated failures."""
        self._failing.discard(call)

    @contextmanager
    def loading(self, call: PluginCall, seconds: float, doing: Callable[[], str] | None = None) -> Iterator[None]:
        """Contain what a plugin does while it is loaded, for at most `seconds`.

        Its output is redirected to standard error, since standard output belongs to the running command. If the block
        does several things, `doing` returns the current one, for the timeout message.

        Raises:
            PluginFailed: The plugin raised an exception, exceeded its time, or called `os._exit`. The failure is
                counted but not logged: the plugin's record shows it.
            KeyboardInterrupt: The operator pressed Ctrl-C; the message contains the plugin.
        """
        with ExitStack() as stack:
            interrupted = stack.enter_context(operator_interrupts())
            try:
                time_alarm = alarm(seconds, lambda: _give_up(call, seconds))
                with redirect_stdout(sys.stderr), no_exit(), time_alarm, self.traced(call):
                    yield
            except Overdue as error:
                text = f"{doing() if doing else call} did not end within {seconds:g} s"
                self.count(call, "timeout", text)
                hint = f"{_START_HINT}, or set enabled = false in [plugins.{call.plugin}]"
                raise PluginFailed(call, "timeout", text, error, hint, logged=False) from error
            except BaseException as error:
                if interrupted():
                    raise KeyboardInterrupt(f"while {call.plugin} was being loaded: {call}") from None
                text = one_line(error)
                self.count(call, "failed", text)
                raise PluginFailed(call, "failed", text, error, logged=False) from error

    async def run(
        self,
        call: PluginCall,
        seconds: float,
        function: Callable[[], Awaitable[T]],
        *,
        passes: tuple[type[BaseException], ...] = (),
        interrupt: bool = False,
        repeats: bool = False,
        cancel_seconds: float = CANCEL_SECONDS,
    ) -> T:
        """Return the result of a plugin's coroutine function, within `seconds`.

        The function runs in its own task. When cancelled, the task has `cancel_seconds` to end before it is abandoned.
        With `interrupt`, it is interrupted even if it blocks the event loop; use that at start-up, at shutdown and in
        commands, when nothing else runs. See `note` for `repeats`.

        Raises:
            PluginFailed: The function raised an exception not in `passes`, or exceeded its time.
        """
        reraised: tuple[type[BaseException], ...] = (PluginFailed, *passes)
        with ExitStack() as stack:
            if interrupt:
                stack.enter_context(self.interrupting(call, seconds, SUPERVISED))
            try:
                with self.traced(call):
                    result = await bounded(seconds, function, f"{call} of {call.plugin}", cancel_seconds)
            except reraised:
                raise
            except DeadlineExceeded as error:
                raise self.late(self.blamed(call, error.frames), seconds, repeats=repeats) from error
            except BaseException as error:
                if ends_the_caller(error):
                    raise
                raise self.failed(call, error, seconds, repeats=repeats) from error
        if repeats:
            self.works(call)
        return result

    @contextmanager
    def calling(
        self,
        call: PluginCall,
        *,
        passes: tuple[type[BaseException], ...] = (),
        private: bool = False,
        seconds: float | None = None,
        interrupt: bool = False,
    ) -> Iterator[None]:
        """Contain what a plugin raises in this block, which can await. See `Extensions.calling` for the arguments.

        Without `seconds`, the block has to limit its own time.

        Raises:
            PluginFailed: The block raised an exception not in `passes`, raised `PluginFailed` itself, or exceeded its
                time.
        """
        reraised: tuple[type[BaseException], ...] = (PluginFailed, *passes)
        try:
            with self.traced(call), _limit(call, seconds, interrupt=interrupt):
                yield
        except Overdue as error:
            failure = self.failed(call, error, seconds or 0.0)
            raise failure from TimeoutError(failure.message)
        except DeadlineExceeded as error:
            failure = self.late(self.blamed(call, error.frames), seconds or 0.0)
            raise failure from TimeoutError(failure.message)
        except reraised:
            raise
        except BaseException as error:
            if ends_the_caller(error):
                raise
            if not private:
                raise self.failed(call, error) from error
            call = self.blamed(call, raised_in(error))
            text = self.note(call, "failed", f"{call} raised {type(error).__name__}")
            raise PluginFailed(call, "failed", text, error, logged=True) from None

    def contributed(
        self,
        plugin: str,
        owner: str,
        what: str,
        *,
        passes: tuple[type[BaseException], ...] = (),
        private: bool = False,
        seconds: float | None = None,
        interrupt: bool = False,
    ) -> AbstractContextManager[None]:
        """Implement `Extensions.calling` for a plugin. `owner` owns the called record, if known."""
        call = PluginCall(owner or plugin, "extension", what)
        passes = (PressroomError, *passes)
        return self.calling(call, passes=passes, private=private, seconds=seconds, interrupt=interrupt)

    @contextmanager
    def interrupting(self, call: PluginCall, seconds: float, code: CodeType) -> Iterator[None]:
        """Raise `Overdue` in this code if it blocks the event loop after its time in this block is up.

        The code cannot end the process with `os._exit` either.
        """
        late = seconds + BLOCKED_GRACE
        with no_exit(), alarm(late, lambda: _give_up(call, late), within=code):
            yield

    def failed(
        self, call: PluginCall, error: BaseException, seconds: float = 0.0, *, repeats: bool = False
    ) -> PluginFailed:
        """Record an exception raised by a call, and return the error to raise.

        `Overdue` means that the call blocked the event loop for `seconds`.
        """
        call = self.blamed(call, raised_in(error))
        if isinstance(error, Overdue):
            text = f"{call} blocked the event loop for {seconds:g} s"
            self.note(call, "blocked", text, repeats=repeats)
            return PluginFailed(call, "blocked", text, error, _LATE_HINT, logged=True)
        return PluginFailed(call, "failed", self.note(call, "failed", error, repeats=repeats), error, logged=True)

    def late(
        self, call: PluginCall, seconds: float, *, verb: str = "end", hint: str = "", repeats: bool = False
    ) -> PluginFailed:
        """Record that a call exceeded its time, and return the error to raise.

        `verb` states what it did not do in time.
        """
        text = f"{call} did not {verb} within {seconds:g} s"
        self.note(call, "timeout", text, repeats=repeats)
        return PluginFailed(call, "timeout", text, DeadlineExceeded(text), hint or _LATE_HINT, logged=True)


@contextmanager
def _traced(call: PluginCall) -> Iterator[None]:
    started_at, end = time.perf_counter(), "returned"
    try:
        yield
    except BaseException as error:
        end = f"raised {type(error).__name__}"
        raise
    finally:
        seconds = round(time.perf_counter() - started_at, 6)
        log.debug("a plugin was called", plugin=call.plugin, point=call.point, name=call.name, seconds=seconds, end=end)


_UNTRACED: Final = nullcontext()


def _limit(call: PluginCall, seconds: float | None, *, interrupt: bool) -> AbstractContextManager[None]:
    if seconds is None:
        return _UNTRACED
    return alarm(seconds, lambda: _give_up(call, seconds), imports=False) if interrupt else time_limit(seconds)


def ends_the_caller(error: BaseException) -> bool:
    """Return whether an exception is the host's own: the current task was cancelled, or a coroutine is closed."""
    if isinstance(error, GeneratorExit):
        return True
    if not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False  # outside an event loop, such as in a command, nothing is cancelled
    return task is None or task.cancelling() > 0


def _give_up(call: PluginCall, seconds: float) -> None:
    log.error(
        "a plugin cannot be interrupted; the process is ended",
        plugin=call.plugin,
        point=call.point,
        name=call.name,
        seconds=seconds,
    )


def _nothing() -> None:
    pass
