"""The rule set (weights and thresholds, from `rules.toml`), and where checks are found by their id."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from importlib.resources import files
from typing import Any, Final

from pressroom.sdk import InvalidInput

from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.report import Verdict, skipped

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


Check = Callable[[Context, Rule], Verdict]

CHECKS: Final[dict[str, Check]] = {}
"""Every check by its id."""

NO_KEYPHRASE: Final = "No keyphrase was given, so nothing of the keyphrase group counts."

LISTING: Final = "The page says that it is a website or a list of articles (og:type, structured data), not an article."


def check(function: Check) -> Check:
    """Register a function as the check of its name."""
    CHECKS[function.__name__] = function
    return function


def keyphrase_check(function: Check) -> Check:
    """Register a check that is skipped where no keyphrase was given."""

    @wraps(function)
    def guarded(context: Context, rule: Rule) -> Verdict:
        return function(context, rule) if context.keyphrase else skipped(NO_KEYPHRASE)

    return check(guarded)


def article_check(function: Check) -> Check:
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
