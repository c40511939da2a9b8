"""The right to fetch the figures of a connection, which one process has at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from pressroom.columns import Timestamp, new_id
from pressroom.sdk import PluginContext
from sqlalchemy import func, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_search_performance.tables import ConnectionRow

SECONDS: Final = 300
"""How long a process that says nothing is waited for."""


class LeaseLost(Exception):
    """Somebody else fetches now, or the connection is gone. Nothing of this process counts any more."""


@dataclass(frozen=True, slots=True)
class Lease:
    """What a process fetches."""

    token: str
    connection_id: str
    user_id: str
    website_id: str
    source: str
    site_url: str
    round_at: datetime


async def claim(plugin: PluginContext, connection_id: str) -> Lease | None:
    """Return the right to fetch a connection, or `None` where it is not due, gone, or somebody else has it."""
    token = new_id("l")
    async with plugin.services.database.writing() as session:
        now = await _now(session)
        free = or_(ConnectionRow.lease_until.is_(None), ConnectionRow.lease_until < now)
        taken = await session.scalar(
            update(ConnectionRow)
            .where(ConnectionRow.id == connection_id, ConnectionRow.due_at <= now, free)
            .values(
                lease=token,
                lease_until=now + timedelta(seconds=SECONDS),
                round_at=func.coalesce(ConnectionRow.round_at, literal(now, Timestamp)),
            )
            .returning(ConnectionRow.id)
            .execution_options(synchronize_session=False)
        )
        if taken is None:
            return None
        row = await session.get_one(ConnectionRow, connection_id)
        return Lease(token, row.id, row.user_id, row.website_id, row.source, row.property, row.round_at or now)


async def keep(session: AsyncSession, lease: Lease) -> None:
    """Keep a lease, in the transaction that writes what it allows. Raises `LeaseLost`."""
    until = await _now(session) + timedelta(seconds=SECONDS)
    await _change(session, lease, {"lease_until": until})


async def release(plugin: PluginContext, lease: Lease, **values: Any) -> None:
    """Give a lease back with what is to be noted of the connection. Nothing happens where it was lost."""
    try:
        async with plugin.services.database.writing() as session:
            await _change(session, lease, {"lease": "", "lease_until": None, **values})
    except LeaseLost:
        return


async def due(plugin: PluginContext, limit: int = 1000) -> Sequence[tuple[str, str]]:
    """Return the connections that are due, with their accounts."""
    async with plugin.services.database.reading() as session:
        now = await _now(session)
        wanted = (
            select(ConnectionRow.id, ConnectionRow.user_id)
            .where(
                ConnectionRow.due_at <= now,
                or_(ConnectionRow.lease_until.is_(None), ConnectionRow.lease_until < now),
            )
            .order_by(ConnectionRow.due_at)
            .limit(limit)
        )
        return [(row.id, row.user_id) for row in await session.execute(wanted)]


async def _change(session: AsyncSession, held: Lease, values: Mapping[str, Any]) -> None:
    changed = await session.scalar(
        update(ConnectionRow)
        .where(ConnectionRow.id == held.connection_id, ConnectionRow.lease == held.token)
        .values(**values)
        .returning(ConnectionRow.id)
        .execution_options(synchronize_session=False)
    )
    if changed is None:
        raise LeaseLost


async def _now(session: AsyncSession) -> datetime:
    """Return the database's time where many processes share one, so that their clocks need not agree."""
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return cast("datetime", await session.scalar(select(func.clock_timestamp()))).astimezone(UTC)
