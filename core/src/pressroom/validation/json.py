"""Strict parsing of JSON bodies (RFC 8259, with the stricter rules of I-JSON, RFC 7493, where they protect callers).

Besides invalid JSON, the parser refuses encodings other than UTF-8, byte order marks, lone surrogates, `NaN` and
`Infinity`, numbers that overflow a double, and U+0000 in strings and names. It accepts two things that I-JSON forbids
or advises against: if a name occurs twice, the last value counts, and an integer beyond 64 bits becomes the nearest
double (RFC 8259, section 6), to which the bounds of a parameter then apply.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any, Final, TypeVar

import orjson

from pressroom.errors import InvalidInput, InvalidJson
from pressroom.validation.echo import cut, format_path, printable, quoted

Parsed = TypeVar("Parsed")

QUICK_BYTES: Final = 65_536
"""The size in bytes up to which bodies are parsed on the event loop; see `parse_without_blocking`."""

_PARSER_DEPTH = 1024
_MAX_CONTAINERS = 100_000
_ESCAPED_NUL = b"\\u0000"
_ESCAPED_BACKSLASH = b"\\\\"
_NEARBY = 20

_STRING = re.compile(rb'"[^"]*+"?')
_NO_MARK = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_STEP = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_LEAF = b"\x01\xff"

_HINTS = (
    (re.compile(r"-?(NaN|Infinity)\b"), "JSON has no NaN and no Infinity"),
    (re.compile(r"(True|False|None)\b"), "JSON writes true, false and null"),
    (re.compile(r"'"), 'JSON strings are in double quotes (")'),
    (re.compile(r"//|/\*|#"), "JSON has no comments"),
)


def parse_object(body: bytes, *, max_depth: int | None = None) -> dict[str, Any]:
    """Return the JSON object in a body.

    `max_depth` is the maximum nesting depth of arrays and objects, including the outermost object. A body that is
    nested more deeply, or that has more than 100,000 arrays and objects, is refused before it is parsed. Without
    `max_depth`, the parser's own limit of 1024 applies.

    Raises:
        InvalidJson: the body is empty, invalid JSON, nested too deeply, or not an object.
        InvalidInput: a string or a name contains U+0000; the error's `field` is its path.
    """
    value = parse_value(body, max_depth=max_depth, expected="a JSON object")
    if type(value) is not dict:
        raise InvalidJson(f"the body must be a JSON object, not {_kind(value)}")
    if may_hold_nul(body):
        refuse_nul(value)
    return value


def parse_value(body: bytes, *, max_depth: int | None = None, expected: str = "JSON") -> Any:
    """Return the JSON value in a body, whatever its type; see `parse_object`.

    Strings can contain U+0000. `expected` describes the expected body in the message about an empty one.

    Raises:
        InvalidJson: the body is empty, invalid JSON, or nested too deeply.
    """
    if max_depth is not None:
        _check_shape(max_depth, body)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidJson(_explanation(body, error, expected)) from None


def numbers_as_written(body: bytes) -> Any:
    """Return the value of a body that `parse_value` accepts, with numbers that keep their original notation.

    Each number is an `orjson.Fragment`, because parsing can change it: beyond 64 bits, it becomes the nearest double.
    """
    return json.loads(body, parse_int=orjson.Fragment, parse_float=orjson.Fragment)


def may_hold_nul(body: bytes) -> bool:
    """Return whether a string in a JSON text may contain U+0000.

    The check is fast, and never matches a text without U+0000.
    """
    return _ESCAPED_NUL in body and _ESCAPED_NUL in body.replace(_ESCAPED_BACKSLASH, b"")


async def parse_without_blocking(parse: Callable[[bytes], Parsed], body: bytes) -> Parsed:
    """Parse a body and return the result. Bodies larger than `QUICK_BYTES` are parsed in a thread."""
    return parse(body) if len(body) <= QUICK_BYTES else await asyncio.to_thread(parse, body)


def _check_shape(max_depth: int, body: bytes) -> None:
    if body.count(b"[") + body.count(b"{") <= max_depth:
        return
    # Once escaped backslashes and quotes are removed, every remaining quote begins or ends a string, and adjacent
    # quotes do not affect the brackets around them.
    marks = body.replace(_ESCAPED_BACKSLASH, b"").replace(b'\\"', b"").translate(None, _NO_MARK).replace(b'""', b"")
    steps = _STRING.sub(b"", marks).translate(_STEP)
    # Each takes tens of bytes and is traversed by the garbage collector, so a few million of them stall the process.
    if steps.count(b"\x01") > _MAX_CONTAINERS:
        raise InvalidJson(f"the body has more than {_MAX_CONTAINERS:,} arrays and objects")
    if b"\x01" * (max_depth + 1) not in steps:
        # Removing the innermost pairs makes the rest one level shallower, and usually very short.
        steps = steps.replace(_LEAF, b"")
        if max(accumulate(memoryview(steps).cast("b")), default=0) < max_depth:
            return
    raise InvalidJson(f"the body is nested too deeply; at most {max_depth} levels are allowed")


def _explanation(body: bytes, error: orjson.JSONDecodeError, expected: str) -> str:
    if not body.strip():
        return f"the body is empty; it must be {expected}"
    if body.startswith(b"\xef\xbb\xbf"):
        return "the body begins with a byte order mark; JSON is sent without one (RFC 8259, section 8.1)"
    try:
        text = body.decode()
    except UnicodeDecodeError as wrong:
        return f"the body must be UTF-8, but the byte 0x{body[wrong.start]:02x} at offset {wrong.start} is not"
    reason = error.msg.partition(": line ")[0]
    if reason == "depth limit exceeded":
        return f"the body is nested too deeply; at most {_PARSER_DEPTH} levels are allowed"
    nearby = text[error.pos : error.pos + _NEARBY]
    hint = "" if "after document" in reason else next((hint for start, hint in _HINTS if start.match(nearby)), "")
    context = f", found {quoted(nearby, _NEARBY)}" if nearby.strip() else ""
    return (
        f"the body is not valid JSON: line {error.lineno} column {error.colno}: {cut(printable(reason), 100)}{context}"
        + (f"; {hint}" if hint else "")
    )


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case _:
            return "an array"


def refuse_nul(value: dict[str, Any]) -> None:
    """Raise `InvalidInput` with the path of the field if a string or a name in an object contains U+0000."""
    # Use an explicit stack of iterators: a body can be nested more deeply than Python's recursion limit.
    path: list[str | int] = []
    open_items: list[Iterator[tuple[Any, Any]]] = [iter(value.items())]
    while open_items:
        for name, item in open_items[-1]:
            if type(name) is str and "\0" in name:
                raise InvalidInput(format_path((*path, name)), "its name must not contain NUL characters")
            if type(item) is str and "\0" in item:
                raise InvalidInput(format_path((*path, name)), "must not contain NUL characters")
            if type(item) is dict or type(item) is list:
                path.append(name)
                open_items.append(iter(item.items()) if type(item) is dict else enumerate(item))
                break
        else:
            open_items.pop()
            del path[-1:]
