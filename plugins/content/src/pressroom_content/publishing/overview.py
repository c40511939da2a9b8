"""Where articles are, and what goes out when: for lists and calendars, read in few queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast

from pressroom.columns import as_id
from sqlalchemy import ColumnElement, Select, and_, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.records import PublicationStatus
from pressroom_content.tables import ArticleRow, PublicationRow

MAX_ENTRIES: Final = 400
"""The maximum of entries in a calendar or a list; others are left out."""

_AHEAD: Final = ("queued", "publishing", "draft", "scheduled", "failed", "unknown")
_SLACK: Final = timedelta(days=1)
"""By how much a row's time of change may precede its time of publication, where clocks differ."""


@dataclass(frozen=True, slots=True)
class Placement:
    """An article on a website. `url` is empty before it has one."""

    website_id: str
    status: str
    url: str

    @property
    def link(self) -> str:
        """The URL that people can open, empty if it has none."""
        return self.url if self.status == "published" and self.url.startswith(("https://", "http://")) else ""


@dataclass(frozen=True, slots=True)
class ScheduleEntry:
    """What goes out, or went out, at `at`."""

    publication_id: str
    article_id: str
    website_id: str
    title: str
    status: PublicationStatus
    at: datetime


async def placements(
    session: AsyncSession, user_id: str, article_ids: Sequence[str]
) -> Mapping[str, Sequence[Placement]]:
    """Return where articles of an account are or are to be, by the article's id."""
    wanted = (
        select(PublicationRow.article_id, PublicationRow.website_id, PublicationRow.status, PublicationRow.url)
        .where(PublicationRow.article_id.in_(article_ids), PublicationRow.user_id == user_id)
        .where(PublicationRow.status != "unpublished")
        .order_by(PublicationRow.created_at, PublicationRow.id)
    )
    found: dict[str, list[Placement]] = defaultdict(list)
    for article_id, website_id, status, url in await session.execute(wanted):
        found[article_id].append(Placement(website_id, status, url or ""))
    return found


async def heads(session: AsyncSession, user_id: str, article_ids: Sequence[str]) -> Mapping[str, tuple[str, int]]:
    """Return the titles and newest versions of articles of an account, by id."""
    wanted = select(ArticleRow.id, ArticleRow.title, ArticleRow.version).where(
        ArticleRow.id.in_(set(article_ids)), ArticleRow.user_id == user_id
    )
    return {id_: (title, version) for id_, title, version in await session.execute(wanted)}


async def entries(
    session: AsyncSession,
    user_id: str,
    begin: datetime,
    end: datetime,
    website_id: str | None = None,
    *,
    newest: bool = False,
) -> Sequence[ScheduleEntry]:
    """Return what an account published, or is to publish at a named time, from `begin` until before `end`, in order.

    If there are more than `MAX_ENTRIES`, these are the first of them, or the last with `newest`.
    """
    live = and_(
        PublicationRow.status == "published",
        PublicationRow.published_at >= begin,
        PublicationRow.published_at < end,
        PublicationRow.updated_at >= begin - _SLACK,
    )
    ahead = and_(
        PublicationRow.status.in_(_AHEAD),
        PublicationRow.mode == "schedule",
        PublicationRow.publish_at >= begin,
        PublicationRow.publish_at < end,
    )
    branches = [
        _wanted(user_id, live, PublicationRow.published_at, website_id, newest=newest),
        _wanted(user_id, ahead, PublicationRow.publish_at, website_id, newest=newest),
    ]
    # SQLite takes a limit within a union in a subquery only.
    rows = await session.execute(union_all(*(select(branch.subquery()) for branch in branches)))
    found = [
        ScheduleEntry(id_, article_id, of_website, title, cast("PublicationStatus", status), at)
        for id_, article_id, of_website, status, at, title in rows
    ]
    found.sort(key=lambda entry: (entry.at, entry.publication_id))
    return found[-MAX_ENTRIES:] if newest else found[:MAX_ENTRIES]


def _wanted(
    user_id: str, condition: ColumnElement[bool], at: Any, website_id: str | None, *, newest: bool
) -> Select[str, str, str, str, datetime, str]:
    wanted = (
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
        .order_by(*(column.desc() if newest else column for column in (at, PublicationRow.id)))
        .limit(MAX_ENTRIES)
    )
    return wanted if website_id is None else wanted.where(PublicationRow.website_id == as_id(website_id))
