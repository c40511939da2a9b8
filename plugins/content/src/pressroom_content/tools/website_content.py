"""Tools for what is on a website: its terms, its settings, the posts that it has already."""

from __future__ import annotations

from typing import Any, cast

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.contract import Day, TermKind, WebsiteId
from pressroom_content.tools.websites import DomainOut, WebsiteDetails, context, details, domain_lines, settings_line
from pressroom_content.websites.connectors import term_kinds
from pressroom_content.websites.domains import Domains
from pressroom_content.websites.store import Websites
from pressroom_content.websites.sync import JOB, SyncPass, Taxonomies


class TaxonomyParams(Params):
    """Which terms."""

    website_id: WebsiteId
    kind: str = Field(description="Not every platform has each.")
    query: str | None = Field(default=None, max_length=200, description="Only names with this text.")
    limit: Integer = Field(default=50, ge=1, le=200, description="How many to return.")


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
        "Lists the categories, tags or authors that exist on a website. Use it before create_content, so that articles "
        "use existing ones instead of near-duplicates. Answers are kept for ten minutes; narrow long lists with query."
    ),
    result=TaxonomyAnswer,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("core", "websites", "publishing"),
    timeout=60,
    choices={"kind": term_kinds},
)
async def list_site_taxonomies(params: TaxonomyParams, call: Call) -> ToolResult:
    """Return terms of a site."""
    kind = cast("TermKind", params.kind)
    found = await Taxonomies(context(call)).terms(call.caller.subject, params.website_id, kind, params.query or "")
    rows = [TermRow(id=one.id, name=one.name, slug=one.slug, count=one.count) for one in found[: params.limit]]
    more = "" if len(found) <= params.limit else f"\n{len(found) - params.limit} more: narrow it with query"
    text = "\n".join(map(_term_line, rows)) or f"The site has no {params.kind} that matches."
    return ToolResult(text + more, TaxonomyAnswer(items=rows, next_cursor=None))


def _term_line(row: TermRow) -> str:
    count = "" if row.count is None else f", {row.count} {'post' if row.count == 1 else 'posts'}"
    return f"{row.name} (id {row.id}, slug {row.slug}{count})"


class SettingsParams(Params):
    """What to change."""

    website_id: WebsiteId
    settings: dict[str, Any] = Field(
        description=(
            "Only changes: default_status (publish, draft), author, category, timezone (Europe/Berlin), language "
            "(en-GB), image_policy (rehost, hotlink, none), indexnow (true, false), description, name; built-in sites: "
            "theme (classic, modern, magazine), color_scheme (auto, light, dark), accent_color (#b3402a), logo, "
            "logo_dark and favicon (URLs), logo_has_name (true, false), menu (list of label, url), domain "
            "(blog.example.org; the answer says how the user proves it). null: default."
        )
    )
    expected_version: Integer | None = Field(default=None, description="The version that you read.")


class SettingsAnswer(BaseModel):
    """The answer of `update_website_settings`."""

    website: WebsiteDetails
    version: int
    domain: DomainOut | None = Field(description="The domain of its own that a built-in site has or waits for.")


@mcp_tool(
    name="update_website_settings",
    title="Website settings",
    description=(
        "Changes settings of a website; get_website shows them. The time zone decides how times without an offset are "
        "read and shown. Returns the website and its new version."
    ),
    result=SettingsAnswer,
    annotations=Annotations(idempotent=True),
    toolsets=("websites",),
)
async def update_website_settings(params: SettingsParams, call: Call) -> ToolResult:
    """Change settings of a website."""
    if len(str(params.settings)) > 10_000:
        raise InvalidInput("settings", "is too large")
    plugin, user_id = context(call), call.caller.subject
    website = await Websites(plugin).update_settings(
        user_id, params.website_id, params.settings, params.expected_version
    )
    domain = DomainOut.of(await Domains(plugin).state(user_id, website.id))
    data = SettingsAnswer(website=details(website), version=website.version, domain=domain)
    lines = [f"{website.name} ({website.id})", settings_line(data.website), *domain_lines(domain)]
    return ToolResult("\n".join(lines), data)


class SyncParams(Params):
    """What to read."""

    website_id: WebsiteId
    since: Day | None = Field(default=None, description="Only posts changed on this day or later (UTC).")
    max_items: Integer = Field(default=500, ge=1, le=5000, description="How many posts to read.")
    cursor: str | None = Field(
        default=None, min_length=1, max_length=200, description="next_cursor of the last job, to read on."
    )


class SyncAnswer(BaseModel):
    """The answer of `sync_website_content`."""

    job_id: str = Field(description="get_job shows its progress, and next_cursor where the website has more posts.")


@mcp_tool(
    name="sync_website_content",
    title="Read a website's posts",
    description=(
        "Reads a website's live posts and pages into this account's index, in the background, so that internal links, "
        "duplicates and competing keyphrases are found among them. Nothing changes on the site. Use it once after "
        "connecting a site with older posts; get_job shows the progress, and next_cursor where the site has more."
    ),
    result=SyncAnswer,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("websites",),
)
async def sync_website_content(params: SyncParams, call: Call) -> ToolResult:
    """Begin to read a site."""
    plugin, user_id = context(call), call.caller.subject
    website = await Websites(plugin).get(user_id, params.website_id)
    if not website.capabilities.get("import_posts", False):
        raise InvalidInput(
            "website_id",
            f"the posts of {website.name} cannot be read: {website.platform} does not offer it. import_content takes "
            "one page at a time",
        )
    if params.cursor is not None:
        SyncPass.of_cursor(params.cursor)
        if params.since is not None:
            raise InvalidInput("since", "goes with the first call only: cursor keeps it; leave one of them out")
    payload = {
        "website_id": website.id,
        "since": params.since,
        "max_items": params.max_items,
        "cursor": params.cursor,
    }
    job_id = await plugin.services.jobs.enqueue(JOB, payload, subject=user_id)
    told = (
        f"Reading {website.name} has begun: job_id {job_id}. get_job shows its progress, and next_cursor where the "
        "website has more posts."
    )
    return ToolResult(told, SyncAnswer(job_id=job_id))


TOOLS = (list_site_taxonomies, update_website_settings, sync_website_content)
