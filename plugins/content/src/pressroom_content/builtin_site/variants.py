"""Smaller copies of images as WebP, for `srcset`: made once with the upload, removed with the image."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import select

from pressroom_content.tables import BuiltinFileRow

WIDTHS: Final = (480, 960, 1600)
"""How wide the copies are, in pixels: for a telephone, a column of text, a cover on a large screen."""

MEDIA_TYPE: Final = "image/webp"
_FORMATS: Final = ("AVIF", "JPEG", "PNG", "WEBP")
_MAX_PIXELS: Final = 50_000_000
_QUALITY: Final = 80
_MAX_NAMES: Final = 100
_WORTH_IT: Final = 0.9
"""A copy is kept if it has at most this part of the original's bytes."""


def variant_name(name: str, width: int) -> str:
    """Return the name of the copy of a file at a width."""
    return f"{name}.{width}.webp"


def make_variants(content: bytes) -> Sequence[tuple[int, int, bytes]]:
    """Return width, height and bytes of the copies of an image; nothing where it moves or has none worth it.

    Decoding is for a worker process.

    Raises:
        PIL.UnidentifiedImageError: it is no such image.
        OSError: it is damaged.
    """
    from PIL import Image, ImageOps  # noqa: PLC0415 - Pillow loads in the worker

    with Image.open(io.BytesIO(content), formats=_FORMATS) as opened:
        if getattr(opened, "is_animated", False) or opened.width * opened.height > _MAX_PIXELS:
            return []
        upright = ImageOps.exif_transpose(opened)
        image = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    widths = [width for width in WIDTHS if width < image.width]
    if image.width <= WIDTHS[-1]:
        widths.append(image.width)
    made: list[tuple[int, int, bytes]] = []
    for width in widths:
        height = max(1, round(image.height * width / image.width))
        written = io.BytesIO()
        image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0).save(
            written, "WEBP", quality=_QUALITY, method=4
        )
        if len(written.getvalue()) <= len(content) * _WORTH_IT:
            made.append((width, height, written.getvalue()))
    return made


@dataclass(frozen=True, slots=True)
class SiteImage:
    """An image of a site: its size, and the widths that there are copies of, each with its file's name."""

    name: str
    width: int
    height: int
    copies: Mapping[int, str] = field(default_factory=dict)

    def srcset(self, root: str) -> str:
        """Return the value of `srcset` for files below a path such as `/sites/ada/files`; empty without copies."""
        return ", ".join(f"{root}/{quote(name)} {width}w" for width, name in sorted(self.copies.items()))


async def images_of(session: Any, website_id: str, names: Collection[str]) -> Mapping[str, SiteImage]:
    """Return those of these files whose size is known, by their names."""
    some = sorted(names)[:_MAX_NAMES]
    if not some:
        return {}
    wanted = select(BuiltinFileRow.name, BuiltinFileRow.width, BuiltinFileRow.height, BuiltinFileRow.parent).where(
        BuiltinFileRow.website_id == website_id,
        BuiltinFileRow.width > 0,
        BuiltinFileRow.height > 0,
        BuiltinFileRow.name.in_(some) | BuiltinFileRow.parent.in_(some),
    )
    rows = (await session.execute(wanted)).all()
    copies: dict[str, dict[int, str]] = {}
    for row in rows:
        if row.parent:
            copies.setdefault(row.parent, {})[row.width] = row.name
    return {
        row.name: SiteImage(row.name, row.width, row.height, copies.get(row.name, {})) for row in rows if not row.parent
    }
