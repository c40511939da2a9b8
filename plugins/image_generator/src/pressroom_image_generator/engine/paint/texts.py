"""Painting text: glyphs, shadows, decorations and strokes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from pressroom.graphics.color import Color
from pressroom.graphics.emoji import emoji_image
from pressroom.graphics.text.drawing import placed_mask
from pressroom.graphics.text.shaping import emoji_box

from pressroom_image_generator.engine.boxes import Decoration
from pressroom_image_generator.engine.layout.fragments import TextPiece
from pressroom_image_generator.engine.paint.canvas import BLUR, Canvas, scaled
from pressroom_image_generator.engine.paint.filtering import blurred
from pressroom_image_generator.engine.paint.rectangles import Rect, nearest
from pressroom_image_generator.engine.paint.transforms import TiltedCanvas
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.readers import ShadowStyle

MAX_STROKE: Final = 40.0
_DISC: Final = 8.0
"""Maximum radius of the disc for one dilation step."""

_NO_INK: Final = -10_000

MAX_TEXT_BLUR: Final = 200.0
_MAX_LINE_LENGTH: Final = 10_000
_INK: Final = 60


def text_rect(piece: TextPiece, x: float, y: float) -> Rect:
    """Return the ink bounds of a text, for a paragraph at a position on the page."""
    size = piece.style.font_size
    left, baseline = x + piece.x, y + piece.baseline
    reach = size * 0.5 + _stroke_width(piece.style)
    return Rect(
        math.floor(left - reach), math.floor(baseline - size * 1.3 - reach),
        math.ceil(left + piece.text.width + reach), math.ceil(baseline + size * 0.6 + reach),
    )  # fmt: skip


def paint_text(canvas: Canvas, piece: TextPiece, x: float, y: float) -> None:
    """Paint a piece of text with its shadows and decorations, for a paragraph at a position on the page."""
    style = piece.style
    if style.visibility != "visible" or style.font_size <= 0:
        return
    color = style.text_fill_color or style.color
    left, baseline = x + piece.x, float(nearest(y + piece.baseline))
    rect = text_rect(piece, x, y)
    for shadow in reversed(style.text_shadow):
        _shadow(canvas, piece, left, baseline, rect, shadow)
    if rect.within(canvas.rect).empty:
        return
    for decoration in piece.decorations:
        _decorate(canvas, piece, decoration, left, baseline, over=False)
    if color.alpha > 0:
        _glyphs(canvas, piece, left, baseline, color, rect)
    if (stroke := _stroke_width(style)) > 0:
        visible = rect.within(canvas.rect.grown(math.ceil(stroke)))
        canvas.budget.spend(visible.size, min(stroke, 2 * _DISC) * stroke)
        mask = stroke_mask(glyph_mask(piece, left, baseline, visible), stroke)
        canvas.tint(style.text_stroke_color or style.color, mask, visible.left, visible.top)
    for decoration in piece.decorations:
        _decorate(canvas, piece, decoration, left, baseline, over=True)


def _glyphs(canvas: Canvas, piece: TextPiece, left: float, baseline: float, color: Color, rect: Rect) -> None:
    if isinstance(canvas, TiltedCanvas):
        canvas.draw_glyphs(piece.text, left, baseline, color, rect)
    elif canvas.image.mode == "RGB" and color.rgba8[3] == 255:
        red, green, blue, _ = color.rgba8
        x, y = left - canvas.rect.left, baseline - canvas.rect.top
        image = canvas.image
        for glyph in piece.text.glyphs:
            mask, at, top = placed_mask(glyph, piece.text.style, x, y)
            if mask is not None and at < image.width and top < image.height and at + mask.width > 0:
                image.paste((red, green, blue), (at, top), mask)
    else:
        visible = rect.within(canvas.rect)
        canvas.tint(color, glyph_mask(piece, left, baseline, visible), visible.left, visible.top)
    for emoji, at, top in _emoji(piece, left, baseline, canvas.rect):
        faded = scaled(Image.new("L", emoji.size, 255), color.rgba8[3]) if color.alpha < 1 else None
        canvas.draw(emoji, at, top, faded)


def _emoji(piece: TextPiece, left: float, baseline: float, visible: Rect) -> Iterable[tuple[Image.Image, int, int]]:
    for glyph in piece.text.glyphs:
        if glyph.face is None:
            x, y, edge = emoji_box(glyph, piece.text.style)
            at, top, size = nearest(left + x), nearest(baseline + y), max(1, round(edge))
            if Rect(at, top, at + size, top + size).within(visible).empty:
                continue
            image = emoji_image(glyph.emoji, size)
            if image is not None:
                yield image, at, top


def glyph_mask(piece: TextPiece, left: float, baseline: float, window: Rect) -> Image.Image:
    """Return the coverage of the glyphs of a text within a window of the page, without colour emoji."""
    mask = Image.new("L", window.size, 0)
    for glyph in piece.text.glyphs:
        ink, at, top = placed_mask(glyph, piece.text.style, left - window.left, baseline - window.top)
        if ink is not None and at < window.width and top < window.height and at + ink.width > 0:
            mask.paste(255, (at, top), ink)
    return mask


def _stroke_width(style: Style) -> float:
    return min(style.text_stroke_width, MAX_STROKE * style.density)


def _shadow(canvas: Canvas, piece: TextPiece, left: float, baseline: float, rect: Rect, shadow: ShadowStyle) -> None:
    x, y, color = shadow.x, shadow.y, shadow.color or piece.style.color
    sigma = min(shadow.blur, MAX_TEXT_BLUR * piece.style.density) / 2
    reach = math.ceil(3 * sigma)
    moved = Rect(
        rect.left + math.floor(x), rect.top + math.floor(y), rect.right + math.ceil(x), rect.bottom + math.ceil(y)
    )
    window = moved.within(canvas.rect.grown(reach)).grown(reach)
    if moved.grown(reach).within(canvas.rect).empty or color.alpha <= 0:
        return
    canvas.budget.spend(window.size, BLUR)
    mask = glyph_mask(piece, left + x, baseline + y, window)
    for emoji, at, top in _emoji(piece, left + x, baseline + y, window):
        mask.paste(255, (at - window.left, top - window.top), emoji.getchannel("A"))
    canvas.tint(color, blurred(mask, sigma), window.left, window.top)


def stroke_mask(mask: Image.Image, width: float) -> Image.Image:
    """Return a stroke of this width along the edge of a mask, half of it inside."""
    radius = width / 2
    grown = _dilated(np.asarray(mask), radius)
    shrunk = 255 - _dilated(255 - np.asarray(mask), radius)
    return Image.fromarray(np.where(grown > shrunk, grown - shrunk, 0).astype(np.uint8))


def _dilated(pixels: NDArray[np.uint8], radius: float) -> NDArray[np.uint8]:
    """Dilate a mask by a disc. A large radius is split into steps, which is faster."""
    while radius > _DISC:
        pixels = _grown(pixels, _DISC)
        radius -= _DISC
    return _grown(pixels, radius)


def _grown(pixels: NDArray[np.uint8], radius: float) -> NDArray[np.uint8]:
    """Dilate a mask by a disc.

    The coverage of a pixel on an edge says where in the pixel the edge is. So the edge moves by fractions of a pixel,
    and lines keep their thickness wherever they are on the grid.
    """
    reach = math.ceil(radius)
    height, width = pixels.shape
    ink = np.where(pixels > 0, pixels.astype(np.int16), np.int16(_NO_INK))
    padded = np.pad(ink, reach, constant_values=_NO_INK)
    result = np.zeros(pixels.shape, np.int16)
    for down in range(-reach, reach + 1):
        for across in range(-reach, reach + 1):
            if (nearer := radius - math.hypot(across, down)) > -1:
                moved = padded[reach + down : reach + down + height, reach + across : reach + across + width]
                np.maximum(result, moved + np.int16(round(255 * nearer)), out=result)
    return np.minimum(result, 255).astype(np.uint8)


def _decorate(
    canvas: Canvas, piece: TextPiece, decoration: Decoration, left: float, baseline: float, *, over: bool
) -> None:
    size = decoration.font_size
    thickness = max(1.0, size / 10 if isinstance(decoration.thickness, str) else decoration.thickness.of(size))
    line = max(1, math.floor(thickness))
    offset = 0.0 if isinstance(decoration.offset, str) else decoration.offset.of(size)
    for name in decoration.lines:
        if (name == "line-through") != over:
            continue
        if name == "underline":
            automatic = isinstance(decoration.offset, str)
            top = baseline + (max(1, math.ceil(thickness / 2)) if automatic else offset)
        elif name == "overline":
            top = baseline - piece.ascent - line
        else:
            top = baseline - piece.ascent / 3 - line / 2
        skips = name == "underline" and decoration.style == "solid"
        gaps = _descenders(piece, left, baseline, nearest(top), line) if skips else []
        _rule(canvas, decoration, left, nearest(top), piece.text.width, line, gaps)


def _descenders(piece: TextPiece, left: float, baseline: float, top: int, line: int) -> list[tuple[int, int]]:
    """Return the gaps of an underline at descenders, as starts and ends (CSS Text Decoration 4, section 2.7)."""
    window = Rect(nearest(left), top, nearest(left + piece.text.width), top + line)
    if window.empty or window.width > _MAX_LINE_LENGTH:
        return []
    ink_columns = np.flatnonzero(np.asarray(glyph_mask(piece, left, baseline, window)).max(axis=0) > _INK)
    gaps: list[tuple[int, int]] = []
    for column in (int(index) + window.left for index in ink_columns):
        if gaps and column - line <= gaps[-1][1]:
            gaps[-1] = (gaps[-1][0], column + 1 + line)
        else:
            gaps.append((column - line, column + 1 + line))
    return gaps


def _rule(
    canvas: Canvas, decoration: Decoration, x: float, top: int, width: float, line: int, gaps: list[tuple[int, int]]
) -> None:
    left, right = nearest(x), nearest(x + width)
    match decoration.style:
        case "double":
            canvas.fill(Rect(left, top, right, top + line), decoration.color)
            canvas.fill(Rect(left, top + 2 * line, right, top + 3 * line), decoration.color)
        case "dashed" | "dotted":
            length = line * (3 if decoration.style == "dashed" else 1)
            visible = Rect(left, top, right, top + line).within(canvas.rect)
            for start in range(left, right, max(1, length + (2 * line if length > line else line))):
                if start + length >= visible.left and start <= visible.right:
                    canvas.fill(Rect(start, top, min(start + length, right), top + line), decoration.color)
        case "wavy":
            _wave(canvas, decoration.color, Rect(left, top, right, top + line), line)
        case _:
            for start, end in gaps:
                canvas.fill(Rect(left, top, min(start, right), top + line), decoration.color)
                left = max(left, end)
            canvas.fill(Rect(left, top, right, top + line), decoration.color)


def _wave(canvas: Canvas, color: Color, rect: Rect, line: int) -> None:
    visible = Rect(rect.left, rect.top - 2 * line, rect.right, rect.bottom + 2 * line).within(canvas.rect)
    if visible.empty:
        return
    mask = Image.new("L", (visible.width * 2, visible.height * 2), 0)
    middle = (rect.top + line / 2 - visible.top) * 2
    points = [
        (x, middle + math.sin((x / 2 + visible.left - rect.left) * math.pi / (3 * line)) * 2.5 * line)
        for x in range(mask.width)
    ]
    ImageDraw.Draw(mask).line(points, fill=255, width=2 * line)
    canvas.tint(color, mask.reduce(2), visible.left, visible.top)
