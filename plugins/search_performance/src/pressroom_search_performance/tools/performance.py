"""Search figures of a website."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Annotated, Any, Final, Literal

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pressroom_content.contract import Grain, SearchType
from pydantic import BaseModel, ConfigDict, Field

from pressroom_search_performance.connecting.store import SourceConnections
from pressroom_search_performance.days import today, year_before
from pressroom_search_performance.figures import reading
from pressroom_search_performance.figures import reading as live
from pressroom_search_performance.figures.reading import (
    Condition,
    DataState,
    Dimension,
    DimensionFigures,
    Figures,
    Operator,
    Question,
)
from pressroom_search_performance.host import config_of, sources_of
from pressroom_search_performance.sources import google
from pressroom_search_performance.tools.common import (
    Count,
    Day,
    Period,
    SiteFigures,
    WebsiteId,
    count,
    line,
    percent,
    searched,
    spoken,
    table,
)

_DEFAULT_DAYS: Final = 28
_MAX_OFFSET: Final = 50_000


class FigureFilter(BaseModel):
    """Narrows what is counted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    dimension: Literal["query", "page", "country", "device", "search_appearance"] = Field(
        description="What is compared. Countries are three letters such as usa; devices desktop, mobile or tablet."
    )
    operator: Operator = Field(default="equals", description="Regular expressions are RE2, and asked of Google live.")
    expression: Annotated[str, Field(min_length=1, max_length=2048)] = Field(description="What it is compared with.")


class PerformanceParams(Params):
    """Which figures."""

    website_id: WebsiteId
    start_date: Day | None = Field(default=None, description="First day, in California's time. 28 days, left out.")
    end_date: Day | None = Field(default=None, description="Last day. Left out: the last one with final figures.")
    dimensions: tuple[Dimension, ...] = Field(
        default=(), max_length=4, strict=False, description="What rows are split by; left out, there are totals only."
    )
    filters: tuple[FigureFilter, ...] = Field(
        default=(), max_length=10, strict=False, description="All of them have to hold, for totals too."
    )
    search_type: SearchType = Field(default="web", description="Where results were shown.")
    data_state: DataState = Field(
        default="final", description="all adds the latest days, which may change; hourly_all is for the dimension hour."
    )
    compare: Literal["none", "previous_period", "previous_year"] = Field(
        default="none", description="Which totals to compare with."
    )
    provider: str = Field(default="auto", description="auto prefers Google.")
    limit: Integer = Field(default=50, ge=1, le=1000, description="Rows of an answer.")
    cursor: str | None = Field(default=None, max_length=200, description="next_cursor of the answer before.")


class FigureRowOut(Count):
    """Figures of one combination of keys."""

    keys: dict[str, str] = Field(description="By dimension.")


class ComparisonOut(BaseModel):
    """The same figures of other days."""

    start_date: str
    end_date: str
    totals: Count
    clicks_change_pct: float | None = Field(description="null where there were no clicks then.")
    impressions_change_pct: float | None
    position_change: float = Field(description="Below 0 is better.")


class Freshness(BaseModel):
    """How far the figures go."""

    last_final_date: str | None
    first_incomplete_date: str | None = Field(description="From this day on figures may still change.")


class PerformanceResult(BaseModel):
    """The answer of `get_search_performance`."""

    totals: Count = Field(description="Of all searches, also of the rare ones that rows by query leave out.")
    rows: list[FigureRowOut] = Field(description="Most clicks first; by date where that is the only dimension.")
    comparison: ComparisonOut | None = Field(description="null unless it was asked for.")
    freshness: Freshness
    truncated: bool = Field(description="Whether the source has more rows than are kept; totals are whole.")
    next_cursor: str | None = Field(description="Give it as cursor to read on; null at the end.")


