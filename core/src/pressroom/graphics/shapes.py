"""Masks of rounded boxes, their borders and shadows. A mask is an `L` image in which 255 is inside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from PIL import Image, ImageChops, ImageFilter

__all__ = [
    "SQUARE",
    "Radii",
    "Shadow",
    "border_mask",
    "box_mask",
    "box_shadow",
    "fitted_radii",
]

Radii = tuple[float, float, float, float]
"""The corner radii in pixels: top left, top right, bottom right, bottom left."""

SQUARE: Final[Radii] = (0.0, 0.0, 0.0, 0.0)

MAX_BLUR: Final = 400.0
"""Maximum blur in pixels. More blur would make no visible difference."""

_FINE_SIGMA: Final = 6.0
"""Up to this sigma, shadows are blurred at full resolution; softer ones look the same from a smaller image."""


def fitted_radii(width: float, height: float, radii: Radii) -> Radii:
    """Return radii that do not overlap, all scaled by the same factor (CSS Backgrounds 3, section 4.5)."""
    top_left, top_right, bottom_right, bottom_left = (max(0.0, radius) for radius in radii)
    sides = (
        (width, top_left + top_right),
        (width, bottom_left + bottom_right),
        (height, top_left + bottom_left),
        (height, top_right + bottom_right),
    )
    factor = min([1.0, *(side / required for side, required in sides if required > 0)])
    return top_left * factor, top_right * factor, bottom_right * factor, bottom_left * factor


def box_mask(width: int, height: int, radii: Radii = SQUARE) -> Image.Image:
    """Return the antialiased mask of a box with rounded corners."""
    mask = Image.new("L", (width, height), 255)
    turns = (None, Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_180, Image.Transpose.FLIP_TOP_BOTTOM)
    for corner, (radius, turn) in enumerate(zip(fitted_radii(width, height, radii), turns, strict=True)):
        if radius <= 0:
            continue
        tile = _corner(round(radius * 16) / 16)
        if turn is not None:
            tile = tile.transpose(turn)
        left = 0 if corner in (0, 3) else width - tile.width
        top = 0 if corner in (0, 1) else height - tile.height
        _darken(mask, tile, left, top)
    return mask


def border_mask(width: int, height: int, radii: Radii, thickness: int) -> Image.Image:
    """Return the mask of a border of uniform thickness inside a box."""
    outer = box_mask(width, height, radii)
    if 2 * thickness >= min(width, height):
        return outer
    inner_radii = fitted_radii(width, height, radii)
    top_left, top_right, bottom_right, bottom_left = (max(0.0, radius - thickness) for radius in inner_radii)
    inner = box_mask(width - 2 * thickness, height - 2 * thickness, (top_left, top_right, bottom_right, bottom_left))
    hole = Image.new("L", (width, height), 0)
    hole.paste(inner, (thickness, thickness))
    return ImageChops.subtract(outer, hole)


@dataclass(frozen=True, slots=True)
class Shadow:
    """The mask of a shadow, offset by `margin` pixels to the left of and above the box."""

    mask: Image.Image
    margin: int


def box_shadow(width: int, height: int, radii: Radii, blur: float, spread: float = 0.0) -> Shadow:
    """Return the shadow of a box as in CSS: a Gaussian blur with a sigma of half of `blur`, in pixels.

    If a negative `spread` shrinks the shadow to nothing, its mask is empty.
    """
    sigma = min(max(blur, 0.0), MAX_BLUR) / 2
    grown = round(spread)
    inner_width, inner_height = width + 2 * grown, height + 2 * grown
    reach = math.ceil(3 * sigma)
    margin = grown + reach
    if inner_width <= 0 or inner_height <= 0:
        return Shadow(Image.new("L", (1, 1), 0), 0)
    grown_radii = fitted_radii(inner_width, inner_height, _grown(fitted_radii(width, height, radii), grown))
    size = (inner_width + 2 * reach, inner_height + 2 * reach)
    if not sigma:
        return Shadow(box_mask(*size, grown_radii), margin)
    # The middle of each side is uniform, so a small box is blurred, and its middle is stretched.
    corner = math.ceil(max(grown_radii)) + 2 * reach
    small_width, small_height = min(size[0], 2 * corner + 1), min(size[1], 2 * corner + 1)
    small = Image.new("L", (small_width, small_height), 0)
    small.paste(box_mask(small_width - 2 * reach, small_height - 2 * reach, grown_radii), (reach, reach))
    return Shadow(_stretched(_blurred(small, sigma), *size), margin)


def _grown(radii: Radii, by: float) -> Radii:
    """Return the radii of a spread box (CSS Backgrounds 3, section 6.1.1): square corners stay square."""

    def grow(radius: float) -> float:
        if by <= 0 or radius >= by or radius <= 0:
            return max(0.0, radius + by) if radius else 0.0
        return radius + by * (1 + (radius / by - 1) ** 3)

    top_left, top_right, bottom_right, bottom_left = (grow(radius) for radius in radii)
    return top_left, top_right, bottom_right, bottom_left


def _blurred(mask: Image.Image, sigma: float) -> Image.Image:
    shrink = 1
    while sigma / shrink > _FINE_SIGMA:
        shrink *= 2
    if shrink == 1:
        return mask.filter(ImageFilter.GaussianBlur(sigma))
    small = mask.reduce(shrink)
    blurred = small.filter(ImageFilter.GaussianBlur(sigma / shrink))
    enlarged = blurred.resize((small.width * shrink, small.height * shrink), Image.Resampling.BICUBIC)
    return enlarged.crop((0, 0, *mask.size))


def _stretched(mask: Image.Image, width: int, height: int) -> Image.Image:
    """Resize a mask by repeating its middle row and column."""
    if mask.size == (width, height):
        return mask
    pixels = np.asarray(mask)
    columns = _repeated(mask.width, width)
    rows = _repeated(mask.height, height)
    return Image.fromarray(pixels[rows][:, columns])


def _repeated(source_length: int, target_length: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    middle = source_length // 2
    return np.concatenate(
        [np.arange(middle), np.full(target_length - source_length + 1, middle), np.arange(middle + 1, source_length)]
    ).astype(np.intp)


@lru_cache(maxsize=512)
def _corner(radius: float) -> Image.Image:
    """Return the mask of the top left quarter of a circle, computed from each pixel's distance to the centre."""
    edge = math.ceil(radius)
    offsets = radius - (np.arange(edge) + 0.5)
    distance = np.hypot(offsets[None, :], offsets[:, None])
    coverage = np.clip(radius - distance + 0.5, 0, 1)
    return Image.fromarray((coverage * 255 + 0.5).astype(np.uint8))


def _darken(mask: Image.Image, tile: Image.Image, left: int, top: int) -> None:
    box = (left, top, left + tile.width, top + tile.height)
    mask.paste(ImageChops.darker(mask.crop(box), tile), box[:2])
