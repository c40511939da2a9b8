"""Sizes and positions of single boxes: frames, limits and ratios (CSS Box Sizing 3), alignment and positioning.

Alignment follows CSS Box Alignment 3, absolute and relative positioning CSS Positioned Layout 3.
"""

from __future__ import annotations

import math
from typing import Final

from pressroom.graphics.css import Length

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.fragments import Fragment, LayoutContext, PendingBox, PlacedFragment, Space
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.values import Edges, Size, depends_on_percentage

FARTHEST: Final = 100_000.0
"""Sizes and positions are clamped to this many pixels."""


def bounded(value: float) -> float:
    """Clamp a size or position to the supported range; 0 for NaN."""
    if -FARTHEST <= value <= FARTHEST:
        return value
    # NaN is neither greater nor less than 0.
    return FARTHEST if value > 0 else -FARTHEST if value < 0 else 0.0


def known(value: Size, base: float | None) -> float | None:
    """Return a size in pixels, or `None` for a keyword or a percentage of an unknown base."""
    if isinstance(value, str):
        return None
    if isinstance(value, Length) and not value.part:
        return bounded(value.pixels)
    if base is None:
        return None if depends_on_percentage(value) else bounded(value.of(0.0))
    return bounded(value.of(base))


def border_edges(style: Style) -> Edges:
    """Return the border widths, rounded down to whole pixels as browsers do, but at least 1."""
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
    """Return the padding. Percentages refer to the containing block's width on all sides."""
    return style.edges.get("padding") or _edges(style, "padding", base, 0.0)


def margin_edges(style: Style, base: float) -> Edges:
    """Return the margins; `auto` counts as 0."""
    return style.edges.get("margin") or _edges(style, "margin", base, -FARTHEST)


def _edges(style: Style, name: str, base: float, minimum: float) -> Edges:
    """Return the edges of four sides, cached if they do not depend on the containing block."""
    sizes: list[Size] = [getattr(style, f"{name}_{side}") for side in ("top", "right", "bottom", "left")]
    edges = Edges(*(max(minimum, known(size, base) or 0.0) for size in sizes))
    if not any(depends_on_percentage(size) for size in sizes):
        style.edges[name] = edges
    return edges


def preferred_ratio(box: Box) -> float:
    """Return the preferred ratio of width to height, or 0 if the box has none."""
    ratio = box.style.aspect_ratio
    if isinstance(ratio, float) and ratio > 0:
        return ratio
    if box.kind == "image" and box.source is not None and box.source.ratio:
        return box.source.ratio
    return 0.0


