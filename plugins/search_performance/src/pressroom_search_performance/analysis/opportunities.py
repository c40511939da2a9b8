"""Find opportunities for more clicks, and explain lost ones.

Covers queries that rank just below the top, queries for which several pages compete, and changes between two periods:
pages that lost clicks, with the queries that explain the loss.

The expected click-through rate depends on the position. Positions 1 to 4 and 10 come from the SISTRIX study (July 2020,
80 million keywords): 28.5, 15.7, 11.0, 8.0 and 2.5 percent, and below one percent on the second page. Values in
between, and those from position 11 on, are interpolated log-linearly. The real rate depends strongly on what else the
results page shows: use the values to compare opportunities, not to forecast.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Any, Final, Literal

from pressroom.sdk import PluginContext
from sqlalchemy import case, func, select

from pressroom_search_performance.figures.queries import SUMS, DimensionFigures, Figures, Question, figures_of, matching
from pressroom_search_performance.tables import FigureRow

_MAX_CANDIDATES: Final = 2000
_MAX_QUERIES: Final = 500
_MIN_SHARE: Final = 0.1
"""Minimum share of a query's impressions for a page to count as competing."""

Reason = Literal["ranking", "demand", "click_through"]
_MIN_LOST_CLICKS: Final = 3
"""Smaller losses are treated as noise."""

_MAX_CHANGED_QUERIES: Final = 5
_WORSE: Final = 1.0
_LESS: Final = 0.85


@dataclass(frozen=True, slots=True)
class Competition:
    """Pages that compete for a query, by clicks, highest first."""

    query: str
    figures: Figures
    pages: tuple[tuple[str, Figures], ...]


async def quick_wins(
    plugin: PluginContext,
    connection_id: str,
    question: Question,
    *,
    min_impressions: int,
    position_min: float,
    position_max: float,
    limit: int,
) -> Sequence[DimensionFigures]:
    """Return query and page pairs within a range of positions, by potential extra clicks, highest first."""
    clicks, impressions, weighted = SUMS
    statement = matching(
        select(FigureRow.query, FigureRow.page, clicks, impressions, weighted), connection_id, "page_query", question
    )
    statement = (
        statement.group_by(FigureRow.query, FigureRow.page)
        .having(
            impressions >= max(1, min_impressions),
            weighted >= position_min * impressions,
            weighted <= position_max * impressions,
        )
        .order_by(impressions.desc(), FigureRow.query, FigureRow.page)
        .limit(_MAX_CANDIDATES)
    )
    async with plugin.services.database.reading() as session:
        rows = [
            DimensionFigures({"query": row[0], "page": row[1]}, figures_of(*row[2:]))
            for row in await session.execute(statement)
        ]
    rows = [row for row in rows if winnable(row.figures) > 0]
    return sorted(rows, key=lambda row: -winnable(row.figures))[:limit]


def winnable(figures: Figures) -> int:
    """Return the number of extra clicks within reach for these figures."""
    return potential_clicks(figures.impressions, figures.clicks, figures.position)


async def cannibalisation(
    plugin: PluginContext, connection_id: str, question: Question, *, min_impressions: int, limit: int
) -> Sequence[Competition]:
    """Return the queries for which several pages compete, by impressions, highest first."""
    _, impressions, _ = SUMS
    shared = (
        matching(select(FigureRow.query), connection_id, "page_query", question)
        .group_by(FigureRow.query)
        .having(func.count(func.distinct(FigureRow.page)) > 1, impressions >= max(1, min_impressions))
        .order_by(impressions.desc(), FigureRow.query)
        .limit(_MAX_QUERIES)
    )
    async with plugin.services.database.reading() as session:
        queries = list(await session.scalars(shared))
        rows = matching(select(FigureRow.query, FigureRow.page, *SUMS), connection_id, "page_query", question)
        rows = rows.where(FigureRow.query.in_(queries)).group_by(FigureRow.query, FigureRow.page)
        by_query: dict[str, list[tuple[str, Figures]]] = {query: [] for query in queries}
        for row in await session.execute(rows):
            by_query[row[0]].append((row[1], figures_of(*row[2:])))
    competitions = [_competition(query, pages) for query, pages in by_query.items()]
    return [competition for competition in competitions if len(competition.pages) > 1][:limit]


def _competition(query: str, pages: Sequence[tuple[str, Figures]]) -> Competition:
    impressions = sum(figures.impressions for _, figures in pages)
    clicks = sum(figures.clicks for _, figures in pages)
    weighted = sum(figures.position * figures.impressions for _, figures in pages)
    competing = [page for page in pages if page[1].impressions >= impressions * _MIN_SHARE]
    competing.sort(key=lambda page: (-page[1].clicks, -page[1].impressions, page[0]))
    return Competition(query, figures_of(clicks, impressions, weighted), tuple(competing))


