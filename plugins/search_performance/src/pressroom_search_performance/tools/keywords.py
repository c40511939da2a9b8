"""Keyphrases: ideas from the website's own figures, and phrases that are followed."""

from __future__ import annotations

from typing import Final

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_search_performance.analysis import changes, ideas
from pressroom_search_performance.analysis.ideas import FollowedKeyword, FollowedKeywords
from pressroom_search_performance.figures.reading import Question
from pressroom_search_performance.host import plugin_of, website_of
from pressroom_search_performance.tools.common import NotConnected, WebsiteId, searched

_DAYS: Final = 90


class SuggestKeywordsParams(Params):
    """What the ideas should be about."""

    website_id: WebsiteId
    seed: str | None = Field(default=None, min_length=1, max_length=200, description="Words; ideas share one of them.")
    limit: Integer = Field(default=30, ge=1, le=100, description="Ideas of the answer.")


class IdeaItem(BaseModel):
    """A phrase to write about, or to improve a page for."""

    phrase: str
    source: ideas.Source = Field(
        description="gap: people find the site by it, but no page is about it. search_query: a page is, and ranks "
        "below the first ten. title: what a page is about, and nobody finds it by."
    )
    impressions: int = Field(description="In 90 days.")
    position: float | None
    existing_page: str | None


class SuggestResult(BaseModel):
    """The answer of `suggest_keywords`."""

    ideas: list[IdeaItem]


@mcp_tool(
    name="suggest_keywords",
    title="Keyphrase ideas",
    description=(
        "Suggests keyphrases from the website's own search queries of 90 days, its titles and the gaps between them, "
        "without paid data. Use it to plan articles. Returns gaps first, then queries whose page is below the top ten, "
        "then topics that nobody finds; existing_page tells whether to improve a page rather than write one. Without "
        "search figures there are only the titles."
    ),
    result=SuggestResult,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("keywords",),
)
async def suggest_keywords(params: SuggestKeywordsParams, call: Call) -> ToolResult:
    """Suggest keyphrases."""
    plugin = plugin_of(call)
    website = await website_of(call, params.website_id)
    known = await ideas.topics(plugin, call.caller.subject, website.id)
    note = ""
    try:
        site = await searched(call, website.id)
        period = site.latest(_DAYS)
        question = Question(period.start, period.end)
        queries = await ideas.searched_queries(plugin, site.connection.id, question)
    except NotConnected as error:
        queries, note = (), error.message
    found = ideas.ideas(queries, known, params.seed or "", params.limit)
    items = [
        IdeaItem(
            phrase=one.phrase,
            source=one.source,
            impressions=one.impressions,
            position=one.position,
            existing_page=one.existing_page,
        )
        for one in found
    ]
    lines = [
        f"{one.phrase} ({one.source}): {one.impressions} impressions"
        + (f", position {one.position:.1f}" if one.position else "")
        + (f", {one.existing_page}" if one.existing_page else "")
        for one in items
    ]
    text = "\n".join([*([note] if note else []), *(lines or ["There are no ideas."])])
    return ToolResult(text, SuggestResult(ideas=items))


class TrackParams(Params):
    """Which phrase to follow."""

    website_id: WebsiteId
    phrase: str = Field(min_length=1, max_length=200, description="As people type it; case and spaces do not matter.")
    target_url: str | None = Field(
        default=None, max_length=2048, description="The page that ought to be found; left out, it stays as it is."
    )
    remove: bool = Field(default=False, description="Stops to follow it.")


class TrackedKeywordOut(BaseModel):
    """A followed phrase."""

    phrase: str
    target_url: str | None
    following: bool


class TrackResult(BaseModel):
    """The answer of `track_keyword`."""

    tracked: TrackedKeywordOut


