"""The rule set and how checks are registered, what a check says, and the report of all of them together."""

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


PROFILES: Final = ("default", "cornerstone", "news", "product")


@dataclass(frozen=True, slots=True)
class Rule:
    """The numbers of one check. `threshold` says in words what is good and what is fair."""

    id: str
    group: str
    weight: int
    threshold: str
    source: str
    limits: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        """Return a limit by its name in the file."""
        return self.limits[name]


@dataclass(frozen=True, slots=True)
class GateRule:
    """A gate: where it holds, the score is at most `cap`."""

    id: str
    check: str
    lifted_by: tuple[str, ...]
    cap: int
    message: str
    limit: float


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules of a profile, in the order in which they are reported."""

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
    """Register a function as the check of its name."""
    CHECKS.add(ArticleCheck(function.__name__, function))
    return function


def keyphrase_check(function: Judge) -> Judge:
    """Register a check that is skipped where no keyphrase was given."""

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


def unsupported(context: Context, what: str) -> Verdict:
    """Return the verdict of a check for which the language lacks something."""
    if not context.language:
        return skipped(f"The language of the text is not known; {what} need one. Set the article's language.")
    return skipped(f"There are no rules for {what} in the language “{context.language}”.")
