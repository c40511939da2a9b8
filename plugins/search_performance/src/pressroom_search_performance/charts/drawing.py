"""The charts of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from markupsafe import Markup

from pressroom_search_performance.charts.axes import count_axis
from pressroom_search_performance.charts.figures import FigureReport, FigureStep, Range
from pressroom_search_performance.charts.svg import Point, chart, labels, sparkline
from pressroom_search_performance.charts.words import METRICS, ChangeLabel, Metric, axis_days, day_text, span_text
from pressroom_search_performance.figures.asking import Figures
from pressroom_search_performance.figures.reading import figures_of

_SAMPLE: Final = Markup(
    '<svg class="plot" viewBox="0 0 32 12" aria-hidden="true" focusable="false"><path class="{}" d="M1 6H31"/></svg>'
)


@dataclass(frozen=True, slots=True)
class FigureChart:
    """A figure with its chart. `total` is that of the whole period, `change` how it compares with the one before."""

    metric: Metric
    total: str
    change: ChangeLabel
    chart: Markup
    y: Markup
    x: Markup


def drawn(report: FigureReport, wanted: Range) -> Sequence[FigureChart]:
    """Return the charts of a report, one for each figure. One that the source does not tell is left out."""
    shown = [metric for metric in METRICS if not report.now.impressions or metric.value(report.now) is not None]
    return [_drawn(report, wanted, metric) for metric in shown]


def _drawn(report: FigureReport, wanted: Range, metric: Metric) -> FigureChart:
    points = [
        Point(_told(metric, step), metric.value(step.now), metric.value(step.then), step.final) for step in report.steps
    ]
    values = [value for point in points for value in (point.now, point.then) if value is not None]
    axis = metric.axis(values)
    then = report.then if report.before else None
    change, total = metric.change(report.now, then), metric.text(report.now)
    period = f"{day_text(report.period.start)} to {day_text(report.period.end)}"
    told = f"{period}: {total} in all." if metric.unit else f"{period}: {total} overall."
    if change.kind:
        told += f" The {wanted.title} before: {change.old} ({change.text})."
    title = f"{metric.title} by {'week' if wanted.step > 1 else 'day'}"
    picture = chart(f"chart-{metric.key}", title, f"{told} All values are in the table below.", points, axis)
    days = [step.start for step in report.steps]
    return FigureChart(
        metric=metric,
        total=total,
        change=change,
        chart=picture,
        y=labels(axis.ticks, "y"),
        x=labels(axis_days(days, months=wanted.step > 1), "x"),
    )


def _told(metric: Metric, step: FigureStep) -> str:
    unit = f" {metric.unit}" if metric.unit else f" {metric.title.lower()}"
    text = f"{span_text(step)}: " + ("no figures" if step.now is None else f"{metric.text(step.now)}{unit}")
    if step.then is not None:
        text += f"; before: {metric.text(step.then)}"
    return text if step.final else f"{text} (may still change)"


def legend(report: FigureReport, wanted: Range) -> Sequence[tuple[Markup, str]]:
    """Return what the lines of the charts mean, each with a sample."""
    weekly = ", by week" if wanted.step > 1 else ""
    found = [(_SAMPLE.format("now"), f"{day_text(report.period.start)} to {day_text(report.period.end)}{weekly}")]
    if report.before is not None:
        days = f"{day_text(report.before.start)} to {day_text(report.before.end)}"
        found.append((_SAMPLE.format("then"), f"The {wanted.title} before: {days}"))
    if any(not step.final for step in report.steps):
        found.append((_SAMPLE.format("new"), "Not final: may still change"))
    return found


def sparks(figures: Sequence[Figures | None], *, compared: date | None) -> dict[str, Any]:
    """Return the clicks of the later half of some days as a small chart, and how they compare with the earlier half."""
    half = len(figures) // 2
    clicks = [None if one is None else float(one.clicks) for one in figures[half:]]
    metric = METRICS[0]
    now, then = _sum(figures[half:]), _sum(figures[:half])
    whole = compared is not None and all(one is not None for one in figures[:half])
    return {
        "spark": sparkline(clicks, count_axis([value for value in clicks if value is not None])),
        "clicks": metric.text(now),
        "change": metric.change(now, then if whole else None),
    }


def _sum(figures: Sequence[Figures | None]) -> Figures:
    known = [one for one in figures if one is not None]
    return figures_of(sum(one.clicks for one in known), sum(one.impressions for one in known), 0.0)
