"""Tables for crawls, their pages, links and findings, and the marks on findings.

Every row belongs to an account (`user_id`) or to a crawl. A website has at most one active crawl.
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
    """Declarative base of the plugin's tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: Timestamp}  # noqa: RUF012 - SQLAlchemy's declaration


class CrawlRow(SeoBase):
    """A crawl of a website. `status` is `queued`, `running`, `waiting`, `finished` or `failed`.

    `active` is the website ID until the crawl ends. It is unique and serves as a lock, as does `host`, the host that
    the crawl sends requests to: two accounts may have the same site. `start` is the home page. `counts` and
    `severities` are the numbers of open findings by check and by severity, `trend` the changes since the previous
    report, `notes` messages for the user. An interrupted crawl resumes from `state`.
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
    # Deferred: it may be large, and only the crawl itself reads it.
    state: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True), deferred=True)

    __table_args__ = (Index(None, "user_id", "website_id", "finished_at"),)


class CrawledPageRow(SeoBase):
    """A URL that a crawl requested. `counted` is whether it counts in the score even without findings.

    `inlinks`, `depth` and `orphan` are final once the crawl ends. `structured` are items of structured data.
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
    """A link that a crawl checked. `record` is `None` for pages of the site, which have their own `CrawledPageRow`.

    `problems` are any of `broken`, `redirected` and `insecure`, joined by commas; `found_in` are a few pages with the
    link.
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
    """A check's findings at a URL. An empty `url` marks the check's group row, whose `count` is the number of URLs.

    `id` is the same in every crawl of the website; `group_id` is the ID of the check's group row.
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
    """The mark on a finding, `fixed` or `ignored`. It outlives the crawl."""

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
"""Number of records to write together; page records may be large."""

_ROWS_AT_ONCE: Final = 200


async def upsert(session: AsyncSession, table: Any, rows: Sequence[dict[str, Any]], keys: Iterable[str]) -> None:
    """Insert rows or update those with the same `keys`. All rows must have the same columns."""
    names = tuple(keys)
    unique = list({tuple(row[name] for name in names): row for row in rows}.values())
    insert: Any = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    for start in range(0, len(unique), _ROWS_AT_ONCE):
        part = unique[start : start + _ROWS_AT_ONCE]
        adding = insert(table).values(part)
        changed = {name: adding.excluded[name] for name in part[0] if name not in names}
        await session.execute(adding.on_conflict_do_update(index_elements=list(names), set_=changed))


def plain(text: str, max_length: int) -> str:
    """Make a text storable in any database: no NUL or lone surrogates, at most `max_length` characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()[:max_length]
