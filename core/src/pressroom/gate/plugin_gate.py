"""The gate: calls into plugins, each with the plugin's id, a bound on its time, a count and a line in the log."""

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
from pressroom.gate.attribution import PluginCode, raised_in
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
from pressroom.gate.wording import one_line

log = structlog.get_logger()
T = TypeVar("T")
Reason = Literal["failed", "timeout", "blocked"]
"""What went wrong: it raised something, used up its time, or kept the event loop from doing anything else."""

_LATE_HINT: Final = "see what it waits for, or tell the plugin's authors"
_START_HINT: Final = "see what it waits for, give it more time with [server] start_timeout"
BLOCKED_GRACE: Final = 0.5
"""How much longer a coroutine may block the event loop than it may take: what only waits is cancelled before."""

_PHASES: Final = {
    "import": "its import",
    "config": "the check of its configuration",
    "register": "the registration of its hooks",
    "collect": "its hooks",
    "validate": "the check of its records",
    "wrap": "its wrappers",
}
"""How the phases of loading are called, in which a plugin has no record yet."""


@dataclass(frozen=True, slots=True)
class PluginCall:
    """What is called: an extension point of a plugin, such as `authenticator`, and the name of the record there."""

    plugin: str
    point: str
    name: str = ""

    def __str__(self) -> str:
        """Return how an error calls it, such as `the check fonts`."""
        return _PHASES.get(self.point) or f"the {self.point} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class PluginFailure:
    """One failure of a plugin, as the status of a running server shows it."""

    call: PluginCall
    reason: Reason
    error: str
    at: datetime


