"""Edits: parts of a body that are replaced by others, without sending all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pressroom.sdk import InvalidInput

_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Edit:
    """`find` is replaced by `replace`: where it occurs once, at one of its places (from 1), or at all of them."""

    find: str
    replace: str
    occurrence: int | None = None
    all: bool = False


def with_edits(body: str, edits: Sequence[Edit], *, longest: int) -> str:
    """Return a body after its edits, one after the other. It never has more than `longest` characters on the way.

    Raises:
        InvalidInput: a text to find is not there, or in several places and nobody said in which one it is meant, or
            the body would become too long.
    """
    for number, edit in enumerate(edits):
        body = _edited(body, edit, f"edits.{number}.find", longest)
    return body


def _edited(body: str, edit: Edit, path: str, longest: int) -> str:
    count = body.count(edit.find)
    length = len(body) + (count if edit.all else 1) * (len(edit.replace) - len(edit.find))
    if count and length > longest:
        raise InvalidInput(
            path.replace(".find", ".replace"),
            f"would give the body {length:,} characters; an article may have {longest:,} bytes. Replace fewer places, "
            "or split it into several articles",
        )
    if not count:
        raise InvalidInput(
            path, f"is not in the body{_nearly(body, edit.find)}; give it exactly as get_content shows it"
        )
    if edit.all:
        return body.replace(edit.find, edit.replace)
    if edit.occurrence is not None:
        if edit.occurrence > count:
            raise InvalidInput(
                path.replace(".find", ".occurrence"), f"must be at most {count}: the text is there {count} times"
            )
        start = _place(body, edit.find, edit.occurrence)
        return body[:start] + edit.replace + body[start + len(edit.find) :]
    if count > 1:
        lines = ", ".join(str(line) for line in islice(_lines(body, edit.find), _SHOWN))
        more = " and others" if count > _SHOWN else ""
        raise InvalidInput(
            path,
            f"is in the body {count} times, in the lines {lines}{more}; make it longer until it is there once, or say "
            "which one is meant with occurrence (1 is the first), or set all to true",
        )
    return body.replace(edit.find, edit.replace)


def _place(body: str, find: str, occurrence: int) -> int:
    start = -len(find)
    for _ in range(occurrence):
        start = body.index(find, start + len(find))
    return start


def _lines(body: str, find: str) -> Sequence[int]:
    found: list[int] = []
    start = line = 0
    for number in range(1, min(body.count(find), _SHOWN) + 1):
        place = _place(body, find, number)
        line += body.count("\n", start, place)
        start = place
        found.append(line + 1)
    return found


def _nearly(body: str, find: str) -> str:
    """Return a hint where only white space or case differs."""
    if " ".join(find.split()) in " ".join(body.split()):
        return " in this form (its white space differs)"
    return " in this form (its case differs)" if find.casefold() in body.casefold() else ""
