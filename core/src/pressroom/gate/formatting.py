"""Formatting of plugins' exceptions and return values for messages.

None of it is trusted: an exception's `__str__` can fail, and a message can have a million lines.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final

from pressroom.config.problems import InvalidConfig
from pressroom.errors import PressroomError

MAX_ERROR_LENGTH: Final = 500
"""Maximum length of an error, in characters."""

_MAX_VALUE_LENGTH: Final = 80
_MAX_GROUPED: Final = 3


def one_line(error: BaseException, module: str = "") -> str:
    """Describe an exception in one line: its type, its message, and where in the plugin it was raised.

    `module` is the plugin's module; the innermost frame in its top-level package is shown.
    """
    try:
        place = _place(error, module.partition(".")[0]) if module else ""
        return squeezed(f"{_message(error)}{f' ({place})' if place else ''}")
    except Exception:  # noqa: BLE001 - every attribute of an exception may be a property of the plugin
        return type(error).__name__


def squeezed(text: str) -> str:
    """Collapse a text into one line of at most `MAX_ERROR_LENGTH` characters."""
    return _cut(_one_spaced(text), MAX_ERROR_LENGTH)


def shown(value: Any) -> str:
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
    # Object IDs in a `repr` are useless to readers, and would make messages differ between starts.
    return re.sub(r"\s+", " ", re.sub(r" at 0x[0-9a-fA-F]+", "", text)).strip()


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
