"""Tools for publishing articles on websites, and for unpublishing posts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final, Literal, cast
from zoneinfo import ZoneInfo

from pressroom.sdk import Annotations, Call, ClientRequestId, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.contract import WebsiteId
from pressroom_content.publishing.operations import bring, dry_run, recheck, unpublish
from pressroom_content.publishing.publications import MAX_OPTIONS_LENGTH, Publications
from pressroom_content.publishing.publish_requests import PublicationStart, PublishRequest, moment
from pressroom_content.publishing.verifying import RemoteState
from pressroom_content.records import Publication, PublicationStatus, Website
from pressroom_content.tools import publications
from pressroom_content.tools.common import confirmed, context
from pressroom_content.tools.publication_parts import (
    WAIT_SECONDS,
    ContentId,
    Moment,
    PublicationId,
    facts_of,
    in_zone,
    publication_text,
    raise_failure,
    state_in_words,
)
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.store import Websites


class PublishParams(Params):
    """What to publish, where and how."""

    content_id: ContentId
    website_id: WebsiteId
    mode: Literal["publish", "draft", "schedule"] | None = Field(
        default=None,
        description=(
            "publish: live now. draft: not live; cancels a schedule. Default: an existing post keeps its state; a new "
            "one follows the website's default_status, or is scheduled if publish_at is given."
        ),
    )
    publish_at: Moment | None = Field(
        default=None, description="When it goes live; without an offset, in the website's time zone."
    )
    options: dict[str, Any] | None = Field(
        default=None,
        description=(
            "For this website only: slug, author, excerpt, canonical_url, tags, categories, or platform options. By "
            "default an existing post keeps its own."
        ),
    )
    canonical_publication_id: PublicationId | None = Field(
        default=None, description="For a cross-post: the article's live post that is the original."
    )
    force: bool = Field(default=False, description="Overwrite edits made on the site.")
    dry_run: bool = Field(default=False, description="Only report what would be sent.")
    client_request_id: ClientRequestId = None


class PublishResult(BaseModel):
    """The result of `publish_content`."""

    publication_id: str | None = Field(description="Null for a dry run.")
    status: PublicationStatus | Literal["dry_run"] = Field(
        description="unknown: the site never responded; it is checked before anything is sent again."
    )
    url: str
    external_id: str = Field(description="The post's id on the site.")
    article_version: int = Field(description="The version of the article that was sent last.")
    publish_at: datetime | None = Field(description="When it goes live, in the website's time zone.")
    verified: dict[str, Any] = Field(description="What a visitor sees at the URL: status, title, canonical, index.")
    conflict: str | None = Field(description="What was edited on the site, so that nothing was written; else null.")
    warnings: list[str] = Field(description="What the site dropped or changed, and what it cannot hold.")
    error: str = Field(description="Why it failed or is waiting; empty if there is no problem.")


async def _has_post(params: Params, call: Call) -> bool:
    publish_params = cast("PublishParams", params)
    publication = await Publications(context(call)).of_pair(
        call.caller.subject, publish_params.content_id, publish_params.website_id
    )
    return publication is not None


@mcp_tool(
    name="publish_content",
    title="Publish, update, retry or reschedule",
    description=(
        "Publishes an article's newest version on a website. An article has one post on a website, so the same call "
        "publishes or updates it, retries a failure, and moves or cancels a schedule; it is safe to repeat. If the "
        "post was edited on the site, nothing is written and conflict describes the edits: ask the user, then "
        "repeat with force. Returns status, url, verified and warnings. While status is queued, publishing or "
        "unknown, use list_publications."
    ),
    result=PublishResult,
    # Not destructive: only `force` overwrites anything, after the user agreed, and a copy of that is kept.
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("core", "publishing"),
    publishes=True,
    quota="articles_published",
    resumes=True,
    free="a dry run, and every call for a post that exists: updates, retries and new times",
    counted_before=_has_post,
    counts=lambda params: not cast("PublishParams", params).dry_run,
    timeout=60,
)
async def publish_content(params: PublishParams, call: Call) -> ToolResult:
    """Publish an article, and wait for a while until it is there."""
    plugin, user_id = context(call), call.caller.subject
    website = await Websites(plugin).get(user_id, params.website_id)
    request, zone = _request(params, website), site_settings.zone_of(website.settings)
    if params.dry_run:
        return await _dry_run(plugin, user_id, params, request)
    store = Publications(plugin)
    result = await bring(plugin, user_id, params.content_id, params.website_id, request)
    result, state = await recheck(plugin, user_id, result, request)
    publication = await store.wait(result.publication, WAIT_SECONDS)
    raise_failure(publication, await store.problem(publication))
    conflict = publication.error if publication.error and await store.problem(publication) == "remote_changed" else None
    if state is not None and state.edits:
        conflict = f"{state.edits[:1].upper()}{state.edits[1:]}. The article has nothing newer; force sends it again."
    data = PublishResult(
        publication_id=publication.id,
        status=publication.status,
        url=publication.url,
        external_id=publication.external_id,
        article_version=publication.article_version,
        publish_at=in_zone(publication.publish_at, zone),
        verified=facts_of(publication.verified, zone),
        conflict=conflict,
        warnings=list(publication.warnings),
        error=publication.error,
    )
    return ToolResult(_result_text(publication, zone, result, state, conflict), data, counts=result.new)


def _request(params: PublishParams, website: Website) -> PublishRequest:
    """Return the request in the parameters. Raises `InvalidInput`."""
    if params.mode == "schedule" and params.publish_at is None:
        raise InvalidInput("publish_at", "is missing; the mode schedule needs it")
    if params.mode in ("publish", "draft") and params.publish_at is not None:
        raise InvalidInput("publish_at", "only goes with the mode schedule; leave mode out, or set it to schedule")
    at = params.publish_at
    return PublishRequest(
        mode=params.mode,
        publish_at=moment(at, site_settings.zone_of(website.settings), now=datetime.now(UTC)) if at else None,
        options=_options(params.options),
        canonical_of=params.canonical_publication_id,
        force=params.force,
        request_id=params.client_request_id,
    )


def _result_text(
    publication: Publication, zone: ZoneInfo, result: PublicationStart, state: RemoteState | None, conflict: str | None
) -> str:
    if conflict is not None:
        warnings = "".join(f"\nWarning: {warning}" for warning in publication.warnings)
        return f"Nothing was written: {conflict}\n{state_in_words(publication, zone)}{warnings}"
    text = publication_text(publication, zone)
    if state is not None:
        drift = "".join(
            f"\nOn the site: {difference}" for difference in state.drift if difference not in publication.warnings
        )
        return f"{text}\nNothing was sent: version {publication.article_version} is there already.{drift}"
    return text if not result.repeated else f"{text}\nNothing was sent: this client_request_id was used before."


class UnpublishParams(Params):
    """What to take down."""

    publication_id: PublicationId
    mode: Literal["draft", "trash", "delete"] = Field(
        default="draft", description="draft: kept on the site, not live. trash: in its trash. delete: gone for good."
    )
    confirm: bool = Field(description="Whether the user has agreed.")


class UnpublishResult(BaseModel):
    """The result of `unpublish_content`."""

    publication_id: str
    status: PublicationStatus


_TAKEN_DOWN: Final = {
    "draft": "the site keeps it as a draft, which visitors do not see",
    "trashed": "it is in the trash of the site",
    "gone": "the site has no post of it",
}


@mcp_tool(
    name="unpublish_content",
    title="Unpublish a post",
    description=(
        "Unpublishes a post: back to a draft, to the trash, or permanently. A scheduled one is cancelled. Ask "
        "the user first, then set confirm to true. The article is kept; publish_content brings the post back. Safe to "
        "repeat. Returns status."
    ),
    result=UnpublishResult,
    annotations=Annotations(destructive=True, idempotent=True, open_world=True),
    toolsets=("publishing",),
    publishes=True,
    timeout=60,
)
async def unpublish_content(params: UnpublishParams, call: Call) -> ToolResult:
    """Take a post down."""
    confirmed(confirm=params.confirm)
    plugin = context(call)
    previous = await Publications(plugin).get(call.caller.subject, params.publication_id)
    takedown = await unpublish(plugin, call.caller.subject, params.publication_id, params.mode)
    publication = takedown.publication
    action = "cancelled" if previous.status == "scheduled" else "taken down"
    where = publication.error or (
        "it is deleted on the site" if params.mode == "delete" else _TAKEN_DOWN[takedown.state]
    )
    text = f"{publication.id} is {action}: {where}. The article is kept; publish_content brings it back."
    return ToolResult(text, UnpublishResult(publication_id=publication.id, status=publication.status))


async def _dry_run(plugin: PluginContext, user_id: str, params: PublishParams, request: PublishRequest) -> ToolResult:
    run = await dry_run(plugin, user_id, params.content_id, params.website_id, request)
    manuscript, article, website, existing = run.manuscript, run.article, run.website, run.known
    warnings = list(run.warnings)
    zone = site_settings.zone_of(website.settings)
    data = PublishResult(
        publication_id=None,
        status="dry_run",
        url="",
        external_id="",
        article_version=article.version,
        publish_at=in_zone(request.publish_at, zone),
        verified={},
        conflict=None,
        warnings=warnings,
        error="",
    )
    text = (
        f"Nothing was sent. {website.name} would get {article.title!r} (version {article.version}) with "
        f"{len(manuscript.post.html)} characters of HTML, the slug {manuscript.post.slug!r} and "
        f"{len(manuscript.uploads)} images."
    )
    notes = [f"There is a post already: {state_in_words(existing, zone)}"] if existing is not None else []
    return ToolResult("\n".join([text, *notes, *(f"Warning: {warning}" for warning in warnings)]), data)


def _options(options: dict[str, Any] | None) -> dict[str, Any] | None:
    if options is None:
        return None
    if len(json.dumps(options, default=str)) > MAX_OPTIONS_LENGTH:
        raise InvalidInput("options", f"may have {MAX_OPTIONS_LENGTH} characters at most")
    for name in ("slug", "author", "excerpt", "canonical_url"):
        if name in options and not isinstance(options[name], str):
            raise InvalidInput(f"options.{name}", "must be a text")
    for name in ("tags", "categories"):
        value = options.get(name, [])
        if not isinstance(value, list) or not all(isinstance(element, str) for element in value):
            raise InvalidInput(f"options.{name}", "must be a list of texts")
    for name in PublishParams.model_fields.keys() & options.keys():
        raise InvalidInput(f"options.{name}", f"is an argument of its own: publish_content takes {name} beside options")
    return options


TOOLS = (publish_content, unpublish_content, *publications.TOOLS)
