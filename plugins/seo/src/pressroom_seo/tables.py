"""The tables: crawls, what they read and found, and what people said of it.

Every row belongs to an account, `user_id`, or to a crawl of one. Of every website, one crawl at a time is under way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from pressroom.columns import MAX_ID_LENGTH, NAMING, Timestamp
from sqlalchemy import JSON, ForeignKey, Index, MetaData, String, Text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

ID: Final = String(MAX_ID_LENGTH)
URL: Final = String(2048)


class SeoBase(DeclarativeBase):
    """The tables of this plugin."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: Timestamp}  # noqa: RUF012 - declared so by SQLAlchemy


class CrawlRow(SeoBase):
    """A crawl of a website. `status` is `queued`, `running`, `waiting`, `finished` or `failed`.

    `active` is the website while the crawl is not over: it is unique. `host` is the host while requests are made to it,
    unique as well: two accounts may have the same site. `start` is the first page. `counts` are the open findings by
    check, `trend` what changed since the report before, `severities` the open findings by severity, `notes` sentences
    about how it went. An interrupted crawl resumes from `state`.
    """

    __tablename__ = "seo_crawls"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    website_id: Mapped[str] = mapped_column(ID)
    active: Mapped[str | None] = mapped_column(ID, unique=True)
    host: Mapped[str | None] = mapped_column(String(300), unique=True)
    start: Mapped[str] = mapped_column(URL)
    own: Mapped[bool] = mapped_column(default=False)
    max_pages: Mapped[int]
    status: Mapped[str] = mapped_column(String(16))
    job_id: Mapped[str] = mapped_column(ID, default="")
    restarts: Mapped[int] = mapped_column(default=0)
    pages: Mapped[int] = mapped_column(default=0)
    complete: Mapped[bool] = mapped_column(default=False)
    score: Mapped[int] = mapped_column(default=0)
    counts: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    severities: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    trend: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    notes: Mapped[list[Any]] = mapped_column(JSON, default=list)
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    # The last column: only the crawl itself reads it, and it may be large.
    state: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True), deferred=True)

    __table_args__ = (Index(None, "user_id", "website_id", "finished_at"),)


class CrawledPageRow(SeoBase):
    """A URL that a crawl requested. `counted` tells whether it counts for the score without any finding.

    `inlinks`, `depth` and `orphan` are known once the crawl is over. `structured` are items of structured data.
    """

    __tablename__ = "seo_pages"

    crawl_id: Mapped[str] = mapped_column(ForeignKey("seo_crawls.id", ondelete="CASCADE"), primary_key=True)
    url: Mapped[str] = mapped_column(URL, primary_key=True)
    status: Mapped[int]
    title: Mapped[str] = mapped_column(String(500), default="")
    words: Mapped[int] = mapped_column(default=0)
    counted: Mapped[bool]
    inlinks: Mapped[int] = mapped_column(default=0)
    depth: Mapped[int | None]
    orphan: Mapped[bool] = mapped_column(default=False)
    structured: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))
    record: Mapped[dict[str, Any]] = mapped_column(JSON)


class LinkRow(SeoBase):
    """A link that a crawl knows the end of. `record` is empty for pages of the site, which have a row of their own.

    `problems` are `broken`, `redirected` and `insecure`, joined by commas; `found_in` are a few pages that have it.
    """

    __tablename__ = "seo_links"

    crawl_id: Mapped[str] = mapped_column(ForeignKey("seo_crawls.id", ondelete="CASCADE"), primary_key=True)
    url: Mapped[str] = mapped_column(URL, primary_key=True)
    status: Mapped[int]
    location: Mapped[str] = mapped_column(URL, default="")
    message: Mapped[str] = mapped_column(Text, default="")
    image: Mapped[bool] = mapped_column(default=False)
    internal: Mapped[bool] = mapped_column(default=False)
    problems: Mapped[str] = mapped_column(String(64), default="")
    found_in: Mapped[list[Any]] = mapped_column(JSON, default=list)
    record: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))


class FindingRow(SeoBase):
    """What a check found at a URL; where `url` is empty, what it found on the whole site, in a number.

    `id` is the same in every crawl of the website, `group_id` is that of the check's row for the whole site.
    """

    __tablename__ = "seo_findings"

    crawl_id: Mapped[str] = mapped_column(ForeignKey("seo_crawls.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[str] = mapped_column(ID, primary_key=True)
    group_id: Mapped[str] = mapped_column(ID)
    check_id: Mapped[str] = mapped_column(String(64))
    severity: Mapped[str] = mapped_column(String(16))
    url: Mapped[str] = mapped_column(URL)
    count: Mapped[int] = mapped_column(default=1)
    evidence: Mapped[list[Any]] = mapped_column(JSON, default=list)

    __table_args__ = (Index(None, "crawl_id", "check_id", "url"), Index(None, "crawl_id", "url"), Index(None, "id"))


class MarkRow(SeoBase):
    """The mark of a finding: `fixed` or `ignored`. It outlives the crawl."""

    __tablename__ = "seo_marks"

    website_id: Mapped[str] = mapped_column(ID, primary_key=True)
    issue_id: Mapped[str] = mapped_column(ID, primary_key=True)
    user_id: Mapped[str] = mapped_column(ID)
    check_id: Mapped[str] = mapped_column(String(64))
    url: Mapped[str] = mapped_column(URL, default="")
    status: Mapped[str] = mapped_column(String(16))
    note: Mapped[str] = mapped_column(Text, default="")
    updated_at: Mapped[datetime]


BATCH: Final = 50
"""How many records are written together: records of pages may be large."""

_ROWS_AT_ONCE: Final = 200


async def upsert(session: AsyncSession, table: Any, rows: Sequence[dict[str, Any]], keys: Iterable[str]) -> None:
    """Add rows, or write over those that have the same `keys`. All rows have the same columns."""
    names = tuple(keys)
    unique = list({tuple(row[name] for name in names): row for row in rows}.values())
    insert: Any = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    for at in range(0, len(unique), _ROWS_AT_ONCE):
        part = unique[at : at + _ROWS_AT_ONCE]
        adding = insert(table).values(part)
        changed = {name: adding.excluded[name] for name in part[0] if name not in names}
        await session.execute(adding.on_conflict_do_update(index_elements=list(names), set_=changed))


def plain(text: str, longest: int) -> str:
    """Return a text as every database can keep it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()[:longest]
