"""What to work on next: quick wins, pages that decline, and pages that compete with each other."""

from __future__ import annotations

from typing import Final, Literal

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_search_performance.analysis import changes, opportunities
from pressroom_search_performance.ctr import expected_ctr
from pressroom_search_performance.figures.reading import Question
from pressroom_search_performance.tools.common import Count, Period, WebsiteId, count, line, percent, searched

_DAYS: Final = 28
_HINTS: Final = Annotations(read_only=True, idempotent=True, open_world=True)


class QuickWinsParams(Params):
    """What counts as a quick win."""

    website_id: WebsiteId
    min_impressions: Integer = Field(default=50, ge=1, le=1_000_000, description="Least impressions in 28 days.")
    position_min: float = Field(default=4.0, ge=1, le=100, strict=False, description="Best mean position.")
    position_max: float = Field(default=20.0, ge=1, le=100, strict=False, description="Worst mean position.")
    limit: Integer = Field(default=20, ge=1, le=100, description="Items of the answer.")


class QuickWin(BaseModel):
    """A query with the page that is found by it."""

    query: str
    page: str
    impressions: int
    ctr: float = Field(description="Clicks per impression, 0 to 1.")
    position: float
    expected_ctr: float = Field(
        description="What is usual at this position. A lower ctr asks for a better title and description."
    )
    potential_clicks: int = Field(description="More clicks in 28 days at position 3.")


class QuickWinsResult(BaseModel):
    """The answer of `find_quick_wins`."""

    items: list[QuickWin]


@mcp_tool(
    name="find_quick_wins",
    title="Quick wins in search",
    description=(
        "Finds queries for which a page stands just below the top with many impressions and few clicks, over the last "
        "28 days with final figures. Use it to decide which existing page to improve. Returns the best first: "
        "where ctr is below expected_ctr, rewrite the title and description; else deepen the page and link to it. "
        "potential_clicks compares opportunities and is not a forecast."
    ),
    result=QuickWinsResult,
    annotations=_HINTS,
    toolsets=("performance",),
)
async def find_quick_wins(params: QuickWinsParams, call: Call) -> ToolResult:
    """Find quick wins."""
    if params.position_min > params.position_max:
        raise InvalidInput("position_min", "must not be above position_max")
    site = await searched(call, params.website_id)
    period = site.latest(_DAYS)
    found = await opportunities.quick_wins(
        site.plugin,
        site.connection.id,
        Question(period.start, period.end),
        min_impressions=params.min_impressions,
        position_min=params.position_min,
        position_max=params.position_max,
        limit=params.limit,
    )
    items = [
        QuickWin(
            query=one.keys["query"],
            page=one.keys["page"],
            impressions=one.figures.impressions,
            ctr=round(one.figures.ctr, 4),
            position=round(one.figures.position, 2),
            expected_ctr=round(expected_ctr(one.figures.position), 4),
            potential_clicks=opportunities.winnable(one.figures),
        )
        for one in found
    ]
    lines = [
        f"{item.query}: position {item.position:.1f}, {item.impressions} impressions, CTR {percent(item.ctr)} "
        f"(usual {percent(item.expected_ctr)}), up to {item.potential_clicks} more clicks: {item.page}"
        for item in items
    ]
    return _answer(period, lines, "No query is within these bounds.", QuickWinsResult(items=items), site.notes(period))


class DecliningParams(Params):
    """What counts as a decline."""

    website_id: WebsiteId
    days: Integer = Field(default=28, ge=7, le=180, description="Days that are compared with as many before them.")
    min_drop_pct: float = Field(default=20.0, ge=0, le=100, strict=False, description="Least loss of clicks, percent.")
    limit: Integer = Field(default=20, ge=1, le=100, description="Items of the answer.")


class QueryChange(BaseModel):
    """A query that lost clicks for the page."""

    query: str
    now: Count
    before: Count


class DecliningPage(BaseModel):
    """A page that lost clicks."""

    page: str
    lost_clicks: int
    drop_pct: float
    now: Count
    before: Count
    reason: Literal["ranking", "demand", "click_through"] = Field(
        description="A worse position, fewer searches, or fewer clicks at about the same position."
    )
    queries: list[QueryChange] = Field(description="Those that lost the most clicks.")


class DecliningResult(BaseModel):
    """The answer of `find_declining_content`."""

    items: list[DecliningPage]


