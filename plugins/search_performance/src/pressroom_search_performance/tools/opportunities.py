"""Tool that finds what to work on next: quick wins, declining pages, and pages that compete with each other."""

from __future__ import annotations

from typing import Final, Literal

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pressroom_content.contract import content_services
from pydantic import BaseModel, Field

from pressroom_search_performance.analysis import opportunities
from pressroom_search_performance.analysis.opportunities import expected_ctr
from pressroom_search_performance.figures.queries import Question
from pressroom_search_performance.tools.common import (
    Count,
    Period,
    SiteFigures,
    WebsiteId,
    count,
    line,
    percent,
    position_text,
    searched,
)

_BEST_POSITION: Final = 4.0
_WORST_POSITION: Final = 20.0
"""Range of mean positions in which a query is a quick win."""

_MIN_DROP_PCT: Final = 20.0
"""Minimum loss of clicks, in percent, for a page to count as declining."""

Kind = Literal["quick_wins", "declining", "cannibalisation"]


class OpportunitiesParams(Params):
    """What to look for."""

    website_id: WebsiteId
    kind: Kind = Field(description="What to find.")
    days: Integer = Field(default=28, ge=7, le=180, description="Number of days with final figures.")
    min_impressions: Integer = Field(default=50, ge=1, le=1_000_000, description="Least impressions of a query.")
    limit: Integer = Field(default=20, ge=1, le=100, description="Maximum number.")


class QuickWin(BaseModel):
    """A query with the page that it finds."""

    query: str
    page: str
    impressions: int
    ctr: float = Field(description="Clicks per impression, 0 to 1.")
    position: float
    expected_ctr: float = Field(description="The usual click-through rate at this position.")
    potential_clicks: int = Field(
        description="Additional clicks that position 3 would have brought in these days; not a forecast."
    )


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
    reason: opportunities.Reason = Field(
        description="A worse position, fewer searches, or fewer clicks at about the same position."
    )
    queries: list[QueryChange] = Field(description="The queries that lost the most clicks.")


class CompetingPage(Count):
    """A page that the query finds."""

    page: str
    share: float = Field(description="Its share of the query's impressions, 0 to 1.")


class CompetingPages(BaseModel):
    """A query and the pages that compete for it."""

    query: str
    pages: list[CompetingPage] = Field(description="The page with the most clicks first.")


class OpportunitiesResult(BaseModel):
    """The result of `find_content_opportunities`."""

    kind: Kind
    start_date: str
    end_date: str
    items: list[QuickWin] | list[DecliningPage] | list[CompetingPages] = Field(
        description="The best opportunities first; their fields depend on kind."
    )
    content_ids: dict[str, str] = Field(description="IDs of the articles at these URLs.")


@mcp_tool(
    name="find_content_opportunities",
    title="Opportunities in search",
    description=(
        "Finds pages to improve, from the website's search figures. quick_wins: queries at position 4 to 20; where ctr "
        "is below expected_ctr, rewrite title and description, otherwise say more on the page. declining: pages that "
        "lost clicks, and why. cannibalisation: pages that compete for the same query."
    ),
    result=OpportunitiesResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("performance",),
)
async def find_content_opportunities(params: OpportunitiesParams, call: Call) -> ToolResult:
    """Find what to improve."""
    site = await searched(call, params.website_id)
    period = site.latest(params.days)
    match params.kind:
        case "quick_wins":
            return await _quick_wins(params, site, period)
        case "declining":
            return await _declining(params, site, period)
        case "cannibalisation":
            return await _cannibalisation(params, site, period)


TOOLS: Final = (find_content_opportunities,)


async def _quick_wins(params: OpportunitiesParams, site: SiteFigures, period: Period) -> ToolResult:
    rows = await opportunities.quick_wins(
        site.plugin,
        site.connection.id,
        Question(period.start, period.end),
        min_impressions=params.min_impressions,
        position_min=_BEST_POSITION,
        position_max=_WORST_POSITION,
        limit=params.limit,
    )
    items = [
        QuickWin(
            query=row.keys["query"],
            page=row.keys["page"],
            impressions=row.figures.impressions,
            ctr=round(row.figures.ctr, 4),
            position=round(row.figures.position, 1),
            expected_ctr=round(expected_ctr(row.figures.position), 4),
            potential_clicks=opportunities.winnable(row.figures),
        )
        for row in rows
    ]
    lines = [
        f"{item.query}: position {position_text(item.position)}, {item.impressions} impressions, "
        f"CTR {percent(row.figures.ctr)} (usual {percent(expected_ctr(row.figures.position))}), "
        f"up to {item.potential_clicks} more clicks: {item.page}"
        for item, row in zip(items, rows, strict=True)
    ]
    none = (
        f"No query has a mean position of {_BEST_POSITION:g} to {_WORST_POSITION:g} and at least "
        f"{params.min_impressions} impressions; try a smaller min_impressions or more days."
    )
    return await _result(params, site, period, lines or [none], items, site.notes(period))


