"""Placements of articles and publishing schedules for lists and calendars, read in few queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast

from pressroom.columns import as_id
from sqlalchemy import ColumnElement, Select, and_, func, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.records import PublicationStatus
from pressroom_content.tables import ArticleRow, PublicationRow

MAX_ENTRIES: Final = 400
"""The maximum number of entries in a calendar or a list. Others are left out."""

_AHEAD: Final = ("queued", "publishing", "draft", "scheduled", "failed", "unknown")
_WAITING: Final = ("queued", "scheduled")
_SLACK: Final = timedelta(days=1)
"""By how much a row's time of change may precede its time of publication if clocks differ."""


_Entries = Select[str, str, str, str, datetime, str]


@dataclass(frozen=True, slots=True)
class Placement:
    """An article on a website. `url` is empty until the post has one."""

    website_id: str
    status: str
    url: str

    @property
    def link(self) -> str:
        """The URL that people can open; empty if there is not one."""
        return self.url if self.status == "published" and self.url.startswith(("https://", "http://")) else ""


@dataclass(frozen=True, slots=True)
class ScheduleEntry:
    """A publication that is or was published at `at`."""

    publication_id: str
    article_id: str
    website_id: str
    title: str
    status: PublicationStatus
    at: datetime


async def placements(
    session: AsyncSession, user_id: str, article_ids: Sequence[str]
) -> Mapping[str, Sequence[Placement]]:
    """Return the current and planned placements of an account's articles, by article ID."""
    query = (
        select(PublicationRow.article_id, PublicationRow.website_id, PublicationRow.status, PublicationRow.url)
        .where(PublicationRow.article_id.in_(article_ids), PublicationRow.user_id == user_id)
        .where(PublicationRow.status != "unpublished")
        .order_by(PublicationRow.created_at, PublicationRow.id)
    )
    by_article: dict[str, list[Placement]] = defaultdict(list)
    for article_id, website_id, status, url in await session.execute(query):
        by_article[article_id].append(Placement(website_id, status, url or ""))
    return by_article


async def heads(session: AsyncSession, user_id: str, article_ids: Sequence[str]) -> Mapping[str, tuple[str, int]]:
    """Return the title and newest version of each article of an account, by ID."""
    query = select(ArticleRow.id, ArticleRow.title, ArticleRow.version).where(
        ArticleRow.id.in_(set(article_ids)), ArticleRow.user_id == user_id
    )
    return {id_: (title, version) for id_, title, version in await session.execute(query)}


async def entries(
    session: AsyncSession, user_id: str, begin: datetime, end: datetime, website_id: str | None = None
) -> Sequence[ScheduleEntry]:
    """Return an account's posts that were published, or are scheduled, from `begin` until before `end`, in order.

    At most the first `MAX_ENTRIES` are returned.
    """
    branches = [
        query.order_by(at, PublicationRow.id).limit(MAX_ENTRIES)
        for query, at in (
            (_entries_query(user_id, _live(begin, end), PublicationRow.published_at), PublicationRow.published_at),
            (_entries_query(user_id, _ahead(begin, end, _AHEAD), PublicationRow.publish_at), PublicationRow.publish_at),
        )
    ]
    if website_id is not None:
        branches = [branch.where(PublicationRow.website_id == as_id(website_id)) for branch in branches]
    # SQLite allows a limit within a union only in a subquery.
    rows = await session.execute(union_all(*(select(branch.subquery()) for branch in branches)))
    ordered = sorted((_entry(*row) for row in rows), key=lambda entry: (entry.at, entry.publication_id))
    return ordered[:MAX_ENTRIES]


async def upcoming(
    session: AsyncSession, user_id: str, begin: datetime, end: datetime, limit: int
) -> tuple[Sequence[ScheduleEntry], int]:
    """Return the first scheduled publications from `begin` until before `end`, and their total number."""
    at = PublicationRow.publish_at
    query = _entries_query(user_id, _ahead(begin, end, _WAITING), at).order_by(at, PublicationRow.id)
    return await _first(session, query, limit)


async def latest(
    session: AsyncSession, user_id: str, begin: datetime, end: datetime, limit: int
) -> tuple[Sequence[ScheduleEntry], int]:
    """Return the latest posts from `begin` until before `end`, newest first, and their total number."""
    at = PublicationRow.published_at
    query = _entries_query(user_id, _live(begin, end), at).order_by(at.desc(), PublicationRow.id.desc())
    return await _first(session, query, limit)


async def _first(session: AsyncSession, query: _Entries, limit: int) -> tuple[Sequence[ScheduleEntry], int]:
    rows = (await session.execute(query.add_columns(func.count().over()).limit(limit))).all()
    return [_entry(*row[:-1]) for row in rows], rows[0][-1] if rows else 0


def _live(begin: datetime, end: datetime) -> ColumnElement[bool]:
    return and_(
        PublicationRow.status == "published",
        PublicationRow.published_at >= begin,
        PublicationRow.published_at < end,
        PublicationRow.updated_at >= begin - _SLACK,
    )


def _ahead(begin: datetime, end: datetime, status: Sequence[str]) -> ColumnElement[bool]:
    return and_(
        PublicationRow.status.in_(status),
        PublicationRow.mode == "schedule",
        PublicationRow.publish_at >= begin,
        PublicationRow.publish_at < end,
    )


def _entry(id_: str, article_id: str, website_id: str, status: str, at: datetime, title: str) -> ScheduleEntry:
    return ScheduleEntry(id_, article_id, website_id, title, cast("PublicationStatus", status), at)


def _entries_query(user_id: str, condition: ColumnElement[bool], at: Any) -> _Entries:
    return (
        select(
            PublicationRow.id,
            PublicationRow.article_id,
            PublicationRow.website_id,
            PublicationRow.status,
            at.label("at"),
            ArticleRow.title,
        )
        .join(ArticleRow, ArticleRow.id == PublicationRow.article_id)
        .where(PublicationRow.user_id == user_id, condition)
    )
