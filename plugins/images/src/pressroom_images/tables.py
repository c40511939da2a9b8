"""The tables: images with their licences, their bytes and thumbnails, and links with which people upload."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from pressroom.columns import MAX_ID_LENGTH, NAMING, Timestamp
from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

ID: Final = String(MAX_ID_LENGTH)


class ImagesBase(DeclarativeBase):
    """The tables of this plugin."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: Timestamp}  # noqa: RUF012 - declared so by SQLAlchemy


class MediaRow(ImagesBase):
    """An image of an account's library.

    `ref` is what the search called it, empty for an upload; an account has each once. `file_url` is where a hotlinked
    image lies. `size` is in bytes, 0 where the bytes are elsewhere. `license` and `credit` are those of the contract.
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
    """The bytes of an image, apart so that lists need not carry them."""

    __tablename__ = "images_bytes"

    media_id: Mapped[str] = mapped_column(ForeignKey("images_media.id", ondelete="CASCADE"), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class ThumbnailRow(ImagesBase):
    """A thumbnail of an image (WebP), once a list has shown it."""

    __tablename__ = "images_thumbnails"

    media_id: Mapped[str] = mapped_column(ForeignKey("images_media.id", ondelete="CASCADE"), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class UseRow(ImagesBase):
    """Which article an image was taken for; `role` is `featured` or `inline`."""

    __tablename__ = "images_uses"

    media_id: Mapped[str] = mapped_column(ForeignKey("images_media.id", ondelete="CASCADE"), primary_key=True)
    content_id: Mapped[str] = mapped_column(ID, primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(16))


class UploadRow(ImagesBase):
    """A link with which somebody uploads one image. The token in it is stored as its SHA-256."""

    __tablename__ = "images_uploads"

    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    media_id: Mapped[str] = mapped_column(ID, unique=True)
    user_id: Mapped[str] = mapped_column(ID)
    content_id: Mapped[str | None] = mapped_column(ID)
    filename: Mapped[str] = mapped_column(String(200))
    media_type: Mapped[str] = mapped_column(String(50))
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]
