"""Tool for the performance of one article."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pressroom.sdk import Annotations, Call, Integer, NotFound, Params, PluginContext, ToolResult, mcp_tool
from pressroom_content.contract import Article, ArticlePost, content_services
from pydantic import BaseModel, Field
from sqlalchemy import select

from pressroom_search_performance.figures.queries import SUMS, Figures, Question, figures_of, matching
from pressroom_search_performance.host import plugin_of, website_of
from pressroom_search_performance.tables import FigureRow
from pressroom_search_performance.tools.common import (
    Count,
    NotConnected,
    Period,
    SiteFigures,
    count,
    line,
    position_text,
    searched,
)
from pressroom_search_performance.tools.traffic import visits_of_pages

_MAX_QUERIES: Final = 20
_MAX_EVENTS: Final = 50


class ContentParams(Params):
    """Which article."""

    content_id: str = Field(min_length=1, max_length=64, description="The article, from list_content.")
    days: Integer = Field(default=28, ge=7, le=480, description="Number of days.")


class SearchOfPage(BaseModel):
    """Search figures of one URL of the article."""

    url: str
    website_id: str
    start_date: str
    end_date: str
    now: Count
    before: Count | None = Field(description="The days before; null if any is unknown.")


class QueryOfPage(Count):
    """A query that finds the article."""

    query: str


class Event(BaseModel):
    """Something that happened to the article."""

    at: str = Field(description="In the website's time zone.")
    kind: Literal["version", "published"]
    what: str


class ContentSearch(BaseModel):
    """Search figures of the article."""

    totals: Count | None = Field(description="null if there are no figures; unknown says why.")
    pages: list[SearchOfPage] = Field(description="One entry for each URL, since it may be on several websites.")
    unknown: list[str] = Field(description="URLs without search figures, each with the reason.")


class ContentResult(BaseModel):
    """The result of `get_content_performance`."""

    search: ContentSearch
    traffic: dict[str, int] | None = Field(
        description="Visitors, visits and page views in these days; null if no connected analytics service has them."
    )
    traffic_unknown: list[str] = Field(
        description="URLs whose visits are missing in traffic, since the analytics failed or was slow; with the reason."
    )
    queries: list[QueryOfPage] = Field(description="The queries with the most clicks, without rare ones.")
    events: list[Event] = Field(description="What changed in these days, newest first.")


@mcp_tool(
    name="get_content_performance",
    title="Performance of an article",
    description=(
        "Returns the search performance of one article: clicks, impressions, CTR and position on each website where "
        "it is published, compared with as many days before, the queries that find it, what changed in that time, "
        "and its visits in connected analytics. Use it a few weeks after an update. Figures are two to three days "
        "old; unknown values are null, with the reason."
    ),
    result=ContentResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("core", "performance"),
)
async def get_content_performance(params: ContentParams, call: Call) -> ToolResult:
    """Return figures of an article."""
    plugin = plugin_of(call)
    content = content_services(plugin)
    article = await content.articles.get(call.caller.subject, params.content_id)
    posts = await content.publications.of_article(call.caller.subject, article.id)
    published = [post for post in posts if post.url]
    page_urls = [(post.website_id, post.url) for post in published]
    pages: list[SearchOfPage] = []
    page_figures: list[Figures] = []
    missing = [] if published else ["The article is not published anywhere; publish it with publish_content."]
    queries: dict[str, list[Figures]] = {}
    for post in published:
        url = post.url
        try:
            site = await searched(call, post.website_id)
            period = site.latest(params.days)
        except (NotConnected, NotFound) as error:
            missing.append(f"{url}: {error.message}")
            continue
        page, now = await _page(site, url, period)
        if not page.now.impressions and post.published_at is not None and post.published_at.date() > period.end:
            missing.append(f"{url}: it was published after {period.end.isoformat()}, the last day with final figures")
            continue
        pages.append(page)
        page_figures.append(now)
        missing += [f"{url}: {note}" for note in site.notes(period.before())]
        for query, figures in await _queries(site, url, period):
            queries.setdefault(query, []).append(figures)
    query_rows = [QueryOfPage(query=query, **count(_sum(parts)).model_dump()) for query, parts in queries.items()]
    query_rows.sort(key=lambda row: (-row.clicks, -row.impressions, row.query))
    totals = _sum(page_figures) if pages else None
    traffic = await visits_of_pages(plugin, call.caller.subject, page_urls, params.days)
    zone = await _zone(call, article, posts)
    events = await _events(plugin, article, posts, params.days, zone)
    result = ContentResult(
        search=ContentSearch(totals=count(totals) if totals else None, pages=pages, unknown=missing),
        traffic=traffic.sums or None,
        traffic_unknown=traffic.unknown,
        queries=query_rows[:_MAX_QUERIES],
        events=events,
    )
    return ToolResult(_text(article.title, totals, result, params.days), result)


TOOLS: Final = (get_content_performance,)


def _text(title: str, totals: Figures | None, result: ContentResult, days: int) -> str:
    lines = [line(totals, f"{title}, {days} days") if totals else f"{title}: the search figures are not known."]
    lines += [_page_line(page) for page in result.search.pages]
    lines += result.search.unknown
    if result.traffic is not None:
        lines.append(", ".join(f"{value} {name}" for name, value in result.traffic.items()))
    elif not result.traffic_unknown:
        lines.append("Visits are unknown: no connected analytics service has them.")
    lines += [f"Visits are not known of {note}" for note in result.traffic_unknown]
    lines += [f"{row.query}: {row.clicks} clicks, position {position_text(row.position)}" for row in result.queries]
    lines += [f"{event.at} {event.what}" for event in result.events]
    return "\n".join(lines)


def _page_line(page: SearchOfPage) -> str:
    text = f"{page.url}, {page.start_date} to {page.end_date}: {page.now.clicks} clicks, {page.now.impressions} "
    text += f"impressions, position {position_text(page.now.position)}"
    if page.before is None:
        return f"{text}; the days before are not known"
    before = page.before
    position = position_text(before.position)
    return f"{text}; before {before.clicks} clicks, {before.impressions} impressions, position {position}"


def _url_variants(url: str) -> tuple[str, str]:
    """Return a URL without and with a trailing slash: search engines report one of them."""
    return url.rstrip("/"), f"{url.rstrip('/')}/"


async def _page(site: SiteFigures, url: str, period: Period) -> tuple[SearchOfPage, Figures]:
    totals = []
    for interval in (period, period.before()):
        statement = matching(select(*SUMS), site.connection.id, "page", Question(interval.start, interval.end))
        async with site.plugin.services.database.reading() as session:
            row = (await session.execute(statement.where(FigureRow.page.in_(_url_variants(url))))).one()
        totals.append(figures_of(*row))
    page = SearchOfPage(
        url=url,
        website_id=site.website.id,
        start_date=period.start.isoformat(),
        end_date=period.end.isoformat(),
        now=count(totals[0]),
        before=None if site.first is None or period.before().start < site.first else count(totals[1]),
    )
    return page, totals[0]


async def _queries(site: SiteFigures, url: str, period: Period) -> Sequence[tuple[str, Figures]]:
    clicks, impressions, weighted = SUMS
    statement = matching(
        select(FigureRow.query, clicks, impressions, weighted),
        site.connection.id,
        "page_query",
        Question(period.start, period.end),
    )
    statement = statement.where(FigureRow.page.in_(_url_variants(url))).group_by(FigureRow.query)
    statement = statement.order_by(clicks.desc(), impressions.desc(), FigureRow.query).limit(_MAX_QUERIES)
    async with site.plugin.services.database.reading() as session:
        return [(row[0], figures_of(*row[1:])) for row in await session.execute(statement)]


async def _zone(call: Call, article: Article, posts: Sequence[ArticlePost]) -> tzinfo:
    """Return the time zone of the article's website; UTC if it has none, or is gone."""
    website_id = article.website_id or next((post.website_id for post in posts), "")
    try:
        website = await website_of(call, website_id) if website_id else None
        return ZoneInfo(str(website.settings.get("timezone") or "UTC")) if website else UTC
    except (NotFound, ValueError, ZoneInfoNotFoundError):
        return UTC


async def _events(
    plugin: PluginContext, article: Article, posts: Sequence[ArticlePost], days: int, zone: tzinfo
) -> list[Event]:
    since = datetime.now(UTC).timestamp() - days * 86_400
    changes = await content_services(plugin).articles.changes(article.user_id, article.id)
    events = [
        (
            change.created_at,
            "version",
            f"version {change.version}: {', '.join(change.changed) or 'the article was written'}",
        )
        for change in changes
    ]
    events += [
        (post.published_at, "published", f"version {post.article_version} went to {post.url}")
        for post in posts
        if post.published_at is not None
    ]
    recent = sorted((event for event in events if event[0].timestamp() >= since), reverse=True)[:_MAX_EVENTS]
    return [
        Event.model_validate({"at": at.astimezone(zone).isoformat(timespec="seconds"), "kind": kind, "what": what})
        for at, kind, what in recent
    ]


def _sum(parts: Sequence[Figures]) -> Figures:
    weighted = sum(part.position * part.impressions for part in parts)
    return figures_of(sum(part.clicks for part in parts), sum(part.impressions for part in parts), weighted)
