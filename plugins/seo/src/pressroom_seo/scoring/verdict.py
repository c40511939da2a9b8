"""What a check says, before it is weighed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pressroom_seo.scoring.report import Evidence, Status, Value

_SHOWN: Final = 5
"""How many pieces of evidence a check gives; its message says how many there are."""

_MAX_LENGTH: Final = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one check: what was found, and what to do about it."""

    status: Status
    message: str
    value: Value = None
    fix: str = ""
    evidence: tuple[Evidence, ...] = ()


def good(message: str, value: Value = None, evidence: Iterable[Evidence] = ()) -> Verdict:
    """Return a verdict with all points."""
    return Verdict(Status.GOOD, message, value, "", shown(evidence))


def ok(message: str, value: Value = None, *, fix: str, evidence: Iterable[Evidence] = ()) -> Verdict:
    """Return a verdict with half of the points."""
    return Verdict(Status.OK, message, value, fix, shown(evidence))


def bad(message: str, value: Value = None, *, fix: str, evidence: Iterable[Evidence] = ()) -> Verdict:
    """Return a verdict without points."""
    return Verdict(Status.BAD, message, value, fix, shown(evidence))


def skipped(reason: str, value: Value = None) -> Verdict:
    """Return a verdict that does not count."""
    return Verdict(Status.SKIPPED, reason, value)


def graded(
    status: Status, message: str, value: Value = None, *, fix: str, evidence: Iterable[Evidence] = ()
) -> Verdict:
    """Return a verdict with a status that was worked out; the fix is left out where nothing is wrong."""
    return Verdict(status, message, value, "" if status is Status.GOOD else fix, shown(evidence))


def at_most(value: float, limit: float, fair: float) -> Status:
    """Return good up to `limit`, ok up to `fair`, and bad above."""
    return Status.GOOD if value <= limit else Status.OK if value <= fair else Status.BAD


def at_least(value: float, limit: float, fair: float) -> Status:
    """Return good from `limit` on, ok from `fair` on, and bad below."""
    return Status.GOOD if value >= limit else Status.OK if value >= fair else Status.BAD


def shown(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return the first pieces of evidence, cut to a length that can be read."""
    pieces: list[Evidence] = []
    for piece in evidence:
        if len(pieces) == _SHOWN:
            break
        pieces.append(
            piece if len(piece.text) <= _MAX_LENGTH else Evidence(f"{piece.text[: _MAX_LENGTH - 1]}…", piece.place)
        )
    return tuple(pieces)


def plural(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as `1 link` or `3 links`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
