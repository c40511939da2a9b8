"""Small copies of images."""

from __future__ import annotations

import io
import math
from typing import Final

from PIL import Image

_PREVIEW_QUALITY: Final = 88


def thumbnail(content: bytes, bounds: tuple[int, int], quality: int) -> bytes:
    """Return an image as WebP, no wider and no higher than the bounds; a smaller one keeps its size.

    Args:
        content: an image in a format that Pillow reads, such as PNG or JPEG.
        bounds: of the width and the height, in pixels.
        quality: of the WebP image, 1 to 100.

    Raises:
        PIL.UnidentifiedImageError: it is no such image.
    """
    with Image.open(io.BytesIO(content)) as opened:
        image = opened.convert("RGBA" if opened.has_transparency_data else "RGB")
    image.thumbnail(bounds, Image.Resampling.LANCZOS, reducing_gap=3.0)
    written = io.BytesIO()
    image.save(written, "WEBP", quality=quality, method=6)
    return written.getvalue()


def size_of(content: bytes) -> tuple[int, int]:
    """Return the width and height of an image in pixels.

    Raises:
        PIL.UnidentifiedImageError: Pillow cannot read it.
    """
    with Image.open(io.BytesIO(content)) as opened:
        return opened.size


def within_pixels(content: bytes, max_pixels: int) -> bytes | None:
    """Return an image as WebP with at most that many pixels, quickly rather than small; `None` where it has no more.

    Raises:
        PIL.UnidentifiedImageError: Pillow cannot read it.
    """
    with Image.open(io.BytesIO(content)) as opened:
        width, height = opened.size
        if width * height <= max_pixels:
            return None
        image = opened.convert("RGBA" if opened.has_transparency_data else "RGB")
    share = math.sqrt(max_pixels / (width * height))
    size = max(1, int(width * share)), max(1, int(height * share))
    written = io.BytesIO()
    image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0).save(
        written, "WEBP", quality=_PREVIEW_QUALITY, method=0
    )
    return written.getvalue()
