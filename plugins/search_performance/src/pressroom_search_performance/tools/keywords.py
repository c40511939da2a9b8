"""Tools for keyword ideas from the website's own figures, and for tracked phrases."""

from __future__ import annotations

from typing import Final

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_search_performance.analysis import ideas, opportunities
from pressroom_search_performance.analysis.ideas import FollowedKeyword, FollowedKeywords
from pressroom_search_performance.figures.queries import Question
from pressroom_search_performance.host import plugin_of, website_of
from pressroom_search_performance.tools.common import NotConnected, WebsiteId, position_of, position_text, searched

_DAYS: Final = 90


class SuggestKeywordsParams(Params):
    """What the ideas should be about."""

    website_id: WebsiteId
    seed: str | None = Field(
        default=None, min_length=1, max_length=200, description="Only ideas with one of these words."
    )
    limit: Integer = Field(default=30, ge=1, le=100, description="Maximum number.")


class IdeaItem(BaseModel):
    """A phrase to write about, or to improve a page for."""

    phrase: str
    source: ideas.Source = Field(
        description="gap: people find the site by this phrase, but no page is about it. search_query: a page is about "
        "it, but ranks "
        "below the top ten. title: the subject of a page, without search figures."
    )
    impressions: int | None = Field(description="In 90 days; null if there are no figures for the phrase.")
    position: float | None
    existing_page: str | None


class SuggestResult(BaseModel):
    """The result of `suggest_keywords`."""

    ideas: list[IdeaItem]
    note: str | None = Field(description="Why there are no search figures; otherwise null.")


@mcp_tool(
    name="suggest_keywords",
    title="Keyphrase ideas",
    description=(
        "Suggests keyphrases from the website's search queries of 90 days and its titles. Use it to plan articles. "
        "Returns gaps first (queries that no page is about), then queries whose page ranks below the top ten, then "
        "titles that no query finds. If existing_page is set, improve that page instead of writing another. Without "
        "search figures it returns titles only."
    ),
    result=SuggestResult,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("performance", "writing"),
)
async def suggest_keywords(params: SuggestKeywordsParams, call: Call) -> ToolResult:
    """Suggest keyphrases."""
    plugin = plugin_of(call)
    website = await website_of(call, params.website_id)
    site_topics = await ideas.topics(plugin, call.caller.subject, website.id)
    note = ""
    try:
        site = await searched(call, website.id)
        period = site.latest(_DAYS)
        question = Question(period.start, period.end)
        queries = await ideas.searched_queries(plugin, site.connection.id, question)
    except NotConnected as error:
        queries, note = (), error.message
    suggestions = ideas.ideas(queries, site_topics, params.seed or "", params.limit)
    items = [
        IdeaItem(
            phrase=idea.phrase,
            source=idea.source,
            impressions=idea.impressions,
            position=idea.position,
            existing_page=idea.existing_page,
        )
        for idea in suggestions
    ]
    lines = [
        f"{item.phrase} ({item.source})"
        + (f": {item.impressions} impressions" if item.impressions is not None else "")
        + (f", position {item.position:.1f}" if item.position else "")
        + (f", {item.existing_page}" if item.existing_page else "")
        for item in items
    ]
    notes = [f"No search figures: {note}. So these are the website's own titles."] if note else []
    text = "\n".join([*notes, *(lines or ["There are no ideas."])])
    return ToolResult(text, SuggestResult(ideas=items, note=note or None))


class TrackParams(Params):
    """Which phrase to follow."""

    website_id: WebsiteId
    phrase: str = Field(min_length=1, max_length=200, description="The phrase, as people type it.")
    target_url: str | None = Field(default=None, max_length=2048, description="The page that should rank.")
    remove: bool = Field(default=False, description="Stop tracking it.")


class TrackedKeywordOut(BaseModel):
    """A tracked phrase."""

    phrase: str
    target_url: str | None
    following: bool


class TrackResult(BaseModel):
    """The result of `track_keyword`."""

    tracked: TrackedKeywordOut


@mcp_tool(
    name="track_keyword",
    title="Track a keyphrase",
    description=(
        "Tracks a phrase, so that list_tracked_keywords shows its position over time, also for past days; "
        "remove=true stops tracking it. Positions come from the website's own search figures."
    ),
    result=TrackResult,
    annotations=Annotations(idempotent=True),
    toolsets=("performance",),
)
async def track_keyword(params: TrackParams, call: Call) -> ToolResult:
    """Follow a phrase, or stop to."""
    website = await website_of(call, params.website_id)
    phrase = _phrase(params.phrase)
    store = FollowedKeywords(plugin_of(call), call.caller.subject, website.id)
    if params.remove:
        was_tracked = await store.forget(phrase)
        tracked = TrackedKeywordOut(phrase=phrase, target_url=None, following=False)
        text = "is no longer tracked." if was_tracked else "was not tracked; list_tracked_keywords lists the phrases."
        return ToolResult(f"{phrase} {text}", TrackResult(tracked=tracked))
    if params.target_url and not params.target_url.startswith(("https://", "http://")):
        raise InvalidInput("target_url", "must be a full URL such as https://example.com/page")
    keyword = await store.follow(phrase, params.target_url)
    tracked = TrackedKeywordOut(phrase=keyword.phrase, target_url=keyword.target_url or None, following=True)
    return ToolResult(f"{phrase} is tracked.", TrackResult(tracked=tracked))


