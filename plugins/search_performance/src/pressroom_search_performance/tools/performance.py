"""Tool for the search figures of a website."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Annotated, Any, Final, Literal, cast, get_args

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pressroom_content.contract import Grain, SearchType
from pydantic import AfterValidator, BaseModel, Field

from pressroom_search_performance.connecting.store import SourceConnections
from pressroom_search_performance.figures import queries
from pressroom_search_performance.figures.queries import (
    Condition,
    DataState,
    Dimension,
    DimensionFigures,
    Figures,
    Operator,
    Question,
)
from pressroom_search_performance.host import sources_of
from pressroom_search_performance.sources import google
from pressroom_search_performance.sources.google import today, year_before
from pressroom_search_performance.tools.common import (
    Count,
    Day,
    Period,
    SiteFigures,
    WebsiteId,
    count,
    line,
    percent,
    position_of,
    position_text,
    searched,
    spoken,
    table,
)

_DEFAULT_DAYS: Final = 28
_MAX_OFFSET: Final = 50_000


_FILTER_DIMENSIONS: Final = ("query", "page", "country", "device", "search_appearance")
_OPERATORS: Final = get_args(Operator)
_COUNTRY: Final = re.compile("[A-Za-z]{3}")
_DEVICES: Final = ("desktop", "mobile", "tablet")


def _filter(value: str) -> str:
    _condition(value)
    return value


def _condition(value: str) -> Condition:
    dimension, _, remainder = value.strip().partition(" ")
    operator, _, expression = remainder.strip().partition(" ")
    if dimension not in _FILTER_DIMENSIONS or operator not in _OPERATORS or not expression.strip():
        raise ValueError(
            f"must be a dimension ({', '.join(_FILTER_DIMENSIONS)}), an operator ({', '.join(_OPERATORS)}) and "
            "a value, such as 'query contains shoes'"
        )
    expression = expression.strip()
    if operator in ("equals", "notEquals"):
        if dimension == "country" and not _COUNTRY.fullmatch(expression):
            raise ValueError("must name a country by its three letters (ISO 3166-1 alpha-3), such as usa or gbr")
        if dimension == "device" and expression.lower() not in _DEVICES:
            raise ValueError(f"must name a device: {', '.join(_DEVICES)}")
    return Condition(cast("Dimension", dimension), cast("Operator", operator), expression)


Filter = Annotated[str, Field(min_length=5, max_length=2100), AfterValidator(_filter)]


class PerformanceParams(Params):
    """Which figures."""

    website_id: WebsiteId
    start_date: Day | None = Field(default=None, description="Default: 28 days, up to end_date.")
    end_date: Day | None = Field(default=None, description="Default: the last day with final figures.")
    dimensions: tuple[Dimension, ...] = Field(
        default=(), max_length=4, strict=False, description="Group rows by these."
    )
    filters: tuple[Filter, ...] = Field(
        default=(),
        max_length=10,
        strict=False,
        description="Conditions such as 'query contains shoes' or 'country equals usa'. Also notEquals, notContains, "
        "includingRegex, excludingRegex.",
    )
    search_type: SearchType = Field(default="web", description="Kind of results.")
    data_state: Literal["final", "all"] = Field(
        default="final", description="all: also days whose figures may still change."
    )
    compare: Literal["previous_period", "previous_year"] | None = Field(
        default=None, description="Period to compare with."
    )
    provider: str = Field(default="auto", description="auto prefers Google.")
    limit: Integer = Field(default=50, ge=1, le=1000, description="Rows to return.")
    cursor: str | None = Field(default=None, max_length=200, description="next_cursor of the last result.")


class FigureRowOut(Count):
    """Figures of one combination of keys."""

    keys: dict[str, str] = Field(description="By dimension.")


class ComparisonOut(BaseModel):
    """The same figures of other days."""

    start_date: str
    end_date: str
    totals: Count
    clicks_change_pct: float | None = Field(
        description="null if there were no clicks in the other period, or if figures do not go back to its start."
    )
    impressions_change_pct: float | None
    position_change: float | None = Field(description="Below 0: better than before; null if a position is unknown.")


class Freshness(BaseModel):
    """How recent the figures are."""

    last_final_date: str | None
    first_incomplete_date: str | None = Field(description="From this day on figures may still change.")


class PerformanceResult(BaseModel):
    """The result of `get_search_performance`."""

    totals: Count = Field(description="For all searches, including rare ones, which rows by query leave out.")
    rows: list[FigureRowOut] = Field(description="Sorted by clicks, most first; by date if that is the only dimension.")
    comparison: ComparisonOut | None = Field(description="null unless requested.")
    freshness: Freshness
    truncated: bool = Field(description="Whether the source has more rows than are stored; totals are complete.")
    next_cursor: str | None = Field(description="Pass it as cursor for more; null at the end.")


@mcp_tool(
    name="get_search_performance",
    title="Search performance",
    description=(
        "Returns clicks, impressions, CTR and mean position of a website in search, in total and by dimension. For "
        "what to do next call find_content_opportunities. Google's figures are two to three days old, Bing's up to two "
        "weeks. Rows by query leave out rare queries."
    ),
    result=PerformanceResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("core", "performance"),
    timeout=60,
    choices={"provider": lambda plugin: ["auto", *sorted(sources_of(plugin))]},
    aliases=("get_gsc_performance",),
)
async def get_search_performance(params: PerformanceParams, call: Call) -> ToolResult:
    """Return figures."""
    site = await searched(call, params.website_id, params.provider, params.search_type)
    query = _FigureQuery(site, _question(params, site))
    with spoken(site.plugin, site.website):
        return await _result(params, query)


TOOLS: Final = (get_search_performance,)


@dataclass(frozen=True, slots=True)
class _FigureQuery:
    """A question about a website's figures."""

    site: SiteFigures
    question: Question

    def stored_grain(self, question: Question) -> Grain | None:
        """Return the stored grain that can answer, or `None` if the source has to be queried."""
        grain = question.grain()
        offered = sources_of(self.site.plugin)[self.site.connection.source].grains
        stored = question.search_type in self.site.plugin.config.search_types
        return grain if stored and grain in offered else None

    async def rows(self) -> tuple[Sequence[DimensionFigures], str]:
        """Return one row more than requested, and the first incomplete date or hour from Google."""
        if not self.question.dimensions:
            return (), ""
        question = replace(self.question, limit=self.question.limit + 1)
        grain = self.stored_grain(question)
        if grain is not None:
            return await queries.read(self.site.plugin, self.site.connection.id, grain, question), ""
        return await queries.ask_google(*await self._live(), question, *await self._access())

    async def totals(self, question: Question) -> Figures:
        """Return the totals for a question, from the coarsest grain that supports its conditions."""
        totals_question = replace(question, dimensions=())
        grain = self.stored_grain(totals_question)
        if grain is not None:
            return await queries.totals(self.site.plugin, self.site.connection.id, grain, totals_question)
        return await queries.google_totals(*await self._live(), totals_question, *await self._access())

    async def _live(self) -> tuple[google.GoogleConsole, str]:
        if self.site.connection.source != google.NAME:
            raise InvalidInput(
                "dimensions", f"{self.site.connection.source} does not split its figures by these; use fewer, or google"
            )
        return google.console_of(self.site.plugin.config), self.site.connection.property

    async def _access(self) -> tuple[Mapping[str, str], Any]:
        credential = await SourceConnections(self.site.plugin).credential(self.site.connection)
        return credential, self.site.plugin.services.fetcher