@dataclass(frozen=True, slots=True)
class FigureChange:
    """Figures of a page or query in two consecutive periods."""

    name: str
    now: Figures
    before: Figures

    @property
    def lost(self) -> int:
        """Number of clicks lost since the earlier period; negative for a gain."""
        return self.before.clicks - self.now.clicks

    @property
    def reason(self) -> Reason:
        """Main cause of the loss: a worse position, fewer searches, or fewer clicks at the same position."""
        if not self.now.impressions or self.now.position >= self.before.position + _WORSE:
            return "ranking"
        return "demand" if self.now.impressions < self.before.impressions * _LESS else "click_through"


@dataclass(frozen=True, slots=True)
class Decline:
    """A page that lost clicks, with the queries that lost most."""

    page: FigureChange
    queries: tuple[FigureChange, ...]


async def declining(
    plugin: PluginContext, connection_id: str, question: Question, middle: date, *, min_drop_pct: float, limit: int
) -> Sequence[Decline]:
    """Return pages that lost clicks from `middle` on compared with the days before, largest loss first."""
    sums = _sums(middle)
    lost = sums[3] - sums[0]
    pages = (
        matching(select(FigureRow.page, *sums), connection_id, "page", question)
        .group_by(FigureRow.page)
        .having(lost >= _MIN_LOST_CLICKS, lost * 100.0 >= sums[3] * min_drop_pct)
        .order_by(lost.desc(), FigureRow.page)
        .limit(limit)
    )
    async with plugin.services.database.reading() as session:
        changes = [_change(row) for row in await session.execute(pages)]
        names = [change.name for change in changes]
        rows = matching(select(FigureRow.page, FigureRow.query, *sums), connection_id, "page_query", question)
        rows = rows.where(FigureRow.page.in_(names)).group_by(FigureRow.page, FigureRow.query).having(lost > 0)
        by_page: dict[str, list[FigureChange]] = {name: [] for name in names}
        for row in await session.execute(rows):
            by_page[row[0]].append(_change(row[1:]))
    return [
        Decline(
            change,
            tuple(sorted(by_page[change.name], key=lambda query: (-query.lost, query.name))[:_MAX_CHANGED_QUERIES]),
        )
        for change in changes
    ]


async def queries_over_time(
    plugin: PluginContext, connection_id: str, question: Question, middle: date, phrases: Sequence[str]
) -> dict[str, FigureChange]:
    """Return the figures of queries from `middle` on and before it, keyed by query."""
    rows = matching(select(FigureRow.query, *_sums(middle)), connection_id, "query", question)
    rows = rows.where(FigureRow.query.in_(phrases)).group_by(FigureRow.query)
    async with plugin.services.database.reading() as session:
        return {row[0]: _change(row) for row in await session.execute(rows)}


async def best_pages(
    plugin: PluginContext, connection_id: str, question: Question, phrases: Sequence[str]
) -> dict[str, str]:
    """Return the page with the most clicks for each query; impressions break ties."""
    clicks, impressions = func.sum(FigureRow.clicks), func.sum(FigureRow.impressions)
    rows = matching(
        select(FigureRow.query, FigureRow.page), connection_id, "page_query", replace(question, conditions=())
    )
    rows = rows.where(FigureRow.query.in_(phrases)).group_by(FigureRow.query, FigureRow.page)
    rows = rows.order_by(clicks, impressions, FigureRow.page.desc())
    async with plugin.services.database.reading() as session:
        return {row.query: row.page for row in await session.execute(rows)}


def _sums(middle: date) -> tuple[Any, ...]:
    """Return SQL sums of clicks, impressions and weighted positions from `middle` on, followed by those before it."""
    values = (FigureRow.clicks, FigureRow.impressions, FigureRow.position * FigureRow.impressions)
    now = [func.sum(case((FigureRow.day >= middle, value), else_=0)) for value in values]
    before = [func.sum(case((FigureRow.day < middle, value), else_=0)) for value in values]
    return (*now, *before)


def _change(row: Any) -> FigureChange:
    return FigureChange(str(row[0]), figures_of(*row[1:4]), figures_of(*row[4:7]))


_SHARES: Final = ((1.0, 0.285), (2.0, 0.157), (3.0, 0.110), (4.0, 0.080), (10.0, 0.025), (11.0, 0.009), (20.0, 0.004))
_MIN_RATE: Final = 0.001

TARGET: Final = 3.0
"""Position for which potential clicks are estimated."""


def expected_ctr(position: float) -> float:
    """Return the expected click-through rate (0 to 1) at a mean position of 1 or more."""
    if position <= _SHARES[0][0]:
        return _SHARES[0][1]
    for (low, high_share), (high, low_share) in pairwise(_SHARES):
        if position <= high:
            part = (position - low) / (high - low)
            return math.exp((1 - part) * math.log(high_share) + part * math.log(low_share))
    return max(_MIN_RATE, _SHARES[-1][1] * _SHARES[-1][0] / position)


def potential_clicks(impressions: int, clicks: int, position: float) -> int:
    """Return the extra clicks that the same impressions would bring at position 3, or at the current one if better."""
    return max(0, round(impressions * expected_ctr(min(position, TARGET)) - clicks))
