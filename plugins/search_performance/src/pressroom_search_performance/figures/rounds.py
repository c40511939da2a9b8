"""Rounds of fetching: which connection is due, and what is noted of it. Whoever fetches holds the connection's lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from pressroom.sdk import Lease, LeaseLost, PluginContext
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_search_performance.tables import SourceConnectionRow


class ConnectionGone(Exception):
    """The website was disconnected meanwhile. Nothing that is fetched for the connection counts any more."""


@dataclass(frozen=True, slots=True)
class FetchRound:
    """What a process fetches, and since when: what is not final is fetched once in each round."""

    connection_id: str
    user_id: str
    website_id: str
    source: str
    site_url: str
    round_at: datetime


def lock_of(connection_id: str) -> str:
    """Return the key of the lock that whoever fetches the figures of a connection holds."""
    return f"search_performance:connection:{connection_id}"


async def begin_round(plugin: PluginContext, connection_id: str, lease: Lease) -> FetchRound | None:
    """Begin a round of a connection, or return the one that was begun; `None` where it is not due, or gone.

    Raises `LeaseLost`.
    """
    async with plugin.services.database.writing() as session:
        await lease.keep(session)
        now = await _now(session)
        row = await session.get(SourceConnectionRow, connection_id, with_for_update=True)
        if row is None or row.due_at is None or row.due_at > now:
            return None
        row.round_at = row.round_at or now
        return FetchRound(row.id, row.user_id, row.website_id, row.source, row.property, row.round_at)


async def check_there(session: AsyncSession, connection_id: str) -> None:
    """Make sure that a connection is there until the transaction ends. Raises `ConnectionGone`."""
    if await session.get(SourceConnectionRow, connection_id, with_for_update=True) is None:
        raise ConnectionGone(connection_id)


async def note_round(plugin: PluginContext, connection_id: str, lease: Lease, values: Mapping[str, Any]) -> None:
    """Note of a connection what came of a fetch. Nothing happens where somebody else fetches by now."""
    with suppress(LeaseLost):
        async with plugin.services.database.writing() as session:
            await lease.keep(session)
            await session.execute(
                update(SourceConnectionRow).where(SourceConnectionRow.id == connection_id).values(**values)
            )


async def due(plugin: PluginContext, limit: int = 1000) -> Sequence[tuple[str, str, datetime]]:
    """Return the connections that are due, with their accounts, and since when."""
    async with plugin.services.database.reading() as session:
        wanted = select(SourceConnectionRow.id, SourceConnectionRow.user_id, SourceConnectionRow.due_at)
        wanted = wanted.where(SourceConnectionRow.due_at <= await _now(session)).order_by(SourceConnectionRow.due_at)
        return [(row.id, row.user_id, row.due_at) for row in await session.execute(wanted.limit(limit))]


async def _now(session: AsyncSession) -> datetime:
    """Return the database's time where many processes share one, so that their clocks need not agree."""
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return cast("datetime", await session.scalar(select(func.clock_timestamp()))).astimezone(UTC)
