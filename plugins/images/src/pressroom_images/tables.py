"""Tables for images with their licences, bytes, thumbnails and uses, and for upload links."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from pressroom.columns import MAX_ID_LENGTH, NAMING, Timestamp
from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

ID: Final = String(MAX_ID_LENGTH)


class ImagesBase(DeclarativeBase):
    """Declarative base of the plugin's tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: Timestamp}  # noqa: RUF012 - SQLAlchemy's declaration


class MediaRow(ImagesBase):
    """An image of an account's library.

    `ref` identifies the source: the ref of a search result, a hash of an imported file, or `None` for an upload; it is
    unique per account. `file_url` is the provider's URL of the file. `size` is in bytes, 0 for a hotlinked image.
    `license` and `credit` hold the fields of `ImageLicense` and `Credit`.
    """

    __tablename__ = "images_media"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    website_id: Mapped[str | None] = mapped_column(ID)
    ref: Mapped[str | None] = mapped_column(String(200))
    provider: Mapped[str] = mapped_column(String(32))
    title: Mapped[str] = mapped_column(String(300), default="")
    filename: Mapped[str] = mapped_column(String(200))
    media_type: Mapped[str] = mapped_column(String(50))
    width: Mapped[int] = mapped_column(default=0)
    height: Mapped[int] = mapped_column(default=0)
    size: Mapped[int] = mapped_column(default=0)
    alt_text: Mapped[str] = mapped_column(Text, default="")
    caption: Mapped[str] = mapped_column(Text, default="")
    page_url: Mapped[str] = mapped_column(String(2048), default="")
    file_url: Mapped[str] = mapped_column(String(2048), default="")
    hosting: Mapped[str] = mapped_column(String(16))
    license: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    credit: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "user_id", "ref", unique=True), Index(None, "user_id", "created_at", "id"))


class BytesRow(ImagesBase):
    """The bytes of an image, in a separate table to keep list queries small."""

    __tablename__ = "images_bytes"

    media_id: Mapped[str] = mapped_column(ForeignKey("images_media.id", ondelete="CASCADE"), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class ThumbnailRow(ImagesBase):
    """The cached WebP thumbnail of an image."""

    __tablename__ = "images_thumbnails"

    media_id: Mapped[str] = mapped_column(ForeignKey("images_media.id", ondelete="CASCADE"), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class UseRow(ImagesBase):
    """The use of an image in an article; `role` is `featured` or `inline`."""

    __tablename__ = "images_uses"

    media_id: Mapped[str] = mapped_column(ForeignKey("images_media.id", ondelete="CASCADE"), primary_key=True)
    content_id: Mapped[str] = mapped_column(ID, primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(16))


class UploadRow(ImagesBase):
    """A single-use upload link. Only the SHA-256 hash of its token is stored."""

    __tablename__ = "images_uploads"

    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    media_id: Mapped[str] = mapped_column(ID, unique=True)
    user_id: Mapped[str] = mapped_column(ID)
    content_id: Mapped[str | None] = mapped_column(ID)
    filename: Mapped[str] = mapped_column(String(200))
    media_type: Mapped[str] = mapped_column(String(50))
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]
