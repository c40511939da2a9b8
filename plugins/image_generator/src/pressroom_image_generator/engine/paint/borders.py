"""Painting borders and outlines, one side at a time (CSS Backgrounds 3, section 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from PIL import Image, ImageChops, ImageDraw
from pressroom.graphics.color import Color

from pressroom_image_generator.engine.paint.canvas import FINE, Canvas
from pressroom_image_generator.engine.paint.rectangles import SQUARE, Corners, Rect, nearest, rounded_mask
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.values import Edges

RELIEFS: Final = frozenset({"inset", "outset"})
FURROWS: Final = frozenset({"groove", "ridge"})

_STEP: Final = 0.33
_DARKENED_WHITE, _LIGHTENED_BLACK = 171 / 255, 84 / 255
_DARKEST: Final = Color(32 / 255, 32 / 255, 32 / 255).luminance
_LIGHTEST: Final = Color(235 / 255, 235 / 255, 235 / 255).luminance


def shaded(color: Color, side: int, kind: str) -> Color:
    """Return the colour of a side (clockwise from the top) of an `inset` or `outset` border."""
    sunken = (side in (0, 3)) == (kind == "inset")
    if color.luminance < _DARKEST:
        # A nearly black colour cannot be darkened, so both sides are lightened.
        return _lighter(color) if sunken else _lighter(_lighter(color))
    if sunken:
        return _darker(color)
    return color if color.luminance >= _LIGHTEST else _lighter(color)


def furrow(color: Color, side: int, kind: str) -> tuple[Color, Color]:
    """Return the colours of the outer and inner half of a side of a `groove` or `ridge` border."""
    halves = ("inset", "outset") if kind == "groove" else ("outset", "inset")
    return shaded(color, side, halves[0]), shaded(color, side, halves[1])


def _darker(color: Color) -> Color:
    brightest = max(color.red, color.green, color.blue)
    if color.red == color.green == color.blue == 1:
        return Color(_DARKENED_WHITE, _DARKENED_WHITE, _DARKENED_WHITE, color.alpha)
    return _times(color, max(0.0, (brightest - _STEP) / brightest) if brightest > 0 else 0.0)


def _lighter(color: Color) -> Color:
    brightest = max(color.red, color.green, color.blue)
    if brightest <= 0:
        return Color(_LIGHTENED_BLACK, _LIGHTENED_BLACK, _LIGHTENED_BLACK, color.alpha)
    return _times(color, min(1.0, brightest + _STEP) / brightest)


def _times(color: Color, factor: float) -> Color:
    red, green, blue = (min(1.0, channel * factor) for channel in (color.red, color.green, color.blue))
    return Color(red, green, blue, color.alpha)


_FINE: Final = 4
_STRIP: Final = 64
"""Rows of a mask that are computed at a time, which bounds the memory."""

MAX_DASHES: Final = 4000
_Point = tuple[float, float]


def paint_border(canvas: Canvas, style: Style, rect: Rect, border: Edges, corners: Corners) -> None:
    """Paint the border of a border box."""
    if not any(border):
        return
    current = style.color
    sides = [
        (style.border_top_style, style.border_top_color or current, border.top),
        (style.border_right_style, style.border_right_color or current, border.right),
        (style.border_bottom_style, style.border_bottom_color or current, border.bottom),
        (style.border_left_style, style.border_left_color or current, border.left),
    ]
    visible = [side for side in sides if side[2] > 0 and side[1].alpha > 0]
    if not visible:
        return
    kinds = {side[:2] for side in sides if side[2] > 0}
    if len(kinds) == 1 and visible[0][0] == "solid" and (corners.square or min(border) >= 0):
        _ring(canvas, rect, border, corners, visible[0][1])
    elif len(kinds) == 1 and len(visible) == 4 and visible[0][0] in ("dashed", "dotted") and not corners.square:
        _dashed_ring(canvas, rect, border, corners, visible[0][0], visible[0][1])
    else:
        for index, (kind, color, width) in enumerate(sides):
            if width > 0:
                _side(canvas, rect, border, corners, index, kind, color)


def paint_outline(canvas: Canvas, style: Style, rect: Rect, corners: Corners) -> None:
    """Paint the outline around a border box."""
    width = min(math.floor(style.outline_width), 10_000)
    if style.outline_style in ("none", "hidden") or width <= 0:
        return
    reach = width + nearest(style.outline_offset)
    outer = rect.grown(reach)
    if outer.empty:
        return
    edges = Edges(width, width, width, width)
    grown = corners.grown(reach).fitted(outer.width, outer.height)
    color = style.outline_color or style.color
    if style.outline_style in ("dashed", "dotted") and not grown.square:
        _dashed_ring(canvas, outer, edges, grown, style.outline_style, color)
    elif style.outline_style != "solid":
        for index in range(4):
            _side(canvas, outer, edges, grown, index, style.outline_style, color)
    else:
        _ring(canvas, outer, edges, grown, color)


def _inner(rect: Rect, border: Edges) -> Rect:
    top, right, bottom, left = (nearest(edge) for edge in border)
    inner = Rect(rect.left + left, rect.top + top, rect.right - right, rect.bottom - bottom)
    return Rect(inner.left, inner.top, max(inner.left, inner.right), max(inner.top, inner.bottom))


def ring_mask(rect: Rect, border: Edges, corners: Corners, window: Rect) -> Image.Image:
    """Return the mask of a border within a window."""
    outer = rounded_mask(rect, corners, window)
    inner = _inner(rect, border)
    if inner.empty:
        return outer
    return ImageChops.subtract(outer, rounded_mask(inner, corners.inside(border), window))


def _ring(canvas: Canvas, rect: Rect, border: Edges, corners: Corners, color: Color) -> None:
    inner = _inner(rect, border)
    if corners.square:
        canvas.fill(Rect(rect.left, rect.top, rect.right, inner.top), color)
        canvas.fill(Rect(rect.left, inner.bottom, rect.right, rect.bottom), color)
        canvas.fill(Rect(rect.left, inner.top, inner.left, inner.bottom), color)
        canvas.fill(Rect(inner.right, inner.top, rect.right, inner.bottom), color)
        return
    for band, round_ in corners.bands(rect):
        window = band.within(canvas.rect)
        if window.empty:
            continue
        # Where a border is thicker than its corner radius, it belongs to the band of the corners.
        if round_ or inner.top > band.top or inner.bottom < band.bottom:
            canvas.tint(color, ring_mask(rect, border, corners, window), window.left, window.top)
        else:
            canvas.fill(Rect(band.left, band.top, inner.left, band.bottom), color)
            canvas.fill(Rect(inner.right, band.top, band.right, band.bottom), color)


def _side(canvas: Canvas, rect: Rect, border: Edges, corners: Corners, index: int, kind: str, color: Color) -> None:
    """Paint one side: its part of the ring, mitred at the corners."""
    window = rect.within(canvas.rect)
    if window.empty or kind in ("none", "hidden") or color.alpha <= 0:
        return
    inner = _inner(rect, border)
    outer_points = [(rect.left, rect.top), (rect.right, rect.top), (rect.right, rect.bottom), (rect.left, rect.bottom)]
    inner_points = [
        (inner.left, inner.top),
        (inner.right, inner.top),
        (inner.right, inner.bottom),
        (inner.left, inner.bottom),
    ]
    following = (index + 1) % 4
    bounds = _strip(rect, inner, corners, index)
    window = bounds.within(window)
    if window.empty:
        return
    canvas.budget.spend(window.size, FINE)
    if kind in ("dashed", "dotted"):
        canvas.tint(
            color, _dashes(_strip(rect, inner, SQUARE, index), index in (0, 2), kind, window), window.left, window.top
        )
        return
    points: list[_Point] = [
        outer_points[index],
        outer_points[following],
        inner_points[following],
        inner_points[index],
    ]
    if not corners.square:
        points = _wedge(rect, border, index)
    part = polygon_mask(points, window) if border[index - 1] or border[following] else None
    for shade, mask in _shades(rect, border, corners, window, kind, color, index):
        visible_mask = mask if part is None else ImageChops.multiply(mask, part)
        canvas.tint(shade, visible_mask, window.left, window.top)


def _strip(rect: Rect, inner: Rect, corners: Corners, index: int) -> Rect:
    """Return the area of one side, extended inwards as far as its corners are round."""
    top_left, top_right, bottom_right, bottom_left = corners
    top = max(inner.top, rect.top + math.ceil(max(top_left[1], top_right[1])))
    right = min(inner.right, rect.right - math.ceil(max(top_right[0], bottom_right[0])))
    bottom = min(inner.bottom, rect.bottom - math.ceil(max(bottom_right[1], bottom_left[1])))
    left = max(inner.left, rect.left + math.ceil(max(bottom_left[0], top_left[0])))
    return (
        Rect(rect.left, rect.top, rect.right, top), Rect(right, rect.top, rect.right, rect.bottom),
        Rect(rect.left, bottom, rect.right, rect.bottom), Rect(rect.left, rect.top, left, rect.bottom),
    )[index]  # fmt: skip


def _shades(
    rect: Rect, border: Edges, corners: Corners, window: Rect, kind: str, color: Color, index: int
) -> list[tuple[Color, Image.Image]]:
    """Return the colours of a side, each with the mask of the ring that it fills."""
    ring = ring_mask(rect, border, corners, window)
    if kind == "double":
        third = Edges(*(max(1.0, math.floor(edge / 3 + 0.5)) if edge else 0.0 for edge in border))
        remaining = Edges(*(edge - part for edge, part in zip(border, third, strict=True)))
        gap = ImageChops.subtract(ring_mask(rect, remaining, corners, window), ring_mask(rect, third, corners, window))
        return [(color, ImageChops.subtract(ring, gap))]
    if kind in FURROWS:
        half = Edges(*(math.ceil(edge / 2) for edge in border))
        outer = ring_mask(rect, half, corners, window)
        above, below = furrow(color, index, kind)
        return [(above, outer), (below, ImageChops.subtract(ring, outer))]
    return [(shaded(color, index, kind) if kind in RELIEFS else color, ring)]


def _wedge(rect: Rect, border: Edges, index: int) -> list[_Point]:
    """Return the polygon of a rounded box that belongs to one side; it extends to the middle."""
    middle = min(rect.width, rect.height) / 2
    top, right, bottom, left = (max(edge, 0.001) for edge in border)
    corners = [(rect.left, rect.top, left, top), (rect.right, rect.top, -right, top),
               (rect.right, rect.bottom, -right, -bottom), (rect.left, rect.bottom, left, -bottom)]  # fmt: skip
    points: list[_Point] = []
    for x, y, across, down in (corners[index], corners[(index + 1) % 4]):
        scale = middle / max(abs(across), abs(down))
        points.append((x, y))
        points.append((x + across * scale, y + down * scale))
    return [points[0], points[2], points[3], points[1]]


def polygon_mask(points: Sequence[_Point], window: Rect) -> Image.Image:
    """Return the antialiased mask of a polygon without crossings within a window."""
    mask = Image.new("L", (window.width * _FINE, window.height * _FINE), 0)
    scaled = [(_near((x - window.left) * _FINE - 0.5), _near((y - window.top) * _FINE - 0.5)) for x, y in points]
    ImageDraw.Draw(mask).polygon(scaled, fill=255)
    return mask.reduce(_FINE)


def exact_polygon_mask(points: Sequence[_Point], window: Rect, *, even_odd: bool) -> Image.Image:
    """Return the antialiased mask of a polygon that may cross itself, with the fill rule `evenodd` or `nonzero`."""
    mask = Image.new("L", window.size)
    ends = np.clip(np.array(points) - (window.left, window.top), -1e6, 1e6)
    (x, y), (next_x, next_y) = ends.T, np.roll(ends, -1, axis=0).T
    turns = np.where(next_y > y, 1, -1)
    for top in range(0, window.height, _STRIP):
        height = min(_STRIP, window.height - top)
        rows = top + (np.arange(height * _FINE) + 0.5) / _FINE
        row, edge = np.nonzero((y <= rows[:, None]) != (next_y <= rows[:, None]))
        crossed = x[edge] + (rows[row] - y[edge]) / (next_y - y)[edge] * (next_x - x)[edge]
        order = np.lexsort((crossed, row))
        row, crossed = row[order] // _FINE, np.clip(crossed[order], 0, window.width)
        winding = np.cumsum(turns[edge][order])
        inside = (winding % 2 if even_odd else winding) != 0
        # The first crossing of a span adds coverage to the rest of the row, the last one takes it away.
        change = np.diff(inside.astype(np.float32), prepend=0) / _FINE
        column = crossed.astype(np.intp)
        part = crossed - column
        coverage = np.zeros((height, window.width + 2), np.float32)
        np.add.at(coverage, (row, column), change * (1 - part))
        np.add.at(coverage, (row, column + 1), change * part)
        covered = np.clip(np.cumsum(coverage, axis=1)[:, : window.width], 0, 1)
        mask.paste(Image.fromarray((covered * 255 + 0.5).astype(np.uint8)), (0, top))
    return mask


def _near(value: float) -> float:
    return min(max(value, -1e6), 1e6)


def _dash(length: float, width: float, kind: str, *, closed: bool) -> tuple[float, float]:
    """Return the lengths of dash and gap that fill a line evenly (as Skia-based browsers do)."""
    dash = width if kind == "dotted" else width * (2 if width >= 3 else 3)
    gap = width if kind == "dotted" else width * (1 if width >= 3 else 2)
    available = length if closed else length + gap
    min_count = max(1, math.floor(available / (dash + gap)))
    gaps = min_count if closed else min_count - 1
    small = (length - min_count * dash) / gaps if gaps else math.inf
    large = (length - (min_count + 1) * dash) / (gaps + 1)
    best = small if large <= 0 or abs(small - gap) < abs(large - gap) else large
    return dash, max(best, 0.0) if math.isfinite(best) else length


def _dashes(bounds: Rect, across: bool, kind: str, window: Rect) -> Image.Image:
    length, width = (bounds.width, bounds.height) if across else (bounds.height, bounds.width)
    dash, gap = _dash(length, width, kind, closed=False)
    mask = Image.new("L", (window.width * _FINE, window.height * _FINE), 0)
    draw = ImageDraw.Draw(mask)
    if length / max(dash + gap, 0.01) > MAX_DASHES:
        return Image.new("L", window.size, 0)
    at = 0.0
    while at < length:
        start, end = at, min(at + dash, length)
        box = (start, 0.0, end, float(width)) if across else (0.0, start, float(width), end)
        left, top = bounds.left - window.left, bounds.top - window.top
        area = [_near(value * _FINE) for value in (left + box[0], top + box[1], left + box[2], top + box[3])]
        area = [area[0], area[1], area[2] - 1, area[3] - 1]
        if area[2] >= area[0] and area[3] >= area[1]:
            if kind == "dotted" and width >= 3:
                draw.ellipse(area, fill=255)
            else:
                draw.rectangle(area, fill=255)
        at += max(dash + gap, 0.01)
    return mask.reduce(_FINE)


def _dashed_ring(canvas: Canvas, rect: Rect, border: Edges, corners: Corners, kind: str, color: Color) -> None:
    """Paint dashes along the centre line of a rounded border."""
    window = rect.within(canvas.rect)
    width = max(border)
    canvas.budget.spend(window.size, FINE)
    points = _path(rect, corners, width / 2)
    lengths = [math.dist(first, second) for first, second in pairwise(points)]
    total = sum(lengths)
    if window.empty or total / max(width, 0.01) > MAX_DASHES or not total:
        return
    dash, gap = _dash(total, width, kind, closed=True)
    mask = Image.new("L", (window.width * _FINE, window.height * _FINE), 0)
    draw = ImageDraw.Draw(mask)
    along = 0.0
    for (first, second), length in zip(pairwise(points), lengths, strict=True):
        if length:
            _cut_dashes(draw, first, second, along, length, (dash, gap, width), kind, window)
        along += length
    full = ImageChops.multiply(mask.reduce(_FINE), ring_mask(rect, border, corners, window))
    canvas.tint(color, full, window.left, window.top)


def _cut_dashes(
    draw: ImageDraw.ImageDraw, first: _Point, second: _Point, along: float, length: float,
    pattern: tuple[float, float, float], kind: str, window: Rect,
) -> None:  # fmt: skip
    dash, gap, width = pattern
    period = max(dash + gap, 0.01)
    index = math.floor(along / period)
    while index * period < along + length:
        start, end = max(index * period, along), min(index * period + dash, along + length)
        index += 1
        if end <= start:
            continue
        ends = []
        for distance in (start, end):
            part = (distance - along) / length
            x, y = first[0] + (second[0] - first[0]) * part, first[1] + (second[1] - first[1]) * part
            ends.append((_near((x - window.left) * _FINE), _near((y - window.top) * _FINE)))
        if kind == "dotted":
            if start == (index - 1) * period:
                x, y = ends[0]
                reach = width * _FINE / 2
                draw.ellipse([x - reach, y - reach, x + reach, y + reach], fill=255)
        else:
            draw.line(ends, fill=255, width=max(1, round(width * _FINE) + 2))


def _path(rect: Rect, corners: Corners, inset: float) -> list[_Point]:
    """Return a closed, clockwise path along the centre line of a border, with short segments around the corners."""
    left, top, right, bottom = rect.left + inset, rect.top + inset, rect.right - inset, rect.bottom - inset
    radii = [(max(0.0, across - inset), max(0.0, down - inset)) for across, down in corners]
    centres = [
        (left + radii[0][0], top + radii[0][1]), (right - radii[1][0], top + radii[1][1]),
        (right - radii[2][0], bottom - radii[2][1]), (left + radii[3][0], bottom - radii[3][1]),
    ]  # fmt: skip
    points: list[_Point] = []
    for index, start in enumerate((180, 270, 0, 90)):
        (x, y), (across, down) = centres[index], radii[index]
        steps = min(max(1, math.ceil(max(across, down) / 2)), 200)
        for step in range(steps + 1):
            turn = math.radians(start + 90 * step / steps)
            points.append((x + across * math.cos(turn), y + down * math.sin(turn)))
    # The path starts at the start of the top side, as in browsers.
    steps = min(max(1, math.ceil(max(radii[0]) / 2)), 200)
    points = [*points[steps:], *points[:steps]]
    return [*points, points[0]]
