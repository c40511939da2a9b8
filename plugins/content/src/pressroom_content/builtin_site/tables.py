"""The tables of built-in sites: posts with their terms, files and redirects."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from pressroom_content.tables import ID, ContentBase


class BuiltinPostRow(ContentBase):
    """A post of a built-in site, which this server serves at `/sites/<site>/<slug>`.

    `html` is sanitised. `state` is `draft`, `scheduled`, `live` or `trashed`. `kind` is `post`, or `page` for content
    outside of lists and feeds, such as an imprint.
    """

    __tablename__ = "content_builtin_posts"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    website_id: Mapped[str] = mapped_column(ForeignKey("content_websites.id", ondelete="CASCADE"))
    marker: Mapped[str] = mapped_column(ID, index=True)
    slug: Mapped[str] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(16))
    kind: Mapped[str] = mapped_column(String(8), default="post", server_default="post")
    size: Mapped[int] = mapped_column(default=0)
    publish_at: Mapped[datetime | None]
    title: Mapped[str] = mapped_column(String(500))
    html: Mapped[str] = mapped_column(Text)
    markdown: Mapped[str] = mapped_column(Text)
    fields: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    featured: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    published_at: Mapped[datetime | None]

    __table_args__ = (
        Index(None, "website_id", "slug", unique=True),
        Index(None, "website_id", "state", "published_at"),
        Index(None, "website_id", "size"),
        # A covering index in the order of lists: counting public posts reads nothing else.
        Index("ix_content_builtin_posts_listed", "website_id", "kind", "published_at", "id", "state", "publish_at"),
    )


class BuiltinTermRow(ContentBase):
    """A `tag`, `category` or `author` of a post of a built-in site. `slug` is its URL segment."""

    __tablename__ = "content_builtin_terms"

    post_id: Mapped[str] = mapped_column(ForeignKey("content_builtin_posts.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(8), primary_key=True)
    slug: Mapped[str] = mapped_column(String(200), primary_key=True)
    website_id: Mapped[str] = mapped_column(ID)
    name: Mapped[str] = mapped_column(String(500))

    __table_args__ = (Index(None, "website_id", "kind", "slug"),)


class BuiltinFileRow(ContentBase):
    """A file of a built-in site: an upload, or a smaller copy of the file named `parent`."""

    __tablename__ = "content_builtin_files"
    __table_args__ = (
        Index(None, "website_id", "size"),
        Index(None, "website_id", "name"),
        Index(None, "website_id", "parent"),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    website_id: Mapped[str] = mapped_column(ForeignKey("content_websites.id", ondelete="CASCADE"))
    marker: Mapped[str] = mapped_column(ID, index=True)
    name: Mapped[str] = mapped_column(String(200))
    parent: Mapped[str] = mapped_column(String(200), default="", server_default="")
    media_type: Mapped[str] = mapped_column(String(100))
    width: Mapped[int] = mapped_column(default=0)
    height: Mapped[int] = mapped_column(default=0)
    size: Mapped[int] = mapped_column(default=0)
    content: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime]


class BuiltinRedirectRow(ContentBase):
    """A redirect of a built-in site, or the record of a removed page if `target` is empty."""

    __tablename__ = "content_builtin_redirects"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    website_id: Mapped[str] = mapped_column(ForeignKey("content_websites.id", ondelete="CASCADE"))
    source: Mapped[str] = mapped_column(String(500))
    target: Mapped[str] = mapped_column(String(2048))
    permanent: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime]

    __table_args__ = (Index(None, "website_id", "source", unique=True),)
