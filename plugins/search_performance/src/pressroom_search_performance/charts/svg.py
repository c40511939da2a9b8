"""SVG charts: axes, lines and areas.

Charts stretch to fill their container (`preserveAspectRatio="none"`; strokes keep their width), so they contain no
text: axis labels are HTML next to the chart. Colours and dashes come from the design system's classes. Each value has a
`<title>` that browsers show on hover; the page has a table with the same values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from markupsafe import Markup, escape

_INTERVALS: Final = 4
"""Maximum number of intervals on an axis."""

_UNITS: Final = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`. `ticks` are its labels, evenly spaced from top to bottom.

    On an `inverted` axis, the lowest value is at the top, because position 1 on a results page is the best.
    """

    low: float
    high: float
    ticks: tuple[str, ...]
    inverted: bool = False

    def height(self, value: float) -> float:
        """Return the height of a value above the bottom, from 0 to 1. Values beyond the axis are clamped."""
        part = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return 1.0 - part if self.inverted else part


def count_axis(values: Iterable[float]) -> Axis:
    """Return an axis for counts, starting at 0."""
    highest = max(values, default=0)
    step = max(1.0, _round_step(highest / _INTERVALS))
    ends = [step * number for number in range(_intervals(highest, step) + 1)]
    return Axis(0.0, ends[-1], tuple(compact(end) for end in reversed(ends)))


def share_axis(values: Iterable[float]) -> Axis:
    """Return an axis for shares (0 to 1), labelled in percent and starting at 0."""
    highest = max(values, default=0.0) * 100
    step = max(0.1, _round_step(highest / _INTERVALS)) if highest else 1.0
    ends = [step * number for number in range(_intervals(highest, step) + 1)]
    digits = 0 if step >= 1 else 1
    return Axis(0.0, ends[-1] / 100, tuple(f"{end:.{digits}f} %" for end in reversed(ends)))


def position_axis(values: Iterable[float]) -> Axis:
    """Return an inverted axis for positions, with the best at the top."""
    numbers = [*values]
    best, worst = max(1, math.floor(min(numbers, default=1))), max(numbers, default=1)
    step = max(1.0, _round_step((worst - best) / _INTERVALS))
    ends = [best + step * number for number in range(_intervals(worst - best, step) + 1)]
    return Axis(ends[0], ends[-1], tuple(f"{end:,.0f}" for end in ends), inverted=True)


def compact(value: float) -> str:
    """Format a number for a label: `950`, `1.5K`, `2M`."""
    for size, unit in _UNITS:
        if value >= size:
            return f"{value / size:,.1f}".removesuffix(".0") + unit
    return f"{value:,.0f}"