class TrackedParams(Params):
    """Of which days."""

    website_id: WebsiteId
    days: Integer = Field(default=28, ge=7, le=480, description="Number of days, compared with as many before.")


class TrackedRow(BaseModel):
    """A tracked phrase with its position."""

    phrase: str
    target_url: str | None
    position: float | None = Field(description="Mean position; null if there are no figures for the phrase.")
    previous_position: float | None
    change: float | None = Field(description="Positions gained; below 0: lost.")
    clicks: int | None = Field(description="null if position is: nobody saw the site for it, or too few people did.")
    impressions: int | None
    page: str | None = Field(description="The page that ranks. Compare it with target_url.")


class TrackedResult(BaseModel):
    """The result of `list_tracked_keywords`."""

    rows: list[TrackedRow]
    note: str | None = Field(description="Why there are no search figures; otherwise null.")


@mcp_tool(
    name="list_tracked_keywords",
    title="Tracked keyphrases",
    description=(
        "Lists the tracked phrases of a website with mean position, clicks and impressions, the change since as "
        "many days before, and the page that ranks. Use it to report on progress. Google omits rare queries: their "
        "figures are null. track_keyword adds a phrase."
    ),
    result=TrackedResult,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("performance",),
)
async def list_tracked_keywords(params: TrackedParams, call: Call) -> ToolResult:
    """List followed phrases."""
    website = await website_of(call, params.website_id)
    followed = await FollowedKeywords(plugin_of(call), call.caller.subject, website.id).every()
    if not followed:
        return ToolResult("No phrases are tracked; add one with track_keyword.", TrackedResult(rows=[], note=None))
    try:
        site = await searched(call, website.id)
        now = site.latest(params.days)
    except NotConnected as error:
        rows = [_row(keyword, None, None) for keyword in followed]
        names = ", ".join(row.phrase for row in rows)
        text = f"No search figures: {error.message}. The tracked phrases are: {names}"
        return ToolResult(text, TrackedResult(rows=rows, note=error.message))
    phrases = [keyword.phrase for keyword in followed]
    question = Question(now.before().start, now.end)
    changes = await opportunities.queries_over_time(site.plugin, site.connection.id, question, now.start, phrases)
    recent = Question(now.start, now.end)
    pages = await opportunities.best_pages(site.plugin, site.connection.id, recent, phrases)
    rows = [_row(keyword, changes.get(keyword.phrase), pages.get(keyword.phrase)) for keyword in followed]
    lines = [str(now), *site.notes(now.before())]
    for row in rows:
        if row.impressions is None:
            lines.append(f"{row.phrase}: unknown; nobody saw the site for it, or too few people did")
            continue
        change = f" ({row.change:+.1f})" if row.change is not None else ""
        page_text = f", {row.page}" if row.page else ""
        lines.append(
            f"{row.phrase}: position {position_text(row.position)}{change}, {row.clicks} clicks, "
            f"{row.impressions} impressions{page_text}"
        )
    return ToolResult("\n".join(lines), TrackedResult(rows=rows, note=None))


TOOLS: Final = (suggest_keywords, track_keyword, list_tracked_keywords)


def _row(keyword: FollowedKeyword, change: opportunities.FigureChange | None, page: str | None) -> TrackedRow:
    now = change.now if change else None
    before = change.before if change else None
    position = position_of(now) if now else None
    previous = position_of(before) if before else None
    return TrackedRow(
        phrase=keyword.phrase,
        target_url=keyword.target_url or None,
        position=position,
        previous_position=previous,
        change=round(previous - position, 1) if position is not None and previous is not None else None,
        clicks=now.clicks if now and now.impressions else None,
        impressions=now.impressions if now and now.impressions else None,
        page=page,
    )


def _phrase(text: str) -> str:
    """Normalise a phrase to lower case with single spaces, as search engines report it."""
    phrase = " ".join(text.replace("\0", " ").lower().split())
    if not phrase or len(phrase) > 200:
        raise InvalidInput("phrase", "must have 1 to 200 characters")
    return phrase
