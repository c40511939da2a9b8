"""Painting images into their boxes, and placeholders for missing ones."""

from __future__ import annotations

from PIL import Image
from pressroom.graphics.color import Color
from pressroom.graphics.text import FontLibrary, shape
from pressroom.graphics.text.drawing import draw_text

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.flow import natural_size
from pressroom_image_generator.engine.layout.inline_text import text_style
from pressroom_image_generator.engine.paint.canvas import LAYER, Canvas
from pressroom_image_generator.engine.paint.rectangles import Corners, Rect, nearest, rounded_mask
from pressroom_image_generator.engine.values import Edges

_PLACEHOLDER = Color(0.5, 0.5, 0.5, 0.25)
MAX_EDGE = 6000


def paint_image_box(canvas: Canvas, box: Box, rect: Rect, frame: Edges, corners: Corners, library: FontLibrary) -> None:
    """Paint the image of a box into its content box."""
    inner = Rect(
        rect.left + nearest(frame.left), rect.top + nearest(frame.top),
        rect.right - nearest(frame.right), rect.bottom - nearest(frame.bottom),
    )  # fmt: skip
    window = inner.within(canvas.rect)
    if window.empty:
        return
    mask = None if corners.square else rounded_mask(inner, corners.inside(frame), window)
    if box.source is None:
        _missing(canvas, box, inner, window, mask, library)
        return
    x, y, width, height = _fitted(box, inner)
    left, top = inner.left + nearest(x), inner.top + nearest(y)
    right, bottom = inner.left + nearest(x + width), inner.top + nearest(y + height)
    area = Rect(left, top, right, bottom)
    seen = area.within(window)
    if seen.empty:
        return
    # An image far larger than its visible part is scaled to a bounded size only.
    canvas.budget.spend((min(area.width, MAX_EDGE), min(area.height, MAX_EDGE)), LAYER)
    drawn = box.source.image(min(area.width, MAX_EDGE), min(area.height, MAX_EDGE))
    part = (
        drawn if seen == area else drawn.crop((seen.left - left, seen.top - top, seen.right - left, seen.bottom - top))
    )
    if mask is not None and seen != window:
        mask = mask.crop(
            (seen.left - window.left, seen.top - window.top, seen.right - window.left, seen.bottom - window.top)
        )
    canvas.draw(part, seen.left, seen.top, mask)


def _fitted(box: Box, inner: Rect) -> tuple[float, float, float, float]:
    """Return the position and size of an image in its content box (CSS Images 3, section 5.5)."""
    width, height = float(inner.width), float(inner.height)
    natural_width, natural_height = natural_size(box)
    fit = box.style.object_fit
    if natural_width <= 0 or natural_height <= 0 or fit == "fill":
        return 0.0, 0.0, width, height
    contain = min(width / natural_width, height / natural_height)
    scale = {
        "contain": contain,
        "cover": max(width / natural_width, height / natural_height),
        "none": 1.0,
        "scale-down": min(1.0, contain),
    }[fit]
    drawn_width, drawn_height = natural_width * scale, natural_height * scale
    at_x, at_y = box.style.object_position
    return at_x.of(width - drawn_width), at_y.of(height - drawn_height), drawn_width, drawn_height


def _missing(
    canvas: Canvas, box: Box, inner: Rect, window: Rect, mask: Image.Image | None, library: FontLibrary
) -> None:
    """Paint a neutral area, with the alternative text if it fits on a line."""
    canvas.tint(_PLACEHOLDER, mask if mask is not None else Image.new("L", window.size, 255), window.left, window.top)
    text = " ".join(box.alternative.split())
    if not text:
        return
    shaped = shape(text, text_style(box.style), library)
    if shaped.width <= inner.width - 8 and shaped.ascent + shaped.descent <= inner.height:
        layer = canvas.layer(window)
        x = inner.left + (inner.width - shaped.width) / 2 - window.left
        y = inner.top + (inner.height + shaped.ascent - shaped.descent) / 2 - window.top
        draw_text(layer.image, shaped, x, nearest(y), box.style.color)
        canvas.draw(layer.image, window.left, window.top)
