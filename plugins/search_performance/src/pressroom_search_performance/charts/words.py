"""Figures, days and changes as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from pressroom_search_performance.charts.axes import Axis, count_axis, position_axis, share_axis
from pressroom_search_performance.charts.figures import FigureStep
from pressroom_search_performance.figures.asking import Figures

_DASH: Final = "—"


@dataclass(frozen=True, slots=True)
class Metric:
    """One of the four figures. `unit` follows its value in a sentence."""

    key: str
    title: str
    unit: str = ""

    def value(self, figures: Figures | None) -> float | None:
        """Return its value; `None` if absent.

        Without impressions there is no position, and some sources name none for a website as a whole: it is 0 then.
        """
        if figures is None:
            return None
        match self.key:
            case "clicks":
                return figures.clicks
            case "impressions":
                return figures.impressions
            case "ctr":
                return figures.ctr if figures.impressions else None
            case _:
                return figures.position if figures.impressions and figures.position else None

    def text(self, figures: Figures | None) -> str:
        """Return its value as text."""
        value = self.value(figures)
        if value is None:
            return _DASH
        match self.key:
            case "ctr":
                return f"{value * 100:.1f} %"
            case "position":
                return f"{value:,.1f}"
            case _:
                return f"{value:,}"

    def axis(self, values: Sequence[float]) -> Axis:
        """Return an axis that these values fit on."""
        return _AXES.get(self.key, count_axis)(values)

    def change(self, now: Figures, then: Figures | None) -> ChangeLabel:
        """Return how it changed; `then` is `None` where there is nothing to compare with."""
        new, old = self.value(now), self.value(then)
        if new is None or old is None or (self.key in ("clicks", "impressions") and not old):
            return ChangeLabel()
        if self.key == "ctr":
            by, unit, words = (new - old) * 100, " points", ("higher", "lower")
        elif self.key == "position":
            by, unit, words = old - new, "", ("better", "worse")
        else:
            by, unit, words = (new - old) / old * 100, " %", ("more", "less")
        if round(by, 1) == 0:
            return ChangeLabel("same", "no change", self.text(then))
        text = f"{abs(by):,.1f}{unit} {words[by < 0]}"
        return ChangeLabel("better" if by > 0 else "worse", text, self.text(then))


_AXES: Final = {"ctr": share_axis, "position": position_axis}

METRICS: Final = (
    Metric("clicks", "Clicks", "clicks"),
    Metric("impressions", "Impressions", "impressions"),
    Metric("ctr", "Click-through rate"),
    Metric("position", "Mean position"),
)


@dataclass(frozen=True, slots=True)
class ChangeLabel:
    """How a figure changed: `kind` is `better`, `worse`, `same` or empty, `old` what it was before.

    `text` says how much, in a form that "than" and the old value can follow: `5.7 % more`.
    """

    kind: str = ""
    text: str = ""
    old: str = ""


def day_text(day: date) -> str:
    """Return a day: `21 Nov 2026`."""
    return f"{day.day} {day:%b %Y}"


def span_text(step: FigureStep) -> str:
    """Return which days a point of a chart stands for: `Sat 21 Nov 2026`, or `15 to 21 Nov 2026` for a week."""
    if step.start == step.end:
        return f"{step.start:%a} {day_text(step.start)}"
    same = step.start.month == step.end.month
    return f"{step.start.day if same else day_text(step.start).rpartition(' ')[0]} to {day_text(step.end)}"


def axis_days(days: Sequence[date], *, months: bool) -> Sequence[str]:
    """Return labels for an axis of days, at even distances: at most five, each day once.

    With `months` they name months; the year stands where it begins or changes.
    """
    last = len(days) - 1
    parts = next((parts for parts in (3, 2, 4) if last % parts == 0), 3) if last > 1 else last
    picked = [days[round(last * part / parts)] for part in range(parts + 1)] if last > 0 else days
    if not months:
        return [_short(day) for day in picked]
    years: Mapping[int, date] = {day.year: day for day in reversed(picked)}
    return [f"{day:%b %Y}" if years[day.year] is day else f"{day:%b}" for day in picked]


def _short(day: date) -> str:
    return f"{day.day} {day:%b}"