async def _declining(params: OpportunitiesParams, site: SiteFigures, now: Period) -> ToolResult:
    before = now.before()
    if site.first is not None and before.start < site.first:
        available = (now.end - site.first).days + 1
        message = f"figures begin on {site.first.isoformat()}: at most {available // 2} days can be compared"
        raise InvalidInput("days", message)
    declines = await opportunities.declining(
        site.plugin,
        site.connection.id,
        Question(before.start, now.end),
        now.start,
        min_drop_pct=_MIN_DROP_PCT,
        limit=params.limit,
    )
    items = [_declining_page(decline) for decline in declines]
    lines = []
    for item in items:
        lines.append(
            f"{item.page}: {item.lost_clicks} clicks lost ({item.drop_pct:.1f} %), reason: {item.reason}; "
            f"{_moved(item.before, item.now)}, impressions {item.before.impressions} to {item.now.impressions}"
        )
        lines += [
            f"  {query.query}: {query.before.clicks} to {query.now.clicks} clicks, {_moved(query.before, query.now)}"
            for query in item.queries
        ]
    none = f"No page lost three clicks and {_MIN_DROP_PCT:g} % of them against the {now.days} days before."
    return await _result(params, site, now, lines or [none], items, site.notes(before))


def _moved(before: Count, now: Count) -> str:
    return f"position {position_text(before.position)} to {position_text(now.position)}"


def _declining_page(decline: opportunities.Decline) -> DecliningPage:
    return DecliningPage(
        page=decline.page.name,
        lost_clicks=decline.page.lost,
        drop_pct=round(decline.page.lost / decline.page.before.clicks * 100, 1),
        now=count(decline.page.now),
        before=count(decline.page.before),
        reason=decline.page.reason,
        queries=[
            QueryChange(query=query.name, now=count(query.now), before=count(query.before)) for query in decline.queries
        ],
    )


async def _cannibalisation(params: OpportunitiesParams, site: SiteFigures, period: Period) -> ToolResult:
    competitions = await opportunities.cannibalisation(
        site.plugin,
        site.connection.id,
        Question(period.start, period.end),
        min_impressions=params.min_impressions,
        limit=params.limit,
    )
    items = [_competing(competition) for competition in competitions]
    lines = []
    for competition in competitions:
        lines.append(line(competition.figures, competition.query))
        lines += [line(figures, f"  {page}") for page, figures in competition.pages]
    none = f"No pages compete for a query with at least {params.min_impressions} impressions."
    lines = [*lines, "Several pages for the name of the site itself are normal."] if lines else [none]
    return await _result(params, site, period, lines, items, site.notes(period))


def _competing(competition: opportunities.Competition) -> CompetingPages:
    pages = [
        CompetingPage(
            page=page,
            share=round(figures.impressions / competition.figures.impressions, 3),
            **count(figures).model_dump(),
        )
        for page, figures in competition.pages
    ]
    return CompetingPages(query=competition.query, pages=pages)


async def _result(
    params: OpportunitiesParams,
    site: SiteFigures,
    period: Period,
    lines: list[str],
    items: list[QuickWin] | list[DecliningPage] | list[CompetingPages],
    notes: list[str],
) -> ToolResult:
    pages = list(dict.fromkeys(page for item in items for page in _pages(item)))
    services, website = content_services(site.plugin), site.website
    ids = dict(await services.publications.at_urls(website.user_id, website.id, pages)) if pages else {}
    result = OpportunitiesResult(
        kind=params.kind,
        start_date=period.start.isoformat(),
        end_date=period.end.isoformat(),
        items=items,
        content_ids=ids,
    )
    article_lines = [f"Article {content_id}: {page}" for page, content_id in ids.items()]
    if len(ids) < len(pages) and (note := await services.websites.import_note(website.user_id, website.id)):
        article_lines.append(note)
    return ToolResult("\n".join([f"{period}.", *notes, *lines, *article_lines]), result)


def _pages(item: QuickWin | DecliningPage | CompetingPages) -> list[str]:
    return [page.page for page in item.pages] if isinstance(item, CompetingPages) else [item.page]
