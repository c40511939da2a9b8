"""How one article does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal

from pressroom.sdk import Annotations, Call, Integer, NotFound, Params, PluginContext, ToolResult, mcp_tool
from pressroom_content.contract import Article, ArticlePost, content_services
from pydantic import BaseModel, Field
from sqlalchemy import select

from pressroom_search_performance.figures.reading import SUMS, Figures, Question, figures_of, matching
from pressroom_search_performance.host import plugin_of
from pressroom_search_performance.tables import FigureRow
from pressroom_search_performance.tools.common import Count, NotConnected, Period, SiteFigures, count, line, searched
from pressroom_search_performance.tools.traffic import visits_of_pages

_MAX_QUERIES: Final = 20
_MAX_EVENTS: Final = 50


class ContentParams(Params):
    """Which article."""

    content_id: str = Field(min_length=1, max_length=64, description="The article, as list_content names it.")
    days: Integer = Field(default=28, ge=7, le=480, description="Days, compared with as many before them.")


class SearchOfPage(BaseModel):
    """Search figures of one URL of the article."""

    url: str
    website_id: str
    start_date: str
    end_date: str
    now: Count
    before: Count


class QueryOfPage(Count):
    """A query by which the article is found."""

    query: str


class Event(BaseModel):
    """Something that happened to the article."""

    at: str
    kind: Literal["version", "published"]
    what: str


class ContentSearch(BaseModel):
    """Search figures of the article."""

    totals: Count
    pages: list[SearchOfPage] = Field(description="By URL, where it is published on several websites.")
    not_connected: list[str] = Field(description="URLs without search figures, with the reason.")


class ContentResult(BaseModel):
    """The answer of `get_content_performance`."""

    search: ContentSearch
    traffic: dict[str, int] = Field(
        description="Visitors, visits and page views of these days in connected analytics; empty if absent."
    )
    queries: list[QueryOfPage] = Field(description="Those with the most clicks; rare ones are not named.")
    events: list[Event] = Field(description="What changed in these days, newest first.")


@mcp_tool(
    name="get_content_performance",
    title="Performance of an article",
    description=(
        "Returns how one article does in search: clicks, impressions, CTR and position on each website that it is "
        "published on, against as many days before, the queries that find it, and what was changed or published in "
        "that time; with connected analytics also its visits. Use it after an update, to see what it brought. Search "
        "figures are two to three days old. It is free."
    ),
    result=ContentResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("performance",),
)
async def get_content_performance(params: ContentParams, call: Call) -> ToolResult:
    """Return figures of an article."""
    plugin = plugin_of(call)
    content = content_services(plugin)
    article = await content.articles.get(call.caller.subject, params.content_id)
    posts = await content.publications.of_article(call.caller.subject, article.id)
    addresses = [(post.website_id, post.url) for post in posts if post.url]
    pages: list[SearchOfPage] = []
    missing: list[str] = []
    queries: dict[str, list[Figures]] = {}
    for website_id, url in addresses:
        try:
            site = await searched(call, website_id)
            period = site.latest(params.days)
        except (NotConnected, NotFound) as error:
            missing.append(f"{url}: {error.message}")
            continue
        pages.append(await _page(site, url, period))
        for query, figures in await _queries(site, url, period):
            queries.setdefault(query, []).append(figures)
    shown = [QueryOfPage(query=query, **count(_sum(found)).model_dump()) for query, found in queries.items()]
    shown.sort(key=lambda one: (-one.clicks, -one.impressions, one.query))
    totals = _sum([_figures(page.now) for page in pages])
    traffic = await visits_of_pages(plugin, call.caller.subject, addresses, params.days)
    events = await _events(plugin, article, posts, params.days)
    result = ContentResult(
        search=ContentSearch(totals=count(totals), pages=pages, not_connected=missing),
        traffic=traffic,
        queries=shown[:_MAX_QUERIES],
        events=events,
    )
    return ToolResult(_text(article.title, totals, result), result)


TOOLS: Final = (get_content_performance,)


def _text(title: str, totals: Figures, result: ContentResult) -> str:
    lines = [line(totals, title)]
    lines += [
        f"{page.url}, {page.start_date} to {page.end_date}: {page.before.clicks} to {page.now.clicks} clicks, "
        f"position {page.before.position:.1f} to {page.now.position:.1f}"
        for page in result.search.pages
    ]
    lines += result.search.not_connected
    if not result.search.pages and not result.search.not_connected:
        lines.append("The article is published nowhere.")
    if result.traffic:
        lines.append(", ".join(f"{value} {name}" for name, value in result.traffic.items()))
    lines += [f"{one.query}: {one.clicks} clicks, position {one.position:.1f}" for one in result.queries]
    lines += [f"{event.at} {event.what}" for event in result.events]
    return "\n".join(lines)


def _same(url: str) -> tuple[str, str]:
    """Return a URL with and without the slash at its end: search engines know one of them."""
    return url.rstrip("/"), f"{url.rstrip('/')}/"


async def _page(site: SiteFigures, url: str, period: Period) -> SearchOfPage:
    found = []
    for each in (period, period.before()):
        wanted = matching(select(*SUMS), site.connection.id, "page", Question(each.start, each.end))
        async with site.plugin.services.database.reading() as session:
            row = (await session.execute(wanted.where(FigureRow.page.in_(_same(url))))).one()
        found.append(figures_of(*row))
    return SearchOfPage(
        url=url,
        website_id=site.website.id,
        start_date=period.start.isoformat(),
        end_date=period.end.isoformat(),
        now=count(found[0]),
        before=count(found[1]),
    )


async def _queries(site: SiteFigures, url: str, period: Period) -> Sequence[tuple[str, Figures]]:
    clicks, impressions, weighted = SUMS
    wanted = matching(
        select(FigureRow.query, clicks, impressions, weighted),
        site.connection.id,
        "page_query",
        Question(period.start, period.end),
    )
    wanted = wanted.where(FigureRow.page.in_(_same(url))).group_by(FigureRow.query)
    wanted = wanted.order_by(clicks.desc(), impressions.desc(), FigureRow.query).limit(_MAX_QUERIES)
    async with site.plugin.services.database.reading() as session:
        return [(row[0], figures_of(*row[1:])) for row in await session.execute(wanted)]


async def _events(plugin: PluginContext, article: Article, posts: Sequence[ArticlePost], days: int) -> list[Event]:
    since = datetime.now(UTC).timestamp() - days * 86_400
    changes = await content_services(plugin).articles.changes(article.user_id, article.id)
    events = [
        (one.created_at, "version", f"version {one.version}: {', '.join(one.changed) or 'the article was written'}")
        for one in changes
    ]
    events += [
        (post.published_at, "published", f"version {post.article_version} went to {post.url}")
        for post in posts
        if post.published_at is not None
    ]
    recent = sorted((one for one in events if one[0].timestamp() >= since), reverse=True)[:_MAX_EVENTS]
    return [Event.model_validate({"at": at.isoformat(), "kind": kind, "what": what}) for at, kind, what in recent]


def _figures(shown: Count) -> Figures:
    return Figures(shown.clicks, shown.impressions, shown.position)


def _sum(found: Sequence[Figures]) -> Figures:
    weighted = sum(one.position * one.impressions for one in found)
    return figures_of(sum(one.clicks for one in found), sum(one.impressions for one in found), weighted)
