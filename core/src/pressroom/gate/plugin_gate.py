"""The gate: calls into plugins, each with the plugin's id, a bound on its time, a count and a line in the log.

Nothing that a plugin raised or returned is trusted: an exception's own `__str__` may fail, and a message may have a
million lines.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from types import CodeType
from typing import Any, Final, Literal, TypeVar

import structlog

from pressroom.config.problems import InvalidConfig
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
)

MAX_ERROR_LENGTH: Final = 500
"""How many characters of an error are kept."""

_MAX_VALUE_LENGTH: Final = 80
_MAX_GROUPED: Final = 3

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
}
"""How the phases of loading are called, in which a plugin has no record yet."""


def one_line(error: BaseException, module: str = "") -> str:
    """Return what went wrong in one line: the kind of error, its message, and where in the plugin it arose.

    `module` is the plugin's; the innermost line of code in the same package is named.
    """
    try:
        place = _place(error, module.partition(".")[0]) if module else ""
        return squeezed(f"{_message(error)}{f' ({place})' if place else ''}")
    except Exception:  # noqa: BLE001 - every attribute of an exception may be the plugin's own property
        return type(error).__name__


def squeezed(text: str) -> str:
    """Return a text as one line of at most `MAX_ERROR_LENGTH` characters."""
    return _cut(_one_spaced(text), MAX_ERROR_LENGTH)


def shown(value: Any) -> str:
    """Return a value as an error quotes it: its type, and the value itself where that says anything; never long."""
    kind = type(value).__name__
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{kind} {value.__qualname__}"
    if value is None or getattr(type(value).__repr__, "__qualname__", "") == "object.__repr__":
        return kind
    return _cut(_one_spaced(f"{kind} {_text(value, repr)}"), _MAX_VALUE_LENGTH)


def _message(error: BaseException) -> str:
    if isinstance(error, InvalidConfig):
        return "; ".join(map(str, error.problems))
    if isinstance(error, PressroomError):
        return _text(error)
    kind = type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        return f"{kind}: {error.msg} ({os.path.basename(str(error.filename))}, line {error.lineno})"  # noqa: PTH119 - may be no path
    text = "" if isinstance(error, SystemExit) and error.code is None else _text(error)
    if isinstance(error, BaseExceptionGroup):
        parts = [_message(one) for one in error.exceptions[:_MAX_GROUPED]]
        text = f"{error.message}: {'; '.join(parts)}"
    return f"{kind}: {text}" if text.strip() else kind


def _text(value: object, read: Any = str) -> str:
    try:
        return str(read(value))
    except Exception as error:  # noqa: BLE001 - __str__ and __repr__ are the plugin's
        return f"its text cannot be read, {type(error).__name__}"


def _place(error: BaseException, package: str) -> str:
    place = ""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
            place = f"{os.path.basename(frame.f_code.co_filename)}, line {traceback.tb_lineno}"  # noqa: PTH119 - may be no path
        traceback = traceback.tb_next
    return place


def _one_spaced(text: str) -> str:
    # A URL is of no use to anyone, and would make each start look different.
    return re.sub(r"\s+", " ", re.sub(r" at 0x[0-9a-fA-F]+", "", text)).strip()


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


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
        super().__init__(message, hint=hint)
        self.call = call
        self.reason = reason
        self.cause = cause
        self.logged = logged


class PluginGate:
    """Calls plugins for one host. Whatever they raise comes out as `PluginFailed`, counted and logged.

    Three things pass: errors of the types in `passes`, which are meant for somebody; the cancellation of the caller by
    the host; and Ctrl-C. `failures` counts by plugin, extension point and reason, and `latest` has each plugin's last.
    Commands, which show failures themselves, set `logs` to false.
    """

    def __init__(self) -> None:
        self.failures: Counter[tuple[str, str, Reason]] = Counter()
        self.latest: dict[str, PluginFailure] = {}
        self.logs = True
        self.on_failure: Callable[[], None] = _nothing
        self._failing: set[PluginCall] = set()

    def note(self, call: PluginCall, reason: Reason, error: BaseException | str, *, repeats: bool = False) -> str:
        """Count and log a failure, and return it as one line.

        With `repeats` only the first one is logged until `works` is called: what fails at every call, such as during an
        outage, would fill the log.
        """
        text = error if isinstance(error, str) else one_line(error)
        self.count(call, reason, text)
        if not (repeats and call in self._failing):
            self._log(call, reason, text, error if isinstance(error, BaseException) else None)
        if repeats:
            self._failing.add(call)
        return text

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
    def loading(self, call: PluginCall, seconds: float) -> Iterator[None]:
        """Contain what a plugin does while it is loaded, in at most that many seconds.

        What it prints goes to standard error, since standard output belongs to the command that is being run.

        Raises:
            PluginFailed: it raised anything, took too long, or called `os._exit`. It is counted, and not logged: the
                plugin's record says it.
            KeyboardInterrupt: the operator pressed Ctrl-C; its text names the plugin.
        """
        with ExitStack() as stack:
            interrupted = stack.enter_context(operator_interrupts())
            try:
                with redirect_stdout(sys.stderr), no_exit(), alarm(seconds, lambda: _give_up(call, seconds)):
                    yield
            except Overdue as error:
                text = f"{call} did not end within {seconds:g} s"
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
        With `interrupt`
        it is interrupted also where it blocks the event loop: at the start and in commands, when nothing else runs.
        See `note` for `repeats`.

        Raises:
            PluginFailed: it raised something else than `passes`, or took too long.
        """
        through: tuple[type[BaseException], ...] = (PluginFailed, *passes)
        with ExitStack() as stack:
            if interrupt:
                stack.enter_context(self.interrupting(call, seconds, SUPERVISED))
            try:
                result = await bounded(seconds, function, f"{call} of {call.plugin}", cancel_seconds)
            except through:
                raise
            except DeadlineExceeded as error:
                raise self.late(call, seconds, repeats=repeats) from error
            except BaseException as error:
                if ends_the_caller(error):
                    raise
                raise self.failed(call, error, seconds, repeats=repeats) from error
        if repeats:
            self.works(call)
        return result

    @contextmanager
    def calling(self, call: PluginCall, *, passes: tuple[type[BaseException], ...] = ()) -> Iterator[None]:
        """Contain what a plugin raises in this block, which has a bound on its time of its own; it may await.

        Raises:
            PluginFailed: it raised something else than `passes`, or is such an error already.
        """
        through: tuple[type[BaseException], ...] = (PluginFailed, *passes)
        try:
            yield
        except through:
            raise
        except BaseException as error:
            if ends_the_caller(error):
                raise
            raise self.failed(call, error) from error

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
