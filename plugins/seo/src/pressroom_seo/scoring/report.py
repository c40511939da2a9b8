"""What comes out of scoring."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

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
    """What a judgement is about: a piece of the article, and where it stands."""

    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
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
class Report:
    """A judged article. `ungated` is the score before the gates; `notes` are for the reader of the whole report."""

    score: int
    rating: Rating
    ungated: int
    groups: dict[str, GroupResult]
    checks: tuple[CheckResult, ...]
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
