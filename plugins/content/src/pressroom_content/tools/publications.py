"""Tools that show publications."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.contract import Cursor, Day, WebsiteId
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.verifying import look
from pressroom_content.records import Publication
from pressroom_content.tools.publication_parts import ContentId, PublicationId, PublicationOut, row_of, told
from pressroom_content.tools.websites import context
from pressroom_content.websites.store import Websites


class StepOut(BaseModel):
    """A step of a publication."""

    name: str
    state: str


class LiveRow(PublicationOut):
    """A publication, its steps, and what is on the site now."""

    steps: list[StepOut] = Field(description="terms, media, draft, read_back, live and verify, and their status.")
    drift: list[str] = Field(description="How the post on the site differs from what was sent; only with verify.")
    edited_on_site: bool | None = Field(description="Whether somebody edited it there since; null without verify.")


class ShowParams(Params):
    """Which publications: one, or all of an article."""

    publication_id: PublicationId | None = Field(default=None, description="One publication.")
    content_id: ContentId | None = Field(default=None, description="All publications of this article.")
    verify: bool = Field(default=False, description="Look at the site and the page now.")


class ShowAnswer(BaseModel):
    """The answer of `get_publication_status`."""

    publications: list[LiveRow]


@mcp_tool(
    name="get_publication_status",
    title="Publication status",
    description=(
        "Shows how a publication stands, or all of an article, step by step. With verify it looks at the site now: "
        "does the page answer, with which title and canonical URL, may it be indexed, was it edited there. Use it "
        "while a publication is under way and when a user asks whether something is online."
    ),
    result=ShowAnswer,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("publish",),
    timeout=60,
)
async def get_publication_status(params: ShowParams, call: Call) -> ToolResult:
    """Return publications with their steps."""
    plugin, user_id = context(call), call.caller.subject
    if (params.publication_id is None) == (params.content_id is None):
        raise InvalidInput("publication_id", "give either publication_id or content_id")
    publications = Publications(plugin)
    if params.publication_id is not None:
        found = [await publications.get(user_id, params.publication_id)]
    else:
        found = list((await publications.page(user_id, article_id=params.content_id, limit=50))[0])
    names, zones = await Websites(plugin).names(user_id), await Websites(plugin).zones(user_id)
    rows = [await _live_row(plugin, publications, one, names, zones, verify=params.verify) for one in found]
    shown = [
        replace(one, verified=row.verified, warnings=tuple(row.warnings)) for one, row in zip(found, rows, strict=True)
    ]
    lines = [f"{told(one, zones[one.website_id])}{_drift_text(row)}" for one, row in zip(shown, rows, strict=True)]
    return ToolResult("\n\n".join(lines) or "The article was not published anywhere.", ShowAnswer(publications=rows))


class PublicationsParams(Params):
    """Which publications."""

    website_id: WebsiteId | None = Field(default=None, description="Only of this website.")
    status: Literal["queued", "published", "scheduled", "failed", "unpublished"] | None = Field(
        default=None, description="Only those that stand so; queued means all that are under way."
    )
    since: Day | None = Field(default=None, description="Only those that changed since the beginning of this day, UTC.")
    limit: Integer = Field(default=20, ge=1, le=100, description="How many to return at most.")
    cursor: Cursor | None = Field(default=None, description="The next_cursor of the answer before, to read on.")


class PublicationsAnswer(BaseModel):
    """The answer of `list_publications`."""

    publications: list[PublicationOut]
    next_cursor: str | None = Field(description="Give it as cursor to read on; null at the end.")


@mcp_tool(
    name="list_publications",
    title="Publications",
    description=(
        "Lists what was published where, the last changed first. Use it to find a publication_id, what failed, or what "
        "is under way. Returns publications and next_cursor."
    ),
    result=PublicationsAnswer,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("publish",),
)
async def list_publications(params: PublicationsParams, call: Call) -> ToolResult:
    """Return a page of the caller's publications."""
    plugin, user_id = context(call), call.caller.subject
    since = datetime.fromisoformat(params.since).replace(tzinfo=UTC) if params.since else None
    found, cursor = await Publications(plugin).page(
        user_id,
        website_id=params.website_id,
        status=params.status,
        since=since,
        limit=params.limit,
        cursor=params.cursor,
    )
    names, zones = await Websites(plugin).names(user_id), await Websites(plugin).zones(user_id)
    rows = [row_of(one, names, zones) for one in found]
    lines = [
        f"{row.publication_id}  {row.status}  {row.website}: {row.url or row.content_id}"
        f"{': ' + row.error if row.error else ''}"
        for row in rows
    ]
    data = PublicationsAnswer(publications=rows, next_cursor=cursor)
    return ToolResult("\n".join(lines) or "No publications match.", data)


async def _live_row(
    plugin: PluginContext,
    publications: Publications,
    one: Publication,
    names: Mapping[str, str],
    zones: Mapping[str, ZoneInfo],
    *,
    verify: bool,
) -> LiveRow:
    steps = [StepOut(name=step.name, state=step.state) for step in await publications.steps(one.id)]
    seen = await look(plugin, one) if verify else None
    if seen is not None:  # what was found replaces what was found before
        one = await publications.get(one.user_id, one.id)
    base = row_of(one, names, zones).model_dump()
    if seen is not None:
        base["verified"] = dict(seen.verified)
    return LiveRow(
        **base,
        steps=steps,
        drift=list(seen.drift) if seen else [],
        edited_on_site=seen.edited if seen else None,
    )


def _drift_text(row: LiveRow) -> str:
    found = [f"\nOn the site: {one}" for one in row.drift]
    if row.edited_on_site is False:
        found.append("\nNobody edited it on the site.")
    return "".join(found)


TOOLS = (get_publication_status, list_publications)