async def _result(params: PerformanceParams, query: _FigureQuery) -> ToolResult:
    site, question = query.site, query.question
    stored = query.stored_grain(question) is not None
    if stored and site.first is None:
        site.latest(1)  # raises the reason why there is nothing yet
    totals = await query.totals(question)
    rows, first_incomplete = await query.rows()
    has_more = len(rows) > question.limit
    rows = rows[: question.limit]
    period = Period(question.start, question.end)
    comparison = await _comparison(params, query, totals)
    incomplete = first_incomplete or (site.incomplete.isoformat() if site.incomplete else None)
    next_offset = question.offset + question.limit
    result = PerformanceResult(
        totals=count(totals),
        rows=[FigureRowOut(keys=dict(row.keys), **count(row.figures).model_dump()) for row in rows],
        comparison=comparison,
        freshness=Freshness(
            last_final_date=site.last.isoformat() if site.last else None, first_incomplete_date=incomplete
        ),
        truncated=stored and await queries.is_truncated(site.plugin, site.connection.id, question),
        next_cursor=_cursor(params, next_offset) if has_more and next_offset <= _MAX_OFFSET else None,
    )
    return ToolResult(_text(query, period, totals, rows, result), result)


def _text(
    query: _FigureQuery, period: Period, totals: Figures, rows: Sequence[DimensionFigures], result: PerformanceResult
) -> str:
    site = query.site
    lines = [line(totals, f"{site.website.url} in {site.connection.source}, {period}"), *site.notes(period)]
    if result.comparison is not None:
        comparison = result.comparison
        before = Figures(comparison.totals.clicks, comparison.totals.impressions)
        first_day = _first_day(query)
        if comparison.start_date < first_day:
            change = f"not comparable: figures start on {first_day}"
        elif comparison.clicks_change_pct is None:
            change = "new since"
        else:
            change = f"{comparison.clicks_change_pct:+.1f} % since"
        lines.append(
            f"{comparison.start_date} to {comparison.end_date}: {comparison.totals.clicks} clicks ({change}), "
            f"CTR {percent(before.ctr) if before.impressions else 'unknown'}, "
            f"position {position_text(comparison.totals.position)}"
        )
    lines += [table([(row.keys, row.figures) for row in rows])] if rows else []
    freshness = result.freshness
    if freshness.last_final_date:
        lines.append(f"The last day with final figures is {freshness.last_final_date}.")
    if result.next_cursor:
        lines.append(f"There are more rows: call again with cursor {result.next_cursor}")
    return "\n".join(lines)


