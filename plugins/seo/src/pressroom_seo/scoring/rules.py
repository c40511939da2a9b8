"""The rule set, the registration of article checks, their verdicts, and the scoring report."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache, wraps
from importlib.resources import files
from typing import Any, ClassVar, Final, Literal

from pressroom.sdk import InvalidInput

from pressroom_seo.checks import CHECKS, Scope
from pressroom_seo.scoring.context import Context

Value = str | int | float | bool | None
Rating = Literal["good", "ok", "poor"]


class Status(StrEnum):
    """The outcome of a check."""

    GOOD = "good"
    OK = "ok"
    BAD = "bad"
    SKIPPED = "skipped"

    @property
    def points(self) -> float | None:
        """1, ½ or 0; `None` if skipped."""
        return {"good": 1.0, "ok": 0.5, "bad": 0.0}.get(self.value)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A piece of the article that a verdict is based on, and where it is."""

    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class ScoringCheck:
    """The result of one check. `gain` is the number of points that the score gains if this check alone becomes good."""

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
    """The combined result of a group of checks. `score` is 0 to 100, or `None` if no weighted check applies."""

    score: int | None
    good: int
    ok: int
    bad: int
    skipped: int


@dataclass(frozen=True, slots=True)
class Gate:
    """A fault that caps the score, whatever else is good. `check` is the check to pass."""

    id: str
    cap: int
    message: str
    check: str


@dataclass(frozen=True, slots=True)
class Action:
    """A suggested fix, and the points it gains."""

    check: str
    fix: str
    gain: float


@dataclass(frozen=True, slots=True)
class ScoringReport:
    """The report of a scored article. `ungated` is the score before the gates; `notes` apply to the whole report."""

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
        """Return the report as plain JSON data."""
        return asdict(self)


_SHOWN: Final = 5
"""Maximum number of pieces of evidence per check; its message states the total."""

_MAX_LENGTH: Final = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of one check: what it found, and how to fix it."""

    status: Status
    message: str
    value: Value = None
    fix: str = ""
    evidence: tuple[Evidence, ...] = ()


def good(message: str, value: Value = None, evidence: Iterable[Evidence] = ()) -> Verdict:
    """Return a verdict with full points."""
    return Verdict(Status.GOOD, message, value, "", first_pieces(evidence))


def ok(message: str, value: Value = None, *, fix: str, evidence: Iterable[Evidence] = ()) -> Verdict:
    """Return a verdict with half the points."""
    return Verdict(Status.OK, message, value, fix, first_pieces(evidence))


def bad(message: str, value: Value = None, *, fix: str, evidence: Iterable[Evidence] = ()) -> Verdict:
    """Return a verdict without points."""
    return Verdict(Status.BAD, message, value, fix, first_pieces(evidence))


def skipped(reason: str, value: Value = None) -> Verdict:
    """Return a verdict that does not affect the score."""
    return Verdict(Status.SKIPPED, reason, value)


def graded(
    status: Status, message: str, value: Value = None, *, fix: str, evidence: Iterable[Evidence] = ()
) -> Verdict:
    """Return a verdict with a computed status; a good one has no fix."""
    return Verdict(status, message, value, "" if status is Status.GOOD else fix, first_pieces(evidence))


def at_most(value: float, limit: float, fair: float) -> Status:
    """Return good up to `limit`, ok up to `fair`, and bad above."""
    return Status.GOOD if value <= limit else Status.OK if value <= fair else Status.BAD


def at_least(value: float, limit: float, fair: float) -> Status:
    """Return good from `limit` on, ok from `fair` on, and bad below."""
    return Status.GOOD if value >= limit else Status.OK if value >= fair else Status.BAD


def first_pieces(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return the first five pieces of evidence, each cut to 300 characters."""
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


PROFILES: Final = ("default", "cornerstone", "news", "product")


@dataclass(frozen=True, slots=True)
class Rule:
    """The weight and limits of one check. `threshold` describes the limits for readers."""

    id: str
    group: str
    weight: int
    threshold: str
    source: str
    limits: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        """Return a limit by its name in `rules.toml`."""
        return self.limits[name]


@dataclass(frozen=True, slots=True)
class GateRule:
    """A gate: while it applies, the score is at most `cap`."""

    id: str
    check: str
    lifted_by: tuple[str, ...]
    cap: int
    message: str
    limit: float


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules of a profile, in report order."""

    version: int
    good: int
    ok: int
    rules: Mapping[str, Rule]
    gates: tuple[GateRule, ...]


@cache
def rule_set(profile: str = "default") -> RuleSet:
    """Return the rules of a profile.

    Raises:
        InvalidInput: there is no such profile.
    """
    if profile not in PROFILES:
        raise InvalidInput("profile", f"must be one of {', '.join(PROFILES)} (got {profile!r})")
    raw = tomllib.loads((files(__package__) / "rules.toml").read_text("utf-8"))
    changes = raw["profiles"].get(profile, {})
    rules = {name: _rule(name, {**rule, **changes.get(name, {})}) for name, rule in raw["checks"].items()}
    gates = tuple(_gate(name, gate) for name, gate in raw["gates"].items())
    return RuleSet(raw["version"], raw["rating"]["good"], raw["rating"]["ok"], rules, gates)


def _rule(name: str, raw: dict[str, Any]) -> Rule:
    limits = {key: value for key, value in raw.items() if isinstance(value, int | float) and key != "weight"}
    threshold = raw["threshold"].format(**limits)
    return Rule(name, raw["group"], raw["weight"], threshold, raw["source"], limits)


def _gate(name: str, raw: dict[str, Any]) -> GateRule:
    lifted_by = tuple(raw.get("lifted_by", [raw["check"]]))
    return GateRule(name, raw["check"], lifted_by, raw["cap"], raw["message"], raw.get("limit", 0))


Judge = Callable[[Context, Rule], Verdict]


@dataclass(frozen=True, slots=True)
class ArticleCheck:
    """A check of an article. The docstring of `judge` is the question that it answers."""

    scope: ClassVar[Scope] = "article"

    id: str
    judge: Judge


NO_KEYPHRASE: Final = "No keyphrase was given, so nothing of the keyphrase group counts."

LISTING: Final = "The page says that it is a website or a list of articles (og:type, structured data), not an article."


def check(function: Judge) -> Judge:
    """Register a function as the check with its name."""
    CHECKS.add(ArticleCheck(function.__name__, function))
    return function


def keyphrase_check(function: Judge) -> Judge:
    """Register a check that is skipped without a keyphrase."""

    @wraps(function)
    def guarded(context: Context, rule: Rule) -> Verdict:
        return function(context, rule) if context.keyphrase else skipped(NO_KEYPHRASE)

    return check(guarded)


def article_check(function: Judge) -> Judge:
    """Register a check that is skipped for a page that lists articles, such as a blog's home page."""

    @wraps(function)
    def guarded(context: Context, rule: Rule) -> Verdict:
        return skipped(LISTING) if context.is_listing else function(context, rule)

    return check(guarded)


def unsupported(context: Context, feature: str) -> Verdict:
    """Return a skipped verdict for a check that the language has no rules for."""
    if not context.language:
        return skipped(f"The language of the text is not known; {feature} need one. Set the article's language.")
    return skipped(f"There are no rules for {feature} in the language “{context.language}”.")
