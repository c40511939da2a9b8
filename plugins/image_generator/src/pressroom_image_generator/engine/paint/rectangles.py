"""Rectangles of whole pixels, and masks of rounded boxes, computed only for their visible part."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageChops

from pressroom_image_generator.engine.layout.fragments import Fragment
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.values import AnyLength, Edges


class Rect(NamedTuple):
    """A rectangle of whole pixels on the page; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Width, 0 if the rectangle is empty."""
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        """Height, 0 if the rectangle is empty."""
        return max(0, self.bottom - self.top)

    @property
    def empty(self) -> bool:
        """Whether the rectangle contains no pixels."""
        return self.right <= self.left or self.bottom <= self.top

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.width, self.height

    def within(self, other: Rect) -> Rect:
        """Return the intersection with another rectangle."""
        return Rect(
            max(self.left, other.left), max(self.top, other.top),
            min(self.right, other.right), min(self.bottom, other.bottom),
        )  # fmt: skip

    def grown(self, by: int) -> Rect:
        """Return the rectangle with a margin on all sides."""
        return Rect(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def around(self, core: Rect) -> list[Rect]:
        """Return the area outside a rectangle as up to four parts."""
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
        """Return whether another rectangle is entirely inside this one."""
        return self.within(other) == other or other.empty


def snapped(x: float, y: float, width: float, height: float) -> Rect:
    """Return a box with each edge rounded to the nearest whole pixel."""
    return Rect(nearest(x), nearest(y), nearest(x + width), nearest(y + height))


def nearest(value: float) -> int:
    """Return the nearest integer, with halves rounded up."""
    return math.floor(value + 0.5)


_CACHED_EDGE = 200


class Corners(NamedTuple):
    """The horizontal and vertical radius of each corner in pixels, clockwise from the top left."""

    top_left: tuple[float, float] = (0.0, 0.0)
    top_right: tuple[float, float] = (0.0, 0.0)
    bottom_right: tuple[float, float] = (0.0, 0.0)
    bottom_left: tuple[float, float] = (0.0, 0.0)

    @property
    def square(self) -> bool:
        """Whether all corners are square."""
        return not any(across > 0 and down > 0 for across, down in self)

    @property
    def largest(self) -> float:
        """The largest radius."""
        return max(max(radii) for radii in self)

    def inside(self, edges: Edges) -> Corners:
        """Return the corners of a box that is inset by edges (CSS Backgrounds 3, section 5.2)."""
        (a, b), (c, d), (e, f), (g, h) = self
        return Corners(
            (max(0.0, a - edges.left), max(0.0, b - edges.top)),
            (max(0.0, c - edges.right), max(0.0, d - edges.top)),
            (max(0.0, e - edges.right), max(0.0, f - edges.bottom)),
            (max(0.0, g - edges.left), max(0.0, h - edges.bottom)),
        )

    def grown(self, by: float) -> Corners:
        """Return the corners of a spread box: square ones stay square, small radii grow by less than `by`."""

        def grow(radius: float) -> float:
            if radius <= 0 or by <= 0 or radius >= by:
                return max(0.0, radius + by) if radius > 0 else 0.0
            return radius + by * (1 + (radius / by - 1) ** 3)

        return Corners(*((grow(across), grow(down)) for across, down in self))

    def bands(self, box: Rect) -> list[tuple[Rect, bool]]:
        """Split a box into three horizontal bands, and flag those with rounded corners."""
        upper = min(box.top + math.ceil(max(self.top_left[1], self.top_right[1])), box.bottom)
        lower = max(box.bottom - math.ceil(max(self.bottom_left[1], self.bottom_right[1])), upper)
        return [
            (Rect(box.left, box.top, box.right, upper), True),
            (Rect(box.left, upper, box.right, lower), False),
            (Rect(box.left, lower, box.right, box.bottom), True),
        ]

    def fitted(self, width: float, height: float) -> Corners:
        """Return the corners scaled by one factor so that they do not overlap."""
        (a, b), (c, d), (e, f), (g, h) = self
        factor = 1.0
        for side, used in ((width, a + c), (width, g + e), (height, b + h), (height, d + f)):
            if used > side:
                factor = min(factor, side / used)
        return self if factor == 1.0 else Corners(*((across * factor, down * factor) for across, down in self))


SQUARE = Corners()


def corners_of(style: Style, width: float, height: float) -> Corners:
    """Return the corners of a border box."""
    values = vars(style)
    if not any(name.endswith("_radius") for name in values):
        return SQUARE

    def both(radius: tuple[AnyLength, AnyLength]) -> tuple[float, float]:
        return max(0.0, radius[0].of(width)), max(0.0, radius[1].of(height))

    return Corners(
        both(style.border_top_left_radius),
        both(style.border_top_right_radius),
        both(style.border_bottom_right_radius),
        both(style.border_bottom_left_radius),
    ).fitted(width, height)


def fragment_corners(fragment: Fragment) -> Corners:
    """Return the corners of a fragment's border box."""
    return corners_of(fragment.box.style, fragment.width, fragment.height)