async def _comparison(params: PerformanceParams, query: _FigureQuery, totals: Figures) -> ComparisonOut | None:
    if params.compare is None:
        return None
    now = Period(query.question.start, query.question.end)
    then = now.before() if params.compare == "previous_period" else Period(year_before(now.start), year_before(now.end))
    before = await query.totals(replace(query.question, start=then.start, end=then.end))
    # A period that lacks days would look like growth since then.
    whole = then.start.isoformat() >= _first_day(query)
    new, old = position_of(totals), position_of(before)
    return ComparisonOut(
        start_date=then.start.isoformat(),
        end_date=then.end.isoformat(),
        totals=count(before),
        clicks_change_pct=_change(totals.clicks, before.clicks) if whole else None,
        impressions_change_pct=_change(totals.impressions, before.impressions) if whole else None,
        position_change=None if new is None or old is None or not whole else round(new - old, 1),
    )


def _first_day(query: _FigureQuery) -> str:
    """Return the first day with stored figures; empty for a question that goes to the source itself."""
    stored = query.stored_grain(replace(query.question, dimensions=())) is not None
    return query.site.first.isoformat() if stored and query.site.first is not None else ""


def _change(now: int, then: int) -> float | None:
    return round((now - then) / then * 100, 1) if then else None


def _question(params: PerformanceParams, site: SiteFigures) -> Question:
    if len(set(params.dimensions)) < len(params.dimensions):
        raise InvalidInput("dimensions", "must not name a dimension twice")
    _check_known(params, site)
    period = _period(params, site)
    conditions = tuple(map(_condition, params.filters))
    if params.search_type in google.WITHOUT_QUERIES and (
        "query" in params.dimensions or any(condition.dimension == "query" for condition in conditions)
    ):
        raise InvalidInput("search_type", f"{params.search_type} has no queries")
    return Question(
        start=period.start,
        end=period.end,
        dimensions=params.dimensions,
        conditions=conditions,
        search_type=params.search_type,
        data_state=_state(params),
        limit=params.limit,
        offset=_offset(params),
    )


def _state(params: PerformanceParams) -> DataState:
    """Return the data state to query. Google requires a separate one for hourly data."""
    return "hourly_all" if "hour" in params.dimensions else params.data_state


def _check_known(params: PerformanceParams, site: SiteFigures) -> None:
    source = sources_of(site.plugin)[site.connection.source]
    if source.search_types and params.search_type not in source.search_types:
        supported = ", ".join(sorted(source.search_types))
        raise InvalidInput("search_type", f"{source.title} has figures for {supported} only")
    for name, used in (
        ("dimensions", params.dimensions),
        ("filters", [_condition(expression).dimension for expression in params.filters]),
    ):
        unknown = sorted(source.without.intersection(used))
        if unknown:
            names = " or ".join(unknown)
            raise InvalidInput(name, f"{source.title} does not report {names}; leave it out, or set provider to google")


def _period(params: PerformanceParams, site: SiteFigures) -> Period:
    newest = today()
    latest = site.last or newest - timedelta(days=google.LAG_DAYS)
    if _state(params) != "final":
        latest = newest
    end = date.fromisoformat(params.end_date) if params.end_date else latest
    start = date.fromisoformat(params.start_date) if params.start_date else end - timedelta(days=_DEFAULT_DAYS - 1)
    if _state(params) == "final" and site.last is not None and start <= site.last < end:
        end = site.last  # later days have no final figures, and would count as days without clicks
    if start > end:
        raise InvalidInput("start_date", f"must not be after the end, {end.isoformat()}")
    if start > newest:
        raise InvalidInput("start_date", f"must not be in the future; in California it is {newest.isoformat()}")
    if (end - start).days > 500:
        raise InvalidInput("start_date", "at most 500 days can be requested at once; figures go back 16 months")
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
        raise InvalidInput(
            "cursor", "belongs to a different query; repeat the call with the same arguments, or leave it out"
        )
    return int(offset)


def _mark(params: PerformanceParams) -> str:
    """Return a fingerprint of the arguments, which ties a cursor to its query."""
    text = params.model_dump_json(exclude={"cursor"})
    return hashlib.sha256(text.encode()).hexdigest()[:16]
