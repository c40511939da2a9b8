"""Small copies of images."""

from __future__ import annotations

import io
from typing import Final

from PIL import Image

EDGE: Final = 480
_QUALITY: Final = 75


def thumbnail(content: bytes, edge: int = EDGE) -> bytes:
    """Return an image as WebP, no wider and no higher than `edge` pixels; a smaller one keeps its size.

    Args:
        content: an image in a format that Pillow reads, such as PNG or JPEG.
        edge: the bound in pixels.

    Raises:
        PIL.UnidentifiedImageError: it is no such image.
    """
    with Image.open(io.BytesIO(content)) as opened:
        picture = opened.convert("RGBA" if opened.has_transparency_data else "RGB")
    picture.thumbnail((edge, edge), Image.Resampling.LANCZOS, reducing_gap=3.0)
    written = io.BytesIO()
    picture.save(written, "WEBP", quality=_QUALITY, method=6)
    return written.getvalue()
