"""The image in the middle of a symbol."""

from __future__ import annotations

import base64
import io
import math
import re
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageOps
from pressroom.sdk import InvalidInput

MAX_EDGE: Final = 512
"""Larger logos are made smaller: in the largest symbol a logo has no more pixels."""

MAX_PIXELS: Final = 16_000_000
_FORMATS: Final = ("PNG", "JPEG", "WEBP")
_DATA_URI: Final = re.compile(r"data:image/(?:png|jpe?g|webp);base64,([A-Za-z0-9+/\s]+={0,2})\s*", re.IGNORECASE)

_UNREADABLE: Final = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)


@dataclass(frozen=True, slots=True)
class Logo:
    """A logo as PNG, and how wide it is, in percent of the symbol."""

    png: bytes
    percent: int

    def clear(self, modules: int) -> range:
        """Return the rows, and the columns, that have no modules: those of the logo and a narrow edge around it."""
        side = math.ceil(modules * self.percent / 100 + 0.5)
        side += (modules - side) % 2
        start = (modules - side) // 2
        return range(start, start + side)


def logo_of(uri: str, percent: int) -> Logo:
    """Return the logo of a `data:` URI (RFC 2397). It is drawn anew, so that nothing but its pixels is kept.

    Raises:
        InvalidInput: it is not the base64 of a PNG, JPEG or WebP, or it has too many pixels.
    """
    match = _DATA_URI.fullmatch(uri.strip())
    if match is None:
        raise InvalidInput("logo", "must be a data: URI of a PNG, JPEG or WebP, such as data:image/png;base64,iVBOR…")
    try:
        content = base64.b64decode(re.sub(r"\s", "", match[1]), validate=True)
        with Image.open(io.BytesIO(content), formats=_FORMATS) as opened:
            size = opened.size
            image = _small(opened) if size[0] * size[1] <= MAX_PIXELS else None
    except _UNREADABLE as error:
        raise InvalidInput("logo", "isn't a complete PNG, JPEG or WebP image; export it again") from error
    if image is None:
        got = f"{size[0]} x {size[1]}"
        raise InvalidInput("logo", f"must have at most {MAX_PIXELS:,} pixels (got {got}); make it smaller")
    written = io.BytesIO()
    image.save(written, "PNG")
    return Logo(written.getvalue(), percent)


def _small(opened: Image.Image) -> Image.Image:
    opened.draft("RGB", (MAX_EDGE, MAX_EDGE))
    image = ImageOps.exif_transpose(opened).convert("RGBA")
    image.thumbnail((MAX_EDGE, MAX_EDGE), Image.Resampling.LANCZOS)
    return image
