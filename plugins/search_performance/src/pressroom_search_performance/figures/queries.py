"""Reading search figures, stored and live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final, Literal

from pressroom.sdk import Fetcher, PluginContext
from pressroom_content.contract import Grain, SearchType
from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.orm import InstrumentedAttribute

from pressroom_search_performance.sources.google import DIMENSIONS, TYPES, GoogleConsole, keys_of
from pressroom_search_performance.sources.requesting import number, objects, text
from pressroom_search_performance.tables import DayRow, FigureRow

Dimension = Literal["date", "query", "page", "country", "device", "search_appearance", "hour"]
Operator = Literal["equals", "notEquals", "contains", "notContains", "includingRegex", "excludingRegex"]
DataState = Literal["final", "all", "hourly_all"]

_REGEX: Final = frozenset({"includingRegex", "excludingRegex"})
_SPLITS: Final[Mapping[Grain, frozenset[str]]] = {
    "day": frozenset({"date", "country", "device"}),
    "page": frozenset({"date", "page"}),
    "query": frozenset({"date", "query"}),
    "page_query": frozenset({"date", "page", "query"}),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter on a dimension. `equals` and `notEquals` are exact, `contains` and `notContains` ignore case."""

    dimension: Dimension
    operator: Operator
    expression: str


@dataclass(frozen=True, slots=True)
class Question:
    """A query for the figures of a period, split by dimensions."""

    start: date
    end: date
    dimensions: tuple[Dimension, ...] = ()
    conditions: tuple[Condition, ...] = ()
    search_type: SearchType = "web"
    data_state: DataState = "final"
    limit: int = 50
    offset: int = 0

    def grain(self) -> Grain | None:
        """Return the coarsest grain that can answer, or `None` if only the source itself can.

        Regular expressions are untrusted and in Google's own dialect, so they never run here.
        """
        if self.data_state == "hourly_all" or any(condition.operator in _REGEX for condition in self.conditions):
            return None
        used = {*self.dimensions, *(condition.dimension for condition in self.conditions)}
        return next((grain for grain, splits in _SPLITS.items() if used <= splits), None)


@dataclass(frozen=True, slots=True)
class Figures:
    """Clicks and impressions. `position` is the mean, weighted by impressions; 0 without impressions."""

    clicks: int = 0
    impressions: int = 0
    position: float = 0.0

    @property
    def ctr(self) -> float:
        """Click-through rate, from 0 to 1."""
        return self.clicks / self.impressions if self.impressions else 0.0


@dataclass(frozen=True, slots=True)
class DimensionFigures:
    """The figures of one combination of dimension values."""

    keys: Mapping[str, str] = field(default_factory=dict)
    figures: Figures = Figures()


async def ask_google(
    console: GoogleConsole, site_url: str, question: Question, credential: Mapping[str, str], fetcher: Fetcher
) -> tuple[Sequence[DimensionFigures], str]:
    """Return the rows for a question, and the first date or hour that may still change, or an empty string.

    Raises the exceptions of `GoogleConsole`.
    """
    response = await console.query(site_url, _body(question), credential, fetcher)
    rows = [row for entry in objects(response, "rows") if (row := _figures_row(question, entry)) is not None]
    metadata = response.get("metadata")
    incomplete = ""
    if isinstance(metadata, dict):
        incomplete = text(metadata.get("first_incomplete_date") or metadata.get("first_incomplete_hour"), 32)
    return rows, incomplete


async def google_totals(
    console: GoogleConsole, site_url: str, question: Question, credential: Mapping[str, str], fetcher: Fetcher
) -> Figures:
    """Return the totals for a question. Raises the exceptions of `GoogleConsole`."""
    # Google only returns hourly data for rows that are split by hour.
    state = "all" if question.data_state == "hourly_all" else question.data_state
    totals_question = replace(question, dimensions=(), limit=1, offset=0, data_state=state)
    rows, _ = await ask_google(console, site_url, totals_question, credential, fetcher)
    return rows[0].figures if rows else Figures()


def _body(question: Question) -> dict[str, Any]:
    body: dict[str, Any] = {
        "startDate": question.start.isoformat(),
        "endDate": question.end.isoformat(),
        "dimensions": [DIMENSIONS[name] for name in question.dimensions],
        "type": TYPES[question.search_type],
        "dataState": question.data_state,
        "rowLimit": question.limit,
        "startRow": question.offset,
    }
    if question.conditions:
        filters = [
            {
                "dimension": DIMENSIONS[condition.dimension],
                "operator": condition.operator,
                "expression": condition.expression,
            }
            for condition in question.conditions
        ]
        body["dimensionFilterGroups"] = [{"groupType": "and", "filters": filters}]
    return body


