"""The tables: websites, articles with their versions, publications with their steps, ideas and brand voices.

Rows belong to an account, directly through `user_id` or through the row that they refer to. Rows of other accounts are
not found.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Final

from pressroom.columns import MAX_ID_LENGTH, NAMING, Timestamp
from sqlalchemy import JSON, BigInteger, Date, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

ID: Final = String(MAX_ID_LENGTH)


class ContentBase(DeclarativeBase):
    """The tables of this plugin."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: Timestamp, date: Date}  # noqa: RUF012 - declared so by SQLAlchemy


class WebsiteRow(ContentBase):
    """A website. `credential` is a JWE; it is empty after the site was disconnected, and on platforms without one.

    `status` is `active`, `error` or `paused`; `disconnected_at` hides the site from lists. `site_key` is the segment of
    a built-in site's URL, `/sites/<site_key>`; such a row has no `url`.

    `control_token` is the text that a file or meta tag on the website has to contain. `control_place` is the URL,
    without its scheme, that the website was proven to control at `control_at`, by `control_method`.

    `domain` is the custom domain that the owner of a built-in site requested, and `domain_token` is the response of
    this server there that proves it. Once it is proven, `proven_domain` is the same, and no other site can have it.
    `domain_at` is when it was proven, or else requested. `domain_problem` is what the check at `domain_checked_at`
    found instead; `domain_lost_at` is since when the checks of a proven domain fail.
    """

    __tablename__ = "content_websites"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    platform: Mapped[str] = mapped_column(String(32))
    name: Mapped[str] = mapped_column(String(200))
    url: Mapped[str] = mapped_column(String(2048))
    site_key: Mapped[str | None] = mapped_column(String(80), unique=True)
    status: Mapped[str] = mapped_column(String(16))
    credential: Mapped[str] = mapped_column(Text, default="")
    settings: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    capabilities: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    checks: Mapped[list[Any]] = mapped_column(JSON, default=list)
    last_error: Mapped[str] = mapped_column(Text, default="")
    last_error_at: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
    last_published_at: Mapped[datetime | None]
    control_token: Mapped[str] = mapped_column(String(64), default="", server_default="")
    control_place: Mapped[str] = mapped_column(String(2048), default="", server_default="")
    control_method: Mapped[str] = mapped_column(String(16), default="", server_default="")
    control_at: Mapped[datetime | None]
    domain: Mapped[str] = mapped_column(String(253), default="", server_default="")
    domain_token: Mapped[str] = mapped_column(String(64), default="", server_default="")
    domain_at: Mapped[datetime | None]
    domain_checked_at: Mapped[datetime | None]
    domain_lost_at: Mapped[datetime | None]
    domain_problem: Mapped[str] = mapped_column(String(500), default="", server_default="")
    proven_domain: Mapped[str | None] = mapped_column(String(253))
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    disconnected_at: Mapped[datetime | None]

    __table_args__ = (Index(None, "user_id", "created_at"), Index(None, "proven_domain", unique=True))


class ConnectRow(ContentBase):
    """A link for connecting a site. The token in the link is stored as its SHA-256 hash."""

    __tablename__ = "content_connects"

    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    id: Mapped[str] = mapped_column(ID, unique=True)
    user_id: Mapped[str] = mapped_column(ID)
    platform: Mapped[str] = mapped_column(String(32))
    url: Mapped[str] = mapped_column(String(2048), default="")
    name: Mapped[str] = mapped_column(String(200), default="")
    website_id: Mapped[str | None] = mapped_column(ID)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    used_at: Mapped[datetime | None]


class ArticleRow(ContentBase):
    """The newest version of an article. `status` is `draft`, `scheduled`, `published` or `trashed`.

    `request_id` is the client's `client_request_id`, unique per account. `length` is the number of words in
    `content_words`. `slug_scope` is where the slug is unique: the website, or empty for articles without one.
    """

    __tablename__ = "content_articles"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    website_id: Mapped[str | None] = mapped_column(ID, index=True)
    status: Mapped[str] = mapped_column(String(16), default="draft")
    version: Mapped[int] = mapped_column(default=1)
    title: Mapped[str] = mapped_column(String(500))
    slug: Mapped[str] = mapped_column(String(200))
    slug_scope: Mapped[str] = mapped_column(ID, default="")
    body_format: Mapped[str] = mapped_column(String(16))
    excerpt: Mapped[str] = mapped_column(Text, default="")
    keyphrase: Mapped[str] = mapped_column(String(200), default="")
    synonyms: Mapped[list[Any]] = mapped_column(JSON, default=list)
    meta_title: Mapped[str] = mapped_column(String(500), default="")
    meta_description: Mapped[str] = mapped_column(Text, default="")
    tags: Mapped[list[Any]] = mapped_column(JSON, default=list)
    categories: Mapped[list[Any]] = mapped_column(JSON, default=list)
    language: Mapped[str] = mapped_column(String(35), default="")
    canonical_url: Mapped[str] = mapped_column(String(2048), default="")
    author: Mapped[str] = mapped_column(String(200), default="")
    featured_media_id: Mapped[str] = mapped_column(ID, default="")
    featured_alt: Mapped[str] = mapped_column(Text, default="")
    word_count: Mapped[int] = mapped_column(default=0)
    length: Mapped[int] = mapped_column(default=0)
    score: Mapped[int | None]
    stored: Mapped[int] = mapped_column(BigInteger, default=0)
    """Total size of the body and of all versions, in bytes."""
    request_id: Mapped[str | None] = mapped_column(String(200))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    published_at: Mapped[datetime | None]
    trashed_at: Mapped[datetime | None] = mapped_column(index=True)
    # The last column: SQLite reads all columns before the requested one, and most lists do not need the body.
    body: Mapped[str] = mapped_column(Text)

    __table_args__ = (
        Index(None, "user_id", "request_id", unique=True),
        Index(None, "user_id", "updated_at", "id"),
        Index(None, "user_id", "slug_scope", "slug", unique=True),
        Index(None, "user_id", "status", "updated_at", "id"),
        Index(None, "user_id", "website_id", "updated_at", "id"),
        Index(None, "user_id", "keyphrase"),
        Index(None, "user_id", "language"),
        Index(None, "user_id", "stored"),
        Index(None, "status", "published_at"),
    )