class Sizing:
    """Computes the sizes of one box in one space. All sizes are of the border box."""

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
        """Convert a specified width to that of the border box, depending on `box-sizing`."""
        return value + self.frame.across if self._content_box else max(value, self.frame.across)

    def outer_height(self, value: float) -> float:
        """Convert a specified height to that of the border box, depending on `box-sizing`."""
        return value + self.frame.down if self._content_box else max(value, self.frame.down)

    def specified_height(self) -> float | None:
        """Return the height from the style or the parent, with limits applied; `None` if it follows the content."""
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
        """Resolve a specified width, or return `None` for an automatic one."""
        if isinstance(size, str):
            if size not in ("min-content", "max-content", "fit-content"):
                return None
            minimum, maximum = self._layout.content_widths(self._box)
            fitting = {"min-content": minimum, "max-content": maximum}.get(size)
            if fitting is None:
                fitting = min(maximum, max(minimum, self._available() - self.frame.across))
            return fitting + self.frame.across
        return self.outer_width(max(0.0, bounded(size.of(self._space.width))))

    def _available(self) -> float:
        return max(0.0, self._space.width - margin_edges(self._box.style, self._space.width).across)

    def _automatic_width(self) -> float:
        height = self.specified_height() if self.ratio else None
        if height is not None:
            return self.width_for(height)
        if self._box.kind == "image" or self._space.shrink:
            minimum, maximum = self._layout.content_widths(self._box)
            if self._box.kind == "image":
                return maximum + self.frame.across
            return min(maximum, max(minimum, self._available() - self.frame.across)) + self.frame.across
        return self._available()

    def width_for(self, height: float) -> float:
        """Return the width for a height according to the ratio."""
        if self._content_box or self._box.kind == "image":
            return max(0.0, height - self.frame.down) * self.ratio + self.frame.across
        return max(height * self.ratio, self.frame.across)

    def height_for(self, width: float) -> float:
        """Return the height for a width according to the ratio."""
        if self._content_box or self._box.kind == "image":
            return max(0.0, width - self.frame.across) / self.ratio + self.frame.down
        return max(width / self.ratio, self.frame.down)

    def limited_width(self, value: float) -> float:
        """Clamp a width to `min-width` and `max-width`, but never below the frame."""
        style = self._box.style
        max_width = self.width_of(style.max_width)
        min_width = self.width_of(style.min_width)
        if max_width is not None:
            value = min(value, max_width)
        if min_width is not None:
            value = max(value, min_width)
        return bounded(max(value, self.frame.across))

    def limited_height(self, value: float) -> float:
        """Clamp a height to `min-height` and `max-height`, but never below the frame."""
        style = self._box.style
        max_height, min_height = (
            known(style.max_height, self._space.height),
            known(style.min_height, self._space.height),
        )
        if max_height is not None:
            value = min(value, self.outer_height(max_height))
        if min_height is not None:
            value = max(value, self.outer_height(min_height))
        return bounded(max(value, self.frame.down))


_STARTS: Final = frozenset({"start", "self-start", "flex-start", "left", "normal", "baseline", "stretch"})
_ENDS: Final = frozenset({"end", "self-end", "flex-end", "right"})


def item_alignment(align_self: str, container: str) -> str:
    """Resolve an alignment: `stretch`, `start`, `center`, `end`, `flex-start`, `flex-end` or `baseline`."""
    value = container if align_self == "auto" else align_self
    if value in ("normal", "auto", "stretch"):
        return "stretch"
    if value.endswith("baseline"):
        return "baseline"
    if value.endswith("center"):
        return "center"
    return value if value in ("flex-start", "flex-end") else "end" if value in _ENDS else "start"


def aligned_offset(alignment: str, slack: float, *, reverse: bool) -> float:
    """Return the offset of an item from the start, given the free space.

    `reverse` is for a reversed axis, which swaps `flex-start` and `flex-end`.
    """
    if alignment == "center":
        return slack / 2
    at_end = alignment in _ENDS
    return slack if at_end != reverse else 0.0


def content_distribution(mode: str, slack: float, count: int, normal: str) -> tuple[float, float, float]:
    """Return the space before the first item, between items, and added to each. `normal` is what that keyword means."""
    mode = normal if mode == "normal" else mode
    if count == 0:
        return 0.0, 0.0, 0.0
    if mode == "stretch":
        return 0.0, 0.0, max(0.0, slack) / count
    if mode == "space-between":
        return 0.0, (slack / (count - 1) if count > 1 and slack > 0 else 0.0), 0.0
    if mode in ("space-around", "space-evenly"):
        if slack <= 0:
            # Both fall back to safe centring.
            return 0.0, 0.0, 0.0
        part = slack / count if mode == "space-around" else slack / (count + 1)
        return (part / 2 if mode == "space-around" else part), part, 0.0
    if mode.endswith("center"):
        return (max(0.0, slack) if mode.startswith("safe") else slack) / 2, 0.0, 0.0
    return (slack if mode in _ENDS else 0.0), 0.0, 0.0


def static_alignment(justify: str, align: str) -> tuple[str, str]:
    """Return the static alignment of an absolute child of a flex container on the main and cross axis."""

    def plain(value: str) -> str:
        if value.endswith("center") or value in ("space-around", "space-evenly"):
            return "center"
        return "end" if value in _ENDS else "start"

    return plain(justify), plain(align)


