"""Tools for what is on a website: its terms, its settings, the posts that it has already."""

from __future__ import annotations

from typing import Any, Literal

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.contract import Day, WebsiteId
from pressroom_content.tools.websites import WebsiteDetails, context, details
from pressroom_content.websites.store import Websites
from pressroom_content.websites.sync import JOB, Taxonomies


class TaxonomyParams(Params):
    """Which terms."""

    website_id: WebsiteId
    kind: Literal["category", "tag", "author", "blog", "collection"] = Field(description="What kind of terms.")
    query: str | None = Field(default=None, max_length=200, description="Only terms that hold this text.")
    limit: Integer = Field(default=50, ge=1, le=200, description="How many to return at most.")


class TermRow(BaseModel):
    """A term of a site."""

    id: str
    name: str
    slug: str
    count: int | None = Field(description="How many posts have it, if the site says so.")


class TaxonomyAnswer(BaseModel):
    """The answer of `list_site_taxonomies`."""

    items: list[TermRow]
    next_cursor: str | None = Field(description="Always null: narrow the list with query where it is long.")


@mcp_tool(
    name="list_site_taxonomies",
    title="Terms of a website",
    description=(
        "Lists the categories, tags, authors, blogs or collections that exist on a website, so that articles use those "
        "instead of near-duplicates. Answers are remembered for ten minutes. Returns items; use query where there "
        "are many."
    ),
    result=TaxonomyAnswer,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("sites",),
    timeout=60,
)
async def list_site_taxonomies(params: TaxonomyParams, call: Call) -> ToolResult:
    """Return terms of a site."""
    found = await Taxonomies(context(call)).terms(
        call.caller.subject, params.website_id, params.kind, params.query or ""
    )
    rows = [TermRow(id=one.id, name=one.name, slug=one.slug, count=one.count) for one in found[: params.limit]]
    more = "" if len(found) <= params.limit else f"\n… and {len(found) - params.limit} more; narrow it with query"
    text = "\n".join(row.name for row in rows) or f"The site has no {params.kind} that matches."
    return ToolResult(text + more, TaxonomyAnswer(items=rows, next_cursor=None))


class SettingsParams(Params):
    """What to change."""

    website_id: WebsiteId
    settings: dict[str, Any] = Field(
        description=(
            "Only what changes: default_status (publish, draft), author, category, timezone (such as Europe/Berlin), "
            "language (such as en-GB), image_policy (rehost, hotlink, none), indexnow (true, false), description, "
            "name. null restores a default."
        )
    )
    expected_version: Integer | None = Field(
        default=None, description="Refuse the change if the website is of another version by now."
    )


class SettingsAnswer(BaseModel):
    """The answer of `update_website_settings`."""

    website: WebsiteDetails
    version: int


@mcp_tool(
    name="update_website_settings",
    title="Website settings",
    description=(
        "Changes the settings of a website: default status, author, category, time zone, language, what happens to "
        "images, IndexNow, name and description. Settings that are left out stay. Returns the website and its new "
        "version."
    ),
    result=SettingsAnswer,
    annotations=Annotations(idempotent=True),
    toolsets=("sites",),
)
async def update_website_settings(params: SettingsParams, call: Call) -> ToolResult:
    """Change settings of a website."""
    if len(str(params.settings)) > 10_000:
        raise InvalidInput("settings", "is too large")
    website = await Websites(context(call)).update_settings(
        call.caller.subject, params.website_id, params.settings, params.expected_version
    )
    data = SettingsAnswer(website=details(website), version=website.version)
    lines = [f"{name}: {value}" for name, value in data.website.settings.items()]
    return ToolResult("\n".join([f"{website.name}, version {website.version}", *lines]), data)


class SyncParams(Params):
    """What to read."""

    website_id: WebsiteId
    since: Day | None = Field(default=None, description="Only posts that changed since the beginning of this day, UTC.")
    max_items: Integer = Field(default=500, ge=1, le=5000, description="How many posts to read at most.")


class SyncAnswer(BaseModel):
    """The answer of `sync_website_content`."""

    job_id: str = Field(description="Ask get_job how far it is.")


@mcp_tool(
    name="sync_website_content",
    title="Read a website's posts",
    description=(
        "Reads the posts that a website has into this account's index, in the background, so that internal links, "
        "duplicates and competing keyphrases are found among them. Nothing changes on the site. Use it once after "
        "connecting a site with older posts. Returns job_id for get_job."
    ),
    result=SyncAnswer,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("sites",),
)
async def sync_website_content(params: SyncParams, call: Call) -> ToolResult:
    """Begin to read a site."""
    plugin, user_id = context(call), call.caller.subject
    website = await Websites(plugin).get(user_id, params.website_id)
    if not website.capabilities.get("import_posts", False):
        raise InvalidInput(
            "website_id", f"the posts of {website.name} cannot be read: {website.platform} does not offer it"
        )
    payload = {"website_id": website.id, "since": params.since, "max_items": params.max_items}
    job_id = await plugin.services.jobs.enqueue(JOB, payload, subject=user_id)
    return ToolResult(
        f"Reading {website.name} has begun; get_job {job_id} says how far it is.", SyncAnswer(job_id=job_id)
    )


TOOLS = (list_site_taxonomies, update_website_settings, sync_website_content)