class VersionRow(ContentBase):
    """A version of an article: its body, and its other fields in `fields`. `origin` is the client that wrote it."""

    __tablename__ = "content_versions"

    article_id: Mapped[str] = mapped_column(ForeignKey("content_articles.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    size: Mapped[int] = mapped_column(default=0)
    fields: Mapped[dict[str, Any]] = mapped_column(JSON)
    body: Mapped[str] = mapped_column(Text)
    origin: Mapped[str] = mapped_column(String(200), default="")
    changed: Mapped[list[Any]] = mapped_column(JSON, default=list)
    added: Mapped[int] = mapped_column(default=0)
    removed: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]


class PageRow(ContentBase):
    """A page of a connected site, not necessarily written here, for links, duplicates and keyphrase cannibalisation."""

    __tablename__ = "content_pages"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    website_id: Mapped[str] = mapped_column(ForeignKey("content_websites.id", ondelete="CASCADE"))
    article_id: Mapped[str | None] = mapped_column(ID, index=True)
    url: Mapped[str] = mapped_column(String(2048))
    external_id: Mapped[str] = mapped_column(String(200), default="")
    title: Mapped[str] = mapped_column(String(500), default="")
    excerpt: Mapped[str] = mapped_column(Text, default="")
    keyphrase: Mapped[str] = mapped_column(String(200), default="")
    length: Mapped[int] = mapped_column(default=0)
    fingerprint: Mapped[bytes] = mapped_column(LargeBinary(32), default=b"")
    updated_at: Mapped[datetime | None]
    seen_at: Mapped[datetime]

    __table_args__ = (Index(None, "website_id", "url", unique=True), Index(None, "user_id", "seen_at"))


class WordRow(ContentBase):
    """The number of occurrences of a stem in a document (an article or a page), for search and related texts."""

    __tablename__ = "content_words"

    user_id: Mapped[str] = mapped_column(ID, primary_key=True)
    stem: Mapped[str] = mapped_column(String(64), primary_key=True)
    document_id: Mapped[str] = mapped_column(ID, primary_key=True)
    count: Mapped[int]
    in_title: Mapped[bool] = mapped_column(default=False)

    __table_args__ = (Index(None, "document_id"),)


class ShingleRow(ContentBase):
    """A band of the MinHash signature of a document: near-duplicates share at least one band."""

    __tablename__ = "content_shingles"

    user_id: Mapped[str] = mapped_column(ID, primary_key=True)
    band: Mapped[bytes] = mapped_column(LargeBinary(9), primary_key=True)
    document_id: Mapped[str] = mapped_column(ID, primary_key=True)

    __table_args__ = (Index(None, "document_id"),)


class PublicationRow(ContentBase):
    """An article on a website. There is at most one row per pair, whatever the outcome.

    `status` is `queued`, `publishing`, `published`, `draft`, `scheduled`, `failed`, `unknown` or `unpublished`; `mode`
    is the requested mode. `article_version` is the version that is being sent, or was sent last. `marker` is in the
    remote post. `due_at` is when processing continues, `None` if nothing is scheduled; `tries` counts the attempts at
    a step while the site was unavailable. `job_id` is the job in charge; its lock is held while the publication is
    processed.
    `revision` and `sent_hash` describe the remote post after the last write from here, to detect edits on the site.
    """

    __tablename__ = "content_publications"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    article_id: Mapped[str] = mapped_column(ForeignKey("content_articles.id", ondelete="CASCADE"))
    website_id: Mapped[str] = mapped_column(ForeignKey("content_websites.id", ondelete="CASCADE"), index=True)
    marker: Mapped[str] = mapped_column(ID, unique=True)
    status: Mapped[str] = mapped_column(String(16))
    mode: Mapped[str] = mapped_column(String(16))
    article_version: Mapped[int]
    publish_at: Mapped[datetime | None]
    options: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    request_id: Mapped[str | None] = mapped_column(String(200))
    canonical_of: Mapped[str | None] = mapped_column(ID)
    external_id: Mapped[str] = mapped_column(String(200), default="")
    url: Mapped[str] = mapped_column(String(2048), default="")
    path: Mapped[str] = mapped_column(String(500), default="", index=True)
    """The path of its text twins on this server."""
    revision: Mapped[str] = mapped_column(String(200), default="")
    sent_hash: Mapped[bytes] = mapped_column(LargeBinary(32), default=b"")
    verified: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    warnings: Mapped[list[Any]] = mapped_column(JSON, default=list)
    error: Mapped[str] = mapped_column(Text, default="")
    attempt: Mapped[int] = mapped_column(default=0)
    tries: Mapped[int] = mapped_column(default=0)
    due_at: Mapped[datetime | None] = mapped_column(index=True)
    job_id: Mapped[str] = mapped_column(ID, default="")
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    published_at: Mapped[datetime | None]

    __table_args__ = (
        Index(None, "article_id", "website_id", unique=True),
        Index(None, "user_id", "updated_at", "id"),
        Index(None, "status", "publish_at"),
    )


class SiteBodyRow(ContentBase):
    """The body of a post as its website stores it, as last read or written from here.

    `raw` is the body, and `segments` are its blocks with the article's text for each. `fields` are the post's fields as
    its website returned them, `sent` the values that were sent. `bound` is the website and the post's id for a post
    that existed before its article: no two articles are bound to the same post.
    """

    __tablename__ = "content_site_bodies"

    publication_id: Mapped[str] = mapped_column(
        ForeignKey("content_publications.id", ondelete="CASCADE"), primary_key=True
    )
    bound: Mapped[str | None] = mapped_column(String(300), unique=True)
    fields: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    sent: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    read_at: Mapped[datetime]
    raw: Mapped[str] = mapped_column(Text)
    segments: Mapped[list[Any]] = mapped_column(JSON, default=list)


class SiteMediaRow(ContentBase):
    """An image of a media library that was uploaded to a website, once for all posts that show it."""

    __tablename__ = "content_site_media"

    website_id: Mapped[str] = mapped_column(ForeignKey("content_websites.id", ondelete="CASCADE"), primary_key=True)
    media_id: Mapped[str] = mapped_column(ID, primary_key=True)
    remote_id: Mapped[str] = mapped_column(String(2048))
    url: Mapped[str] = mapped_column(String(2048))


class SiteMediaUseRow(ContentBase):
    """A publication whose post shows an image that was uploaded to its website."""

    __tablename__ = "content_site_media_uses"

    publication_id: Mapped[str] = mapped_column(
        ForeignKey("content_publications.id", ondelete="CASCADE"), primary_key=True
    )
    media_id: Mapped[str] = mapped_column(ID, primary_key=True)
    website_id: Mapped[str] = mapped_column(ID)

    __table_args__ = (Index(None, "website_id", "media_id"),)


class StepRow(ContentBase):
    """A step of a publication's current attempt. `state` is `pending`, `running`, `done`, `failed` or `unknown`."""

    __tablename__ = "content_steps"

    publication_id: Mapped[str] = mapped_column(
        ForeignKey("content_publications.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(32))
    state: Mapped[str] = mapped_column(String(16))
    detail: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class IdeaRow(ContentBase):
    """An idea for an article. `status` is `idea`, `planned`, `writing`, `done` or `dropped`."""

    __tablename__ = "content_ideas"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    website_id: Mapped[str | None] = mapped_column(ID)
    title: Mapped[str] = mapped_column(String(500), default="")
    keyphrase: Mapped[str] = mapped_column(String(200), default="")
    due: Mapped[date | None]
    notes: Mapped[str] = mapped_column(Text, default="")
    status: Mapped[str] = mapped_column(String(16), default="idea")
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (Index(None, "user_id", "updated_at"),)


class VoiceRow(ContentBase):
    """The writing guide of a website."""

    __tablename__ = "content_voices"

    website_id: Mapped[str] = mapped_column(ForeignKey("content_websites.id", ondelete="CASCADE"), primary_key=True)
    voice: Mapped[dict[str, Any]] = mapped_column(JSON)
    version: Mapped[int] = mapped_column(Integer)
    updated_at: Mapped[datetime]


class ExportRow(ContentBase):
    """A finished export, stored until its link expires. An account has at most one of each media type."""

    __tablename__ = "content_exports"
    __table_args__ = (Index(None, "user_id", "media_type", unique=True),)

    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    filename: Mapped[str] = mapped_column(String(200))
    media_type: Mapped[str] = mapped_column(String(100))
    content: Mapped[bytes] = mapped_column(LargeBinary)
    expires_at: Mapped[datetime] = mapped_column(index=True)
