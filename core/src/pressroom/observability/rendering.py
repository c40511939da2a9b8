"""How a log event becomes a line: JSON for programs, text for people.

One event is one line whatever it holds (a traceback in text is indented below its line), and no character of it reaches
a terminal as a control character.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import MutableMapping
from datetime import datetime
from typing import Any, Final

import orjson
from structlog.dev import ConsoleRenderer, plain_traceback

from pressroom.observability.secrets import masked_text
from pressroom.validation.echo import cut, printable

Event = MutableMapping[str, Any]

MAX_VALUE_LENGTH: Final = 8192
MAX_TRACEBACK_LENGTH: Final = 65_536

_OPTIONS: Final = (
    orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_UTC_Z
)
# What JSON leaves as it is, and a terminal or a viewer acts on: C1 controls, line separators, changes of direction.
_ACTIVE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_TRACEBACKS: Final = frozenset({"exception", "stack"})


def shorten(_logger: Any, _method: str, event: Event) -> Event:
    """Cut texts that are very long (a processor of structlog)."""
    for name, value in event.items():
        if type(value) is str and len(value) > MAX_VALUE_LENGTH:
            event[name] = cut(value, MAX_TRACEBACK_LENGTH if name in _TRACEBACKS else MAX_VALUE_LENGTH)
    return event


class JsonLines:
    """Renders an event as one line of JSON; what JSON cannot express is shown as its `repr`, secrets masked."""

    def __call__(self, _logger: Any, _method: str, event: Event) -> bytes:
        """Return the line, without its end."""
        try:
            line = orjson.dumps(event, default=_shown, option=_OPTIONS)
        except (TypeError, ValueError, RecursionError):
            # Lone surrogates, integers beyond 64 bits, values that contain themselves.
            line = json.dumps({printable(str(key)): _plain(value) for key, value in event.items()}).encode()
        if line.isascii() and b"\x7f" not in line:
            return line
        return _ACTIVE.sub(lambda match: f"\\u{ord(match[0]):04x}", line.decode()).encode()


class TextLines:
    """Renders an event as a line for people, in colours where the terminal has them."""

    def __init__(self, *, colours: bool) -> None:
        self._render = ConsoleRenderer(
            colors=colours, exception_formatter=plain_traceback, sort_keys=False, pad_event_to=0
        )

    def __call__(self, logger: Any, method: str, event: Event) -> bytes:
        """Return the line, without its end."""
        safe: dict[str, Any] = {}
        for name, value in event.items():
            if name in _TRACEBACKS:
                safe[name] = "\n".join(f"    {printable(line)}" for line in str(value).splitlines())
            else:
                safe[printable(str(name))] = printable(value if isinstance(value, str) else _shown(value))
        return self._render(logger, method, safe).encode(errors="backslashreplace")


def _plain(value: Any) -> Any:
    """Return a value that JSON can express in any case; containers become texts."""
    match value:
        case str():
            return value.encode(errors="backslashreplace").decode()
        case None | bool() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            return _plain(_shown(value))


def _shown(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a foreign object may do anything; the line is written all the same
        text = f"<{type(value).__name__} without a repr: {type(error).__name__}>"
    return cut(masked_text(text), MAX_VALUE_LENGTH)
