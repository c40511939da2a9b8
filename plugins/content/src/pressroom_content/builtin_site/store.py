"""The rows of built-in sites."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pressroom.sdk import PluginContext
from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import defer

from pressroom_content.tables import BuiltinFileRow, BuiltinPostRow, BuiltinRedirectRow


def is_live(now: datetime) -> ColumnElement[bool]:
    """Return the condition for posts that visitors see: a scheduled one is live at its time, to the second."""
    return or_(
        BuiltinPostRow.state == "live",
        and_(BuiltinPostRow.state == "scheduled", BuiltinPostRow.publish_at <= now),
    )


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
        """Return the redirect of a path such as `/old`, or `None`."""
        wanted = select(BuiltinRedirectRow).where(
            BuiltinRedirectRow.website_id == self._website_id, BuiltinRedirectRow.source == source[:500]
        )
        async with self._database.reading() as session:
            found: BuiltinRedirectRow | None = await session.scalar(wanted)
            return found

    def _live(self, now: datetime) -> Select[Any]:
        mine = select(BuiltinPostRow).where(BuiltinPostRow.website_id == self._website_id, is_live(now))
        return mine.order_by(BuiltinPostRow.published_at.desc(), BuiltinPostRow.id.desc())
