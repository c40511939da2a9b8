"""What the pages show: figures by day or week, beside those of the period before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

from pressroom.sdk import PluginContext
from pressroom_content.contract import Grain, Website

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.connecting.store import SourceConnection
from pressroom_search_performance.figures import reading
from pressroom_search_performance.figures.reading import Dimension, DimensionFigures, Figures, Question
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
"""The grains that can be split by a dimension, the best first."""

_MAX_CHANGING_DAYS: Final = 10
"""Days after the last final one that a chart shows at most."""


@dataclass(frozen=True, slots=True)
class Range:
    """A choice of days; `step` of them are one point of a chart."""

    key: str
    title: str
    days: int
    step: int = 1


RANGES: Final = (
    Range("7", "7 days", 7),
    Range("28", "28 days", 28),
    Range("90", "90 days", 90),
    # Whole weeks, so that the days of the week are the same before.
    Range("12m", "12 months", 364, 7),
)
USUAL: Final = RANGES[1]


def range_of(key: str) -> Range:
    """Return the choice of that key, or the usual one."""
    return next((one for one in RANGES if one.key == key), USUAL)


@dataclass(frozen=True, slots=True)
class FigureStep:
    """The figures of a day or week from `start` on; `None` where they are not there. `then` are those of before."""

    start: date
    end: date
    now: Figures | None
    then: Figures | None
    final: bool


@dataclass(frozen=True, slots=True)
class FigureReport:
    """Figures of a period. `before` is the period that they are compared with; `None` where figures begin later.

    `missing` days of the period were not fetched yet; `truncated` tells that rare queries and pages are left out.
    """

    period: Period
    before: Period | None
    steps: Sequence[FigureStep]
    now: Figures
    then: Figures
    missing: int
    truncated: bool


class Board:
    """The figures of a website in one source."""

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
        """Return the figures of a connection."""
        first, last, incomplete = await freshness(plugin, connection.id, plugin.config.search_types[0])
        return cls(SiteFigures(plugin, website, connection, first, last, incomplete))

    async def report(self, wanted: Range) -> FigureReport:
        """Return the figures of the latest days that are final. Raises `NotConnected` if absent yet."""
        period = self.site.latest(wanted.days)
        before = period.before()
        compared = self.site.first is not None and self.site.first <= before.start
        days = await reading.days(
            self._plugin, self._id, self._type, before.start, period.end + timedelta(days=_MAX_CHANGING_DAYS)
        )
        found = await self._by_day(Period(before.start, max(days, default=period.end)))
        figures = {day: found.get(day, Figures()) for day in days}
        question = self._question(period)
        return FigureReport(
            period=period,
            before=before if compared else None,
            steps=_steps(figures, days, period, before if compared else None, wanted.step),
            now=await self._totals(question),
            then=await self._totals(self._question(before)) if compared else Figures(),
            missing=sum(day not in days for day in span(period.start, period.end)),
            truncated=await reading.is_truncated(self._plugin, self._id, question),
        )

    async def rows(
        self, period: Period, dimension: Dimension, limit: int, offset: int = 0
    ) -> Sequence[DimensionFigures]:
        """Return the rows of a period with the most clicks; none where the source does not split by that."""
        grain = self._grain(dimension)
        if grain is None:
            return ()
        question = replace(self._question(period), dimensions=(dimension,), limit=limit, offset=offset)
        return await reading.read(self._plugin, self._id, grain, question)

    async def latest(self, days: int) -> Sequence[Figures | None]:
        """Return the figures of this many final days and as many before them; none if absent yet."""
        if self.site.last is None:
            return ()
        whole = self.site.latest(2 * days)
        known = await reading.days(self._plugin, self._id, self._type, whole.start, whole.end)
        found = await self._by_day(whole)
        return [found.get(day, Figures()) if day in known else None for day in span(whole.start, whole.end)]

    def _question(self, period: Period) -> Question:
        return Question(period.start, period.end, search_type=self._type)

    def _grain(self, dimension: Dimension) -> Grain | None:
        return next((grain for grain in _GRAINS[dimension] if grain in self._grains), None)

    async def _totals(self, question: Question) -> Figures:
        grain = self._grain("date")
        return Figures() if grain is None else await reading.totals(self._plugin, self._id, grain, question)

    async def _by_day(self, period: Period) -> Mapping[date, Figures]:
        grain = self._grain("date")
        if grain is None:
            return {}
        question = replace(self._question(period), dimensions=("date",), data_state="all", limit=period.days)
        found = await reading.read(self._plugin, self._id, grain, question)
        return {date.fromisoformat(one.keys["date"]): one.figures for one in found}


def _steps(
    figures: Mapping[date, Figures], final: Mapping[date, bool], period: Period, before: Period | None, step: int
) -> Sequence[FigureStep]:
    newest = max(figures, default=period.end)
    # The days that may still change would make a week of less than seven days, which looks like a fall.
    end = period.end if step > 1 else max(newest, period.end)
    found = []
    for start in span(period.start, end)[::step]:
        days = span(start, start + timedelta(days=step - 1))
        earlier = [day - timedelta(days=period.days) for day in days] if before and start <= period.end else []
        found.append(
            FigureStep(
                start=start,
                end=days[-1],
                now=_sum([figures[day] for day in days if day in figures]),
                then=_sum([figures[day] for day in earlier if day in figures]),
                final=all(final.get(day, True) for day in days),
            )
        )
    return found


def _sum(parts: Sequence[Figures]) -> Figures | None:
    """Return the sum of figures, with the mean position weighted by impressions; `None` if absent."""
    if not parts:
        return None
    clicks, shown = sum(one.clicks for one in parts), sum(one.impressions for one in parts)
    weighted = sum(one.position * one.impressions for one in parts)
    return reading.figures_of(clicks, shown, weighted)
