"""Article scoring: runs the checks and computes the score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pressroom_content.language import supported

from pressroom_seo.checks import unknown_check
from pressroom_seo.scoring.article import ScoringArticle, World
from pressroom_seo.scoring.checks import ARTICLE_CHECKS
from pressroom_seo.scoring.checks.keyphrase import is_stuffed
from pressroom_seo.scoring.checks.metadata import is_noindex
from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.rules import (
    NO_KEYPHRASE,
    Action,
    Gate,
    GateRule,
    GroupResult,
    Rule,
    RuleSet,
    ScoringCheck,
    ScoringReport,
    Status,
    Verdict,
    rule_set,
)

_ACTIONS: Final = 7
"""Maximum number of next actions in a report; the rest are in the checks."""


def score(
    article: ScoringArticle, profile: str = "default", *, world: World | None = None, checks: Iterable[str] = ()
) -> ScoringReport:
    """Run the checks on an article and return the report.

    `checks` are the IDs of the checks to run, by default all; the score only counts those. The report depends only on
    the arguments. Accepts any text.

    Raises:
        InvalidInput: the profile or a check does not exist.
    """
    rules = rule_set(profile)
    requested = frozenset(checks)
    for name in requested - rules.rules.keys():
        raise unknown_check("checks", name, rules.rules, "leave checks out to see the ids of all")
    context = Context(article, world or World(), profile, requested)
    selected = [rule for rule in rules.rules.values() if not requested or rule.id in requested]
    verdicts = {rule.id: ARTICLE_CHECKS[rule.id].judge(context, rule) for rule in selected}
    gates = [gate for gate in rules.gates if gate.check in verdicts and _holds(gate, context, rules)]
    return _report(context, rules, selected, verdicts, gates)


def _holds(gate: GateRule, context: Context, rules: RuleSet) -> bool:
    match gate.id:
        case "stuffing":
            return is_stuffed(context, rules.rules["keyphrase_density"], gate.limit)
        case "too_short":
            return context.text.words < gate.limit
        case "no_title":
            return not context.title
        case "not_indexable":
            return is_noindex(context) or bool(context.world.robots_blocked)
        case _:
            return context.text.characters < gate.limit


def _report(
    context: Context,
    rules: RuleSet,
    selected: Sequence[Rule],
    verdicts: Mapping[str, Verdict],
    gates: Sequence[GateRule],
) -> ScoringReport:
    tally = _Tally(selected, verdicts, gates)
    total = tally.score()
    results = tuple(_result(rule, verdicts[rule.id], tally.gain(rule)) for rule in selected)
    language = context.language
    pack = context.pack
    return ScoringReport(
        score=total,
        rating="good" if total >= rules.good else "ok" if total >= rules.ok else "poor",
        ungated=tally.ungated(),
        groups=_groups(results),
        checks=results,
        next_actions=_next_actions(results),
        gates=tuple(Gate(gate.id, gate.cap, gate.message, gate.check) for gate in gates),
        notes=tuple(_notes(context, tally)),
        ruleset=f"seo-{pack.code if pack else 'und'}@{rules.version}",
        profile=context.profile,
        language=language,
        words=context.text.words,
    )


class _Tally:
    """The sums of weights and points. Points are doubled so that halves stay integers."""

    def __init__(self, rules: Sequence[Rule], verdicts: Mapping[str, Verdict], gates: Sequence[GateRule]) -> None:
        self._points = {
            rule.id: points
            for rule in rules
            if (points := verdicts[rule.id].status.points) is not None
            and verdicts[rule.id].status is not Status.SKIPPED
        }
        self._gates = gates
        applies = [rule for rule in rules if rule.id in self._points]
        self.weight = sum(rule.weight for rule in applies)
        self._doubled = sum(round(rule.weight * 2 * self._points[rule.id]) for rule in applies)

    def ungated(self, extra: int = 0) -> int:
        """Return the score without gates, after adding `extra` doubled points."""
        if not self.weight:
            return 0
        return (200 * (self._doubled + extra) // (2 * self.weight) + 1) // 2

    def score(self, rule: Rule | None = None) -> int:
        """Return the score; with `rule`, the score if that check were good."""
        extra = 0
        if rule is not None and rule.id in self._points:
            extra = round(rule.weight * 2 * (1 - self._points[rule.id]))
        caps = (gate.cap for gate in self._gates if rule is None or rule.id not in gate.lifted_by)
        return min([self.ungated(extra), *caps])

    def gain(self, rule: Rule) -> float:
        """Return the points gained if the check were good: to one decimal, or a whole number while a gate applies."""
        if rule.id not in self._points or self._points[rule.id] == 1:
            return 0.0
        if self._gates or not self.weight:
            return float(max(0, self.score(rule) - self.score()))
        return round(100 * rule.weight * (1 - self._points[rule.id]) / self.weight, 1)


def _result(rule: Rule, verdict: Verdict, gain: float) -> ScoringCheck:
    return ScoringCheck(
        id=rule.id,
        group=rule.group,
        status=verdict.status,
        points=verdict.status.points,
        weight=rule.weight,
        value=verdict.value,
        threshold=rule.threshold,
        message=verdict.message,
        fix=verdict.fix,
        evidence=verdict.evidence,
        gain=gain,
        source=rule.source,
    )


def _groups(results: Sequence[ScoringCheck]) -> dict[str, GroupResult]:
    groups: dict[str, GroupResult] = {}
    for name in dict.fromkeys(result.group for result in results):
        members = [result for result in results if result.group == name]
        count = {status: sum(result.status is status for result in members) for status in Status}
        counted = [(result.weight, result.points) for result in members if result.points is not None]
        weight = sum(weight for weight, _ in counted)
        doubled = sum(round(weight * 2 * points) for weight, points in counted)
        groups[name] = GroupResult(
            score=(200 * doubled // (2 * weight) + 1) // 2 if weight else None,
            good=count[Status.GOOD],
            ok=count[Status.OK],
            bad=count[Status.BAD],
            skipped=count[Status.SKIPPED],
        )
    return groups


def _next_actions(results: Sequence[ScoringCheck]) -> tuple[Action, ...]:
    improvable = [result for result in results if result.points is not None and result.points < 1]
    improvable.sort(key=lambda result: (-result.gain, -result.weight * (1 - (result.points or 0)), result.id))
    return tuple(Action(result.id, result.fix, result.gain) for result in improvable[:_ACTIONS])


def _notes(context: Context, tally: _Tally) -> Iterable[str]:
    if not tally.weight:
        yield "No check with a weight applies, so the score is 0."
    if not context.keyphrase:
        yield NO_KEYPHRASE
    if context.document.cut or context.text.cut:
        yield "The body is longer than what is read; its end was left out."
    if context.pack is None:
        languages = ", ".join(supported())
        if context.language:
            yield f"The language “{context.language}” has no rules here ({languages} have); what needs them is skipped."
        else:
            yield f"The language is not known, so what needs its rules is skipped. Languages with rules: {languages}."
