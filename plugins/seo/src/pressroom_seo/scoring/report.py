"""What a check says, and the report that all of them make together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, Literal

Value = str | int | float | bool | None
Rating = Literal["good", "ok", "poor"]


class Status(StrEnum):
    """How a check came out."""

    GOOD = "good"
    OK = "ok"
    BAD = "bad"
    SKIPPED = "skipped"

    @property
    def points(self) -> float | None:
        """1, ½ or 0; None for what was skipped."""
        return {"good": 1.0, "ok": 0.5, "bad": 0.0}.get(self.value)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a judgement is about: a piece of the article, and its place."""

    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class ScoringCheck:
    """One check. `gain` is by how many points the score rises when this check alone becomes good."""

    id: str
    group: str
    status: Status
    points: float | None
    weight: int
    value: Value
    threshold: str
    message: str
    fix: str
    evidence: tuple[Evidence, ...]
    gain: float
    source: str


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The checks of a group together; `score` is 0 to 100, or None where no check with a weight applies."""

    score: int | None
    good: int
    ok: int
    bad: int
    skipped: int


@dataclass(frozen=True, slots=True)
class Gate:
    """A fault that holds the score down, whatever else is good. `check` is the check that lifts it."""

    id: str
    cap: int
    message: str
    check: str


@dataclass(frozen=True, slots=True)
class Action:
    """What to do next, and what it brings."""

    check: str
    fix: str
    gain: float


@dataclass(frozen=True, slots=True)
class ScoringReport:
    """A judged article. `ungated` is the score before the gates; `notes` are for the reader of the whole report."""

    score: int
    rating: Rating
    ungated: int
    groups: dict[str, GroupResult]
    checks: tuple[ScoringCheck, ...]
    next_actions: tuple[Action, ...]
    gates: tuple[Gate, ...]
    notes: tuple[str, ...]
    ruleset: str
    profile: str
    language: str
    words: int

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        return asdict(self)


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
