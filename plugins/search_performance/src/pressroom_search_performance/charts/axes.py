"""Axes of charts: from which value to which, with round numbers at even distances."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_INTERVALS: Final = 4
"""How many intervals an axis has at most."""

_UNITS: Final = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`. `ticks` are its labels at even distances, the topmost first.

    Where it is `inverted`, the lowest value is at the top: the first position of a page of results is the best.
    """

    low: float
    high: float
    ticks: tuple[str, ...]
    inverted: bool = False

    def height(self, value: float) -> float:
        """Return how far above the bottom a value is, from 0 to 1; beyond the axis, that is its end."""
        part = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return 1.0 - part if self.inverted else part


def count_axis(values: Iterable[float]) -> Axis:
    """Return the axis of numbers of something, from 0."""
    most = max(values, default=0)
    step = max(1.0, _round_step(most / _INTERVALS))
    ends = [step * number for number in range(_intervals(most, step) + 1)]
    return Axis(0.0, ends[-1], tuple(compact(end) for end in reversed(ends)))


def share_axis(values: Iterable[float]) -> Axis:
    """Return the axis of shares (0 to 1), in percent from 0."""
    most = max(values, default=0.0) * 100
    step = max(0.1, _round_step(most / _INTERVALS)) if most else 1.0
    ends = [step * number for number in range(_intervals(most, step) + 1)]
    digits = 0 if step >= 1 else 1
    return Axis(0.0, ends[-1] / 100, tuple(f"{end:.{digits}f} %" for end in reversed(ends)))


def position_axis(values: Iterable[float]) -> Axis:
    """Return the axis of positions, the best at the top."""
    known = [*values]
    best, worst = max(1, math.floor(min(known, default=1))), max(known, default=1)
    step = max(1.0, _round_step((worst - best) / _INTERVALS))
    ends = [best + step * number for number in range(_intervals(worst - best, step) + 1)]
    return Axis(ends[0], ends[-1], tuple(f"{end:,.0f}" for end in ends), inverted=True)


def compact(value: float) -> str:
    """Return a number as briefly as a label needs: `950`, `1.5K`, `2M`."""
    for size, unit in _UNITS:
        if value >= size:
            return f"{value / size:,.1f}".removesuffix(".0") + unit
    return f"{value:,.0f}"


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is not below a number; 0 for 0."""
    if least <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(least))
    return next((power * factor for factor in (1, 2, 5) if power * factor >= least * (1 - 1e-9)), power * 10)


def _intervals(length: float, step: float) -> int:
    return max(1, math.ceil(length / step - 1e-9))
