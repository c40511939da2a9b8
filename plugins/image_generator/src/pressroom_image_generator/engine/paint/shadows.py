"""Painting the shadows of boxes, outer and inner."""

from __future__ import annotations

import math
from typing import Final

from PIL import Image, ImageChops

from pressroom_image_generator.engine.edges import Edges
from pressroom_image_generator.engine.paint.canvas import BLUR, Canvas
from pressroom_image_generator.engine.paint.masks import Soft, soft
from pressroom_image_generator.engine.paint.rects import Rect, nearest
from pressroom_image_generator.engine.paint.rounded import Corners, rounded_mask
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.readers import Shadow

MAX_BLUR: Final = 400.0


def paint_shadows(canvas: Canvas, style: Style, rect: Rect, corners: Corners) -> None:
    """Paint the outer shadows of a border box, the first one on top; nothing is painted under the box itself."""
    for shadow in reversed(style.box_shadow):
        if not shadow.inset:
            _outer(canvas, style, rect, corners, shadow)


def paint_inset_shadows(canvas: Canvas, style: Style, rect: Rect, border: Edges, corners: Corners) -> None:
    """Paint the inner shadows of a border box, inside its padding box."""
    inner = Rect(
        rect.left + nearest(border.left), rect.top + nearest(border.top),
        rect.right - nearest(border.right), rect.bottom - nearest(border.bottom),
    )  # fmt: skip
    for shadow in reversed(style.box_shadow):
        if shadow.inset:
            _inset(canvas, style, inner, corners.inside(border), shadow)


def _outer(canvas: Canvas, style: Style, rect: Rect, corners: Corners, shadow: Shadow) -> None:
    color = shadow.color or style.color
    sigma = min(shadow.blur, MAX_BLUR) / 2
    reach = math.ceil(3 * sigma)
    spread = nearest(shadow.spread)
    x, y = nearest(shadow.x), nearest(shadow.y)
    cast = Rect(rect.left + x, rect.top + y, rect.right + x, rect.bottom + y).grown(spread)
    window = cast.grown(reach).within(canvas.rect)
    if cast.empty or window.empty or color.alpha <= 0:
        return
    canvas.budget.spend(window.grown(reach).within(cast.grown(reach)).size, BLUR)
    shape = corners.grown(shadow.spread).fitted(cast.width, cast.height)
    mask = _soft(cast, shape, sigma, window)
    # Nothing is painted under the middle of the box.
    for part in window.around(rect.grown(-math.ceil(corners.largest))):
        under = rounded_mask(rect, corners, part)
        canvas.tint(color, ImageChops.multiply(mask.part(part), ImageChops.invert(under)), part.left, part.top)


def _inset(canvas: Canvas, style: Style, rect: Rect, corners: Corners, shadow: Shadow) -> None:
    color = shadow.color or style.color
    sigma = min(shadow.blur, MAX_BLUR) / 2
    x, y, spread = nearest(shadow.x), nearest(shadow.y), nearest(shadow.spread)
    window = rect.within(canvas.rect)
    if window.empty or color.alpha <= 0:
        return
    canvas.budget.spend(window.size, BLUR)
    hole = Rect(rect.left + x, rect.top + y, rect.right + x, rect.bottom + y).grown(-spread)
    if hole.empty:
        mask = Image.new("L", window.size, 255)
    else:
        soft_hole = _soft(hole, corners.grown(-shadow.spread).fitted(*hole.size), sigma, window)
        mask = ImageChops.invert(soft_hole.part(window))
    canvas.tint(color, ImageChops.multiply(mask, rounded_mask(rect, corners, window)), window.left, window.top)


def _soft(rect: Rect, corners: Corners, sigma: float, window: Rect) -> Soft:
    """Return what a window can show of a blurred round box."""
    if sigma <= 0:
        return Soft(rounded_mask(rect, corners, window), 1, window)
    reach = math.ceil(3 * sigma)
    # Only what is within reach of the window can be seen in it.
    near = rect.grown(reach).within(window.grown(reach))
    return soft(rounded_mask(rect, corners, near), sigma, near)
