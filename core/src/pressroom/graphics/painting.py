"""Fill rectangles with colours and gradients, like browsers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pressroom.graphics.color import Color
from pressroom.graphics.gradient import (
    ConicGradient,
    Gradient,
    LinearGradient,
    Paint,
    RadialGradient,
    Ramp,
    resolve_stops,
)

__all__ = [
    "paint_image",
]

_TABLE_STEPS_PER_PIXEL: Final = 4
_MIN_TABLE, _MAX_TABLE = 256, 16_384
_TINY: Final = 1e-6

_NUDGE: Final = 1e-3
"""Tolerance as a fraction of a table entry: positions just below an entry are rounded up to it."""

_Floats = NDArray[np.float32]

Box = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels; right and bottom are exclusive."""


def paint_image(paint: Paint, width: int, height: int) -> Image.Image:
    """Return an image of `width` by `height` pixels filled with the paint: `RGB` if it is opaque, otherwise `RGBA`."""
    return paint_part(paint, width, height, (0, 0, width, height))


def paint_part(paint: Paint, width: int, height: int, box: Box) -> Image.Image:
    """Return the part of a painted image of `width` by `height` pixels that is inside a box.

    The mode is that of the whole image, so parts can be joined.
    """
    size = (box[2] - box[0], box[3] - box[1])
    if isinstance(paint, Color):
        red, green, blue, alpha = paint.rgba8
        if paint.opaque:
            return Image.new("RGB", size, (red, green, blue))
        return Image.new("RGBA", size, (red, green, blue, alpha))
    opaque = all(stop.color is None or stop.color.opaque for stop in paint.stops)
    pixels = _gradient_pixels(paint, width, height, box)
    if opaque:
        # `frombuffer` would create an image of mode RGBX.
        return Image.frombytes("RGB", size, pixels.tobytes(), "raw", "RGBX")
    return Image.frombuffer("RGBA", size, pixels.tobytes(), "raw", "RGBA", 0, 1)


def _gradient_pixels(gradient: Gradient, width: int, height: int, box: Box) -> NDArray[np.uint32]:
    """Return the pixels in the box, each as four bytes: red, green, blue and alpha."""
    match gradient:
        case LinearGradient():
            return _linear(gradient, width, height, box)
        case RadialGradient():
            return _radial(gradient, width, height, box)
        case ConicGradient():
            return _conic(gradient, width, height, box)


def _centres(start: int, stop: int, origin: float) -> _Floats:
    """Return the distances of pixel centres in a row or column from `origin`."""
    return np.arange(start, stop, dtype=np.float32) + np.float32(0.5 - origin)


def _linear(gradient: LinearGradient, width: int, height: int, box: Box) -> NDArray[np.uint32]:
    across, down = direction_of(gradient, width, height)
    line = abs(width * across) + abs(height * down)
    x = _centres(box[0], box[2], width / 2) * np.float32(across / line)
    y = _centres(box[1], box[3], height / 2) * np.float32(down / line) + np.float32(0.5)
    low, high = float(x.min() + y.min()), float(x.max() + y.max())
    table = _tabulated(resolve_stops(gradient.stops, line), line, low, high, repeating=gradient.repeating)
    x *= np.float32(table.scale)
    y = (y - np.float32(table.low)) * np.float32(table.scale)
    if not down * height:
        return np.repeat(table.colors_at((x + y[:1])[None, :]), box[3] - box[1], axis=0)
    if not across * width:
        return np.repeat(table.colors_at((y + x[:1])[:, None]), box[2] - box[0], axis=1)
    return table.colors_at(y[:, None] + x[None, :])


