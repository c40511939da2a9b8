"""Reading the rows that were fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from pressroom.sdk import PluginContext
from pressroom_content.contract import Grain
from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.orm import InstrumentedAttribute

from pressroom_search_performance.figures.asking import Condition, DimensionFigures, Figures, Question
from pressroom_search_performance.tables import DayRow, FigureRow

COLUMNS: Final[Mapping[str, InstrumentedAttribute[Any]]] = {
    "date": FigureRow.day,
    "query": FigureRow.query,
    "page": FigureRow.page,
    "country": FigureRow.country,
    "device": FigureRow.device,
}

SUMS: Final = (
    func.sum(FigureRow.clicks),
    func.sum(FigureRow.impressions),
    func.sum(FigureRow.position * FigureRow.impressions),
)
"""Clicks, impressions, and positions weighted by impressions."""


async def totals(plugin: PluginContext, connection_id: str, grain: Grain, question: Question) -> Figures:
    """Return the sums over all days of a question, of the rows that its conditions allow."""
    found = await read(plugin, connection_id, grain, question, dimensions=(), limit=1)
    return found[0].figures if found else Figures()


async def read(
    plugin: PluginContext,
    connection_id: str,
    grain: Grain,
    question: Question,
    *,
    dimensions: Sequence[str] | None = None,
    limit: int | None = None,
) -> Sequence[DimensionFigures]:
    """Return the rows of a question: by date where that is all it is split by, else those with the most clicks first.

    `dimensions` and `limit` replace those of the question.
    """
    names = tuple(question.dimensions if dimensions is None else dimensions)
    columns = [COLUMNS[name] for name in names]
    clicks, impressions, weighted = SUMS
    wanted = matching(select(*columns, clicks, impressions, weighted), connection_id, grain, question)
    if columns:
        order = columns if names == ("date",) else [clicks.desc(), impressions.desc(), *columns]
        wanted = wanted.group_by(*columns).order_by(*order)
        wanted = wanted.limit(question.limit if limit is None else limit).offset(question.offset)
    async with plugin.services.database.reading() as session:
        rows = [tuple(row) for row in await session.execute(wanted)]
    width = len(columns)
    return [
        DimensionFigures(
            {name: _key(value) for name, value in zip(names, row[:width], strict=True)}, figures_of(*row[width:])
        )
        for row in rows
    ]


async def is_truncated(plugin: PluginContext, connection_id: str, question: Question) -> bool:
    """Tell whether the source had more rows on one of the days than are kept."""
    wanted = select(func.count()).where(
        DayRow.connection_id == connection_id,
        DayRow.search_type == question.search_type,
        DayRow.day.between(question.start, question.end),
        DayRow.truncated,
    )
    async with plugin.services.database.reading() as session:
        return bool(await session.scalar(wanted))


def matching(
    wanted: Select[*tuple[Any, ...]], connection_id: str, grain: Grain, question: Question
) -> Select[*tuple[Any, ...]]:
    """Return a selection narrowed to the rows of a question."""
    wanted = wanted.where(
        FigureRow.connection_id == connection_id,
        FigureRow.search_type == question.search_type,
        FigureRow.grain == grain,
        FigureRow.day.between(question.start, question.end),
        *(condition(one) for one in question.conditions),
    )
    if question.data_state == "final":
        same = and_(
            DayRow.connection_id == FigureRow.connection_id,
            DayRow.search_type == FigureRow.search_type,
            DayRow.day == FigureRow.day,
        )
        wanted = wanted.join(DayRow, same).where(DayRow.final)
    return wanted


def condition(one: Condition) -> ColumnElement[bool]:
    """Return a condition as SQL."""
    column = COLUMNS[one.dimension]
    expression: Any = one.expression
    if one.dimension in ("country", "device"):
        expression = expression.lower()
    match one.operator:
        case "equals":
            return column == (date.fromisoformat(expression) if one.dimension == "date" else expression)
        case "notEquals":
            return column != (date.fromisoformat(expression) if one.dimension == "date" else expression)
        case "contains":
            return column.icontains(expression, autoescape=True)
        case _:
            return ~column.icontains(expression, autoescape=True)


def _key(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


def figures_of(clicks: Any, impressions: Any, weighted: Any) -> Figures:
    """Return figures from sums: of clicks, of impressions, and of positions times impressions."""
    shown = int(impressions or 0)
    return Figures(int(clicks or 0), shown, float(weighted or 0) / shown if shown else 0.0)


async def days(
    plugin: PluginContext, connection_id: str, search_type: str, start: date, end: date
) -> Mapping[date, bool]:
    """Return the days of a span that were fetched, oldest first, each with whether it is final."""
    wanted = (
        select(DayRow.day, DayRow.final)
        .where(DayRow.connection_id == connection_id, DayRow.search_type == search_type, DayRow.day.between(start, end))
        .order_by(DayRow.day)
    )
    async with plugin.services.database.reading() as session:
        return {row.day: row.final for row in await session.execute(wanted)}
