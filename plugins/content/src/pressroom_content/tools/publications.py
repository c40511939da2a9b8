"""The tool that lists publications: what was published where, its status, and the schedule."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final, Literal
from zoneinfo import ZoneInfo

from pressroom.sdk import Annotations, Call, Day, Integer, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, ConfigDict, Field

from pressroom_content.articles.store import Articles
from pressroom_content.contract import Cursor, WebsiteId
from pressroom_content.publishing.overview import heads
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import clashes, gaps
from pressroom_content.publishing.verifying import RemoteState, look
from pressroom_content.records import Publication
from pressroom_content.tools.common import context
from pressroom_content.tools.publication_parts import (
    ContentId,
    PublicationId,
    PublicationOut,
    StepOut,
    in_words,
    publication_text,
    row_of,
    state_in_words,
)
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.store import Websites, read_names, read_zones

MAX_DAYS: Final = 400
_MAX_PER_ARTICLE: Final = 50
_AT_ONCE: Final = 4


class PublicationsParams(Params):
    """Which publications."""

    model_config = ConfigDict(**{**Params.model_config, "populate_by_name": True})

    publication_id: PublicationId | None = Field(default=None, description="Only this one, with its steps.")
    content_id: ContentId | None = Field(default=None, description="Only those of this article.")
    website_id: WebsiteId | None = Field(default=None, description="Only those of this website.")
    status: Literal["queued", "published", "draft", "scheduled", "failed", "unpublished"] | None = Field(
        default=None, description="queued: everything in progress."
    )
    since: Day | None = Field(default=None, description="Changed on this day or later.")
    begin: Annotated[Day | None, Field(alias="from", description="The schedule's first day.")] = None
    end: Annotated[Day | None, Field(alias="to", description="The schedule's last day.")] = None
    verify: bool = Field(default=False, description="Check the site now; needs publication_id or content_id.")
    limit: Integer = Field(default=20, ge=1, le=100, description="Maximum number.")
    cursor: Cursor | None = Field(default=None, description="next_cursor of the last result.")


class GapRow(BaseModel):
    """A week or more in which nothing goes out."""

    begin: date = Field(serialization_alias="from")
    end: date = Field(serialization_alias="to")
    days: int


class PublicationsResult(BaseModel):
    """The result of `list_publications`."""

    publications: list[PublicationOut]
    gaps: list[GapRow] | None = Field(description="Gaps of a week or more without a post; null without from and to.")
    next_cursor: str | None = Field(description="Pass it as cursor for more; null at the end.")


@dataclass(frozen=True, slots=True)
class _PublicationNames:
    """Names and time zones of an account's websites, and titles and newest versions of the articles of publications."""

    names: Mapping[str, str]
    zones: Mapping[str, ZoneInfo]
    articles: Mapping[str, tuple[str, int]]

    def zone(self, publication: Publication) -> ZoneInfo:
        return self.zones.get(publication.website_id, ZoneInfo("UTC"))

    def row(self, publication: Publication) -> PublicationOut:
        return row_of(publication, self.names, self.zones, self.articles)


@mcp_tool(
    name="list_publications",
    title="Publications and schedule",
    description=(
        "Lists what was published where, last changed first. Use it to find a publication_id, or what failed or is in "
        "progress. With verify it also checks the site: page, canonical URL, indexing and edits. With from and to it "
        "shows the schedule with clashes and gaps."
    ),
    result=PublicationsResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("core", "publishing"),
    timeout=60,
)
async def list_publications(params: PublicationsParams, call: Call) -> ToolResult:
    """Return publications of the caller's account."""
    plugin, user_id = context(call), call.caller.subject
    if params.begin is not None or params.end is not None:
        return await _schedule(plugin, user_id, params)
    if params.publication_id is not None or params.content_id is not None:
        return await _in_detail(plugin, user_id, params)
    if params.verify:
        raise InvalidInput("verify", "needs publication_id or content_id: checking a site takes seconds")
    since = None
    if params.since:
        since = datetime.combine(date.fromisoformat(params.since), time(), await _zone(plugin, user_id, params))
    publications, cursor = await Publications(plugin).page(
        user_id,
        website_id=params.website_id,
        status=params.status,
        since=since.astimezone(UTC) if since else None,
        limit=params.limit,
        cursor=params.cursor,
    )
    if params.website_id is not None and not publications:
        await Websites(plugin).get(user_id, params.website_id)  # an unknown one is an error
    lookup = await _known(plugin, user_id, publications)
    rows = [lookup.row(publication) for publication in publications]
    lines = [_line(publication, row, lookup) for publication, row in zip(publications, rows, strict=True)]
    lines += [f"There are more: cursor {cursor}"] if cursor else []
    data = PublicationsResult(publications=rows, gaps=None, next_cursor=cursor)
    return ToolResult("\n".join(lines) or "No publications match.", data)


