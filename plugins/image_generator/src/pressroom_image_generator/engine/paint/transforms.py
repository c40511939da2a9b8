"""2D transforms (CSS Transforms 1), and painting transformed boxes and glyphs as outlines."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import uharfbuzz as hb
from numpy.typing import NDArray
from PIL import Image
from pressroom.graphics.color import Color
from pressroom.graphics.text import ShapedText

from pressroom_image_generator.engine.effects import Matrix
from pressroom_image_generator.engine.layout.fragments import Fragment
from pressroom_image_generator.engine.paint.canvas import LAYER, OUTLINE, Canvas, through
from pressroom_image_generator.engine.paint.rectangles import SQUARE, Corners, Rect
from pressroom_image_generator.engine.properties import Style

_FAR: Final = 20_000
_TINY: Final = 1e-4


def product(one: Matrix, other: Matrix) -> Matrix:
    """Return the matrix product, which applies `other` first."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * m + e, b * k + d * m + f


def inverse(matrix: Matrix) -> Matrix | None:
    """Return the inverse of a matrix, or `None` if it is not invertible."""
    a, b, c, d, e, f = matrix
    determinant = a * d - b * c
    if not math.isfinite(determinant) or abs(determinant) < _TINY:
        return None
    return (
        d / determinant, -b / determinant, -c / determinant, a / determinant,
        (c * f - d * e) / determinant, (b * e - a * f) / determinant,
    )  # fmt: skip


def matrix_of(style: Style, fragment: Fragment, x: float, y: float) -> Matrix | None:
    """Return the transform of a fragment at a position on the page, or `None` if it has none."""
    if not style.transforms:
        return None
    width, height = fragment.width, fragment.height
    origin_x = x + style.transform_origin[0].of(width)
    origin_y = y + style.transform_origin[1].of(height)
    matrix: Matrix = (1.0, 0.0, 0.0, 1.0, origin_x, origin_y)
    for part in style.transforms:
        matrix = product(matrix, (1.0, 0.0, 0.0, 1.0, part.x.of(width), part.y.of(height)))
        matrix = product(matrix, part.matrix)
    return product(matrix, (1.0, 0.0, 0.0, 1.0, -origin_x, -origin_y))


def mapped_rect(matrix: Matrix, rect: Rect) -> Rect:
    """Return the bounding rectangle of a transformed rectangle."""
    if rect.empty:
        return rect
    a, b, c, d, e, f = matrix
    corners = [(rect.left, rect.top), (rect.right, rect.top), (rect.right, rect.bottom), (rect.left, rect.bottom)]
    xs = [_near(a * x + c * y + e) for x, y in corners]
    ys = [_near(b * x + d * y + f) for x, y in corners]
    return Rect(math.floor(min(xs)), math.floor(min(ys)), math.ceil(max(xs)), math.ceil(max(ys)))


def _near(value: float) -> float:
    return min(max(value, -_FAR), _FAR) if math.isfinite(value) else 0.0


def inverse_rect(matrix: Matrix, rect: Rect) -> Rect | None:
    """Return the part of a layer that is visible in a rectangle, or `None` if the matrix is not invertible."""
    inverse_matrix = inverse(matrix)
    if inverse_matrix is None:
        return None
    return mapped_rect(inverse_matrix, rect).grown(2)


def warped(image: Image.Image, matrix: Matrix, source: Rect, target: Rect) -> Image.Image:
    """Return the part of a transformed layer or mask within a target rectangle of the page."""
    inverse_matrix = inverse(matrix)
    if inverse_matrix is None:
        return Image.new(image.mode, target.size)
    a, b, c, d, e, f = inverse_matrix
    # Map pixels of the target to pixels of the layer.
    across = a * target.left + c * target.top + e - source.left
    down = b * target.left + d * target.top + f - source.top
    numbers = (a, c, across, b, d, down)
    if image.mode != "RGBA":
        return image.transform(target.size, Image.Transform.AFFINE, numbers, Image.Resampling.BICUBIC)
    premultiplied = image.convert("RGBa")
    moved = premultiplied.transform(target.size, Image.Transform.AFFINE, numbers, Image.Resampling.BICUBIC)
    return moved.convert("RGBA")


_NEAR_ZERO = 1e-9
_UNITS = 64.0
"""Units of a font outline per pixel."""


