"""How far the ink of a fragment reaches."""

from __future__ import annotations

import math

from pressroom_image_generator.engine.layout.fragments import Fragment
from pressroom_image_generator.engine.paint.filtering import filter_reach
from pressroom_image_generator.engine.paint.rects import Rect
from pressroom_image_generator.engine.paint.texts import text_rect
from pressroom_image_generator.engine.paint.transforms import mapped_rect, matrix_of
from pressroom_image_generator.engine.properties import Style

_NOTHING = Rect(10**7, 10**7, -(10**7), -(10**7))


def ink_rect(fragment: Fragment, x: float, y: float, *, content_only: bool = False) -> Rect:
    """Return a rectangle of the page that holds all that a fragment paints, before its own transform and filter.

    `content_only` leaves out the box itself and its children.
    """
    rect = _NOTHING
    for piece in fragment.texts:
        rect = _joined(rect, _with_shadows(text_rect(piece, x, y), piece.style))
    if content_only:
        return rect
    rect = _joined(rect, _box_rect(fragment.box.style, x, y, fragment.width, fragment.height))
    for area in fragment.areas:
        rect = _joined(rect, _box_rect(area.style, x + area.x, y + area.y, area.width, area.height))
    style = fragment.box.style
    if style.overflow_x != "visible" or style.overflow_y != "visible":
        return rect
    for at_x, at_y, child in fragment.children:
        rect = _joined(rect, _transformed(child, x + at_x, y + at_y))
    return rect


def _transformed(fragment: Fragment, x: float, y: float) -> Rect:
    rect = ink_rect(fragment, x, y)
    style = fragment.box.style
    if style.filter:
        rect = rect.grown(filter_reach(style.filter))
    matrix = matrix_of(style, fragment, x, y)
    return rect if matrix is None else mapped_rect(matrix, rect)


def _joined(one: Rect, other: Rect) -> Rect:
    if other.empty:
        return one
    if one.empty:
        return other
    return Rect(
        min(one.left, other.left), min(one.top, other.top), max(one.right, other.right), max(one.bottom, other.bottom)
    )


def _box_rect(style: Style, x: float, y: float, width: float, height: float) -> Rect:
    rect = Rect(math.floor(x), math.floor(y), math.ceil(x + width), math.ceil(y + height))
    whole = rect
    for shadow in style.box_shadow:
        if not shadow.inset:
            reach = max(0, math.ceil(min(shadow.blur, 400) * 1.5 + shadow.spread) + 1)
            moved = Rect(
                rect.left + math.floor(shadow.x), rect.top + math.floor(shadow.y),
                rect.right + math.ceil(shadow.x), rect.bottom + math.ceil(shadow.y),
            )  # fmt: skip
            whole = _joined(whole, moved.grown(reach))
    if style.outline_style not in ("none", "hidden"):
        whole = _joined(whole, rect.grown(max(0, math.ceil(style.outline_width + style.outline_offset))))
    return whole


def _with_shadows(rect: Rect, style: Style) -> Rect:
    whole = rect
    for shadow in style.text_shadow:
        reach = math.ceil(min(shadow.blur, 200) * 1.5)
        moved = Rect(
            rect.left + math.floor(shadow.x), rect.top + math.floor(shadow.y),
            rect.right + math.ceil(shadow.x), rect.bottom + math.ceil(shadow.y),
        )  # fmt: skip
        whole = _joined(whole, moved.grown(reach))
    return whole