async def _in_detail(plugin: PluginContext, user_id: str, params: PublicationsParams) -> ToolResult:
    store = Publications(plugin)
    cursor = None
    if params.publication_id is not None:
        publications = [await store.get(user_id, params.publication_id)]
    else:
        page, cursor = await store.page(
            user_id,
            article_id=params.content_id,
            website_id=params.website_id,
            status=params.status,
            limit=min(params.limit, _MAX_PER_ARTICLE),
            cursor=params.cursor,
        )
        publications = list(page)
        if params.content_id is not None and not publications:
            await Articles(plugin).get(user_id, params.content_id)  # an unknown one is an error
    states: list[RemoteState | None] = [None] * len(publications)
    if params.verify:
        states = await _check_all(plugin, publications)
        publications = [await store.get(user_id, publication.id) for publication in publications]
    lookup = await _known(plugin, user_id, publications)
    rows, texts = [], []
    for publication, state in zip(publications, states, strict=True):
        steps = await store.steps(publication.id)
        row = lookup.row(publication).model_copy(
            update={
                "steps": [StepOut(name=step.name, state=step.state) for step in steps],
                "drift": list(state.drift) if state else None,
                "edited_on_site": state.edited if state else None,
                "overwritten": next(
                    (step.detail["overwritten"] for step in steps if "overwritten" in step.detail), None
                ),
            }
        )
        rows.append(row)
        text = publication_text(publication, lookup.zone(publication), _new_warnings(publication, state))
        texts.append(f"{text}{_details(publication, row, state)}")
    texts += [f"There are more: cursor {cursor}"] if cursor else []
    data = PublicationsResult(publications=rows, gaps=None, next_cursor=cursor)
    filtered = params.status is not None or params.website_id is not None
    none = "No publications match." if filtered else "The article is not published anywhere."
    return ToolResult("\n\n".join(texts) or none, data)


async def _schedule(plugin: PluginContext, user_id: str, params: PublicationsParams) -> ToolResult:
    if params.begin is None or params.end is None:
        raise InvalidInput("from" if params.begin is None else "to", "is missing; a schedule needs from and to")
    if params.publication_id is not None or params.content_id is not None:
        raise InvalidInput("from", "shows the schedule of websites; leave out publication_id and content_id")
    first, last = date.fromisoformat(params.begin), date.fromisoformat(params.end)
    if not timedelta(0) <= last - first <= timedelta(days=MAX_DAYS):
        raise InvalidInput("to", f"must be a day from the one in from up to {MAX_DAYS} days later")
    zone = await _zone(plugin, user_id, params)
    begin = datetime.combine(first, time(), zone).astimezone(UTC)
    end = datetime.combine(last + timedelta(days=1), time(), zone).astimezone(UTC)
    publications = await Publications(plugin).scheduled(
        user_id, begin, end, website_id=params.website_id, status=params.status
    )
    lookup, clashing = await _known(plugin, user_id, publications), clashes(publications)
    rows = [
        lookup.row(publication).model_copy(update={"clashes_with": clashing.get(publication.id, [])})
        for publication in publications
    ]
    rows = rows[: params.limit]
    days = [
        publication.publish_at.astimezone(zone).date()
        for publication in publications
        if publication.publish_at is not None
    ]
    free = [GapRow(begin=gap.begin, end=gap.end, days=gap.days) for gap in gaps(days, first, last)]
    lines = [
        f"{in_words(publication.publish_at, lookup.zone(publication))}  {row.title} on {row.website} "
        f"({publication.status}, {publication.id})"
        f"{'; clashes with ' + ', '.join(row.clashes_with) if row.clashes_with else ''}"
        for publication, row in zip(publications, rows, strict=False)
        if publication.publish_at is not None
    ]
    if len(publications) > len(rows):
        lines.append(f"There are {len(publications) - len(rows)} more: give a higher limit, or fewer days.")
    lines += [f"Nothing from {row.begin} to {row.end} ({row.days} days)" for row in free]
    data = PublicationsResult(publications=rows, gaps=free, next_cursor=None)
    return ToolResult("\n".join(lines) or "Nothing is scheduled.", data)


async def _zone(plugin: PluginContext, user_id: str, params: PublicationsParams) -> ZoneInfo:
    """Return the time zone of days in parameters: that of the website, or else UTC. Raises `NotFound`."""
    if params.website_id is None:
        return ZoneInfo("UTC")
    return site_settings.zone_of((await Websites(plugin).get(user_id, params.website_id)).settings)


async def _known(plugin: PluginContext, user_id: str, publications: Sequence[Publication]) -> _PublicationNames:
    async with plugin.services.database.reading() as session:
        articles = await heads(session, user_id, [publication.article_id for publication in publications])
        return _PublicationNames(await read_names(session, user_id), await read_zones(session, user_id), articles)


async def _check_all(plugin: PluginContext, publications: Sequence[Publication]) -> list[RemoteState | None]:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def check(publication: Publication) -> RemoteState:
        async with slots:
            return await look(plugin, publication)

    return list(await asyncio.gather(*(check(publication) for publication in publications)))


def _new_warnings(publication: Publication, state: RemoteState | None) -> Sequence[str]:
    """Return the warnings that the live check does not repeat as drift."""
    return [warning for warning in publication.warnings if state is None or warning not in state.drift]


def _line(publication: Publication, row: PublicationOut, lookup: _PublicationNames) -> str:
    return " ".join(
        filter(
            None, [state_in_words(publication, lookup.zone(publication)), _which(publication, row), publication.error]
        )
    )


def _which(publication: Publication, row: PublicationOut) -> str:
    """Return the article and the website, with the ids that publish_content takes."""
    versions = f"version {publication.article_version}"
    if _is_older(publication, row):
        versions += f"; the article is at version {row.newest_version}, which publish_content sends"
    return f"{row.title!r} ({publication.article_id}) on {row.website} ({publication.website_id}), {versions}."


def _details(publication: Publication, row: PublicationOut, state: RemoteState | None) -> str:
    lines = [_which(publication, row)]
    lines += [f"On the site: {difference}" for difference in (state.drift if state else ())]
    if state is not None and state.edited is False:
        lines.append("It was not edited on the site.")
    stopped = [step.name for step in row.steps or () if step.state in ("failed", "unknown")]
    lines += [f"It stopped at the step {stopped[0]}."] if stopped and publication.error else []
    return "".join(f"\n{line}" for line in lines)


def _is_older(publication: Publication, row: PublicationOut) -> bool:
    return (
        row.newest_version is not None
        and row.newest_version > publication.article_version
        and publication.status != "unpublished"
    )


TOOLS = (list_publications,)
