"""Draw shaped text: cached glyph masks at quarter-pixel positions, and glyph outlines as SVG path data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import uharfbuzz as hb
from PIL import Image

from pressroom.graphics.color import Color
from pressroom.graphics.emoji import BoundedCache, emoji_image
from pressroom.graphics.text.fonts import Face
from pressroom.graphics.text.shaping import PlacedGlyph, ShapedText, TextStyle, emoji_box

_STEPS: Final = 4
"""Subpixel positions per axis at which glyphs are drawn; more would make no visible difference."""

_CACHE_BYTES: Final = 32 * 2**20

_Key = tuple[Face, float, float, int, int, int]
_raster = hb.RasterDraw()


@dataclass(frozen=True, slots=True)
class GlyphMask:
    """The coverage of a glyph, and the offset of its upper left corner from its origin in pixels."""

    image: Image.Image | None
    left: int
    top: int


def _glyph_mask(face: Face, style: TextStyle, glyph: int, across: int, down: int) -> GlyphMask:
    """Return the mask of a glyph, shifted by subpixel steps."""
    key = (face, style.size, style.weight, glyph, across, down)
    return _masks.get(key, lambda: _draw_glyph(face.font(style.size, style.weight), glyph, across, down))


def _draw_glyph(font: hb.Font, glyph: int, across: int, down: int) -> GlyphMask:
    # The cache lets only one thread draw at a time, so threads can share the raster.
    _raster.reset()
    _raster.scale_factor = (64.0, 64.0)
    _raster.transform = (1.0, 0.0, 0.0, 1.0, across * 64 / _STEPS, -down * 64 / _STEPS)
    _raster.draw_glyph(font, glyph)
    bitmap = _raster.render()
    extents = bitmap.extents if bitmap is not None else None
    if bitmap is None or extents is None or not extents.width or not extents.height:
        return GlyphMask(None, 0, 0)
    size = (extents.width, extents.height)
    image = Image.frombuffer("L", size, bytes(bitmap.buffer), "raw", "L", extents.stride, -1)
    return GlyphMask(image, extents.x_origin, -(extents.y_origin + extents.height))


def _bytes_of(mask: GlyphMask) -> int:
    return 200 if mask.image is None else 200 + mask.image.width * mask.image.height


_masks: BoundedCache[_Key, GlyphMask] = BoundedCache(_CACHE_BYTES, _bytes_of)


def draw_text(image: Image.Image, text: ShapedText, x: float, baseline: float, color: Color) -> None:
    """Draw a line of text into an `RGB` or `RGBA` image.

    Args:
        image: modified in place; text outside it is clipped.
        text: the shaped line.
        x: the start of the line, in pixels from the left.
        baseline: the baseline, in pixels from the top.
        color: the colour of all glyphs except emoji.
    """
    red, green, blue, alpha = color.rgba8
    for glyph in text.glyphs:
        if glyph.face is None:
            _draw_emoji(image, glyph, text.style, x, baseline, color.alpha)
            continue
        mask, left, top = placed_mask(glyph, text.style, x, baseline)
        if mask is None or left >= image.width or top >= image.height:
            continue
        if alpha < 255:
            mask = mask.point([value * alpha // 255 for value in range(256)])
        if image.mode == "RGB":
            image.paste((red, green, blue), (left, top), mask)
        else:
            layer = Image.new("RGBA", mask.size, (red, green, blue, 0))
            layer.putalpha(mask)
            _composite(image, layer, left, top)


def ink_box(text: ShapedText) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the visible ink, in pixels from the start of the line and the baseline.

    All four are 0 for a text without visible ink.
    """
    boxes = [box for glyph in text.glyphs if (box := _glyph_box(glyph, text.style)) is not None]
    if not boxes:
        return 0.0, 0.0, 0.0, 0.0
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _glyph_box(glyph: PlacedGlyph, style: TextStyle) -> tuple[float, float, float, float] | None:
    if glyph.face is None:
        left, top, edge = emoji_box(glyph, style)
        return left, top, left + edge, top + edge
    extents = glyph.face.font(style.size, style.weight).get_glyph_extents(glyph.glyph)
    if extents is None or not extents.width or not extents.height:
        return None
    left, top = glyph.x + extents.x_bearing / 64, glyph.y - extents.y_bearing / 64
    return left, top, left + extents.width / 64, top - extents.height / 64


def placed_mask(glyph: PlacedGlyph, style: TextStyle, x: float, baseline: float) -> tuple[Image.Image | None, int, int]:
    """Return the mask of a glyph with its left and top pixel. The mask is `None` if it has no outline."""
    if glyph.face is None:
        return None, 0, 0
    across, left = _split(x + glyph.x)
    down, top = _split(baseline + glyph.y)
    mask = _glyph_mask(glyph.face, style, glyph.glyph, across, down)
    return mask.image, left + mask.left, top + mask.top


def _split(position: float) -> tuple[int, int]:
    """Split a position into subpixel steps and a pixel."""
    steps = math.floor(position * _STEPS + 0.5)
    return steps % _STEPS, steps // _STEPS


def _draw_emoji(
    image: Image.Image, glyph: PlacedGlyph, style: TextStyle, x: float, baseline: float, opacity: float
) -> None:
    left, top, edge = emoji_box(glyph, style)
    emoji = emoji_image(glyph.emoji, max(1, round(edge)))
    if emoji is None:
        return
    if opacity < 1:
        emoji = emoji.copy()
        emoji.putalpha(emoji.getchannel("A").point([round(value * opacity) for value in range(256)]))
    _composite(image, emoji, round(x + left), round(baseline + top))


def _composite(image: Image.Image, layer: Image.Image, left: int, top: int) -> None:
    """Composite a layer onto an image, clipping it at the edges."""
    box = (max(0, -left), max(0, -top), min(layer.width, image.width - left), min(layer.height, image.height - top))
    if box[0] >= box[2] or box[1] >= box[3]:
        return
    if image.mode == "RGBA":
        image.alpha_composite(layer, (left + box[0], top + box[1]), box)
    else:
        part = layer.crop(box)
        image.paste(part, (left + box[0], top + box[1]), part)


@lru_cache(maxsize=2048)
def glyph_path(face: Face, size: float, weight: float, glyph: int) -> str:
    """Return the outline of a glyph as SVG path data, in pixels from its origin with y pointing down.

    Empty for a glyph without ink.
    """
    parts: list[str] = []
    face.font(size, weight).draw_glyph(glyph, _pen(), parts)
    return "".join(parts)


@cache
def _pen() -> hb.DrawFuncs:
    """Return draw functions that append each part of an outline to a list."""
    pen = hb.DrawFuncs()
    pen.set_move_to_func(lambda x, y, parts: parts.append("M" + _points(x, y)))
    pen.set_line_to_func(lambda x, y, parts: parts.append("L" + _points(x, y)))
    pen.set_quadratic_to_func(lambda a, b, x, y, parts: parts.append("Q" + _points(a, b, x, y)))
    pen.set_cubic_to_func(lambda a, b, c, d, x, y, parts: parts.append("C" + _points(a, b, c, d, x, y)))
    pen.set_close_path_func(lambda parts: parts.append("z"))
    return pen


def _points(*positions: float) -> str:
    """Convert coordinates in 64ths of a pixel with y pointing up to SVG path data."""
    pixels = (position / (-64 if index % 2 else 64) for index, position in enumerate(positions))
    return " ".join(f"{pixel:.2f}".rstrip("0").rstrip(".") for pixel in pixels)
