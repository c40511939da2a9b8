"""What could bring more clicks: queries just below the top, and queries for which several pages compete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pressroom.sdk import PluginContext
from sqlalchemy import func, select

from pressroom_search_performance.ctr import potential_clicks
from pressroom_search_performance.figures.reading import SUMS, DimensionFigures, Figures, Question, figures_of, matching
from pressroom_search_performance.tables import FigureRow

_MAX_CANDIDATES: Final = 2000
_MAX_QUERIES: Final = 500
_MIN_SHARE: Final = 0.1
"""A page competes for a query if it has at least this share of the impressions."""


@dataclass(frozen=True, slots=True)
class Competition:
    """Pages that compete for a query, the one with the most clicks first."""

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
    """Return queries with their pages at these positions, those with the most to win first."""
    clicks, impressions, weighted = SUMS
    wanted = matching(
        select(FigureRow.query, FigureRow.page, clicks, impressions, weighted), connection_id, "page_query", question
    )
    wanted = (
        wanted.group_by(FigureRow.query, FigureRow.page)
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
            for row in await session.execute(wanted)
        ]
    rows = [row for row in rows if winnable(row.figures) > 0]
    return sorted(rows, key=lambda row: -winnable(row.figures))[:limit]


def winnable(figures: Figures) -> int:
    """Return the clicks that could be won with figures."""
    return potential_clicks(figures.impressions, figures.clicks, figures.position)


async def cannibalisation(
    plugin: PluginContext, connection_id: str, question: Question, *, min_impressions: int, limit: int
) -> Sequence[Competition]:
    """Return the queries for which several pages compete, those with the most impressions first."""
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
    found = [_competition(query, pages) for query, pages in by_query.items()]
    return [one for one in found if len(one.pages) > 1][:limit]


def _competition(query: str, pages: Sequence[tuple[str, Figures]]) -> Competition:
    shown = sum(figures.impressions for _, figures in pages)
    clicks = sum(figures.clicks for _, figures in pages)
    weighted = sum(figures.position * figures.impressions for _, figures in pages)
    competing = [one for one in pages if one[1].impressions >= shown * _MIN_SHARE]
    competing.sort(key=lambda one: (-one[1].clicks, -one[1].impressions, one[0]))
    return Competition(query, figures_of(clicks, shown, weighted), tuple(competing))
