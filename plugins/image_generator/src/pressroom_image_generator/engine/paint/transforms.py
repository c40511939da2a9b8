"""Transforms in two dimensions (CSS Transforms 1)."""

from __future__ import annotations

import math
from typing import Final

from PIL import Image

from pressroom_image_generator.engine.effects import Matrix
from pressroom_image_generator.engine.layout.fragments import Fragment
from pressroom_image_generator.engine.paint.rects import Rect
from pressroom_image_generator.engine.properties import Style

_FAR: Final = 20_000
_TINY: Final = 1e-4


def product(one: Matrix, other: Matrix) -> Matrix:
    """Return the matrix that applies the other first."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * m + e, b * k + d * m + f


def inverse(matrix: Matrix) -> Matrix | None:
    """Return the matrix that undoes another, or `None` where nothing can."""
    a, b, c, d, e, f = matrix
    determinant = a * d - b * c
    if not math.isfinite(determinant) or abs(determinant) < _TINY:
        return None
    return (
        d / determinant, -b / determinant, -c / determinant, a / determinant,
        (c * f - d * e) / determinant, (b * e - a * f) / determinant,
    )  # fmt: skip


def matrix_of(style: Style, fragment: Fragment, x: float, y: float) -> Matrix | None:
    """Return the transform of a fragment at a place of the page, or `None` where it has none."""
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
    """Return the rectangle that holds a transformed one."""
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
    """Return the part of a layer that is seen in a rectangle, or `None` where nothing is or it would be too large."""
    undone = inverse(matrix)
    if undone is None:
        return None
    return mapped_rect(undone, rect).grown(2)


def warped(picture: Image.Image, matrix: Matrix, source: Rect, target: Rect) -> Image.Image:
    """Return what a target rectangle of the page shows of a layer, or of a mask, under a transform."""
    undone = inverse(matrix)
    if undone is None:
        return Image.new(picture.mode, target.size)
    a, b, c, d, e, f = undone
    # From pixels of the target to pixels of the layer.
    across = a * target.left + c * target.top + e - source.left
    down = b * target.left + d * target.top + f - source.top
    numbers = (a, c, across, b, d, down)
    if picture.mode != "RGBA":
        return picture.transform(target.size, Image.Transform.AFFINE, numbers, Image.Resampling.BICUBIC)
    premultiplied = picture.convert("RGBa")
    moved = premultiplied.transform(target.size, Image.Transform.AFFINE, numbers, Image.Resampling.BICUBIC)
    return moved.convert("RGBA")
