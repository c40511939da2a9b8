"""Reading a styled symbol before it is returned."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import zxingcpp
from PIL import Image

_QUIET_ZONE: Final = 4
"""How many modules are put around the symbol, so that the margin asked is not what decides."""

_ENOUGH: Final = 0.15


class ReadSymbol(NamedTuple):
    """What a reader makes of a symbol. `spare` is the part of its error correction that it did not need, 0 to 1."""

    text: str
    spare: float

    @property
    def fragile(self) -> bool:
        """Whether little damage more would make it unreadable."""
        return self.spare < _ENOUGH


def read_back(image: Image.Image, module: float) -> ReadSymbol | None:
    """Return what a reader sees in the image, on a white page where it is transparent; `None` where it sees no code.

    `module` is the width of a module in pixels.
    """
    page = Image.new("RGB", image.size, "white")
    page.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
    border = round(_QUIET_ZONE * module) + 1
    framed = Image.new("RGB", (page.width + 2 * border, page.height + 2 * border), page.getpixel((0, 0)))
    framed.paste(page, (border, border))
    found = zxingcpp.read_barcodes(
        framed.convert("L"),
        zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode),
        text_mode=zxingcpp.TextMode.Plain,
        try_rotate=False,
    )
    if len(found) != 1:
        return None
    extra: Any = found[0].extra
    return ReadSymbol(found[0].text, float(extra.get("UEC", 1)))