@mcp_tool(
    name="get_search_performance",
    title="Search performance",
    description=(
        "Returns clicks, impressions, CTR and mean position of a connected website in Google or Bing: totals, and rows "
        "split by date, query, page, country or device. Use it for any question on how a site does in search; for what "
        "to do next call find_quick_wins or find_declining_content. Figures are fetched every night; Google's are two "
        "to three days old, Bing's up to two weeks, by the week and without country and device. freshness says how "
        "far they go. Rows by query leave out rare queries, so they add up to less than totals. search_appearance, "
        "hour, regular expressions, and pages or queries by country or device are asked of Google live."
    ),
    result=PerformanceResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("performance",),
    timeout=60,
    choices={"provider": lambda plugin: ["auto", *sorted(sources_of(plugin))]},
    aliases=("get_gsc_performance",),
)
async def get_search_performance(params: PerformanceParams, call: Call) -> ToolResult:
    """Return figures."""
    site = await searched(call, params.website_id, params.provider, params.search_type)
    asked = _Asked(site, _question(params, site))
    with spoken(site.plugin, site.website):
        return await _answer(params, asked)


TOOLS: Final = (get_search_performance,)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question to a website's figures."""

    site: SiteFigures
    question: Question

    def stored_grain(self, question: Question) -> Grain | None:
        """Return the grain that is kept here and can answer; `None` where the source has to be asked."""
        grain = question.grain()
        offered = sources_of(self.site.plugin)[self.site.connection.source].grains
        kept = question.search_type in config_of(self.site.plugin).search_types
        return grain if kept and grain in offered else None

    async def rows(self) -> tuple[Sequence[DimensionFigures], str]:
        """Return one row more than wanted, and what Google says of freshness."""
        if not self.question.dimensions:
            return (), ""
        question = replace(self.question, limit=self.question.limit + 1)
        grain = self.stored_grain(question)
        if grain is not None:
            return await reading.read(self.site.plugin, self.site.connection.id, grain, question), ""
        return await live.ask_google(*await self._live(), question, *await self._access())

    async def totals(self, question: Question) -> Figures:
        """Return the sums of a question, from the coarsest rows that its conditions allow."""
        whole = replace(question, dimensions=())
        grain = self.stored_grain(whole)
        if grain is not None:
            return await reading.totals(self.site.plugin, self.site.connection.id, grain, whole)
        return await live.google_totals(*await self._live(), whole, *await self._access())

    async def _live(self) -> tuple[google.GoogleConsole, str]:
        if self.site.connection.source != google.NAME:
            raise InvalidInput(
                "dimensions", f"{self.site.connection.source} does not split its figures by these; use fewer, or google"
            )
        return google.console_of(config_of(self.site.plugin)), self.site.connection.property

    async def _access(self) -> tuple[Mapping[str, str], Any]:
        credential = await SourceConnections(self.site.plugin).credential(self.site.connection)
        return credential, self.site.plugin.services.fetcher


async def _answer(params: PerformanceParams, asked: _Asked) -> ToolResult:
    site, question = asked.site, asked.question
    stored = asked.stored_grain(question) is not None
    if stored and site.first is None:
        site.latest(1)  # says why there is nothing yet
    totals = await asked.totals(question)
    rows, told = await asked.rows()
    more = len(rows) > question.limit
    rows = rows[: question.limit]
    period = Period(question.start, question.end)
    comparison = await _comparison(params, asked, totals)
    incomplete = told or (site.incomplete.isoformat() if site.incomplete else None)
    following = question.offset + question.limit
    result = PerformanceResult(
        totals=count(totals),
        rows=[FigureRowOut(keys=dict(row.keys), **count(row.figures).model_dump()) for row in rows],
        comparison=comparison,
        freshness=Freshness(
            last_final_date=site.last.isoformat() if site.last else None, first_incomplete_date=incomplete
        ),
        truncated=stored and await reading.is_truncated(site.plugin, site.connection.id, question),
        next_cursor=_cursor(params, following) if more and following <= _MAX_OFFSET else None,
    )
    return ToolResult(_text(site, period, totals, rows, result), result)


def _text(
    site: SiteFigures, period: Period, totals: Figures, rows: Sequence[DimensionFigures], result: PerformanceResult
) -> str:
    lines = [line(totals, f"{site.website.url} in {site.connection.source}, {period}"), *site.notes(period)]
    if result.comparison is not None:
        then = result.comparison
        change = "new" if then.clicks_change_pct is None else f"{then.clicks_change_pct:+.1f} %"
        lines.append(
            f"{then.start_date} to {then.end_date}: {then.totals.clicks} clicks ({change} since), "
            f"CTR {percent(then.totals.ctr)}, position {then.totals.position:.1f}"
        )
    lines += [table([(row.keys, row.figures) for row in rows])] if rows else []
    if result.next_cursor:
        lines.append("There are more rows: call again with next_cursor as cursor.")
    return "\n".join(lines)