def _round_step(minimum: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten; return 0 for 0 or less."""
    if minimum <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(minimum))
    return next((power * factor for factor in (1, 2, 5) if power * factor >= minimum * (1 - 1e-9)), power * 10)


def _intervals(length: float, step: float) -> int:
    return max(1, math.ceil(length / step - 1e-9))


WIDTH: Final = 1000
HEIGHT: Final = 200

Spot = tuple[float, float]
"""Coordinates in the view box: distance from the left and from the top."""


@dataclass(frozen=True, slots=True)
class Point:
    """One day or week of a chart. `None` means that there are no figures.

    `then` is the value at the same offset in the previous period. A value that is not `final` may still change. `title`
    is the hover text.
    """

    title: str
    now: float | None
    then: float | None = None
    final: bool = True


def x_positions(count: int) -> Sequence[float]:
    """Return evenly spaced x coordinates from edge to edge; a single value is centred."""
    return [WIDTH * number / (count - 1) for number in range(count)] if count > 1 else [WIDTH / 2] * count


def runs(values: Sequence[float | None], axis: Axis) -> Sequence[Sequence[Spot]]:
    """Return the coordinates of values, split into runs at the gaps."""
    spots = [
        None if value is None else (x, HEIGHT * (1.0 - axis.height(value)))
        for x, value in zip(x_positions(len(values)), values, strict=True)
    ]
    groups = (list(group) for _, group in groupby(spots, key=lambda spot: spot is not None))
    return [run for group in groups if (run := [spot for spot in group if spot is not None])]


def chart(id_: str, title: str, description: str, points: Sequence[Point], axis: Axis) -> Markup:
    """Return a line chart. `id_` is the prefix of element IDs; screen readers announce `title` and `description`."""
    final = [point.now if point.final else None for point in points]
    parts = [_grid(axis)]
    if not axis.inverted:
        parts += [_area(run) for run in runs(final, axis) if len(run) > 1]
    parts += [_line(run, "then") for run in runs([point.then for point in points], axis)]
    parts += [_line(run, "new") for run in runs(_changing(points), axis)]
    parts += [_line(run, "now") for run in runs(final, axis)]
    parts += _hovers(points, axis)
    head = Markup('<title id="{0}-title">{1}</title><desc id="{0}-desc">{2}</desc>').format(id_, title, description)
    return Markup(
        '<svg class="plot" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" '
        'aria-labelledby="{}-title" aria-describedby="{}-desc">{}{}</svg>'
    ).format(WIDTH, HEIGHT, id_, id_, head, Markup("").join(parts))


def sparkline(values: Sequence[float | None], axis: Axis) -> Markup:
    """Return a line without axes. It is hidden from screen readers: the row shows the numbers as text."""
    lines = Markup("").join(_line(run, "now") for run in runs(values, axis))
    return Markup(
        '<svg class="plot spark" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
    ).format(WIDTH, HEIGHT, lines)


def _changing(points: Sequence[Point]) -> Sequence[float | None]:
    """Return the values that are not final, preceded by the last final one so that the lines connect."""
    followers: Sequence[Point | None] = [*points[1:], None]
    return [
        point.now if not point.final or (follower is not None and not follower.final) else None
        for point, follower in zip(points, followers, strict=False)
    ]


def _grid(axis: Axis) -> Markup:
    count = len(axis.ticks)
    lines = [
        Markup('<line class="{}" x1="0" x2="{}" y1="{}" y2="{}"/>').format(
            "base" if number == count - 1 else "grid", WIDTH, y := _short(HEIGHT * number / (count - 1)), y
        )
        for number in range(count)
    ]
    return Markup("").join(lines)


def _line(run: Sequence[Spot], kind: str) -> Markup:
    if len(run) == 1:
        return _dot(run[0], f"dot {kind}")
    return Markup('<path class="{}" d="{}"/>').format(kind, _path(run))


def _area(run: Sequence[Spot]) -> Markup:
    first, last = _short(run[0][0]), _short(run[-1][0])
    return Markup('<path class="area" d="{}L{} {}H{}Z"/>').format(_path(run), last, HEIGHT, first)


def _dot(spot: Spot, kind: str = "dot") -> Markup:
    """Return a dot: a zero-length line with round caps stays round when the image is stretched."""
    return Markup('<path class="{}" d="M{} {}h0"/>').format(kind, _short(spot[0]), _short(spot[1]))


def _hovers(points: Sequence[Point], axis: Axis) -> Sequence[Markup]:
    """Return a strip around each point that shows its title on hover, reaching halfway to its neighbours.

    The style sheet sets the height of the strips once, because there are many of them.
    """
    xs = x_positions(len(points))
    half = WIDTH / (len(points) - 1) / 2 if len(points) > 1 else WIDTH / 2
    hovers = []
    for x, point in zip(xs, points, strict=True):
        left, right = max(0.0, x - half), min(float(WIDTH), x + half)
        spot = "" if point.now is None else _dot((x, HEIGHT * (1.0 - axis.height(point.now))))
        hovers.append(
            Markup('<g><title>{}</title><rect x="{}" width="{}"/>{}</g>').format(
                point.title, _short(left), _short(right - left), spot
            )
        )
    return hovers


def _path(run: Sequence[Spot]) -> str:
    return "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in run)


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def labels(texts: Sequence[str], kind: str) -> Markup:
    """Return evenly spaced labels of an axis, `x` or `y`. Screen readers skip them: the table has the values."""
    spans = Markup("").join(Markup("<span>{}</span>").format(text) for text in texts)
    return Markup('<div class="chart-{}" aria-hidden="true">{}</div>').format(escape(kind), spans)
