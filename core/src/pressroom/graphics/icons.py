"""The image that a tool's page shows icons from (`Preview("icons")` of the SDK)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PIL import Image

__all__ = [
    "icon_sheet",
]

_PLACES: Final = {180: (0, 0), 48: (180, 0), 32: (180, 48), 16: (180, 80)}
_SIZE: Final = (228, 180)


def icon_sheet(icons: Mapping[int, Image.Image]) -> Image.Image:
    """Return one `RGBA` image with an icon at 180, 48, 32 and 16 pixels: 228 by 180, the small ones at the right.

    Raises:
        KeyError: one of the sizes is missing; others are left out.
    """
    sheet = Image.new("RGBA", _SIZE)
    for edge, place in _PLACES.items():
        sheet.paste(icons[edge].convert("RGBA"), place)
    return sheet