class PluginFailed(PluginError):
    """A call into a plugin failed. `cause` is what it raised; where it took too long, `DeadlineExceeded` or `Overdue`.

    `logged` tells whether the log names it already: what fails while plugins are loaded is in their records.
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
    """Calls plugins for one host. Whatever they raise comes out as `PluginFailed`, counted and logged.

    Three things pass: errors of the types in `passes`, which are meant for somebody; the cancellation of the caller by
    the host; and Ctrl-C. `failures` counts by plugin, extension point and reason, and `latest` has each plugin's last.
    `code` tells whose code failed where one plugin calls what another one contributed. With `traces` every call is in
    the log, as a debug event. Commands, which show failures themselves, set `logs` to false.
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

        With `repeats` only the first one is logged until `works` is called: what fails at every call, such as during an
        outage, would fill the log.
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
        """Log the call that is made in this block, with its time and its end, if calls are traced."""
        return _traced(call) if self.traces else _UNTRACED

    def blamed(self, call: PluginCall, frames: Iterable[FrameType]) -> PluginCall:
        """Return the call as one of the plugin whose code failed, by the frames that lead there."""
        plugin = self.code.culprit(call.plugin, frames)
        return call if plugin == call.plugin else replace(call, plugin=plugin)

    def tell(self, failure: PluginFailed) -> None:
        """Log a failure that has been counted, unless the log has it."""
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
        """Count a failure that is logged elsewhere; any thread may do so."""
        self.failures[call.plugin, call.point, reason] += 1
        self.latest[call.plugin] = PluginFailure(call, reason, text, datetime.now(UTC))
        self.on_failure()

    def works(self, call: PluginCall) -> None:
        """Say that a call that failed again and again works."""
        self._failing.discard(call)

    @contextmanager
    def loading(self, call: PluginCall, seconds: float, doing: Callable[[], str] | None = None) -> Iterator[None]:
        """Contain what a plugin does while it is loaded, in at most that many seconds.

        What it prints goes to standard error, since standard output belongs to the command that is being run. `doing`
        returns what it does at the moment, for the message that it did not end, where it does several things.

        Raises:
            PluginFailed: it raised anything, took too long, or called `os._exit`. It is counted, and not logged: the
                plugin's record says it.
            KeyboardInterrupt: the operator pressed Ctrl-C; its text names the plugin.
        """
        with ExitStack() as stack:
            interrupted = stack.enter_context(operator_interrupts())
            try:
                waiting = alarm(seconds, lambda: _give_up(call, seconds))
                with redirect_stdout(sys.stderr), no_exit(), waiting, self.traced(call):
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
        """Return what a plugin's coroutine function returns, within that many seconds.

        It runs in a task of its own. Once that is cancelled it has `cancel_seconds` to end, then it is left behind.
        With `interrupt` it is interrupted also where it blocks the event loop: at the start, at the end and in
        commands, when nothing else runs.
        See `note` for `repeats`.

        Raises:
            PluginFailed: it raised something else than `passes`, or took too long.
        """
        through: tuple[type[BaseException], ...] = (PluginFailed, *passes)
        with ExitStack() as stack:
            if interrupt:
                stack.enter_context(self.interrupting(call, seconds, SUPERVISED))
            try:
                with self.traced(call):
                    result = await bounded(seconds, function, f"{call} of {call.plugin}", cancel_seconds)
            except through:
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
        """Contain what a plugin raises in this block, which may await. See `Extensions.calling` for the arguments.

        Without `seconds` the block has a bound on its time of its own.

        Raises:
            PluginFailed: it raised something else than `passes`, or is such an error already, or took too long.
        """
        through: tuple[type[BaseException], ...] = (PluginFailed, *passes)
        try:
            with self.traced(call), _limit(call, seconds, interrupt=interrupt):
                yield
        except Overdue as error:
            failure = self.failed(call, error, seconds or 0.0)
            raise failure from TimeoutError(failure.message)
        except DeadlineExceeded as error:
            failure = self.late(self.blamed(call, error.frames), seconds or 0.0)
            raise failure from TimeoutError(failure.message)
        except through:
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
        """Do what `Extensions.calling` says, for a plugin. `owner` is that of the record that it calls, where known."""
        call = PluginCall(owner or plugin, "extension", what)
        passes = (PressroomError, *passes)
        return self.calling(call, passes=passes, private=private, seconds=seconds, interrupt=interrupt)

    @contextmanager
    def interrupting(self, call: PluginCall, seconds: float, code: CodeType) -> Iterator[None]:
        """Raise `Overdue` in this code wherever it blocks the event loop, once its time in this block is up.

        It cannot end the process with `os._exit` either.
        """
        late = seconds + BLOCKED_GRACE
        with no_exit(), alarm(late, lambda: _give_up(call, late), within=code):
            yield

    def failed(
        self, call: PluginCall, error: BaseException, seconds: float = 0.0, *, repeats: bool = False
    ) -> PluginFailed:
        """Note what a call raised, and return the error for it; `Overdue` says that it blocked for its `seconds`."""
        call = self.blamed(call, raised_in(error))
        if isinstance(error, Overdue):
            text = f"{call} blocked the event loop for {seconds:g} s"
            self.note(call, "blocked", text, repeats=repeats)
            return PluginFailed(call, "blocked", text, error, _LATE_HINT, logged=True)
        return PluginFailed(call, "failed", self.note(call, "failed", error, repeats=repeats), error, logged=True)

    def late(
        self, call: PluginCall, seconds: float, *, verb: str = "end", hint: str = "", repeats: bool = False
    ) -> PluginFailed:
        """Note that a call took too long, and return the error for it. `verb` is what it did not do in time."""
        text = f"{call} did not {verb} within {seconds:g} s"
        self.note(call, "timeout", text, repeats=repeats)
        return PluginFailed(call, "timeout", text, DeadlineExceeded(text), hint or _LATE_HINT, logged=True)


@contextmanager
def _traced(call: PluginCall) -> Iterator[None]:
    began, end = time.perf_counter(), "returned"
    try:
        yield
    except BaseException as error:
        end = f"raised {type(error).__name__}"
        raise
    finally:
        seconds = round(time.perf_counter() - began, 6)
        log.debug("a plugin was called", plugin=call.plugin, point=call.point, name=call.name, seconds=seconds, end=end)


_UNTRACED: Final = nullcontext()


def _limit(call: PluginCall, seconds: float | None, *, interrupt: bool) -> AbstractContextManager[None]:
    if seconds is None:
        return _UNTRACED
    return alarm(seconds, lambda: _give_up(call, seconds), imports=False) if interrupt else time_limit(seconds)


def ends_the_caller(error: BaseException) -> bool:
    """Tell whether an exception is the host's own: the current task was cancelled, or a coroutine is closed."""
    if isinstance(error, GeneratorExit):
        return True
    if not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return False  # outside an event loop, such as in a command, nobody cancels
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