async def _comparison(params: PerformanceParams, asked: _Asked, totals: Figures) -> ComparisonOut | None:
    if params.compare == "none":
        return None
    now = Period(asked.question.start, asked.question.end)
    then = now.before() if params.compare == "previous_period" else Period(year_before(now.start), year_before(now.end))
    before = await asked.totals(replace(asked.question, start=then.start, end=then.end))
    return ComparisonOut(
        start_date=then.start.isoformat(),
        end_date=then.end.isoformat(),
        totals=count(before),
        clicks_change_pct=_change(totals.clicks, before.clicks),
        impressions_change_pct=_change(totals.impressions, before.impressions),
        position_change=round(totals.position - before.position, 2),
    )


def _change(now: int, then: int) -> float | None:
    return round((now - then) / then * 100, 1) if then else None


def _question(params: PerformanceParams, site: SiteFigures) -> Question:
    if len(set(params.dimensions)) < len(params.dimensions):
        raise InvalidInput("dimensions", "has one twice")
    _check_known(params, site)
    period = _period(params, site)
    if ("hour" in params.dimensions) != (params.data_state == "hourly_all"):
        raise InvalidInput("data_state", "hourly_all and the dimension hour need each other")
    if params.search_type in google.WITHOUT_QUERIES and (
        "query" in params.dimensions or any(one.dimension == "query" for one in params.filters)
    ):
        raise InvalidInput("search_type", f"{params.search_type} has no queries")
    return Question(
        start=period.start,
        end=period.end,
        dimensions=params.dimensions,
        conditions=tuple(Condition(one.dimension, one.operator, one.expression) for one in params.filters),
        search_type=params.search_type,
        data_state=params.data_state,
        limit=params.limit,
        offset=_offset(params),
    )


def _check_known(params: PerformanceParams, site: SiteFigures) -> None:
    source = sources_of(site.plugin)[site.connection.source]
    if source.search_types and params.search_type not in source.search_types:
        known = ", ".join(sorted(source.search_types))
        raise InvalidInput("search_type", f"{source.title} gives figures of {known} only")
    for name, used in (("dimensions", params.dimensions), ("filters", [one.dimension for one in params.filters])):
        unknown = sorted(source.without.intersection(used))
        if unknown:
            told = " or ".join(unknown)
            raise InvalidInput(name, f"{source.title} does not tell {told}; leave it out, or ask google")


def _period(params: PerformanceParams, site: SiteFigures) -> Period:
    newest = today()
    usual = site.last or newest - timedelta(days=google.LAG_DAYS)
    if params.data_state != "final":
        usual = newest
    end = date.fromisoformat(params.end_date) if params.end_date else usual
    start = date.fromisoformat(params.start_date) if params.start_date else end - timedelta(days=_DEFAULT_DAYS - 1)
    if start > end:
        raise InvalidInput("start_date", f"must not be after the end, {end.isoformat()}")
    if start > newest:
        raise InvalidInput("start_date", f"must not be in the future; in California it is {newest.isoformat()}")
    if (end - start).days > 500:
        raise InvalidInput("start_date", "at most 500 days can be asked for at once; figures go back 16 months")
    return Period(start, end)


def _cursor(params: PerformanceParams, offset: int) -> str:
    return base64.urlsafe_b64encode(f"{offset}.{_mark(params)}".encode()).decode().rstrip("=")


def _offset(params: PerformanceParams) -> int:
    if params.cursor is None:
        return 0
    try:
        text = base64.urlsafe_b64decode(params.cursor + "=" * (-len(params.cursor) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        text = ""
    offset, _, mark = text.partition(".")
    if mark != _mark(params) or not offset.isdecimal() or len(offset) > 6 or int(offset) > _MAX_OFFSET:
        raise InvalidInput("cursor", "belongs to another question; repeat the call with the same arguments, or without")
    return int(offset)


def _mark(params: PerformanceParams) -> str:
    """Return what tells the cursors of one question from those of another."""
    text = params.model_dump_json(exclude={"cursor"})
    return hashlib.sha256(text.encode()).hexdigest()[:16]
