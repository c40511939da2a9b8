"""Showing input in messages, safely, and what might have been meant instead.

What a client sent may be long, may hold terminal escapes, and may try to look like part of the message. Everything
that a message repeats goes through here: it is cut, quoted as JSON, and holds printable characters only.
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
    """Return the candidate that `name` was probably meant to be, or `None` where none is close.

    Case and the separators `-`, `_`, `.` and space make no difference; swapped letters and the beginning of one single
    candidate count as close. The answer does not depend on the order of the candidates.
    """
    if not 0 < len(name) <= _MAX_NAME_LENGTH:
        return None
    meant = _folded(name)
    by_folded = {_folded(candidate): candidate for candidate in sorted(candidates, reverse=True)}
    if meant in by_folded:
        return by_folded[meant]
    letters = sorted(meant)
    for folded in sorted(by_folded):
        if len(folded) > 2 and sorted(folded) == letters:
            return by_folded[folded]
    similar = difflib.get_close_matches(meant, sorted(by_folded), n=1, cutoff=_SIMILAR)
    if not similar and len(meant) >= _MIN_PREFIX_LENGTH:
        begun = [folded for folded in by_folded if folded.startswith(meant)]
        similar = begun if len(begun) == 1 else []
    return by_folded[similar[0]] if similar else None


def _folded(name: str) -> str:
    return _SEPARATOR.sub("", name.casefold())


ECHO_LIMIT = 40
"""How many characters of a value a message repeats."""

_JOINERS = re.compile("[\u200c\u200d]")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_$@-]+", re.ASCII)
_MAX_BITS = 100


def is_line(text: str) -> bool:
    """Tell whether a text is one line of printable characters.

    The joiners count as such: Persian, Hindi and other scripts are spelled with them, and emoji made of several.
    """
    return _JOINERS.sub("", text).isprintable()


def printable(text: str) -> str:
    """Return a text with every character that is not printable written as a JSON escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def cut(text: str, limit: int = ECHO_LIMIT) -> str:
    """Return a text of at most `limit` characters; one that was longer ends in an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def quoted(text: str, limit: int = ECHO_LIMIT) -> str:
    """Return a text as a JSON string of printable characters, cut before it is quoted."""
    return printable(json.dumps(cut(text, limit), ensure_ascii=False))


def shown(value: Any) -> str:
    """Return a value as a message repeats it: scalars as JSON, containers as what they are."""
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


def shown_name(name: str) -> str:
    """Return the name of a field as it is, or quoted where it is not a plain name."""
    return name if len(name) <= ECHO_LIMIT and _PLAIN_NAME.fullmatch(name) else quoted(name)


def shown_path(path: Iterable[str | int]) -> str:
    """Return a path as a message names it: `props.title`, `rows.0."odd name"`."""
    return ".".join(str(part) if isinstance(part, int) else shown_name(part) for part in path)


def waiting_time(seconds: int) -> str:
    """Return about how long to wait, in minutes from two minutes on, rounded up."""
    return counted(seconds, "second") if seconds < 120 else counted(-(-seconds // 60), "minute")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where that is right: `1 tool`, `2 tools`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