class TiltedCanvas(Canvas):
    """A canvas that paints onto another canvas under a transform.

    `rect` is the visible part of the page before the transform. There are no pixels to read back (`part`, `put_back`).
    """

    def __init__(self, under: Canvas, matrix: Matrix, rect: Rect) -> None:
        super().__init__(under.image, budget=under.budget)
        self.under = under
        self.matrix = matrix
        self.rect = rect
        self._inverse_matrix = inverse(matrix)

    def fill(self, rect: Rect, color: Color) -> None:
        """Fill a rectangle with a colour."""
        self.fill_box(rect, SQUARE, color)

    def fill_box(self, box: Rect, corners: Corners, color: Color) -> None:
        """Fill a box that may have rounded corners."""
        target = self._target(box)
        if target.empty or self._inverse_matrix is None:
            return
        self.budget.spend(target.size, OUTLINE)
        self.under.tint(color, box_coverage(self._inverse_matrix, box, corners, target), target.left, target.top)

    def tint(self, color: Color, mask: Image.Image, left: int, top: int) -> None:
        """Paint a colour through a mask whose top left corner is at `left` and `top`."""
        rect = Rect(left, top, left + mask.width, top + mask.height)
        target = self._target(rect)
        if not target.empty:
            self.budget.spend(target.size, LAYER)
            self.under.tint(color, warped(mask, self.matrix, rect, target), target.left, target.top)

    def draw(self, image: Image.Image, left: int, top: int, mask: Image.Image | None = None) -> None:
        """Paint an image over the page, through a mask of the same size if one is given."""
        rect = Rect(left, top, left + image.width, top + image.height)
        target = self._target(rect)
        if target.empty or self._inverse_matrix is None:
            return
        self.budget.spend(target.size, LAYER)
        if mask is not None:
            image = through(image, mask)
        # Extend the colours beyond the edge, so that the mask alone makes it as sharp as that of a box.
        edge = box_coverage(self._inverse_matrix, rect, SQUARE, target)
        self.under.draw(warped(_framed(image), self.matrix, rect.grown(1), target), *target[:2], edge)

    def draw_glyphs(self, text: ShapedText, left: float, baseline: float, color: Color, rect: Rect) -> None:
        """Draw the glyphs of a text, except emoji, at a position; `rect` is their ink bounds."""
        target = self._target(rect)
        if target.empty:
            return
        self.budget.spend(target.size, LAYER)
        a, b, c, d, e, f = self.matrix
        raster = hb.RasterDraw()
        raster.scale_factor = (_UNITS, _UNITS)
        raster.extents = hb.RasterExtents(target.left, -target.bottom, target.width, target.height, 0)
        for glyph in text.glyphs:
            if glyph.face is None:
                continue
            x, y = left + glyph.x, baseline + glyph.y
            across, down = a * x + c * y + e, b * x + d * y + f
            # Glyph outlines have an upward y axis.
            raster.transform = (a, -b, -c, d, across * _UNITS, -down * _UNITS)
            raster.draw_glyph(glyph.face.font(text.style.size, text.style.weight), glyph.glyph)
        bitmap = raster.render()
        if bitmap is None or bitmap.extents is None:
            return
        stride = bitmap.extents.stride
        mask = Image.frombuffer("L", target.size, bytes(bitmap.buffer), "raw", "L", stride, -1)
        self.under.tint(color, mask, target.left, target.top)

    def _target(self, rect: Rect) -> Rect:
        return mapped_rect(self.matrix, rect).grown(1).within(self.under.rect)


def _framed(image: Image.Image) -> Image.Image:
    """Return an image with its outermost pixels repeated once."""
    return Image.fromarray(np.pad(np.asarray(image), ((1, 1), (1, 1), (0, 0)), mode="edge"))


def box_coverage(inverse_matrix: Matrix, box: Rect, corners: Corners, target: Rect) -> Image.Image:
    """Return the mask of a rounded box under a transform, antialiased by the distance from the edge.

    Args:
        inverse_matrix: inverse matrix, from the target to the page.
        box: the box on the page.
        corners: corners of the box.
        target: area that the mask covers.
    """
    a, b, c, d, e, f = (np.float32(value) for value in inverse_matrix)
    columns = (np.arange(target.left, target.right, dtype=np.float32) + np.float32(0.5))[None, :]
    rows = (np.arange(target.top, target.bottom, dtype=np.float32) + np.float32(0.5))[:, None]
    x = (a * columns + (e - np.float32((box.left + box.right) / 2))) + c * rows
    y = (b * columns + (f - np.float32((box.top + box.bottom) / 2))) + d * rows
    beyond_x = np.abs(x) - np.float32(box.width / 2)
    beyond_y = np.abs(y) - np.float32(box.height / 2)
    coverage = np.clip(np.float32(0.5) - beyond_x / max(np.hypot(a, c), np.float32(_NEAR_ZERO)), 0, 1)
    coverage *= np.clip(np.float32(0.5) - beyond_y / max(np.hypot(b, d), np.float32(_NEAR_ZERO)), 0, 1)
    for index, (across, down) in enumerate(corners):
        if across > 0 and down > 0:
            side_x, side_y = (1 if index in (1, 2) else -1), (1 if index in (2, 3) else -1)
            inside = (x * side_x > box.width / 2 - across) & (y * side_y > box.height / 2 - down)
            part = _corner(beyond_x[inside] + across, beyond_y[inside] + down, across, down)
            scale = _slope(part, (a * side_x, c * side_x), (b * side_y, d * side_y))
            coverage[inside] = np.clip(np.float32(0.5) + (1 - part[0]) / scale, 0, 1)
    return Image.fromarray((coverage * 255 + np.float32(0.5)).astype(np.uint8))


_Floats = NDArray[np.float32]


def _corner(x: _Floats, y: _Floats, across: float, down: float) -> tuple[_Floats, _Floats, _Floats]:
    """Return the distance from a corner's centre, scaled to 1 on its edge, and its gradient."""
    right, below = x / np.float32(across), y / np.float32(down)
    distance = np.maximum(np.hypot(right, below), np.float32(_NEAR_ZERO))
    return distance, right / (distance * np.float32(across)), below / (distance * np.float32(down))


def _slope(
    part: tuple[_Floats, _Floats, _Floats], x: tuple[np.float32, np.float32], y: tuple[np.float32, np.float32]
) -> _Floats:
    """Return the increase of the distance from a corner's centre per pixel of the target."""
    _, right, below = part
    slope = np.hypot(right * x[0] + below * y[0], right * x[1] + below * y[1])
    return np.maximum(slope, np.float32(_NEAR_ZERO)).astype(np.float32)
