"""Image files: validation, and thumbnails that are created on first use."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass
from typing import Final

from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError
from pressroom.columns import as_id
from pressroom.graphics.channels import in_8_bits
from pressroom.sdk import CallError, InvalidInput, NotFound, PluginContext
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from pressroom_images.tables import BytesRow, MediaRow, ThumbnailRow

EDGE: Final = 120
"""Longer side of a displayed thumbnail, in CSS pixels."""

_DENSITY: Final = 2
_SMALL: Final = 16_384
"""Images up to this many bytes serve as their own thumbnails."""

_TYPE: Final = "image/webp"


def display_size(width: int, height: int) -> tuple[int, int]:
    """Return the display size of an image's thumbnail in CSS pixels; small images are not enlarged."""
    if width < 1 or height < 1:
        return EDGE, EDGE
    scale = min(1.0, EDGE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def make(content: bytes) -> bytes:
    """Create a WebP thumbnail, with EXIF rotation applied and metadata removed. Can raise any decoder exception."""
    edge = EDGE * _DENSITY
    with Image.open(io.BytesIO(content), formats=tuple(MEDIA_TYPES)) as opened:
        if opened.width * opened.height > MAX_PIXELS:
            raise ValueError("the image has too many pixels")
        opened.draft("RGB", (edge, edge))  # decodes a JPEG at a fraction of its size
        image = in_8_bits(ImageOps.exif_transpose(opened))
        alpha = image.has_transparency_data
        image = image.convert("RGBA" if alpha else "RGB")
        image.thumbnail((edge, edge), Image.Resampling.LANCZOS, reducing_gap=2.0)
        output = io.BytesIO()
        image.save(output, "WEBP", quality=80, method=4)
    return output.getvalue()


class Thumbnails:
    """Creates and caches thumbnails; one instance per server."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        # Decode one image at a time: a large one takes about 200 MB of memory.
        self._turns = asyncio.Semaphore(1)

    async def get(self, media_id: str) -> tuple[bytes, str]:
        """Return the thumbnail of an image and its media type. No authorisation: the ID is unguessable.

        Raises:
            NotFound: this server does not store the image, or it cannot be decoded.
        """
        database = self._plugin.services.database
        id_ = as_id(media_id)
        thumbnail_query = select(ThumbnailRow.content).where(ThumbnailRow.media_id == id_)
        async with database.reading() as session:
            thumbnail = await session.scalar(thumbnail_query)
        if thumbnail is not None:
            return thumbnail, _TYPE
        async with self._turns:
            async with database.reading() as session:
                thumbnail = await session.scalar(thumbnail_query)
                if thumbnail is not None:
                    return thumbnail, _TYPE
                original_query = (
                    select(BytesRow.content, MediaRow.media_type)
                    .join(MediaRow, MediaRow.id == BytesRow.media_id)
                    .where(BytesRow.media_id == id_)
                )
                row = (await session.execute(original_query)).one_or_none()
            if row is None:
                raise NotFound(f"there is no image {media_id[:40]!r}")
            content, media_type = row
            if len(content) <= _SMALL:
                return content, media_type
            try:
                new_thumbnail = await self._plugin.services.workers.run(make, content, what="the image")
            except CallError:  # decoding a damaged file may fail or time out
                raise NotFound(f"the image {media_id[:40]!r} cannot be read") from None
            try:
                async with database.writing() as session:
                    session.add(ThumbnailRow(media_id=id_, content=new_thumbnail))
            except IntegrityError:
                pass  # another process created it, or the image was deleted meanwhile
            return new_thumbnail, _TYPE


MEDIA_TYPES: Final = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "AVIF": "image/avif",
}
"""The supported image formats, by Pillow's names. SVG is not supported since it can contain scripts."""

EXTENSIONS: Final = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
}

KIND_NAMES: Final = {
    "image/jpeg": "JPEG",
    "image/png": "PNG",
    "image/gif": "GIF",
    "image/webp": "WebP",
    "image/avif": "AVIF",
}
"""Display names of the formats, by media type."""

ANY_KIND: Final = "JPEG, PNG, GIF, WebP or AVIF"

MAX_PIXELS: Final = 60_000_000

_TURNED: Final = (5, 6, 7, 8)
"""Values of the EXIF orientation that swap width and height."""


def size_of(byte_count: int) -> str:
    """Format a number of bytes, such as `10 MiB`."""
    return f"{byte_count / 1024**2:.3g} MiB" if byte_count >= 1024**2 else f"{byte_count / 1024:.3g} KiB"


@dataclass(frozen=True, slots=True)
class InspectedImage:
    """A validated image file; `width` and `height` are in pixels, as browsers show it."""

    media_type: str
    width: int
    height: int
    content: bytes


def _is_turned(image: Image.Image) -> bool:
    """Return whether the metadata turns an image by 90 degrees, as a phone writes it for an upright photo."""
    try:
        return image.getexif().get(ExifTags.Base.Orientation) in _TURNED
    except Exception:  # noqa: BLE001 - anything can be raised for damaged metadata, which browsers ignore
        return False


def inspect(content: bytes, max_bytes: int) -> InspectedImage:
    """Validate an image by decoding it completely. Call this in a worker process, since decoders may crash or hang.

    Raises:
        InvalidInput: the image is too large, of an unsupported format, or damaged.
    """
    if len(content) > max_bytes:
        raise InvalidInput("", f"the image has {len(content):,} bytes; at most {max_bytes:,} are allowed")
    try:
        with Image.open(io.BytesIO(content), formats=tuple(MEDIA_TYPES)) as image:
            width, height = image.size
            if width * height <= MAX_PIXELS:
                image.load()
            if _is_turned(image):
                width, height = height, width
    except UnidentifiedImageError:
        raise InvalidInput("", f"that file is not a {ANY_KIND} image") from None
    except Image.DecompressionBombError:
        raise InvalidInput("", f"the image has too many pixels; at most {MAX_PIXELS:,} are allowed") from None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - decoders can raise anything for a damaged file
        raise InvalidInput("", "the image is damaged: it cannot be read to its end") from None
    if width * height > MAX_PIXELS:
        raise InvalidInput("", f"the image has {width} x {height} pixels; at most {MAX_PIXELS:,} are allowed")
    # Pillow calls a JPEG with further images, such as the gain map of a camera, MPO.
    media_type = MEDIA_TYPES["JPEG" if image.format == "MPO" else image.format or ""]
    return InspectedImage(media_type, width, height, content)
