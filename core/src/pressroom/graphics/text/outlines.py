"""The outlines of glyphs as SVG path data."""

from __future__ import annotations

from functools import cache, lru_cache

import uharfbuzz as hb

from pressroom.graphics.text.fonts import Face


@lru_cache(maxsize=2048)
def glyph_path(face: Face, size: float, weight: float, glyph: int) -> str:
    """Return the outline of a glyph as SVG path data, in pixels from its origin, down positive.

    The text is empty for a glyph without ink.
    """
    parts: list[str] = []
    face.font(size, weight).draw_glyph(glyph, _pen(), parts)
    return "".join(parts)


@cache
def _pen() -> hb.DrawFuncs:
    """Return what writes each part of an outline to the list that it is given, in its order."""
    pen = hb.DrawFuncs()
    pen.set_move_to_func(lambda x, y, parts: parts.append("M" + _points(x, y)))
    pen.set_line_to_func(lambda x, y, parts: parts.append("L" + _points(x, y)))
    pen.set_quadratic_to_func(lambda a, b, x, y, parts: parts.append("Q" + _points(a, b, x, y)))
    pen.set_cubic_to_func(lambda a, b, c, d, x, y, parts: parts.append("C" + _points(a, b, c, d, x, y)))
    pen.set_close_path_func(lambda parts: parts.append("z"))
    return pen


def _points(*positions: float) -> str:
    """Return positions in 64ths of a pixel, up positive, as path data has them."""
    pixels = (position / (-64 if index % 2 else 64) for index, position in enumerate(positions))
    return " ".join(f"{pixel:.2f}".rstrip("0").rstrip(".") for pixel in pixels)
