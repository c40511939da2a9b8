"""The files of a built-in site: each is stored once, shared by posts, and deleted with its last use.

An image has smaller WebP copies for `srcset`, created with the upload and deleted with the image.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote, unquote

from pressroom.columns import new_id
from pressroom.graphics.channels import in_8_bits
from slugify import slugify
from sqlalchemy import Text, cast, delete, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.builtin_site.tables import BuiltinFileRow, BuiltinPostRow
from pressroom_content.contract import MediaFile, RemoteMedia, SiteRefused

WIDTHS: Final = (480, 720, 960, 1600)
"""The widths of the copies in pixels: for phones of two pixel densities, a column of text, and a large screen."""

MEDIA_TYPE: Final = "image/webp"
_FORMATS: Final = ("AVIF", "JPEG", "PNG", "WEBP")
_MAX_PIXELS: Final = 50_000_000
_QUALITY: Final = 80
_MAX_NAMES: Final = 100
_MAX_COPY_RATIO: Final = 0.9
"""A copy is kept if it has at most this fraction of the original's bytes."""

MEDIA_TYPES: Final[Mapping[str, str]] = {
    "image/avif": "avif",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
}
_RESERVED: Final = timedelta(days=1)
"""How long a file is kept for a post that was not written."""

_NAME = re.compile(r"/files/([^\s\"'<>()?#/\\]{1,600})")


def variant_name(name: str, width: int) -> str:
    """Return the name of the copy of a file at a width."""
    return f"{name}.{width}.webp"


def make_variants(content: bytes) -> Sequence[tuple[int, int, bytes]]:
    """Return width, height and bytes of an image's copies; empty if it is animated, too large, or none is worthwhile.

    Decode images only in a worker process.

    Raises:
        PIL.UnidentifiedImageError: it is not an image of a supported format.
        OSError: it is damaged.
    """
    from PIL import Image, ImageOps  # noqa: PLC0415 - Pillow is loaded only in the worker

    with Image.open(io.BytesIO(content), formats=_FORMATS) as opened:
        # Pillow calls a JPEG with further images, such as a gain map, MPO. It is not an animation.
        is_animated = opened.format != "MPO" and getattr(opened, "is_animated", False)
        if is_animated or opened.width * opened.height > _MAX_PIXELS:
            return []
        upright = in_8_bits(ImageOps.exif_transpose(opened))
        image = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    widths = [width for width in WIDTHS if width < image.width]
    if image.width <= WIDTHS[-1]:
        widths.append(image.width)
    copies: list[tuple[int, int, bytes]] = []
    for width in widths:
        height = max(1, round(image.height * width / image.width))
        output = io.BytesIO()
        image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0).save(
            output, "WEBP", quality=_QUALITY, method=4
        )
        if len(output.getvalue()) <= len(content) * _MAX_COPY_RATIO:
            copies.append((width, height, output.getvalue()))
    return copies


@dataclass(frozen=True, slots=True)
class SiteImage:
    """An image of a site: its size, and the file name of each copy by width."""

    name: str
    width: int
    height: int
    copies: Mapping[int, str] = field(default_factory=dict)

    def srcset(self, root: str) -> str:
        """Return the `srcset` for files below a path such as `/sites/ada/files`; empty without copies."""
        return ", ".join(f"{root}/{quote(name)} {width}w" for width, name in sorted(self.copies.items()))


async def images_of(session: Any, website_id: str, names: Collection[str]) -> Mapping[str, SiteImage]:
    """Return the images among these files, by name. Only files of known size are included."""
    selected = sorted(names)[:_MAX_NAMES]
    if not selected:
        return {}
    statement = select(BuiltinFileRow.name, BuiltinFileRow.width, BuiltinFileRow.height, BuiltinFileRow.parent).where(
        BuiltinFileRow.website_id == website_id,
        BuiltinFileRow.width > 0,
        BuiltinFileRow.height > 0,
        BuiltinFileRow.name.in_(selected) | BuiltinFileRow.parent.in_(selected),
    )
    rows = (await session.execute(statement)).all()
    copies: dict[str, dict[int, str]] = {}
    for row in rows:
        if row.parent:
            copies.setdefault(row.parent, {})[row.width] = row.name
    return {
        row.name: SiteImage(row.name, row.width, row.height, copies.get(row.name, {})) for row in rows if not row.parent
    }


def names_in(*texts: str) -> frozenset[str]:
    """Return the names of the built-in sites' files that the texts show or link to."""
    return frozenset(unquote(name) for text in texts for name in _NAME.findall(text))


def names_of(post: BuiltinPostRow) -> frozenset[str]:
    """Return the names of the files that a post uses."""
    return names_in(post.html, post.markdown, str(post.featured.get("url", "")))