def relative_offset(fragment: Fragment, width: float, height: float | None) -> tuple[float, float]:
    """Return the offset of a fragment with `position: relative`, or `sticky`, which is treated the same."""
    style = fragment.box.style
    if style.position not in ("relative", "sticky"):
        return 0.0, 0.0
    left, right = known(style.left, width), known(style.right, width)
    top, bottom = known(style.top, height), known(style.bottom, height)
    if left is not None and right is not None and style.direction == "rtl":
        left = None
    x = left if left is not None else -right if right is not None else 0.0
    y = top if top is not None else -bottom if bottom is not None else 0.0
    return x, y


def placed(x: float, y: float, fragment: Fragment, width: float, height: float | None) -> PlacedFragment:
    """Return a fragment at its position in flow, including relative positioning."""
    across, down = relative_offset(fragment, width, height)
    return PlacedFragment(bounded(x + across), bounded(y + down), fragment)


def place_pending(layout: LayoutContext, pending: PendingBox, holder: Fragment) -> PlacedFragment:
    """Lay out an absolute box in the padding box of its containing fragment."""
    box, style = pending.box, pending.box.style
    border = holder.border
    width, height = max(0.0, holder.width - border.across), max(0.0, holder.height - border.down)
    left, right = known(style.left, width), known(style.right, width)
    top, bottom = known(style.top, height), known(style.bottom, height)
    margins = margin_edges(style, width)
    fixed_width = fixed_height = None
    ratio = preferred_ratio(box)
    is_image = box.kind == "image"
    sizing = Sizing(layout, box, Space(width, height))
    by_height = ratio and known(style.height, height) is not None
    if style.width == "auto" and left is not None and right is not None and not is_image and not by_height:
        fixed_width = sizing.limited_width(max(0.0, width - left - right - margins.across))
    by_width = ratio and (fixed_width is not None or style.width != "auto")
    if style.height == "auto" and top is not None and bottom is not None and not is_image and not by_width:
        fixed_height = sizing.limited_height(max(0.0, height - top - bottom - margins.down))
    # A shrink-to-fit box can extend from its start to the far edge.
    static = max(0.0, pending.x - border.left) if right is None and pending.align_x == "start" else 0.0
    start = static if left is None else left
    remaining = max(0.0, width - start - (right or 0.0))
    available = remaining if style.width == "auto" and fixed_width is None else width
    if available != width and not is_image:
        widest = Sizing(layout, box, Space(width, height, fixed_height=fixed_height, shrink=True))
        fixed_width = min(
            widest.width(),
            widest.limited_width(max(remaining - margins.across, layout.content_widths(box)[0] + widest.frame.across)),
        )
    fragment = layout.fragment(box, Space(width, height, fixed_width, fixed_height, shrink=True))
    x = _along(
        left, right, width, fragment.width, (style.margin_left, style.margin_right), (margins.left, margins.right),
        (pending.x - border.left, pending.width, pending.align_x),
    )  # fmt: skip
    y = _along(
        top, bottom, height, fragment.height, (style.margin_top, style.margin_bottom), (margins.top, margins.bottom),
        (pending.y - border.top, pending.height, pending.align_y),
    )  # fmt: skip
    return PlacedFragment(bounded(border.left + x), bounded(border.top + y), fragment)


def _along(
    start: float | None,
    end: float | None,
    total: float,
    size: float,
    written: tuple[Size, Size],
    margins: tuple[float, float],
    static: tuple[float, float, str],
) -> float:
    """Return the start of a box along one axis of its containing block."""
    before, after = margins
    if start is not None and end is not None:
        free = total - start - end - size
        automatic = [margin == "auto" for margin in written]
        if all(automatic):
            return start + max(0.0, free / 2)
        if automatic[0]:
            return start + free - after
        return start + before
    if start is not None:
        return start + before
    if end is not None:
        return total - end - after - size
    position, available, align = static
    slack = available - size - before - after
    if align == "center":
        return position + before + slack / 2
    return position + before + (slack if align == "end" else 0.0)
