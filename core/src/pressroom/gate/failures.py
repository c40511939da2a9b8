"""Failures of plugins: which plugin is responsible, and how messages describe its exceptions and return values.

A plugin can call code that other plugins contributed to its hooks. For example, a connector runs within a job of the
content plugin. The host knows that it called that job, and the traceback shows whose code failed.

None of what plugins raise and return is trusted: an exception's `__str__` can fail, and a message can have a million
lines.
"""

from __future__ import annotations

import inspect
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final, Self

from pressroom.config.origins import InvalidConfig
from pressroom.errors import PressroomError

MAX_ERROR_LENGTH: Final = 500
"""Maximum length of an error, in characters."""

_MAX_VALUE_LENGTH: Final = 80
_MAX_GROUPED: Final = 3


@dataclass(frozen=True, slots=True)
class PluginCode:
    """Maps code to plugins, and plugins to their contributors.

    `packages` maps each top-level package to the plugin that owns it. `contributors` maps a plugin to the plugins that
    contribute to the hooks that it reads, or that are connected to it by a wrapper, in either direction.
    """

    packages: Mapping[str, str] = field(default_factory=dict)
    contributors: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        modules: Mapping[str, str],
        extensions: Mapping[str, Mapping[str, Iterable[tuple[str, Any]]]],
        requires: Mapping[str, Iterable[str]],
        wrapped_by: Mapping[str, frozenset[str]],
    ) -> Self:
        """Return the mapping for the active plugins.

        Args:
            modules: The module of each plugin, by plugin ID. A package shared by several plugins is attributed to none.
            extensions: Contributions to the hooks that each plugin offers, as pairs of plugin ID and record.
            requires: The plugins that each plugin requires, whose hooks it reads besides its own.
            wrapped_by: The plugins whose wrappers changed the contributions of each plugin.
        """
        packages = {id_: module.partition(".")[0] for id_, module in modules.items()}
        counts = Counter(packages.values())
        plugins_by_owner = {
            owner: {id_ for pairs in hooks.values() for id_, _ in pairs} for owner, hooks in extensions.items()
        }
        contributors = {}
        for id_ in modules:
            owners = {id_, *requires.get(id_, ())}
            # To a plugin, the plugins that it requires are libraries, even if they contribute to their own hooks.
            contributors[id_] = frozenset().union(*(plugins_by_owner.get(owner, ()) for owner in owners)) - owners
            # A wrapper receives the record that it wraps, and calls it in turn.
            wrapped = {owner for owner, wrappers in wrapped_by.items() if id_ in wrappers}
            contributors[id_] |= wrapped_by.get(id_, frozenset()) | wrapped
        return cls({top: id_ for id_, top in packages.items() if counts[top] == 1}, contributors)

    def plugin_of(self, frame: FrameType) -> str:
        """Return the plugin whose code a frame runs, or an empty string."""
        return self.packages.get(str(frame.f_globals.get("__name__", "")).partition(".")[0], "")

    def culprit(self, called: str, frames: Iterable[FrameType]) -> str:
        """Return the plugin responsible for a failed call; `frames` lead to the failure, outermost first.

        A plugin called for its contribution is responsible for what it does, even if it uses a library of another
        plugin. A plugin that merely calls a library, such as the one it requires, stays responsible itself.
        """
        culprit = previous = called
        for plugin in filter(None, map(self.plugin_of, frames)):
            if plugin != previous and plugin in self.contributors.get(previous, ()):
                culprit = plugin
            previous = plugin
        return culprit


def raised_in(error: BaseException) -> Iterator[FrameType]:
    """Yield the frames of an exception's traceback, outermost first."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def own_exit(error: GeneratorExit) -> RuntimeError:
    """Return the error to raise instead of a `GeneratorExit` that a plugin raised itself.

    Python closes coroutines with that exception, so one that is passed on would end the caller without any result.
    """
    return RuntimeError(f"the plugin raised {type(error).__name__}")


def awaited_by(awaitable: object) -> Iterator[FrameType]:
    """Yield the frames of a suspended coroutine and of everything it awaits, outermost first.

    The host's `within` hides one link of the await chain, which is followed through its local variable.
    """
    awaited: Any = awaitable
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is not None:
            yield frame
        coroutine = frame.f_locals.get("coroutine") if frame is not None and inspect.isgenerator(awaited) else None
        awaited = coroutine or getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)


def one_line(error: BaseException, module: str = "") -> str:
    """Describe an exception in one line: its type, its message, and where in the plugin it was raised.

    `module` is the plugin's module; the innermost frame in its top-level package is shown.
    """
    try:
        location = _location_of(error, module.partition(".")[0]) if module else ""
        return squeezed(f"{_message(error)}{f' ({location})' if location else ''}")
    except Exception:  # noqa: BLE001 - every attribute of an exception may be a property of the plugin
        return type(error).__name__


def squeezed(text: str) -> str:
    """Collapse a text into one line of at most `MAX_ERROR_LENGTH` characters."""
    return _cut(_one_spaced(text), MAX_ERROR_LENGTH)


def describe_value(value: Any) -> str:
    """Return a value for an error message: its type, and its `repr` if that is informative, shortened."""
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
        parts = [_message(nested) for nested in error.exceptions[:_MAX_GROUPED]]
        text = f"{error.message}: {'; '.join(parts)}"
    return f"{kind}: {text}" if text.strip() else kind


def _text(value: object, formatter: Any = str) -> str:
    try:
        return str(formatter(value))
    except Exception as error:  # noqa: BLE001 - __str__ and __repr__ are the plugin's
        return f"its text cannot be read, {type(error).__name__}"


def _location_of(error: BaseException, package: str) -> str:
    location = ""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
            location = f"{os.path.basename(frame.f_code.co_filename)}, line {traceback.tb_lineno}"  # noqa: PTH119 - may be no path
        traceback = traceback.tb_next
    return location


def _one_spaced(text: str) -> str:
    # Object IDs in a `repr` are useless to readers, and would make messages differ between starts.
    return re.sub(r"\s+", " ", re.sub(r" at 0x[0-9a-fA-F]+", "", text)).strip()


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
