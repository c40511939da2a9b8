"""The rows of built-in sites."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pressroom.sdk import PluginContext
from sqlalchemy import ColumnElement, Select, and_, delete, func, not_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from pressroom_content.contract.control import is_below
from pressroom_content.tables import (
    ArticleRow,
    BuiltinFileRow,
    BuiltinPostRow,
    BuiltinRedirectRow,
    PublicationRow,
    WebsiteRow,
)


def is_live(now: datetime) -> ColumnElement[bool]:
    """Return the condition for posts that visitors see: a scheduled one is live at its time, to the second."""
    return or_(
        BuiltinPostRow.state == "live",
        and_(BuiltinPostRow.state == "scheduled", BuiltinPostRow.publish_at <= now),
    )


async def may_lead_to(session: AsyncSession, website_id: str, target: str) -> bool:
    """Return whether a redirect of a site may lead somewhere: to its own paths, and to URLs that its account controls.

    Any other would make this server lend its name to whatever an account wants to send people to.
    """
    if target.startswith("/") and not target.startswith("//"):
        return True
    owner = select(WebsiteRow.user_id).where(WebsiteRow.id == website_id).scalar_subquery()
    is_builtin = WebsiteRow.platform == "builtin"
    wanted = select(WebsiteRow.url, WebsiteRow.control_place, is_builtin).where(
        WebsiteRow.user_id == owner,
        WebsiteRow.disconnected_at.is_(None),
        or_(is_builtin, WebsiteRow.control_method != ""),
    )
    places = [url if builtin else f"https://{place}" for url, place, builtin in await session.execute(wanted)]
    return any(is_below(target, place) for place in places)


async def delete_site(session: AsyncSession, website_id: str) -> None:
    """Delete posts, files and redirects of a built-in site. Articles that were online nowhere else become drafts."""
    mine = PublicationRow.website_id == website_id
    elsewhere = select(PublicationRow.article_id).where(
        not_(mine), PublicationRow.status.in_(("published", "scheduled"))
    )
    articles = select(PublicationRow.article_id).where(mine, PublicationRow.status != "unpublished")
    drafts = update(ArticleRow).where(
        ArticleRow.id.in_(articles), ArticleRow.id.not_in(elsewhere), ArticleRow.status != "trashed"
    )
    await session.execute(drafts.values(status="draft").execution_options(synchronize_session=False))
    taken_down = (
        update(PublicationRow)
        .where(mine)
        .values(
            status="unpublished", due_at=None, error="", path="", external_id="", url="", revision="", sent_hash=b""
        )
    )
    await session.execute(taken_down.execution_options(synchronize_session=False))
    for table in (BuiltinPostRow, BuiltinFileRow, BuiltinRedirectRow):
        await session.execute(delete(table).where(table.website_id == website_id))


class BuiltinSite:
    """What visitors of one built-in site see."""

    def __init__(self, plugin: PluginContext, website_id: str) -> None:
        self._database = plugin.services.database
        self._website_id = website_id

    async def live(self, *, limit: int, offset: int = 0, bodies: bool = False) -> Sequence[BuiltinPostRow]:
        """Return live posts, newest first; their texts only where `bodies` asks for them."""
        wanted = self._live(datetime.now(UTC)).limit(limit).offset(offset)
        if not bodies:
            wanted = wanted.options(defer(BuiltinPostRow.html), defer(BuiltinPostRow.markdown))
        async with self._database.reading() as session:
            return list(await session.scalars(wanted))

    async def count(self) -> int:
        """Return how many posts are live."""
        wanted = select(func.count()).select_from(self._live(datetime.now(UTC)).subquery())
        async with self._database.reading() as session:
            return int(await session.scalar(wanted) or 0)

    async def post(self, slug: str) -> BuiltinPostRow | None:
        """Return the live post of a slug, or `None`."""
        wanted = self._live(datetime.now(UTC)).where(BuiltinPostRow.slug == slug[:200])
        async with self._database.reading() as session:
            found: BuiltinPostRow | None = await session.scalar(wanted)
            return found

    async def file(self, name: str) -> BuiltinFileRow | None:
        """Return a file by its name, or `None`."""
        wanted = select(BuiltinFileRow).where(
            BuiltinFileRow.website_id == self._website_id, BuiltinFileRow.name == name[:200]
        )
        async with self._database.reading() as session:
            found: BuiltinFileRow | None = await session.scalar(wanted.limit(1))
            return found

    async def redirect(self, source: str) -> BuiltinRedirectRow | None:
        """Return the redirect of a path such as `/old`, or `None`, also where it leads to a site of others."""
        wanted = select(BuiltinRedirectRow).where(
            BuiltinRedirectRow.website_id == self._website_id, BuiltinRedirectRow.source == source[:500]
        )
        async with self._database.reading() as session:
            found: BuiltinRedirectRow | None = await session.scalar(wanted)
            return found if found and await may_lead_to(session, self._website_id, found.target) else None

    def _live(self, now: datetime) -> Select[Any]:
        mine = select(BuiltinPostRow).where(BuiltinPostRow.website_id == self._website_id, is_live(now))
        return mine.order_by(BuiltinPostRow.published_at.desc(), BuiltinPostRow.id.desc())