def direction_of(gradient: LinearGradient, width: float, height: float) -> tuple[float, float]:
    """Return the unit vector along the gradient line (CSS Images 4, section 3.1.1)."""
    if gradient.corner is not None:
        # The line of equal colour through the centre passes through the other two corners.
        sign_x, sign_y = gradient.corner
        diagonal = math.hypot(width, height)
        return sign_x * height / diagonal, sign_y * width / diagonal
    degrees = gradient.degrees % 360
    if degrees % 90 == 0:
        return ((0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0))[int(degrees // 90)]
    return math.sin(math.radians(degrees)), -math.cos(math.radians(degrees))


def _radial(gradient: RadialGradient, width: int, height: int, box: Box) -> NDArray[np.uint32]:
    centre_x, centre_y = gradient.centre[0].of(width), gradient.centre[1].of(height)
    radius_x, radius_y = radii_of(gradient, centre_x, centre_y, width, height)
    ramp = resolve_stops(gradient.stops, radius_x)
    x = _centres(box[0], box[2], centre_x) / np.float32(max(radius_x, _TINY))
    y = _centres(box[1], box[3], centre_y) / np.float32(max(radius_y, _TINY))
    x, y = x * x, y * y
    low, high = math.sqrt(float(x.min() + y.min())), math.sqrt(float(x.max() + y.max()))
    table = _tabulated(ramp, radius_x, low, high, repeating=gradient.repeating)
    square = np.float32(table.scale * table.scale)
    positions = (x * square)[None, :] + (y * square)[:, None]
    np.sqrt(positions, out=positions)
    positions -= np.float32(table.low * table.scale)
    return table.colors_at(positions)


def radii_of(gradient: RadialGradient, x: float, y: float, width: float, height: float) -> tuple[float, float]:
    """Return the radii of the ending shape (CSS Images 4, section 3.2.1)."""
    if gradient.radii is not None:
        return gradient.radii[0].of(width), gradient.radii[1].of(height)
    sides_x, sides_y = (abs(x), abs(width - x)), (abs(y), abs(height - y))
    nearest = gradient.extent.startswith("closest")
    pick = min if nearest else max
    if gradient.extent.endswith("side"):
        if gradient.shape == "circle":
            radius = pick(*sides_x, *sides_y)
            return radius, radius
        return pick(sides_x), pick(sides_y)
    corners = [(dx, dy) for dx in sides_x for dy in sides_y]
    dx, dy = pick(corners, key=lambda corner: math.hypot(*corner))
    if gradient.shape == "circle":
        radius = math.hypot(dx, dy)
        return radius, radius
    # The ellipse passes through that corner, with the aspect ratio of the corresponding ellipse to the sides.
    side_x, side_y = pick(sides_x), pick(sides_y)
    if not side_x or not side_y:
        return (max(dx, _TINY), max(dy, _TINY))
    scale = math.hypot(dx / side_x, dy / side_y)
    return side_x * scale, side_y * scale


def _conic(gradient: ConicGradient, width: int, height: int, box: Box) -> NDArray[np.uint32]:
    centre_x, centre_y = gradient.centre[0].of(width), gradient.centre[1].of(height)
    ramp = resolve_stops(gradient.stops, 1.0)
    x, y = _centres(box[0], box[2], centre_x), _centres(box[1], box[3], centre_y)
    turns = np.arctan2(x[None, :], -y[:, None]) * np.float32(1 / (2 * math.pi))
    turns -= np.float32(gradient.start / 360)
    turns -= np.floor(turns)
    circumference = 2 * math.pi * math.hypot(width, height)
    table = _tabulated(ramp, circumference, float(turns.min()), float(turns.max()), repeating=gradient.repeating)
    turns -= np.float32(table.low)
    turns *= np.float32(table.scale)
    return table.colors_at(turns)


@dataclass(frozen=True, slots=True)
class _Table:
    """Colours at evenly spaced positions of a gradient line, finer than the pixels, starting at `low`.

    `scale` converts a fraction of the line to a number of table entries.
    """

    colors: NDArray[np.uint32]
    low: float
    scale: float
    repeating: bool

    def colors_at(self, positions: _Floats) -> NDArray[np.uint32]:
        """Return the colours at positions given in table entries."""
        if self.repeating:
            return self.colors[np.floor(positions).astype(np.intp) % len(self.colors)]
        return np.take(self.colors, positions.astype(np.intp), mode="clip")


def _tabulated(ramp: Ramp, line: float, low: float, high: float, *, repeating: bool) -> _Table:
    """Return the table for the part of a gradient line from `low` to `high`, or for one period if it repeats."""
    first, last = ramp.offsets[0], ramp.offsets[-1]
    repeating = repeating and last - first > _TINY
    if repeating:
        low, high = first, last
    span = max(high - low, _TINY)
    size = int(min(max(abs(span * line) * _TABLE_STEPS_PER_PIXEL, _MIN_TABLE), _MAX_TABLE))
    hard_edges = [
        position for position, following in pairwise(ramp.offsets) if position == following and low < position < high
    ]
    if hard_edges and not repeating:
        # A hard edge falls between two entries of the table, so a pixel at that position has the colour after it.
        low, size, span = _aligned(hard_edges, low, high, line, size)
    scale = size / span
    return _Table(_table(ramp, low, span, size), low - _NUDGE / scale, scale, repeating)


def _aligned(hard_edges: list[float], low: float, high: float, line: float, size: int) -> tuple[float, int, float]:
    """Return start, size and span of a table whose hard edges fall between its entries, if possible."""
    for unit in (100.0, line):
        scale = unit * math.ceil(size / (high - low) / unit)
        start, end = math.floor(low * scale), math.ceil(high * scale)
        on_edges = all(abs(position * scale - round(position * scale)) < _TINY * scale for position in hard_edges)
        if on_edges and end - start <= _MAX_TABLE:
            return start / scale, end - start, (end - start) / scale
    return low, size, high - low


@lru_cache(maxsize=64)
def _table(ramp: Ramp, low: float, span: float, size: int) -> NDArray[np.uint32]:
    """Return the colours at evenly spaced positions."""
    positions = (low + (np.arange(size) + 0.5) * (span / size)).astype(np.float64)
    pixels = _mixed(ramp, positions)
    colors = (pixels * 255 + 0.5).clip(0, 255).astype(np.uint8).view(np.uint32)[:, 0]
    colors.flags.writeable = False
    return colors


def ramp_colors(ramp: Ramp, positions: Sequence[float]) -> list[Color]:
    """Return the colours of a ramp at these positions, interpolated as in browsers."""
    mixed = _mixed(ramp, np.asarray(positions, np.float64))
    return [Color(float(red), float(green), float(blue), float(alpha)) for red, green, blue, alpha in mixed]


def _mixed(ramp: Ramp, positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return red, green, blue and alpha at each position, interpolated premultiplied (CSS Images 4, section 3.5.3)."""
    legacy = all(color.legacy for color in ramp.colors)
    channels = np.array([(color.red, color.green, color.blue) if legacy else color.oklab for color in ramp.colors])
    alpha = np.array([color.alpha for color in ramp.colors])
    mixed_alpha = np.interp(positions, ramp.offsets, alpha)
    premultiplied = channels * alpha[:, None]
    mixed = np.stack([np.interp(positions, ramp.offsets, premultiplied[:, index]) for index in range(3)], axis=1)
    mixed /= np.where(mixed_alpha > 0, mixed_alpha, 1)[:, None]
    srgb = mixed if legacy else _from_oklab(mixed)
    srgb[mixed_alpha <= 0] = 0
    return np.concatenate([srgb, mixed_alpha[:, None]], axis=1)


_OKLAB_TO_LMS: Final = np.array(
    [[1, 0.3963377774, 0.2158037573], [1, -0.1055613458, -0.0638541728], [1, -0.0894841775, -1.2914855480]]
)
_LMS_TO_LINEAR_SRGB: Final = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def _from_oklab(oklab: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = ((oklab @ _OKLAB_TO_LMS.T) ** 3 @ _LMS_TO_LINEAR_SRGB.T).clip(0, 1)
    encoded: NDArray[np.float64] = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return encoded
