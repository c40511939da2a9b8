"""Tools for publishing: bringing articles to websites, changing and taking down what is there."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo

from pressroom.sdk import Annotations, Call, ClientRequestId, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.contract import WebsiteId
from pressroom_content.publishing.publications import MAX_OPTIONS_LENGTH, Publications
from pressroom_content.publishing.schedule import moment
from pressroom_content.publishing.taking_down import unpublish
from pressroom_content.publishing.verifying import author_warnings
from pressroom_content.records import Publication, PublicationStatus
from pressroom_content.tools import crossposting, publications
from pressroom_content.tools.publication_parts import (
    LOCAL,
    WAIT_SECONDS,
    ContentId,
    Moment,
    PublicationId,
    local,
    raise_failure,
    told,
    zone_of,
)
from pressroom_content.tools.websites import confirmed, context
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.store import Websites


class PublishParams(Params):
    """What to publish, where and how."""

    content_id: ContentId
    website_id: WebsiteId
    mode: Literal["publish", "draft", "schedule"] | None = Field(
        default=None,
        description=(
            "publish: live now. draft: saved there, not live. schedule: live at publish_at. Left out: schedule where "
            "publish_at is given, else the default_status of the website's settings, which its owner chose."
        ),
    )
    publish_at: Moment | None = Field(
        default=None,
        description=(
            "When it goes live, with the mode schedule, such as 2026-12-24T08:00:00+01:00; without an offset it is in "
            "the website's time zone."
        ),
    )
    options: dict[str, Any] | None = Field(
        default=None,
        description=(
            "For this website only: slug, author, excerpt, canonical_url, tags, categories instead of the "
            "article's own; anything else is the platform's."
        ),
    )
    dry_run: bool = Field(default=False, description="Only say what would be sent and what the website cannot hold.")
    client_request_id: ClientRequestId = None


class PublishAnswer(BaseModel):
    """The answer of `publish_content`."""

    publication_id: str | None = Field(description="Null for a dry run.")
    status: PublicationStatus | Literal["dry_run"] = Field(
        description="unknown: the site never answered; it is looked at before anything is sent again."
    )
    url: str
    external_id: str = Field(description="The post's id on the site.")
    verified: dict[str, Any] = Field(description="What a visitor sees at the URL: status, title, canonical, index.")
    warnings: list[str] = Field(description="What the site dropped or changed, and what it cannot hold.")
    error: str = Field(description="Why it failed, or waits; empty where all is well.")
    publish_at: datetime | None = Field(description="When it goes live, where it is scheduled.")
    publish_at_local: str | None = Field(description=LOCAL)


async def _is_repeat(params: Params, call: Call) -> bool:
    asked = cast("PublishParams", params)
    return asked.client_request_id is not None and await Publications(context(call)).is_begun(
        call.caller.subject, asked.content_id, asked.website_id, asked.client_request_id
    )


@mcp_tool(
    name="publish_content",
    title="Publish",
    description=(
        "Brings an article to a website: live, as a draft, or at a later time. There is one post for an article and a "
        "website, however often this is called, so it is safe to repeat it after an error or a time-out. Reads the "
        "post back and reports what the site dropped. Returns the publication with status, url, verified and warnings; "
        "while status is queued, publishing or unknown, ask get_publication_status."
    ),
    result=PublishAnswer,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("publish",),
    quota="articles_published",
    free="a dry run, and a call that finds it published or under way",
    counts=lambda params: not cast("PublishParams", params).dry_run,
    counted_before=_is_repeat,
    timeout=60,
)
async def publish_content(params: PublishParams, call: Call) -> ToolResult:
    """Publish an article, and wait for a while until it is there."""
    plugin, user_id = context(call), call.caller.subject
    options = _options(params.options)
    website = await Websites(plugin).get(user_id, params.website_id)
    settings = site_settings.read(website.settings)
    mode = params.mode
    if mode is None:
        mode = "schedule" if params.publish_at is not None else settings.default_status
    publish_at = None
    if mode == "schedule":
        if params.publish_at is None:
            raise InvalidInput("publish_at", "is missing; the mode schedule needs it")
        publish_at = moment(params.publish_at, site_settings.zone_of(website.settings), now=datetime.now(UTC))
    elif params.publish_at is not None:
        raise InvalidInput("publish_at", "only goes with the mode schedule")
    if params.dry_run:
        return await _dry_run(plugin, user_id, params, options)
    store = Publications(plugin)
    begun, news = await store.begin(
        user_id,
        params.content_id,
        params.website_id,
        mode=mode,
        publish_at=publish_at,
        options=options,
        request_id=params.client_request_id,
    )
    done = await store.wait(begun, WAIT_SECONDS)
    raise_failure(done)
    zone = site_settings.zone_of(website.settings)
    return ToolResult(told(done, zone), _answer(done, zone), counts=news)


class UpdatePublicationParams(Params):
    """Which publication."""

    publication_id: PublicationId
    force: bool = Field(default=False, description="Write over edits that were made on the site.")


class UpdateAnswer(BaseModel):
    """The answer of `update_publication`."""

    status: PublicationStatus
    url: str
    conflict: str | None = Field(description="What was edited on the site, so that nothing was written; else null.")
    warnings: list[str]
    error: str


@mcp_tool(
    name="update_publication",
    title="Update a post",
    description=(
        "Brings the newest version of an article to its post on a website. Where somebody edited the post on the site "
        "since, nothing is written and conflict says so: ask the user, then repeat with force. Returns status, url and "
        "conflict."
    ),
    result=UpdateAnswer,
    annotations=Annotations(destructive=True, idempotent=True, open_world=True),
    toolsets=("publish",),
    timeout=60,
)
async def update_publication(params: UpdatePublicationParams, call: Call) -> ToolResult:
    """Write the newest version, unless the post was edited on its site."""
    store = Publications(context(call))
    begun = await store.update(call.caller.subject, params.publication_id, force=params.force)
    done = await store.wait(begun, WAIT_SECONDS)
    conflict = done.error if await store.problem(done) == "remote_changed" else None
    if conflict is None:
        raise_failure(done)
    data = UpdateAnswer(
        status=done.status, url=done.url, conflict=conflict, warnings=list(done.warnings), error=done.error
    )
    return ToolResult(
        f"Nothing was written: {conflict}" if conflict else told(done, await zone_of(context(call), done)), data
    )


class UnpublishParams(Params):
    """What to take down."""

    publication_id: PublicationId
    mode: Literal["draft", "trash", "delete"] = Field(
        default="draft", description="draft: kept on the site, not live. trash: in its trash. delete: gone for good."
    )
    confirm: bool = Field(description="Whether the user has agreed: visitors do not find the post any more.")


class StatusAnswer(BaseModel):
    """The answer of `unpublish_content`."""

    status: PublicationStatus


@mcp_tool(
    name="unpublish_content",
    title="Take a post down",
    description=(
        "Takes a post down from its website, to a draft, to the trash or for good; a scheduled one is cancelled. Ask "
        "the user first, then set confirm to true. The article itself stays. Safe to repeat. Returns status."
    ),
    result=StatusAnswer,
    annotations=Annotations(destructive=True, idempotent=True, open_world=True),
    toolsets=("publish",),
    timeout=60,
)
async def unpublish_content(params: UnpublishParams, call: Call) -> ToolResult:
    """Take a post down."""
    confirmed(confirm=params.confirm)
    done = await unpublish(context(call), call.caller.subject, params.publication_id, params.mode)
    return ToolResult(f"{done.id} is {done.status}.", StatusAnswer(status=done.status))


async def _dry_run(plugin: PluginContext, user_id: str, params: PublishParams, options: dict[str, Any]) -> ToolResult:
    made, article, website = await Publications(plugin).preview(user_id, params.content_id, params.website_id, options)
    warnings = [f"{website.name} cannot hold: {name}" for name in made.unsupported]
    warnings += [f"left out as unsafe: {what}" for what in made.removed]
    warnings += made.warnings
    warnings += await author_warnings(plugin, website, made.post)
    data = PublishAnswer(
        publication_id=None,
        status="dry_run",
        url="",
        external_id="",
        verified={},
        warnings=warnings,
        error="",
        publish_at=None,
        publish_at_local=None,
    )
    text = (
        f"Nothing was sent. {website.name} would get {article.title!r} with {len(made.post.html)} characters of HTML, "
        f"the slug {made.post.slug!r} and {len(made.uploads)} images."
    )
    return ToolResult("\n".join([text, *warnings]), data)


def _options(options: dict[str, Any] | None) -> dict[str, Any]:
    if not options:
        return {}
    if len(json.dumps(options, default=str)) > MAX_OPTIONS_LENGTH:
        raise InvalidInput("options", f"may have {MAX_OPTIONS_LENGTH} characters at most")
    for name in ("slug", "author", "excerpt", "canonical_url"):
        if name in options and not isinstance(options[name], str):
            raise InvalidInput(f"options.{name}", "must be a text")
    for name in ("tags", "categories"):
        value = options.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InvalidInput(f"options.{name}", "must be a list of texts")
    if "force" in options:
        raise InvalidInput("options.force", "is an argument of update_publication")
    return options


def _answer(done: Publication, zone: ZoneInfo) -> PublishAnswer:
    return PublishAnswer(
        publication_id=done.id,
        status=done.status,
        url=done.url,
        external_id=done.external_id,
        verified=dict(done.verified),
        warnings=list(done.warnings),
        error=done.error,
        publish_at=done.publish_at,
        publish_at_local=local(done.publish_at, zone),
    )


TOOLS = (publish_content, update_publication, unpublish_content, *publications.TOOLS, *crossposting.TOOLS)
