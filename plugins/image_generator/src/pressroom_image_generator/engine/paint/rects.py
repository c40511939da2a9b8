"""Rectangles of whole pixels on the page."""

from __future__ import annotations

import math
from typing import NamedTuple


class Rect(NamedTuple):
    """A rectangle of whole pixels on the page; right and bottom are outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """How wide it is, 0 where it is empty."""
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        """How high it is, 0 where it is empty."""
        return max(0, self.bottom - self.top)

    @property
    def empty(self) -> bool:
        """Whether no pixel is in it."""
        return self.right <= self.left or self.bottom <= self.top

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.width, self.height

    def within(self, other: Rect) -> Rect:
        """Return what both share."""
        return Rect(
            max(self.left, other.left), max(self.top, other.top),
            min(self.right, other.right), min(self.bottom, other.bottom),
        )  # fmt: skip

    def grown(self, by: int) -> Rect:
        """Return it with a margin on all sides."""
        return Rect(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def around(self, core: Rect) -> list[Rect]:
        """Return what of it lies outside a rectangle in it, in up to four parts."""
        core = core.within(self)
        if core.empty:
            return [] if self.empty else [self]
        parts = (
            Rect(self.left, self.top, self.right, core.top),
            Rect(self.left, core.top, core.left, core.bottom),
            Rect(core.right, core.top, self.right, core.bottom),
            Rect(self.left, core.bottom, self.right, self.bottom),
        )
        return [part for part in parts if not part.empty]

    def holds(self, other: Rect) -> bool:
        """Tell whether another lies in it whole."""
        return self.within(other) == other or other.empty


def snapped(x: float, y: float, width: float, height: float) -> Rect:
    """Return a box on whole pixels: each edge goes to the nearest."""
    return Rect(nearest(x), nearest(y), nearest(x + width), nearest(y + height))


def nearest(value: float) -> int:
    """Return the nearest whole number, halves up."""
    return math.floor(value + 0.5)
