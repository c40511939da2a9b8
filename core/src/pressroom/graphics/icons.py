"""The sprite from which a tool's page shows icons (`Preview("icons")` of the SDK)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PIL import Image

__all__ = [
    "icon_sheet",
]

_POSITIONS: Final = {180: (0, 0), 48: (180, 0), 32: (180, 48), 16: (180, 80)}
_SIZE: Final = (228, 180)


def icon_sheet(icons: Mapping[int, Image.Image]) -> Image.Image:
    """Return an `RGBA` image of 228 by 180 pixels with an icon at 180, 48, 32 and 16 pixels, small ones on the right.

    Raises:
        KeyError: one of these sizes is missing. Other sizes are ignored.
    """
    sheet = Image.new("RGBA", _SIZE)
    for edge, position in _POSITIONS.items():
        sheet.paste(icons[edge].convert("RGBA"), position)
    return sheet
