"""The dashboard's articles section: problems, upcoming posts, drafts, and recent posts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final

from pressroom.sdk import AccountRole, OverviewSection, PluginContext
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles import listing
from pressroom_content.pages.articles import PATH as ARTICLES
from pressroom_content.pages.calendar import PATH as CALENDAR
from pressroom_content.pages.connect import WEBSITES, root_of
from pressroom_content.pages.shown import Moment, moment, score_kind
from pressroom_content.publishing.overview import ScheduleEntry, latest, upcoming
from pressroom_content.records import Website
from pressroom_content.tables import ArticleRow, PublicationRow
from pressroom_content.websites.settings import zone_of
from pressroom_content.websites.store import Websites

SHOWN: Final = 4
"""Maximum number of rows in each list."""

_AHEAD: Final = timedelta(days=365)
_LATELY: Final = timedelta(days=30)
_WEBSITES: Final = 100
_PROBLEMS: Final[Mapping[str, str]] = {
    "failed": "could not be published",
    "unknown": "may not be published: the website did not respond",
}


@dataclass(frozen=True, slots=True)
class AttentionEntry:
    """An item that needs the owner's attention: its path, its title, and the problem."""

    path: str
    title: str
    text: str


def sections(plugin: PluginContext) -> Sequence[OverviewSection]:
    """Return the section with an account's articles."""

    async def articles(subject: str, role: AccountRole) -> str:
        return await _render(plugin, subject, role)

    return [OverviewSection("articles", articles, position=10, by_role=True)]


async def _render(plugin: PluginContext, user_id: str, role: AccountRole) -> str:
    now, root = datetime.now(UTC), root_of(plugin)
    async with plugin.services.database.reading() as session:
        websites, _ = await Websites(plugin).page_within(session, user_id, limit=_WEBSITES)
        drafts, more = await listing.page(session, user_id, listing.ArticleFilter(status="draft"), limit=SHOWN)
        ahead, all_ahead = await upcoming(session, user_id, now, now + _AHEAD, SHOWN)
        live, all_live = await latest(session, user_id, now - _LATELY, now, SHOWN)
        failed = await _publications(session, user_id, root)
    by_id = {website.id: website for website in websites}
    return plugin.templates.render(
        "overview.html",
        root=root,
        articles=f"{root}{ARTICLES}",
        calendar=f"{root}{CALENDAR}",
        websites=f"{root}{WEBSITES}",
        has_website=bool(websites),
        writes=role != "reader",
        owns=role == "owner",
        problems=[*failed, *_broken(websites, root)],
        ahead=[_entry(entry, by_id, now) for entry in ahead],
        more_ahead=all_ahead - len(ahead),
        drafts=[
            {
                "id": draft.id,
                "title": draft.title,
                "score": draft.score,
                "kind": score_kind(draft.score) if draft.score is not None else "",
                "changed": moment(draft.updated_at, now),
            }
            for draft in drafts
        ],
        more_drafts=more is not None,
        live=[_entry(entry, by_id, now) for entry in live],
        more_live=all_live - len(live),
    )


def _entry(entry: ScheduleEntry, websites: Mapping[str, Website], now: datetime) -> Mapping[str, Any]:
    website = websites.get(entry.website_id)
    zone: tzinfo = zone_of(website.settings) if website is not None else UTC
    at: Moment = moment(entry.at, now, zone)
    return {"id": entry.article_id, "title": entry.title, "website": website.name if website else "", "at": at}


async def _publications(session: AsyncSession, user_id: str, root: str) -> Sequence[AttentionEntry]:
    """Return the publications that failed or have an unknown outcome, most recent first."""
    query = (
        select(PublicationRow.article_id, PublicationRow.status, ArticleRow.title)
        .join(ArticleRow, ArticleRow.id == PublicationRow.article_id)
        .where(PublicationRow.user_id == user_id, PublicationRow.status.in_(tuple(_PROBLEMS)))
        .where(ArticleRow.status != "trashed")
        .order_by(PublicationRow.updated_at.desc(), PublicationRow.id.desc())
        .limit(SHOWN)
    )
    rows = (await session.execute(query)).all()
    return [
        AttentionEntry(f"{root}{ARTICLES}/{row.article_id}/publications", row.title, _PROBLEMS[row.status])
        for row in rows
    ]


def _broken(websites: Sequence[Website], root: str) -> Sequence[AttentionEntry]:
    """Return the websites whose connection has failed."""
    broken = [website for website in websites if website.status == "error"][:SHOWN]
    return [
        AttentionEntry(f"{root}{WEBSITES}/{website.id}", website.name, "cannot be reached or refuses its credential")
        for website in broken
    ]