def _figures_row(question: Question, entry: Mapping[str, Any]) -> DimensionFigures | None:
    keys = keys_of(entry, len(question.dimensions))
    if keys is None:
        return None
    by_dimension: dict[str, str] = dict(zip(question.dimensions, keys, strict=True))
    for name in ("country", "device"):
        if name in by_dimension:
            by_dimension[name] = by_dimension[name].lower()
    figures = Figures(
        int(number(entry.get("clicks"))), int(number(entry.get("impressions"))), number(entry.get("position"))
    )
    return DimensionFigures(by_dimension, figures)


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
"""Columns for clicks, impressions, and positions weighted by impressions."""


async def totals(plugin: PluginContext, connection_id: str, grain: Grain, question: Question) -> Figures:
    """Return the totals over all days of a question for rows that match its conditions."""
    rows = await read(plugin, connection_id, grain, question, dimensions=(), limit=1)
    return rows[0].figures if rows else Figures()


async def read(
    plugin: PluginContext,
    connection_id: str,
    grain: Grain,
    question: Question,
    *,
    dimensions: Sequence[str] | None = None,
    limit: int | None = None,
) -> Sequence[DimensionFigures]:
    """Return the rows for a question: by date if that is the only dimension, else by clicks, highest first.

    `dimensions` and `limit` override those of the question.
    """
    names = tuple(question.dimensions if dimensions is None else dimensions)
    columns = [COLUMNS[name] for name in names]
    clicks, impressions, weighted = SUMS
    statement = matching(select(*columns, clicks, impressions, weighted), connection_id, grain, question)
    if columns:
        order = columns if names == ("date",) else [clicks.desc(), impressions.desc(), *columns]
        statement = statement.group_by(*columns).order_by(*order)
        statement = statement.limit(question.limit if limit is None else limit).offset(question.offset)
    async with plugin.services.database.reading() as session:
        rows = [tuple(row) for row in await session.execute(statement)]
    width = len(columns)
    return [
        DimensionFigures(
            {name: _key(value) for name, value in zip(names, row[:width], strict=True)}, figures_of(*row[width:])
        )
        for row in rows
    ]


async def is_truncated(plugin: PluginContext, connection_id: str, question: Question) -> bool:
    """Return whether the source had more rows than are stored on any of the days."""
    statement = select(func.count()).where(
        DayRow.connection_id == connection_id,
        DayRow.search_type == question.search_type,
        DayRow.day.between(question.start, question.end),
        DayRow.truncated,
    )
    async with plugin.services.database.reading() as session:
        return bool(await session.scalar(statement))


def matching(
    statement: Select[*tuple[Any, ...]], connection_id: str, grain: Grain, question: Question
) -> Select[*tuple[Any, ...]]:
    """Narrow a selection to the rows for a question."""
    statement = statement.where(
        FigureRow.connection_id == connection_id,
        FigureRow.search_type == question.search_type,
        FigureRow.grain == grain,
        FigureRow.day.between(question.start, question.end),
        *(condition(criterion) for criterion in question.conditions),
    )
    if question.data_state == "final":
        on_same_day = and_(
            DayRow.connection_id == FigureRow.connection_id,
            DayRow.search_type == FigureRow.search_type,
            DayRow.day == FigureRow.day,
        )
        statement = statement.join(DayRow, on_same_day).where(DayRow.final)
    return statement


def condition(criterion: Condition) -> ColumnElement[bool]:
    """Return a condition as an SQL expression."""
    column = COLUMNS[criterion.dimension]
    expression: Any = criterion.expression
    if criterion.dimension in ("country", "device"):
        expression = expression.lower()
    match criterion.operator:
        case "equals":
            return column == (date.fromisoformat(expression) if criterion.dimension == "date" else expression)
        case "notEquals":
            return column != (date.fromisoformat(expression) if criterion.dimension == "date" else expression)
        case "contains":
            return column.icontains(expression, autoescape=True)
        case _:
            return ~column.icontains(expression, autoescape=True)


def _key(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


def figures_of(clicks: Any, impressions: Any, weighted: Any) -> Figures:
    """Return figures from sums of clicks, of impressions, and of positions times impressions."""
    total_impressions = int(impressions or 0)
    return Figures(
        int(clicks or 0), total_impressions, float(weighted or 0) / total_impressions if total_impressions else 0.0
    )


async def days(
    plugin: PluginContext, connection_id: str, search_type: str, start: date, end: date
) -> Mapping[date, bool]:
    """Return the fetched days of a period, oldest first, mapped to whether they are final."""
    statement = (
        select(DayRow.day, DayRow.final)
        .where(DayRow.connection_id == connection_id, DayRow.search_type == search_type, DayRow.day.between(start, end))
        .order_by(DayRow.day)
    )
    async with plugin.services.database.reading() as session:
        return {row.day: row.final for row in await session.execute(statement)}
