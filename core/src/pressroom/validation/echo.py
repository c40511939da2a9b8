"""Safe quoting of input in messages, and suggestions for misspelt names.

Input of clients can be long, contain terminal escapes, or imitate part of the message. All input that a message repeats
goes through this module, which cuts it, quotes it as JSON, and makes it printable.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from typing import Any

_SEPARATOR = re.compile(r"[-_ .]")
_MAX_NAME_LENGTH = 64
_SIMILAR = 0.75
_MIN_PREFIX_LENGTH = 3


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that `name` was probably meant to be, or `None` if none is close.

    Case and the separators `-`, `_`, `.` and space are ignored; transposed letters and an unambiguous prefix of at
    least 3 characters count as close. The result does not depend on the order of the candidates.
    """
    if not 0 < len(name) <= _MAX_NAME_LENGTH:
        return None
    target = _folded(name)
    by_folded = {_folded(candidate): candidate for candidate in sorted(candidates, reverse=True)}
    if target in by_folded:
        return by_folded[target]
    letters = sorted(target)
    for folded in sorted(by_folded):
        if len(folded) > 2 and sorted(folded) == letters:
            return by_folded[folded]
    similar = difflib.get_close_matches(target, sorted(by_folded), n=1, cutoff=_SIMILAR)
    if not similar and len(target) >= _MIN_PREFIX_LENGTH:
        completions = [folded for folded in by_folded if folded.startswith(target)]
        similar = completions if len(completions) == 1 else []
    return by_folded[similar[0]] if similar else None


def _folded(name: str) -> str:
    return _SEPARATOR.sub("", name.casefold())


ECHO_LIMIT = 40
"""The maximum number of characters of a value that a message repeats."""

_JOINERS = re.compile("[\u200c\u200d]")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_$@-]+", re.ASCII)
_MAX_BITS = 100


def is_line(text: str) -> bool:
    """Return whether a text is a single line of printable characters.

    Zero-width joiners and non-joiners count as printable: Persian, Hindi and other scripts need them, and so do
    composed emoji.
    """
    return _JOINERS.sub("", text).isprintable()


def printable(text: str) -> str:
    """Return a text with all non-printable characters as JSON escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def cut(text: str, limit: int = ECHO_LIMIT) -> str:
    """Return a text cut to at most `limit` characters, including an ellipsis if it was longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def quoted(text: str, limit: int = ECHO_LIMIT) -> str:
    """Return a text as a JSON string of printable characters; it is cut to `limit` before quoting."""
    return printable(json.dumps(cut(text, limit), ensure_ascii=False))


def format_value(value: Any) -> str:
    """Return a value for use in a message: scalars as JSON, containers as their type."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() if value.bit_length() > _MAX_BITS:
            return "a number of more than 30 digits"
        case int() | float():
            return repr(value)
        case dict():
            return "an object"
        case list() | tuple() | set() | frozenset():
            return "an array"
        case _:
            return quoted(str(value))


def format_name(name: str) -> str:
    """Return the name of a field, quoted if it is long or not a plain name."""
    return name if len(name) <= ECHO_LIMIT and _PLAIN_NAME.fullmatch(name) else quoted(name)


def format_path(path: Iterable[str | int]) -> str:
    """Return a path for use in a message: `props.title`, `rows.0."odd name"`."""
    return ".".join(str(part) if isinstance(part, int) else format_name(part) for part in path)


def waiting_time(seconds: int) -> str:
    """Return a waiting time as text, rounded up: in seconds, minutes (from two on) or hours (from two on)."""
    if seconds < 120:
        return counted(seconds, "second")
    return counted(-(-seconds // 60), "minute") if seconds < 7200 else counted(-(-seconds // 3600), "hour")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1: `1 tool`, `2 tools`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