@mcp_tool(
    name="find_declining_content",
    title="Declining pages",
    description=(
        "Finds pages that lost clicks from search against as many days before, with the reason and the queries that "
        "explain it. Use it to decide what to refresh. Returns the largest loss first: for ranking update and deepen "
        "the page, for click_through rewrite title and description, demand is mostly the season. Losses of fewer than "
        "three clicks are left out."
    ),
    result=DecliningResult,
    annotations=_HINTS,
    toolsets=("performance",),
)
async def find_declining_content(params: DecliningParams, call: Call) -> ToolResult:
    """Find pages that lost clicks."""
    site = await searched(call, params.website_id)
    now = site.latest(params.days)
    before = now.before()
    if site.first is not None and before.start < site.first:
        there = (now.end - site.first).days + 1
        message = f"figures begin on {site.first.isoformat()}: at most {there // 2} days can be compared"
        raise InvalidInput("days", message)
    found = await changes.declining(
        site.plugin,
        site.connection.id,
        Question(before.start, now.end),
        now.start,
        min_drop_pct=params.min_drop_pct,
        limit=params.limit,
    )
    items = [_declining(one) for one in found]
    lines = []
    for item in items:
        lines.append(
            f"{item.page}: {item.lost_clicks} clicks lost ({item.drop_pct:.0f} %), reason: {item.reason}; "
            f"position {item.before.position:.1f} to {item.now.position:.1f}, "
            f"impressions {item.before.impressions} to {item.now.impressions}"
        )
        lines += [
            f"  {each.query}: {each.before.clicks} to {each.now.clicks} clicks, "
            f"position {each.before.position:.1f} to {each.now.position:.1f}"
            for each in item.queries
        ]
    return _answer(now, lines, "No page lost clicks.", DecliningResult(items=items), site.notes(before))


def _declining(one: changes.Decline) -> DecliningPage:
    return DecliningPage(
        page=one.page.name,
        lost_clicks=one.page.lost,
        drop_pct=round(one.page.lost / one.page.before.clicks * 100, 1),
        now=count(one.page.now),
        before=count(one.page.before),
        reason=one.page.reason,
        queries=[QueryChange(query=each.name, now=count(each.now), before=count(each.before)) for each in one.queries],
    )


class CannibalisationParams(Params):
    """Which queries to look at."""

    website_id: WebsiteId
    min_impressions: Integer = Field(default=50, ge=1, le=1_000_000, description="Least impressions in 28 days.")
    limit: Integer = Field(default=20, ge=1, le=100, description="Items of the answer.")


class CompetingPage(Count):
    """A page that is found by the query."""

    page: str
    share: float = Field(description="Its share of the query's impressions, 0 to 1.")


class CompetingPages(BaseModel):
    """A query and the pages that compete for it."""

    query: str
    pages: list[CompetingPage] = Field(description="The one with the most clicks first.")


class CannibalisationResult(BaseModel):
    """The answer of `find_keyword_cannibalisation`."""

    items: list[CompetingPages]


@mcp_tool(
    name="find_keyword_cannibalisation",
    title="Pages that compete with each other",
    description=(
        "Finds queries for which several pages of the website are shown, each at least one time in ten, over the last "
        "28 days with final figures. Use it before writing about a topic again, and to choose which pages to merge, "
        "redirect or link to the main one. Returns the queries with the most impressions first, each with its pages. "
        "Several pages for the name of the site itself are normal."
    ),
    result=CannibalisationResult,
    annotations=_HINTS,
    toolsets=("performance",),
)
async def find_keyword_cannibalisation(params: CannibalisationParams, call: Call) -> ToolResult:
    """Find pages that compete."""
    site = await searched(call, params.website_id)
    period = site.latest(_DAYS)
    found = await opportunities.cannibalisation(
        site.plugin,
        site.connection.id,
        Question(period.start, period.end),
        min_impressions=params.min_impressions,
        limit=params.limit,
    )
    items = [_competing(one) for one in found]
    lines = []
    for one in found:
        lines.append(line(one.figures, one.query))
        lines += [line(figures, f"  {page}") for page, figures in one.pages]
    none = "No pages compete."
    return _answer(period, lines, none, CannibalisationResult(items=items), site.notes(period))


def _competing(one: opportunities.Competition) -> CompetingPages:
    pages = [
        CompetingPage(
            page=page, share=round(figures.impressions / one.figures.impressions, 3), **count(figures).model_dump()
        )
        for page, figures in one.pages
    ]
    return CompetingPages(query=one.query, pages=pages)


TOOLS: Final = (find_quick_wins, find_declining_content, find_keyword_cannibalisation)


def _answer(period: Period, lines: list[str], none: str, result: BaseModel, notes: list[str]) -> ToolResult:
    return ToolResult("\n".join([f"{period}.", *notes, *(lines or [none])]), result)
