"""What a file really is: nobody's word for it counts, neither a name nor a `Content-Type`."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Final

from PIL import Image, UnidentifiedImageError
from pressroom.sdk import InvalidInput

MEDIA_TYPES: Final = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "AVIF": "image/avif",
}
"""The kinds of images that a library keeps, by Pillow's names. SVG is not among them: it can hold scripts."""

EXTENSIONS: Final = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
}

MAX_PIXELS: Final = 60_000_000


@dataclass(frozen=True, slots=True)
class InspectedImage:
    """A file that is an image; `width` and `height` are in pixels."""

    media_type: str
    width: int
    height: int
    content: bytes


def inspect(content: bytes, most_bytes: int) -> InspectedImage:
    """Return what an image is, having looked at all of it. Call it in a worker process: a decoder may do anything.

    Raises:
        InvalidInput: it is too large, is of no kind that libraries keep, or is damaged.
    """
    if len(content) > most_bytes:
        raise InvalidInput("", f"the image has {len(content):,} bytes; at most {most_bytes:,} are allowed")
    try:
        with Image.open(io.BytesIO(content), formats=tuple(MEDIA_TYPES)) as image:
            width, height = image.size
            if width * height <= MAX_PIXELS:
                image.load()
    except UnidentifiedImageError:
        raise InvalidInput("", "that file is not a JPEG, PNG, GIF, WebP or AVIF image") from None
    except Image.DecompressionBombError:
        raise InvalidInput("", f"the image has too many pixels; at most {MAX_PIXELS:,} are allowed") from None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - decoders raise whatever they like for a file that is damaged
        raise InvalidInput("", "the image is damaged: it cannot be read to its end") from None
    if width * height > MAX_PIXELS:
        raise InvalidInput("", f"the image has {width} x {height} pixels; at most {MAX_PIXELS:,} are allowed")
    return InspectedImage(MEDIA_TYPES[image.format or ""], width, height, content)
