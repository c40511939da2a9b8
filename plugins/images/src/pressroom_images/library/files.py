"""Files of images: what each really is, and the thumbnails that are made of it when a list shows it first."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageOps, UnidentifiedImageError
from pressroom.columns import as_id
from pressroom.sdk import CallError, InvalidInput, NotFound, PluginContext
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from pressroom_images.tables import BytesRow, MediaRow, ThumbnailRow

EDGE: Final = 120
"""The longer side of a thumbnail on a page, in CSS pixels."""

_DENSITY: Final = 2
_SMALL: Final = 16_384
"""Images of at most this many bytes are their own thumbnails."""

_TYPE: Final = "image/webp"


def shown_size(width: int, height: int) -> tuple[int, int]:
    """Return how large an image of this many pixels is shown in a list, in CSS pixels; never larger than it is."""
    if width < 1 or height < 1:
        return EDGE, EDGE
    scale = min(1.0, EDGE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def make(content: bytes) -> bytes:
    """Return a thumbnail as WebP, upright, without the metadata of the image. Raises whatever the decoder does."""
    edge = EDGE * _DENSITY
    with Image.open(io.BytesIO(content), formats=tuple(MEDIA_TYPES)) as opened:
        if opened.width * opened.height > MAX_PIXELS:
            raise ValueError("the image has too many pixels")
        opened.draft("RGB", (edge, edge))  # a JPEG is decoded at a fraction of its size
        image = ImageOps.exif_transpose(opened)
        alpha = image.has_transparency_data
        image = image.convert("RGBA" if alpha else "RGB")
        image.thumbnail((edge, edge), Image.Resampling.LANCZOS, reducing_gap=2.0)
        made = io.BytesIO()
        image.save(made, "WEBP", quality=80, method=4)
    return made.getvalue()


class Thumbnails:
    """The thumbnails of one server."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        # Decoding a large image takes some 200 MB: one at a time.
        self._turns = asyncio.Semaphore(1)

    async def get(self, media_id: str) -> tuple[bytes, str]:
        """Return the thumbnail of anyone's image and its media type: its id is the key to it.

        Raises:
            NotFound: there is no such image here, or it cannot be read.
        """
        database = self._plugin.services.database
        id_ = as_id(media_id)
        known = select(ThumbnailRow.content).where(ThumbnailRow.media_id == id_)
        async with database.reading() as session:
            kept = await session.scalar(known)
        if kept is not None:
            return kept, _TYPE
        async with self._turns:
            async with database.reading() as session:
                kept = await session.scalar(known)
                if kept is not None:
                    return kept, _TYPE
                wanted = (
                    select(BytesRow.content, MediaRow.media_type)
                    .join(MediaRow, MediaRow.id == BytesRow.media_id)
                    .where(BytesRow.media_id == id_)
                )
                found = (await session.execute(wanted)).one_or_none()
            if found is None:
                raise NotFound(f"there is no image {media_id[:40]!r}")
            content, media_type = found
            if len(content) <= _SMALL:
                return content, media_type
            try:
                made = await self._plugin.services.workers.run(make, content, what="the image")
            except CallError:  # a decoder may fail, or take too long, for a file that is damaged
                raise NotFound(f"the image {media_id[:40]!r} cannot be read") from None
            try:
                async with database.writing() as session:
                    session.add(ThumbnailRow(media_id=id_, content=made))
            except IntegrityError:
                pass  # another process made it too, or the image was deleted meanwhile
            return made, _TYPE


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

KIND_NAMES: Final = {
    "image/jpeg": "JPEG",
    "image/png": "PNG",
    "image/gif": "GIF",
    "image/webp": "WebP",
    "image/avif": "AVIF",
}
"""How people call them."""

ANY_KIND: Final = "JPEG, PNG, GIF, WebP or AVIF"

MAX_PIXELS: Final = 60_000_000


def size_of(most: int) -> str:
    """Return a number of bytes as people read it: `10 MiB`."""
    return f"{most / 1024**2:.3g} MiB" if most >= 1024**2 else f"{most / 1024:.3g} KiB"


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
        raise InvalidInput("", f"that file is not a {ANY_KIND} image") from None
    except Image.DecompressionBombError:
        raise InvalidInput("", f"the image has too many pixels; at most {MAX_PIXELS:,} are allowed") from None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - decoders raise whatever they like for a file that is damaged
        raise InvalidInput("", "the image is damaged: it cannot be read to its end") from None
    if width * height > MAX_PIXELS:
        raise InvalidInput("", f"the image has {width} x {height} pixels; at most {MAX_PIXELS:,} are allowed")
    return InspectedImage(MEDIA_TYPES[image.format or ""], width, height, content)
