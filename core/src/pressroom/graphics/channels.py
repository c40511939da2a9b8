"""Reduce the channels of an image to 8 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["in_8_bits"]

_STEP: Final = 257
"""Number of 16-bit values for each 8-bit value."""


def in_8_bits(image: Image.Image) -> Image.Image:
    """Return an image that can be converted to any mode: 16-bit greyscale with 8 bits, and all others unchanged.

    Pillow's own conversion of 16-bit greyscale clips values above 255, so almost everything becomes white.
    """
    if image.mode != "I;16":
        return image
    grey = image.point(lambda value: value / _STEP + 0.5).convert("L")
    transparent = image.info.get("transparency")
    if isinstance(transparent, int):
        grey.info["transparency"] = int(transparent / _STEP + 0.5)
    return grey
