"""Alignment (CSS Box Alignment 3), and absolute and relative positioning (CSS Positioned Layout 3)."""

from __future__ import annotations

from typing import Final

from pressroom_image_generator.engine.layout.fragments import Fragment, LayoutContext, PendingBox, PlacedFragment, Space
from pressroom_image_generator.engine.layout.sizing import Sizing, bounded, known, margin_edges, preferred_ratio
from pressroom_image_generator.engine.values import Size

_STARTS: Final = frozenset({"start", "self-start", "flex-start", "left", "normal", "baseline", "stretch"})
_ENDS: Final = frozenset({"end", "self-end", "flex-end", "right"})


def item_alignment(own: str, container: str) -> str:
    """Return how an item is aligned: `stretch`, `start`, `center`, `end` or `baseline`."""
    value = container if own == "auto" else own
    if value in ("normal", "auto", "stretch"):
        return "stretch"
    if value.endswith("baseline"):
        return "baseline"
    if value.endswith("center"):
        return "center"
    return value if value in ("flex-start", "flex-end") else "end" if value in _ENDS else "start"


def aligned_offset(alignment: str, slack: float, *, reverse: bool) -> float:
    """Return how far an item stands from the start, with that much room to spare.

    `reverse` is for an axis that runs backwards, which turns `flex-start` and `flex-end` round.
    """
    if alignment == "center":
        return slack / 2
    at_end = alignment in _ENDS
    return slack if at_end != reverse else 0.0


def content_distribution(mode: str, slack: float, count: int, normal: str) -> tuple[float, float, float]:
    """Return the room before the first, between two, and how much each grows. `normal` is what that keyword means."""
    mode = normal if mode == "normal" else mode
    if count == 0:
        return 0.0, 0.0, 0.0
    if mode == "stretch":
        return 0.0, 0.0, max(0.0, slack) / count
    if mode == "space-between":
        return 0.0, (slack / (count - 1) if count > 1 and slack > 0 else 0.0), 0.0
    if mode in ("space-around", "space-evenly"):
        if slack <= 0:
            # Both fall back to a safe centre.
            return 0.0, 0.0, 0.0
        part = slack / count if mode == "space-around" else slack / (count + 1)
        return (part / 2 if mode == "space-around" else part), part, 0.0
    if mode.endswith("center"):
        return (max(0.0, slack) if mode.startswith("safe") else slack) / 2, 0.0, 0.0
    return (slack if mode in _ENDS else 0.0), 0.0, 0.0


def static_alignment(justify: str, align: str) -> tuple[str, str]:
    """Return where an absolute child of a flex container stands along it and across it."""

    def plain(value: str) -> str:
        if value.endswith("center") or value in ("space-around", "space-evenly"):
            return "center"
        return "end" if value in _ENDS else "start"

    return plain(justify), plain(align)


def relative_offset(fragment: Fragment, width: float, height: float | None) -> tuple[float, float]:
    """Return how far a fragment is moved from its place by `position: relative`."""
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
    """Return a fragment at its place in flow, moved by relative positioning."""
    across, down = relative_offset(fragment, width, height)
    return PlacedFragment(bounded(x + across), bounded(y + down), fragment)


def place_pending(layout: LayoutContext, pending: PendingBox, holder: Fragment) -> PlacedFragment:
    """Lay out an absolute box in the padding box of the fragment that holds it."""
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
    # What is shrunk to fit may reach to the far edge, from where it starts.
    static = max(0.0, pending.x - border.left) if right is None and pending.align_x == "start" else 0.0
    start = static if left is None else left
    room = max(0.0, width - start - (right or 0.0))
    available = room if style.width == "auto" and fixed_width is None else width
    if available != width and not is_image:
        widest = Sizing(layout, box, Space(width, height, fixed_height=fixed_height, shrink=True))
        fixed_width = min(
            widest.width(),
            widest.limited_width(max(room - margins.across, layout.content_widths(box)[0] + widest.frame.across)),
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
    whole: float,
    size: float,
    written: tuple[Size, Size],
    margins: tuple[float, float],
    static: tuple[float, float, str],
) -> float:
    """Return where a box starts along one axis of its containing block."""
    before, after = margins
    if start is not None and end is not None:
        rest = whole - start - end - size
        automatic = [margin == "auto" for margin in written]
        if all(automatic):
            return start + max(0.0, rest / 2)
        if automatic[0]:
            return start + rest - after
        return start + before
    if start is not None:
        return start + before
    if end is not None:
        return whole - end - after - size
    place, room, align = static
    slack = room - size - before - after
    if align == "center":
        return place + before + slack / 2
    return place + before + (slack if align == "end" else 0.0)
