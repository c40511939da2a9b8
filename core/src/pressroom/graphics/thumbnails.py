"""Scaled-down copies of images."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Final

from PIL import Image, ImageOps

from pressroom.errors import InvalidInput
from pressroom.graphics.channels import in_8_bits

_PREVIEW_QUALITY: Final = 88
_UPLOAD_QUALITY: Final = 90
_UPLOAD_EDGES: Final = (2048, 1024, 512, 256, 128)
_UPLOAD_FORMATS: Final = {"image/webp": "WEBP", "image/png": "PNG", "image/jpeg": "JPEG"}
MAX_UPLOAD_PIXELS: Final = 50_000_000


def thumbnail(content: bytes, bounds: tuple[int, int], quality: int) -> bytes:
    """Return an image as WebP, scaled down to fit the bounds. Smaller images keep their size.

    Args:
        content: an image in a format that Pillow supports, such as PNG or JPEG.
        bounds: maximum width and height in pixels.
        quality: quality of the WebP image, 1 to 100.

    Raises:
        PIL.UnidentifiedImageError: the format is not supported.
    """
    with Image.open(io.BytesIO(content)) as opened:
        image = in_8_bits(opened).convert("RGBA" if opened.has_transparency_data else "RGB")
    image.thumbnail(bounds, Image.Resampling.LANCZOS, reducing_gap=3.0)
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=quality, method=6)
    return buffer.getvalue()


def size_of(content: bytes) -> tuple[int, int]:
    """Return the width and height of an image in pixels.

    Raises:
        PIL.UnidentifiedImageError: Pillow does not support the format.
    """
    with Image.open(io.BytesIO(content)) as opened:
        return opened.size


def within_pixels(content: bytes, max_pixels: int) -> bytes | None:
    """Scale an image down to at most `max_pixels`, as WebP optimised for speed. Return `None` if it is small enough.

    Raises:
        PIL.UnidentifiedImageError: Pillow does not support the format.
    """
    with Image.open(io.BytesIO(content)) as opened:
        width, height = opened.size
        if width * height <= max_pixels:
            return None
        image = in_8_bits(opened).convert("RGBA" if opened.has_transparency_data else "RGB")
    share = math.sqrt(max_pixels / (width * height))
    size = max(1, int(width * share)), max(1, int(height * share))
    buffer = io.BytesIO()
    image.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0).save(
        buffer, "WEBP", quality=_PREVIEW_QUALITY, method=0
    )
    return buffer.getvalue()


def within_bytes(content: bytes, media_types: Sequence[str], max_bytes: int) -> bytes:
    """Scale an image down until it has at most `max_bytes`, like the pages' script in browsers.

    For untrusted files; run it in a worker process.

    Args:
        content: an AVIF, GIF, JPEG, PNG or WebP image.
        media_types: permitted media types of the result.
        max_bytes: maximum size of the result in bytes.

    Raises:
        InvalidInput: the image cannot be read, has too many pixels, or cannot be made small enough.
    """
    kind = next((name for media_type, name in _UPLOAD_FORMATS.items() if media_type in media_types), "")
    try:
        image = _upright(content, alpha=kind != "JPEG")
    except InvalidInput:
        raise
    except Exception as error:  # decoders raise arbitrary exceptions for damaged files
        raise InvalidInput("", "the image is damaged and cannot be read; choose another file") from error
    for edge in _UPLOAD_EDGES if kind else ():
        image.thumbnail((edge, edge), Image.Resampling.LANCZOS, reducing_gap=3.0)
        buffer = io.BytesIO()
        image.save(buffer, kind, quality=_UPLOAD_QUALITY)
        if buffer.tell() <= max_bytes:
            return buffer.getvalue()
    raise InvalidInput("", "the image cannot be made small enough; choose one with fewer pixels")


def _upright(content: bytes, *, alpha: bool) -> Image.Image:
    with Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "WEBP", "GIF", "AVIF")) as opened:
        if opened.width * opened.height > MAX_UPLOAD_PIXELS:
            megapixels = MAX_UPLOAD_PIXELS // 10**6
            raise InvalidInput(
                "", f"the image has {opened.width} by {opened.height} pixels; at most {megapixels} million can be read"
            )
        opened.draft("RGB", (_UPLOAD_EDGES[0], _UPLOAD_EDGES[0]))  # decodes a large JPEG at a fraction of its size
        upright = in_8_bits(ImageOps.exif_transpose(opened))
        return upright.convert("RGBA" if alpha and upright.has_transparency_data else "RGB")