def rounded_mask(box: Rect, corners: Corners, window: Rect) -> Image.Image:
    """Return the antialiased mask of a rounded box within a window."""
    mask = Image.new("L", window.size, 0)
    visible = box.within(window)
    if visible.empty:
        return mask
    position = (
        visible.left - window.left,
        visible.top - window.top,
        visible.right - window.left,
        visible.bottom - window.top,
    )
    mask.paste(255, position)
    for index, radii in enumerate(corners):
        # Similar corners share a cached tile.
        across, down = (round(radius * 16) / 16 for radius in radii)
        if across <= 0 or down <= 0:
            continue
        right, bottom = index in (1, 2), index in (2, 3)
        width, height = math.ceil(across), math.ceil(down)
        left = box.right - width if right else box.left
        top = box.bottom - height if bottom else box.top
        corner = Rect(left, top, left + width, top + height)
        part = corner.within(visible)
        if part.empty:
            continue
        cut = (part.left - left, part.top - top, part.right - left, part.bottom - top)
        tile = _tile(across, down, right, bottom, cut)
        at = (part.left - window.left, part.top - window.top)
        area = (*at, at[0] + part.width, at[1] + part.height)
        mask.paste(ImageChops.darker(mask.crop(area), tile), area)
    return mask


def _tile(across: float, down: float, right: bool, bottom: bool, cut: tuple[int, int, int, int]) -> Image.Image:
    if across <= _CACHED_EDGE and down <= _CACHED_EDGE:
        tile = _whole_tile(across, down, right, bottom)
        return tile if cut == (0, 0, *tile.size) else tile.crop(cut)
    return _corner(across, down, right, bottom, cut)


@lru_cache(maxsize=512)
def _whole_tile(across: float, down: float, right: bool, bottom: bool) -> Image.Image:
    return _corner(across, down, right, bottom, (0, 0, math.ceil(across), math.ceil(down)))


def _corner(across: float, down: float, right: bool, bottom: bool, cut: tuple[int, int, int, int]) -> Image.Image:
    """Return the coverage of a quarter ellipse, based on the distance of each pixel from its edge."""
    width, height = math.ceil(across), math.ceil(down)
    columns = np.arange(cut[0], cut[2], dtype=np.float32) + np.float32(0.5)
    rows = np.arange(cut[1], cut[3], dtype=np.float32) + np.float32(0.5)
    x = np.maximum(columns - np.float32(width - across) if right else np.float32(across) - columns, 0)[None, :]
    y = np.maximum(rows - np.float32(height - down) if bottom else np.float32(down) - rows, 0)[:, None]
    if across == down:
        coverage = np.sqrt(x * x + y * y)
        np.subtract(np.float32(across + 0.5), coverage, out=coverage)
    else:
        distance = np.hypot(x / np.float32(across), y / np.float32(down))
        slope = np.hypot(x / np.float32(across**2), y / np.float32(down**2)) / np.maximum(distance, np.float32(1e-9))
        coverage = (1 - distance) / np.maximum(slope, np.float32(1e-9)) + np.float32(0.5)
    np.clip(coverage, 0, 1, out=coverage)
    coverage *= np.float32(255)
    coverage += np.float32(0.5)
    return Image.fromarray(coverage.astype(np.uint8))
