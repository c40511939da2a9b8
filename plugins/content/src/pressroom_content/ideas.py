"""An account's ideas for articles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from pressroom.columns import as_id, new_id
from pressroom.sdk import InvalidInput, NotFound, PluginContext
from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.tables import IdeaRow

MAX_IDEAS: Final = 5_000
OPEN: Final = ("idea", "planned", "writing")

_LOCK: Final = 0x1DEA
"""The first key of PostgreSQL's advisory locks on the ideas of an account."""


@dataclass(frozen=True, slots=True)
class Idea:
    """An idea for an article.

    `due` is the day by which to write it. `website_id` is `None` if it is for any website.
    """

    id: str
    title: str
    keyphrase: str
    website_id: str | None
    due: date | None
    notes: str
    status: str
    created_at: datetime
    updated_at: datetime


class Ideas:
    """The ideas of all accounts. Ideas of other accounts are not found."""

    def __init__(self, plugin: PluginContext) -> None:
        self._database = plugin.services.database

    async def save(self, user_id: str, idea_id: str | None, changes: Mapping[str, Any]) -> Idea:
        """Change an idea, or add one. An open idea with the same title and keyphrase is changed, not duplicated.

        Raises:
            InvalidInput: it would have neither title nor keyphrase, or the account has `MAX_IDEAS` ideas.
            NotFound: the account has no such idea.
        """
        now = datetime.now(UTC)
        async with self._database.writing() as session:
            row = await self._row(session, user_id, idea_id, changes)
            if row is None:
                await _check_capacity(session, user_id)
                row = IdeaRow(id=new_id("i"), user_id=user_id, status="idea", created_at=now, updated_at=now)
                row.title = row.keyphrase = row.notes = ""
                row.due = None
                session.add(row)
            for name, value in changes.items():
                if getattr(row, name) != value:
                    setattr(row, name, value)
                    row.updated_at = now
            if not row.title and not row.keyphrase:
                raise InvalidInput("title", "or keyphrase must say what the idea is")
            return _idea(row)

    async def remove(self, user_id: str, idea_id: str) -> None:
        """Delete an idea. Raises `NotFound`."""
        async with self._database.writing() as session:
            row = await self._row(session, user_id, idea_id, {})
            if row is not None:
                await session.delete(row)

    async def listed(
        self, user_id: str, *, website_id: str | None = None, status: str | None = None, limit: int = 50
    ) -> Sequence[Idea]:
        """Return ideas: those with a due date first, then the last changed. Without a status, return all open ones.

        With a website, return those for that website or for any.
        """
        query = select(IdeaRow).where(
            IdeaRow.user_id == user_id, IdeaRow.status == status if status else IdeaRow.status.in_(OPEN)
        )
        if website_id is not None:
            query = query.where(or_(IdeaRow.website_id == as_id(website_id), IdeaRow.website_id.is_(None)))
        order = (IdeaRow.due.is_(None), IdeaRow.due, IdeaRow.updated_at.desc(), IdeaRow.id)
        async with self._database.reading() as session:
            return [_idea(row) for row in await session.scalars(query.order_by(*order).limit(limit))]

    async def _row(
        self, session: AsyncSession, user_id: str, idea_id: str | None, changes: Mapping[str, Any]
    ) -> IdeaRow | None:
        query = select(IdeaRow).where(IdeaRow.user_id == user_id)
        if idea_id is not None:
            row = await session.scalar(query.where(IdeaRow.id == as_id(idea_id)).with_for_update())
            if row is None:
                raise NotFound(f"this account has no idea {idea_id[:40]!r}; list_content_ideas shows the ones it has")
            return row
        if session.get_bind().dialect.name == "postgresql":
            # Concurrent calls must find the idea that one of them adds. SQLite has one writer at a time.
            await session.execute(select(func.pg_advisory_xact_lock(_LOCK, func.hashtext(user_id))))
        conditions = (
            IdeaRow.title == changes.get("title", ""),
            IdeaRow.keyphrase == changes.get("keyphrase", ""),
            IdeaRow.status.in_(OPEN),
        )
        existing: IdeaRow | None = await session.scalar(query.where(*conditions).limit(1))
        return existing


async def _check_capacity(session: AsyncSession, user_id: str) -> None:
    count = await session.scalar(select(func.count()).select_from(IdeaRow).where(IdeaRow.user_id == user_id))
    if (count or 0) >= MAX_IDEAS:
        raise InvalidInput("", f"this account has {MAX_IDEAS:,} ideas, the maximum")


def _idea(row: IdeaRow) -> Idea:
    return Idea(
        id=row.id,
        title=row.title,
        keyphrase=row.keyphrase,
        website_id=row.website_id,
        due=row.due,
        notes=row.notes,
        status=row.status,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
