"""Resolving flexible lengths (CSS Flexible Box Layout 1, section 9.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.fragments import Fragment
from pressroom_image_generator.engine.values import Edges


@dataclass(slots=True, eq=False)
class FlexItem:
    """A child of a flex container. Sizes are of its border box; `main` and `cross` refer to the container's axes.

    `frame` is the width of its borders and padding in the main axis.
    """

    box: Box
    margins: Edges
    base: float
    least: float
    most: float
    main_margin: float
    cross_margin: float
    frame: float
    main: float = 0.0
    cross: float = 0.0
    fragment: Fragment | None = None

    @property
    def hypothetical(self) -> float:
        """The base size, clamped to the limits."""
        return max(self.least, min(self.base, self.most))


def resolve_lengths(items: Sequence[FlexItem], available: float) -> None:
    """Set the main sizes of the items on one line. `available` includes their margins."""
    if not items:
        return
    growing = sum(item.hypothetical + item.main_margin for item in items) < available
    flexible = []
    for item in items:
        factor = item.box.style.flex_grow if growing else item.box.style.flex_shrink
        inflexible = item.base > item.hypothetical if growing else item.base < item.hypothetical
        item.main = item.hypothetical
        if factor and not inflexible:
            flexible.append(item)
    initial = _free(items, flexible, available)
    while flexible:
        free = _share(flexible, _free(items, flexible, available), initial, growing=growing)
        violation = 0.0
        clamped: list[tuple[FlexItem, float]] = []
        weights = [_weight(item, growing=growing) for item in flexible]
        total = sum(weights)
        for item, weight in zip(flexible, weights, strict=True):
            target = item.base + (free * weight / total if total > 0 else 0.0)
            item.main = max(item.least, min(target, item.most))
            violation += item.main - target
            clamped.append((item, item.main - target))
        if abs(violation) < 1e-9:
            return
        # Freeze the items that violate the limit with the larger total violation.
        flexible = [item for item, by in clamped if (by <= 0 if violation > 0 else by >= 0)]


def _weight(item: FlexItem, *, growing: bool) -> float:
    style = item.box.style
    return style.flex_grow if growing else style.flex_shrink * max(0.0, item.base - item.frame)


def _free(items: Sequence[FlexItem], flexible: Sequence[FlexItem], available: float) -> float:
    return available - sum((item.base if item in flexible else item.main) + item.main_margin for item in items)


def _share(flexible: Sequence[FlexItem], free: float, initial: float, *, growing: bool) -> float:
    """Return the free space to distribute: flex factors that sum to less than 1 leave some of it."""
    factors = sum(item.box.style.flex_grow if growing else item.box.style.flex_shrink for item in flexible)
    if factors < 1 and abs(initial * factors) < abs(free):
        return initial * factors
    return free
