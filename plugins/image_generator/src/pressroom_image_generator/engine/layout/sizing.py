"""Widths and heights of single boxes: frames, limits, ratios (CSS Box Sizing 3)."""

from __future__ import annotations

import math
from typing import Final

from pressroom.graphics.css import Length

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.fragments import LayoutContext, Space
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.values import Edges, Size, depends_on_percentage

FARTHEST: Final = 100_000.0
"""Sizes and places beyond this many pixels are cut off."""


def bounded(value: float) -> float:
    """Return a size or place that later arithmetic can bear."""
    if -FARTHEST <= value <= FARTHEST:
        return value
    # NaN is neither greater nor less than 0.
    return FARTHEST if value > 0 else -FARTHEST if value < 0 else 0.0


def known(value: Size, base: float | None) -> float | None:
    """Return a size in pixels, or `None` for a keyword and for a percentage of what is unknown."""
    if isinstance(value, str):
        return None
    if isinstance(value, Length) and not value.part:
        return bounded(value.pixels)
    if base is None:
        return None if depends_on_percentage(value) else bounded(value.of(0.0))
    return bounded(value.of(base))


def border_edges(style: Style) -> Edges:
    """Return the widths of the borders, in whole pixels as browsers draw them."""
    edges = style.edges.get("border")
    if edges is None:
        edges = style.edges["border"] = Edges(
            _line(style.border_top_width, style.border_top_style),
            _line(style.border_right_width, style.border_right_style),
            _line(style.border_bottom_width, style.border_bottom_style),
            _line(style.border_left_width, style.border_left_style),
        )
    return edges


def _line(width: float, style: str) -> float:
    if style in ("none", "hidden") or width <= 0:
        return 0.0
    return min(max(1.0, math.floor(width)), FARTHEST)


def padding_edges(style: Style, base: float) -> Edges:
    """Return the padding; percentages are of the containing block's width on all sides."""
    return style.edges.get("padding") or _edges(style, "padding", base, 0.0)


def margin_edges(style: Style, base: float) -> Edges:
    """Return the margins; automatic ones are 0 here."""
    return style.edges.get("margin") or _edges(style, "margin", base, -FARTHEST)


def _edges(style: Style, name: str, base: float, least: float) -> Edges:
    """Return four sides, remembered where they are the same in every containing block."""
    sizes: list[Size] = [getattr(style, f"{name}_{side}") for side in ("top", "right", "bottom", "left")]
    edges = Edges(*(max(least, known(size, base) or 0.0) for size in sizes))
    if not any(depends_on_percentage(size) for size in sizes):
        style.edges[name] = edges
    return edges


def preferred_ratio(box: Box) -> float:
    """Return the ratio of width to height that the box would like to have, 0 for none."""
    ratio = box.style.aspect_ratio
    if isinstance(ratio, float) and ratio > 0:
        return ratio
    if box.kind == "image" and box.source is not None and box.source.ratio:
        return box.source.ratio
    return 0.0


class Sizing:
    """The sizes of one box in one space; all of them are of its border box."""

    def __init__(self, layout: LayoutContext, box: Box, space: Space) -> None:
        self._layout = layout
        self._box = box
        self._space = space
        self.border = border_edges(box.style)
        self.padding = padding_edges(box.style, space.width)
        self.frame = self.border.plus(self.padding)
        self.ratio = preferred_ratio(box)
        self._content_box = box.style.box_sizing == "content-box"

    def outer_width(self, value: float) -> float:
        """Return the border box for a width that was written, by the box's `box-sizing`."""
        return value + self.frame.across if self._content_box else max(value, self.frame.across)

    def outer_height(self, value: float) -> float:
        """Return the border box for a height that was written."""
        return value + self.frame.down if self._content_box else max(value, self.frame.down)

    def given_height(self) -> float | None:
        """Return the height that the style or the parent names, limits applied; `None` where it follows the content."""
        if self._space.fixed_height is not None:
            return self._space.fixed_height
        if self._space.natural:
            return None
        value = known(self._box.style.height, self._space.height)
        return None if value is None else self.limited_height(self.outer_height(max(0.0, value)))

    def width(self) -> float:
        """Return the width of the box."""
        space, style = self._space, self._box.style
        if space.fixed_width is not None:
            return space.fixed_width
        value = self.width_of(style.width)
        if value is None:
            value = self._automatic_width()
        return self.limited_width(value)

    def width_of(self, size: Size) -> float | None:
        """Return what a width means here, or `None` for one that is automatic."""
        if isinstance(size, str):
            if size not in ("min-content", "max-content", "fit-content"):
                return None
            least, most = self._layout.content_widths(self._box)
            fitting = {"min-content": least, "max-content": most}.get(size)
            if fitting is None:
                fitting = min(most, max(least, self._available() - self.frame.across))
            return fitting + self.frame.across
        return self.outer_width(max(0.0, bounded(size.of(self._space.width))))

    def _available(self) -> float:
        return max(0.0, self._space.width - margin_edges(self._box.style, self._space.width).across)

    def _automatic_width(self) -> float:
        height = self.given_height() if self.ratio else None
        if height is not None:
            return self.width_for(height)
        if self._box.kind == "image" or self._space.shrink:
            least, most = self._layout.content_widths(self._box)
            if self._box.kind == "image":
                return most + self.frame.across
            return min(most, max(least, self._available() - self.frame.across)) + self.frame.across
        return self._available()

    def width_for(self, height: float) -> float:
        """Return the width that the ratio gives for a height."""
        if self._content_box or self._box.kind == "image":
            return max(0.0, height - self.frame.down) * self.ratio + self.frame.across
        return max(height * self.ratio, self.frame.across)

    def height_for(self, width: float) -> float:
        """Return the height that the ratio gives for a width."""
        if self._content_box or self._box.kind == "image":
            return max(0.0, width - self.frame.across) / self.ratio + self.frame.down
        return max(width / self.ratio, self.frame.down)

    def limited_width(self, value: float) -> float:
        """Return a width within `min-width` and `max-width`, never less than the frame."""
        style = self._box.style
        most = self.width_of(style.max_width)
        least = self.width_of(style.min_width)
        if most is not None:
            value = min(value, most)
        if least is not None:
            value = max(value, least)
        return bounded(max(value, self.frame.across))

    def limited_height(self, value: float) -> float:
        """Return a height within `min-height` and `max-height`, never less than the frame."""
        style = self._box.style
        most, least = known(style.max_height, self._space.height), known(style.min_height, self._space.height)
        if most is not None:
            value = min(value, self.outer_height(most))
        if least is not None:
            value = max(value, self.outer_height(least))
        return bounded(max(value, self.frame.down))
