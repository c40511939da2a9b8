"""Stored search figures, and the state of fetching them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, cast

from pressroom.sdk import Lease, LeaseLost, PluginContext
from pressroom_content.contract import Grain, SearchRow
from sqlalchemy import delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_search_performance.tables import DayRow, FigureRow, SourceConnectionRow


class ConnectionGone(Exception):
    """The website was disconnected during the fetch. Its remaining figures are discarded."""


@dataclass(frozen=True, slots=True)
class FetchRound:
    """The connection to fetch, and the start of the round: days that are not final are fetched once per round."""

    connection_id: str
    user_id: str
    website_id: str
    source: str
    site_url: str
    round_at: datetime


def lock_of(connection_id: str) -> str:
    """Return the key of the lock to hold while fetching the figures of a connection."""
    return f"search_performance:connection:{connection_id}"


async def begin_round(plugin: PluginContext, connection_id: str, lease: Lease) -> FetchRound | None:
    """Start a round for a connection, or resume the current one; `None` if it is not due or is gone.

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
    """Lock a connection's row until the transaction ends. Raises `ConnectionGone` if it does not exist."""
    if await session.get(SourceConnectionRow, connection_id, with_for_update=True) is None:
        raise ConnectionGone(connection_id)


async def note_round(plugin: PluginContext, connection_id: str, lease: Lease, values: Mapping[str, Any]) -> None:
    """Store the outcome of a fetch. Does nothing if another process has taken over."""
    with suppress(LeaseLost):
        async with plugin.services.database.writing() as session:
            await lease.keep(session)
            await session.execute(
                update(SourceConnectionRow).where(SourceConnectionRow.id == connection_id).values(**values)
            )


async def due(plugin: PluginContext, limit: int = 1000) -> Sequence[tuple[str, str, datetime]]:
    """Return the IDs of due connections, with their accounts and due times, oldest first."""
    async with plugin.services.database.reading() as session:
        statement = select(SourceConnectionRow.id, SourceConnectionRow.user_id, SourceConnectionRow.due_at)
        statement = statement.where(SourceConnectionRow.due_at <= await _now(session)).order_by(
            SourceConnectionRow.due_at
        )
        return [(row.id, row.user_id, row.due_at) for row in await session.execute(statement.limit(limit))]


async def _now(session: AsyncSession) -> datetime:
    """Return the database's time if processes share a server, because their clocks may differ."""
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    return cast("datetime", await session.scalar(select(func.clock_timestamp()))).astimezone(UTC)


_BATCH = 1000


async def settled_days(plugin: PluginContext, connection_id: str, search_type: str, since: datetime) -> frozenset[date]:
    """Return the days to skip: final ones, and those fetched since `since`."""
    statement = select(DayRow.day).where(
        DayRow.connection_id == connection_id,
        DayRow.search_type == search_type,
        or_(DayRow.final, DayRow.fetched_at >= since),
    )
    async with plugin.services.database.reading() as session:
        return frozenset(await session.scalars(statement))


async def write_day(
    plugin: PluginContext,
    connection_id: str,
    lease: Lease,
    day: date,
    search_type: str,
    rows: Mapping[Grain, Sequence[SearchRow]],
    *,
    final: bool,
    truncated: bool,
) -> None:
    """Replace the stored rows of a day in one transaction.

    Raises `LeaseLost` and `ConnectionGone`.
    """
    id_ = connection_id
    async with plugin.services.database.writing() as session:
        await lease.keep(session)
        await check_there(session, id_)
        for table in (FigureRow, DayRow):
            await session.execute(
                delete(table).where(table.connection_id == id_, table.search_type == search_type, table.day == day)
            )
        session.add(
            DayRow(
                connection_id=id_,
                search_type=search_type,
                day=day,
                final=final,
                truncated=truncated,
                fetched_at=datetime.now(UTC),
            )
        )
        await session.flush()
        values = [_values(id_, day, search_type, grain, row) for grain in rows for row in rows[grain]]
        for batch in _batches(values):
            await session.execute(insert(FigureRow), batch)


async def freshness(
    plugin: PluginContext, connection_id: str, search_type: str
) -> tuple[date | None, date | None, date | None]:
    """Return the first day, the last final day, and the first day that is not final; `None` for those without data."""
    conditions = (DayRow.connection_id == connection_id, DayRow.search_type == search_type)
    async with plugin.services.database.reading() as session:
        first = await session.scalar(select(func.min(DayRow.day)).where(*conditions))
        last_final = await session.scalar(select(func.max(DayRow.day)).where(*conditions, DayRow.final))
        incomplete = await session.scalar(select(func.min(DayRow.day)).where(*conditions, DayRow.final.is_(False)))
    return first, last_final, incomplete


def _values(id_: str, day: date, search_type: str, grain: Grain, row: SearchRow) -> dict[str, object]:
    return {
        "connection_id": id_,
        "search_type": search_type,
        "grain": grain,
        "day": day,
        "page": row.page[:2048],
        "query": row.query,
        "country": row.country[:16],
        "device": row.device[:16],
        "clicks": row.clicks,
        "impressions": row.impressions,
        "position": row.position,
    }


def _batches(values: Sequence[dict[str, object]]) -> Iterable[Sequence[dict[str, object]]]:
    return (values[start : start + _BATCH] for start in range(0, len(values), _BATCH))