class SiteFiles:
    """The files of one site, accessed within the caller's transaction.

    A file is a row with its content. Between an upload and the writing of its post, a second row without content
    reserves the file under the upload's marker, so that deleting another post does not remove it.
    """

    def __init__(self, session: AsyncSession, website_id: str, root: str) -> None:
        self._session, self._website_id, self._root = session, website_id, root

    async def marked(self, marker: str) -> RemoteMedia | None:
        """Return the file that was uploaded under a marker and waits for its post, or `None`."""
        name = await self._session.scalar(
            select(BuiltinFileRow.name).where(
                BuiltinFileRow.website_id == self._website_id, BuiltinFileRow.marker == marker
            )
        )
        return None if name is None else await self._named(name)

    async def held(self, file: MediaFile) -> RemoteMedia | None:
        """Return the file with the same content, or `None`."""
        row = await self._session.get(BuiltinFileRow, self._id_of(file))
        return None if row is None else self._remote(row.id, row.name)

    def add(self, file: MediaFile) -> RemoteMedia:
        """Add a file. Raises `SiteRefused` if it is empty or not an image."""
        extension = MEDIA_TYPES.get(file.media_type)
        if extension is None:
            raise SiteRefused(f"files of the type {file.media_type} cannot be shown; images can")
        if not file.content:
            raise SiteRefused(f"the file {file.filename} is empty")
        digest = hashlib.sha256(file.content).hexdigest()
        stem = slugify(file.filename.rpartition(".")[0] or file.filename, max_length=80) or "image"
        row = BuiltinFileRow(
            id=self._id_of(file),
            website_id=self._website_id,
            marker="",
            name=f"{stem}-{digest[:12]}.{extension}",
            media_type=file.media_type,
            width=file.width,
            height=file.height,
            size=len(file.content),
            content=file.content,
            created_at=datetime.now(UTC),
        )
        self._session.add(row)
        return self._remote(row.id, row.name)

    async def has_copies(self, name: str) -> bool:
        """Check whether a file has smaller copies."""
        statement = select(BuiltinFileRow.id).where(
            BuiltinFileRow.website_id == self._website_id, BuiltinFileRow.parent == name
        )
        return await self._session.scalar(statement.limit(1)) is not None

    def add_copies(self, name: str, copies: Iterable[tuple[int, int, bytes]]) -> None:
        """Add smaller copies of a file, given by width, height and bytes."""
        for width, height, content in copies:
            self._session.add(
                BuiltinFileRow(
                    id=new_id("f"),
                    website_id=self._website_id,
                    marker="",
                    name=variant_name(name, width),
                    parent=name,
                    media_type=MEDIA_TYPE,
                    width=width,
                    height=height,
                    size=len(content),
                    content=content,
                    created_at=datetime.now(UTC),
                )
            )

    async def reserve(self, media: RemoteMedia, marker: str) -> None:
        """Reserve a file for a post that is about to be written."""
        name = next(iter(names_in(media.url)))
        of_marker = delete(BuiltinFileRow).where(
            BuiltinFileRow.website_id == self._website_id, BuiltinFileRow.marker == marker, BuiltinFileRow.size == 0
        )
        await self._session.execute(of_marker)
        self._session.add(
            BuiltinFileRow(
                id=new_id("f"),
                website_id=self._website_id,
                marker=marker,
                name=name,
                media_type="",
                content=b"",
                created_at=datetime.now(UTC),
            )
        )

    async def written(self, names: Collection[str]) -> None:
        """Release the oldest reservation of each of these files, after a post that uses them was written."""
        if not names:
            return
        reserved = select(BuiltinFileRow.id, BuiltinFileRow.name).where(
            BuiltinFileRow.website_id == self._website_id, BuiltinFileRow.marker != "", BuiltinFileRow.size == 0,
            BuiltinFileRow.name.in_(names),
        )  # fmt: skip
        rows = await self._session.execute(reserved.order_by(BuiltinFileRow.created_at.desc()))
        oldest = {row.name: row.id for row in rows}
        await self._session.execute(delete(BuiltinFileRow).where(BuiltinFileRow.id.in_(list(oldest.values()))))

    async def release(self, names: Iterable[str]) -> None:
        """Delete those of these files that are neither used nor reserved."""
        since = datetime.now(UTC) - _RESERVED
        for name in names:
            reserved = select(BuiltinFileRow.id).where(
                BuiltinFileRow.website_id == self._website_id,
                BuiltinFileRow.name == name,
                BuiltinFileRow.marker != "",
                BuiltinFileRow.size == 0,
                BuiltinFileRow.created_at > since,
            )
            if await self._session.scalar(reserved.limit(1)) is None and not await self._is_used(name):
                await self._session.execute(
                    delete(BuiltinFileRow).where(
                        BuiltinFileRow.website_id == self._website_id,
                        or_(BuiltinFileRow.name == name, BuiltinFileRow.parent == name),
                    )
                )

    async def _is_used(self, name: str) -> bool:
        path = f"/files/{quote(name)}"
        statement = select(BuiltinPostRow.id).where(
            BuiltinPostRow.website_id == self._website_id,
            or_(
                BuiltinPostRow.html.contains(path, autoescape=True),
                BuiltinPostRow.markdown.contains(path, autoescape=True),
                cast(BuiltinPostRow.featured, Text).contains(path, autoescape=True),
            ),
        )
        return await self._session.scalar(statement.limit(1)) is not None

    async def _named(self, name: str) -> RemoteMedia | None:
        row = await self._session.scalar(
            select(BuiltinFileRow.id).where(
                BuiltinFileRow.website_id == self._website_id, BuiltinFileRow.name == name, BuiltinFileRow.size > 0
            )
        )
        return None if row is None else self._remote(row, name)

    def _remote(self, file_id: str, name: str) -> RemoteMedia:
        return RemoteMedia(file_id, f"{self._root}/files/{quote(name)}")

    def _id_of(self, file: MediaFile) -> str:
        """Return the ID of a file. It is derived from the content, so that concurrent uploads create one row."""
        return f"f_{hashlib.sha256(self._website_id.encode() + b'/' + file.content).hexdigest()[:30]}"