@mcp_tool(
    name="track_keyword",
    title="Follow a keyphrase",
    description=(
        "Follows a phrase, so that list_tracked_keywords shows its position over time, also for the days before; with "
        "remove=true, stops following it. Positions are those of the website's own search figures: a phrase by which "
        "nobody has found it has none. Returns the phrase as it is kept. Safe to repeat."
    ),
    result=TrackResult,
    annotations=Annotations(idempotent=True),
    toolsets=("keywords",),
)
async def track_keyword(params: TrackParams, call: Call) -> ToolResult:
    """Follow a phrase, or stop to."""
    website = await website_of(call, params.website_id)
    phrase = _phrase(params.phrase)
    following = FollowedKeywords(plugin_of(call), call.caller.subject, website.id)
    if params.remove:
        await following.forget(phrase)
        tracked = TrackedKeywordOut(phrase=phrase, target_url=None, following=False)
        return ToolResult(f"{phrase} is not followed any more.", TrackResult(tracked=tracked))
    if params.target_url and not params.target_url.startswith(("https://", "http://")):
        raise InvalidInput("target_url", "must be a full URL such as https://example.com/page")
    one = await following.follow(phrase, params.target_url)
    tracked = TrackedKeywordOut(phrase=one.phrase, target_url=one.target_url or None, following=True)
    return ToolResult(f"{phrase} is followed.", TrackResult(tracked=tracked))


class TrackedParams(Params):
    """Of which days."""

    website_id: WebsiteId
    days: Integer = Field(default=28, ge=7, le=480, description="Days, compared with as many before them.")


class TrackedRow(BaseModel):
    """A followed phrase with its position."""

    phrase: str
    target_url: str | None
    position: float | None = Field(description="Mean position; null where nobody saw the site for it.")
    previous_position: float | None
    change: float | None = Field(description="Positions won; below 0, lost.")
    clicks: int
    impressions: int
    page: str | None = Field(description="The page that is found. Compare it with target_url.")


class TrackedResult(BaseModel):
    """The answer of `list_tracked_keywords`."""

    rows: list[TrackedRow]


@mcp_tool(
    name="list_tracked_keywords",
    title="Followed keyphrases",
    description=(
        "Lists the followed phrases of a website with mean position, clicks and impressions, the change against as "
        "many days before, and the page that is found. Use it to report on progress. Google names no rare queries: a "
        "phrase without a position may still be asked by few people."
    ),
    result=TrackedResult,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("keywords",),
)
async def list_tracked_keywords(params: TrackedParams, call: Call) -> ToolResult:
    """List followed phrases."""
    website = await website_of(call, params.website_id)
    followed = await FollowedKeywords(plugin_of(call), call.caller.subject, website.id).every()
    if not followed:
        return ToolResult("No phrase is followed; track_keyword does it.", TrackedResult(rows=[]))
    site = await searched(call, website.id)
    now = site.latest(params.days)
    phrases = [one.phrase for one in followed]
    question = Question(now.before().start, now.end)
    found = await changes.queries_over_time(site.plugin, site.connection.id, question, now.start, phrases)
    recent = Question(now.start, now.end)
    pages = await changes.best_pages(site.plugin, site.connection.id, recent, phrases)
    rows = [_row(one, found.get(one.phrase), pages.get(one.phrase)) for one in followed]
    lines = [str(now), *site.notes(now.before())]
    for row in rows:
        told = f"position {row.position:.1f}" if row.position else "no position"
        moved = f" ({row.change:+.1f})" if row.change is not None else ""
        lines.append(f"{row.phrase}: {told}{moved}, {row.clicks} clicks, {row.impressions} impressions")
    return ToolResult("\n".join(lines), TrackedResult(rows=rows))


TOOLS: Final = (suggest_keywords, track_keyword, list_tracked_keywords)


def _row(one: FollowedKeyword, change: changes.FigureChange | None, page: str | None) -> TrackedRow:
    now = change.now if change else None
    before = change.before if change else None
    position = round(now.position, 2) if now and now.impressions else None
    previous = round(before.position, 2) if before and before.impressions else None
    return TrackedRow(
        phrase=one.phrase,
        target_url=one.target_url or None,
        position=position,
        previous_position=previous,
        change=round(previous - position, 2) if position is not None and previous is not None else None,
        clicks=now.clicks if now else 0,
        impressions=now.impressions if now else 0,
        page=page,
    )


def _phrase(text: str) -> str:
    """Return a phrase as search engines report it: in lower case, with single spaces."""
    phrase = " ".join(text.replace("\0", " ").lower().split())
    if not phrase or len(phrase) > 200:
        raise InvalidInput("phrase", "must have 1 to 200 characters")
    return phrase
