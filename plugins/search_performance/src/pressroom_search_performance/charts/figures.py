"""Data for the dashboard pages: figures by day or week, compared with the previous period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from pressroom.sdk import PluginContext
from pressroom_content.contract import Grain, Website

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.connecting.store import SourceConnection
from pressroom_search_performance.figures import queries
from pressroom_search_performance.figures.queries import Dimension, DimensionFigures, Figures, Question
from pressroom_search_performance.figures.store import freshness
from pressroom_search_performance.host import sources_of
from pressroom_search_performance.sources.google import span
from pressroom_search_performance.tools.common import Period, SiteFigures

_GRAINS: Final[Mapping[Dimension, Sequence[Grain]]] = {
    "date": ("day", "page", "query", "page_query"),
    "query": ("query", "page_query"),
    "page": ("page", "page_query"),
    "country": ("day",),
    "device": ("day",),
}
"""Grains that can be split by each dimension, in order of preference."""

_MAX_CHANGING_DAYS: Final = 10
"""Maximum number of days after the last final one that a chart shows."""


@dataclass(frozen=True, slots=True)
class Range:
    """A selectable period. Each point of a chart covers `step` days."""

    key: str
    title: str
    days: int
    step: int = 1


RANGES: Final = (
    Range("7", "7 days", 7),
    Range("28", "28 days", 28),
    Range("90", "90 days", 90),
    # Whole weeks, so that weekdays align with those of the previous period.
    Range("12m", "12 months", 364, 7),
)
USUAL: Final = RANGES[1]


def range_of(key: str) -> Range:
    """Return the range with this key, or the default one."""
    return next((option for option in RANGES if option.key == key), USUAL)


@dataclass(frozen=True, slots=True)
class FigureStep:
    """Figures of the days from `start` to `end`, or `None` without data. `then` is the previous period's."""

    start: date
    end: date
    now: Figures | None
    then: Figures | None
    final: bool


@dataclass(frozen=True, slots=True)
class FigureReport:
    """The figures of a period. `before` is the previous period; `None` if figures do not go back that far.

    `missing` is the number of days not fetched yet; `truncated` means that rare queries and pages are left out.
    """

    period: Period
    before: Period | None
    steps: Sequence[FigureStep]
    now: Figures
    then: Figures
    missing: int
    truncated: bool


class Board:
    """Reads the figures of a website from one source."""

    def __init__(self, site: SiteFigures) -> None:
        self.site = site
        self._plugin = site.plugin
        self._id = site.connection.id
        self._type = site.plugin.config.search_types[0]
        self._grains = sources_of(site.plugin)[site.connection.source].grains

    @classmethod
    async def open(
        cls, plugin: PluginContext[SearchPerformanceConfig], website: Website, connection: SourceConnection
    ) -> Board:
        """Open the figures of a connection."""
        first, last, incomplete = await freshness(plugin, connection.id, plugin.config.search_types[0])
        return cls(SiteFigures(plugin, website, connection, first, last, incomplete))

    async def report(self, selected: Range) -> FigureReport:
        """Return the figures of the latest final days. Raises `NotConnected` if nothing has been fetched yet."""
        period = self.site.latest(selected.days)
        before = period.before()
        compared = self.site.first is not None and self.site.first <= before.start
        days = await queries.days(
            self._plugin, self._id, self._type, before.start, period.end + timedelta(days=_MAX_CHANGING_DAYS)
        )
        by_day = await self._by_day(Period(before.start, max(days, default=period.end)))
        figures = {day: by_day.get(day, Figures()) for day in days}
        question = self._question(period)
        return FigureReport(
            period=period,
            before=before if compared else None,
            steps=_steps(figures, days, period, before if compared else None, selected.step),
            now=await self._totals(question),
            then=await self._totals(self._question(before)) if compared else Figures(),
            missing=sum(day not in days for day in span(period.start, period.end)),
            truncated=await queries.is_truncated(self._plugin, self._id, question),
        )

    async def rows(
        self, period: Period, dimension: Dimension, limit: int, offset: int = 0
    ) -> Sequence[DimensionFigures]:
        """Return the rows of a period, most clicks first; empty if the source has no such dimension."""
        grain = self._grain(dimension)
        if grain is None:
            return ()
        question = replace(self._question(period), dimensions=(dimension,), limit=limit, offset=offset)
        return await queries.read(self._plugin, self._id, grain, question)

    async def latest(self, days: int) -> Sequence[Figures | None]:
        """Return the figures of this many final days and of as many before; empty if nothing has been fetched yet."""
        if self.site.last is None:
            return ()
        period = self.site.latest(2 * days)
        fetched = await queries.days(self._plugin, self._id, self._type, period.start, period.end)
        by_day = await self._by_day(period)
        return [by_day.get(day, Figures()) if day in fetched else None for day in span(period.start, period.end)]

    def _question(self, period: Period) -> Question:
        return Question(period.start, period.end, search_type=self._type)

    def _grain(self, dimension: Dimension) -> Grain | None:
        return next((grain for grain in _GRAINS[dimension] if grain in self._grains), None)

    async def _totals(self, question: Question) -> Figures:
        grain = self._grain("date")
        return Figures() if grain is None else await queries.totals(self._plugin, self._id, grain, question)

    async def _by_day(self, period: Period) -> Mapping[date, Figures]:
        grain = self._grain("date")
        if grain is None:
            return {}
        question = replace(self._question(period), dimensions=("date",), data_state="all", limit=period.days)
        rows = await queries.read(self._plugin, self._id, grain, question)
        return {date.fromisoformat(row.keys["date"]): row.figures for row in rows}


def _steps(
    figures: Mapping[date, Figures], final: Mapping[date, bool], period: Period, before: Period | None, step: int
) -> Sequence[FigureStep]:
    newest = max(figures, default=period.end)
    # Days that are not final would make an incomplete last week, which looks like a drop.
    end = period.end if step > 1 else max(newest, period.end)
    steps = []
    for start in span(period.start, end)[::step]:
        days = span(start, start + timedelta(days=step - 1))
        earlier = [day - timedelta(days=period.days) for day in days] if before and start <= period.end else []
        steps.append(
            FigureStep(
                start=start,
                end=days[-1],
                now=_sum([figures[day] for day in days if day in figures]),
                then=_sum([figures[day] for day in earlier if day in figures]),
                final=all(final.get(day, True) for day in days),
            )
        )
    return steps


def _sum(parts: Sequence[Figures]) -> Figures | None:
    """Return the sum of figures, with positions weighted by impressions; `None` if `parts` is empty."""
    if not parts:
        return None
    clicks, impressions = sum(part.clicks for part in parts), sum(part.impressions for part in parts)
    weighted = sum(part.position * part.impressions for part in parts)
    return queries.figures_of(clicks, impressions, weighted)
