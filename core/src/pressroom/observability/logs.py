"""Logging: one line on stderr for each event, from this project and every library alike, and the request log.

Events of structlog and records of the standard library pass through the same chain: the context (such as a request ID
bound with `structlog.contextvars`) is merged in, exceptions are formatted, secrets are masked, the time is added, and
a line is rendered: JSON for programs, text for people. Each event is one line whatever it contains (a traceback in text
format is indented below its line), and control characters are escaped before they reach a terminal. Writing a line
never raises: a full disk or a closed pipe must not fail a call.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sys
import threading
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any, Final, TextIO, cast

import orjson
import structlog
from structlog.dev import ConsoleRenderer, plain_traceback
from structlog.typing import FilteringBoundLogger, Processor

from pressroom.config.models import LoggingSettings
from pressroom.observability.secrets import mask_secrets, masked_text
from pressroom.validation.echo import cut, printable

Event = MutableMapping[str, Any]

MAX_VALUE_LENGTH: Final = 8192
MAX_TRACEBACK_LENGTH: Final = 65_536

_OPTIONS: Final = (
    orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_UTC_Z
)
# Characters that JSON does not escape but terminals or viewers interpret: C1 controls, line separators, bidi controls.
_ACTIVE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_TRACEBACKS: Final = frozenset({"exception", "stack"})
OWN_HANDLERS: Final = ("sanic.root", "sanic.error", "sanic.access", "sanic.server", "sanic.websockets")
"""Loggers with their own handlers; their records are sent through the common chain instead."""

VERBOSE_LOGGERS: Final = frozenset(
    {
        "aiobotocore",
        "aiosqlite",
        "alembic",
        "asyncssh",
        "botocore",
        "hpack",
        "httpcore",
        "httpx",
        "PIL",
        "s3fs",
        "urllib3",
    }
)
"""Loggers that log what they send, including credentials, or every step; only their warnings are kept."""


def shorten(_logger: Any, _method: str, event: Event) -> Event:
    """Truncate very long strings (a structlog processor)."""
    for name, value in event.items():
        if type(value) is str and len(value) > MAX_VALUE_LENGTH:
            event[name] = cut(value, MAX_TRACEBACK_LENGTH if name in _TRACEBACKS else MAX_VALUE_LENGTH)
    return event


class JsonLines:
    """Renders an event as one line of JSON. Values that JSON cannot express become their masked `repr`."""

    def __call__(self, _logger: Any, _method: str, event: Event) -> bytes:
        """Return the line, without its newline."""
        try:
            line = orjson.dumps(event, default=_value_text, option=_OPTIONS)
        except (TypeError, ValueError, RecursionError):
            # Lone surrogates, integers beyond 64 bits, values that contain themselves.
            line = json.dumps({printable(str(key)): _plain(value) for key, value in event.items()}).encode()
        if line.isascii() and b"\x7f" not in line:
            return line
        return _ACTIVE.sub(lambda match: f"\\u{ord(match[0]):04x}", line.decode()).encode()


class TextLines:
    """Renders an event as a line for people, in colour if the terminal supports it."""

    def __init__(self, *, colours: bool) -> None:
        self._render = ConsoleRenderer(
            colors=colours, exception_formatter=plain_traceback, sort_keys=False, pad_event_to=0
        )

    def __call__(self, logger: Any, method: str, event: Event) -> bytes:
        """Return the line, without its newline."""
        safe: dict[str, Any] = {}
        for name, value in event.items():
            if name in _TRACEBACKS:
                safe[name] = "\n".join(f"    {printable(line)}" for line in str(value).splitlines())
            else:
                safe[printable(str(name))] = printable(value if isinstance(value, str) else _value_text(value))
        return self._render(logger, method, safe).encode(errors="backslashreplace")


def _plain(value: Any) -> Any:
    """Return a value that JSON can always express; containers become strings."""
    match value:
        case str():
            return value.encode(errors="backslashreplace").decode()
        case None | bool() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            return _plain(_value_text(value))


def _value_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - any object's repr can raise anything; the line is written all the same
        text = f"<{type(value).__name__} without a repr: {type(error).__name__}>"
    return cut(masked_text(text), MAX_VALUE_LENGTH)


class _Output:
    """An output stream of lines, for structlog and for the standard library."""

    def __init__(self, stream: TextIO) -> None:
        self._owner = stream  # keeps a reference: the stream closes its buffer when it is garbage-collected
        self._stream = stream.buffer
        self._lock = threading.Lock()

    def write(self, line: bytes) -> None:
        try:
            with self._lock:
                self._stream.write(line + b"\n")
                self._stream.flush()
        except (OSError, ValueError):
            pass  # if the log itself cannot be written, the error cannot be reported either

    debug = info = warning = error = critical = write


class _Records(logging.Handler):
    """Sends the records of the standard library through the chain."""

    def __init__(self, chain: tuple[Processor, ...], output: _Output) -> None:
        super().__init__()
        self._chain = chain
        self._output = output

    def emit(self, record: logging.LogRecord) -> None:
        try:
            event: Any = {"event": record.getMessage().rstrip(), "logger": record.name}
        except Exception as error:  # noqa: BLE001 - the arguments do not match the message, or cannot be formatted
            event = {"event": str(record.msg), "logger": record.name, "problem": f"{type(error).__name__}: {error}"}
        if record.exc_info:
            event["exc_info"] = record.exc_info
        for processor in self._chain:
            event = processor(None, record.levelname.lower(), event)
        self._output.write(event)


class _RequestLog:
    """The output of the request log. JSON lines bypass the chain, since nothing in them needs processing."""

    def __init__(self) -> None:
        self.logger: FilteringBoundLogger = structlog.get_logger()
        self.lines: JsonLines | None = None
        self.output: _Output | None = None


_requests = _RequestLog()


def configure_logging(settings: LoggingSettings, *, stream: TextIO | None = None) -> None:
    """Send all logging to `stream` (default: stderr), in the configured format and from the configured level.

    It can be called again; later events use the new settings. Create the Sanic application with
    `configure_logging=False`, or Sanic installs its own handlers again.
    """
    stream = stream or sys.stderr
    terminal = stream.isatty()
    text = settings.format == "text" or (settings.format == "auto" and terminal)
    output = _Output(stream)
    renderer = TextLines(colours=terminal and _uses_colors()) if text else JsonLines()
    chain: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        shorten,
        mask_secrets,
        _head,
        cast("Processor", renderer),
    ]
    structlog.configure(
        processors=chain,
        wrapper_class=structlog.make_filtering_bound_logger(settings.level),
        context_class=dict,
        logger_factory=lambda *_names: output,
        cache_logger_on_first_use=False,
    )
    _requests.logger = structlog.get_logger().bind()
    _requests.lines = renderer if isinstance(renderer, JsonLines) and settings.level in ("debug", "info") else None
    _requests.output = output
    _take_over_standard_library(settings.level.upper(), _Records(tuple(chain), output))


def request_log(
    *,
    method: str,
    path: str,
    status: int,
    duration: float,
    size: int,
    client_ip: str,
    request_id: str,
    **fields: Any,
) -> None:
    """Log one completed request. `duration` is in seconds, `size` in bytes; `path` has no query string."""
    duration_ms = round(duration * 1000, 3)
    if _requests.lines is None or _requests.output is None:
        _requests.logger.info(
            "request",
            method=method,
            path=path,
            status=status,
            duration_ms=duration_ms,
            size=size,
            client_ip=client_ip,
            request_id=request_id,
            **fields,
        )
        return
    event = {
        "timestamp": datetime.now(UTC),
        "level": "info",
        "event": "request",
        "method": method,
        "path": path,
        "status": status,
        "duration_ms": duration_ms,
        "size": size,
        "client_ip": client_ip,
        "request_id": request_id,
        **fields,
    }
    _requests.output.write(_requests.lines(None, "info", event))


def _take_over_standard_library(level: str, handler: logging.Handler) -> None:
    root = logging.getLogger()
    for old in [*root.handlers]:
        if type(old) in (_Records, logging.StreamHandler):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level)
    for name in OWN_HANDLERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    for name in VERBOSE_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)


def _head(_logger: Any, method: str, event: Event) -> Event:
    head = {"timestamp": datetime.now(UTC), "level": method, "event": event.pop("event", "")}
    return {**head, **event, **head}


def _uses_colors() -> bool:
    """Return whether to use colours: not with `NO_COLOR` (no-color.org) or on a dumb terminal."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
