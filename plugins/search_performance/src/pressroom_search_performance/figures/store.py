"""Keeping fetched days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime

from pressroom.sdk import Lease, PluginContext
from pressroom_content.contract import Grain, SearchRow
from sqlalchemy import delete, func, insert, or_, select

from pressroom_search_performance.figures.rounds import check_there
from pressroom_search_performance.tables import DayRow, FigureRow

_BATCH = 1000


async def settled_days(plugin: PluginContext, connection_id: str, search_type: str, since: datetime) -> frozenset[date]:
    """Return the days that need not be fetched: those that are final, and those that were fetched since."""
    wanted = select(DayRow.day).where(
        DayRow.connection_id == connection_id,
        DayRow.search_type == search_type,
        or_(DayRow.final, DayRow.fetched_at >= since),
    )
    async with plugin.services.database.reading() as session:
        return frozenset(await session.scalars(wanted))


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
    """Put the rows of a day in place of those that are there. All of it counts, or nothing.

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
    """Return the first day, the last final day, and the first day that is not final yet; `None` if absent."""
    mine = (DayRow.connection_id == connection_id, DayRow.search_type == search_type)
    async with plugin.services.database.reading() as session:
        first = await session.scalar(select(func.min(DayRow.day)).where(*mine))
        last_final = await session.scalar(select(func.max(DayRow.day)).where(*mine, DayRow.final))
        incomplete = await session.scalar(select(func.min(DayRow.day)).where(*mine, DayRow.final.is_(False)))
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
