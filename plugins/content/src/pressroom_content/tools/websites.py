"""Tools for websites: connecting, checking, settings, terms, existing posts."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pressroom.sdk import (
    Annotations,
    Call,
    Integer,
    InvalidInput,
    Params,
    PluginContext,
    ToolResult,
    mcp_tool,
)
from pydantic import BaseModel, Field

from pressroom_content.contract import BUILTIN, Cursor, WebsiteId, control_of
from pressroom_content.records import Website
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.checking import check_website
from pressroom_content.websites.connecting import ConnectionLinks
from pressroom_content.websites.connectors import connectors
from pressroom_content.websites.control import Controls
from pressroom_content.websites.store import Websites


def context(call: Call) -> PluginContext:
    """Return the plugin's context. Tools of this plugin run where there is one."""
    if call.plugin is None:
        raise RuntimeError("this tool runs on the event loop only")
    return call.plugin


class WebsiteSummary(BaseModel):
    """A website in a list."""

    id: str
    name: str
    url: str
    platform: str
    status: Literal["active", "error", "paused"] = Field(description="error: it has to be connected anew or fixed.")
    capabilities: dict[str, bool] = Field(description="What can be done there.")
    last_published_at: datetime | None


class ControlState(BaseModel):
    """Whether the website is known to control its URL."""

    proven: bool = Field(
        description="Needed for texts and redirects on this server, as the original of copies, and at search engines."
    )
    method: Literal["", "server", "platform", "file", "meta"] = Field(
        description="server: on this server. platform: an administrator's credential. file, meta: put there."
    )
    proven_at: datetime | None
    how: str = Field(description="What the user can do where it is not proven; empty where it is.")


class WebsiteDetails(WebsiteSummary):
    """A website with its settings and its health."""

    settings: dict[str, Any] = Field(description="As update_website_settings takes them, with defaults filled in.")
    checks: list[dict[str, str]] = Field(description="What the last live check found.")
    checked_at: datetime | None
    last_error: str
    last_error_at: datetime | None
    connected_at: datetime
    version: int = Field(description="Give it to update_website_settings as expected_version.")


def summary(website: Website) -> WebsiteSummary:
    """Return a website as lists show it."""
    return WebsiteSummary(
        id=website.id,
        name=website.name,
        url=website.url,
        platform=website.platform,
        status=website.status,
        capabilities={name: bool(value) for name, value in website.capabilities.items()},
        last_published_at=website.last_published_at,
    )


def details(website: Website) -> WebsiteDetails:
    """Return all that people may know of a website; its credential is not part of it."""
    return WebsiteDetails(
        **summary(website).model_dump(),
        settings=site_settings.read(website.settings).model_dump(),
        checks=[dict(check) for check in website.checks],
        checked_at=website.checked_at,
        last_error=website.last_error,
        last_error_at=website.last_error_at,
        connected_at=website.created_at,
        version=website.version,
    )


class ListWebsitesParams(Params):
    """Which websites."""

    status: Literal["active", "error", "paused"] | None = Field(default=None, description="Only those that stand so.")
    limit: Integer = Field(default=50, ge=1, le=200, description="How many to return at most.")
    cursor: Cursor | None = Field(default=None, description="The next_cursor of the answer before, to read on.")


class WebsitePage(BaseModel):
    """The answer of `list_websites`."""

    websites: list[WebsiteSummary]
    next_cursor: str | None = Field(description="Give it as cursor to read on; null at the end.")


@mcp_tool(
    name="list_websites",
    title="Websites",
    description=(
        "Lists the websites that this account has connected, newest first, with platform, health and what can be done "
        "on each. Use it first when the user wants to publish, to learn the website_id. Returns websites and "
        "next_cursor."
    ),
    result=WebsitePage,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("sites",),
)
async def list_websites(params: ListWebsitesParams, call: Call) -> ToolResult:
    """Return a page of the caller's websites."""
    found, cursor = await Websites(context(call)).page(
        call.caller.subject, status=params.status, limit=params.limit, cursor=params.cursor
    )
    data = WebsitePage(websites=[summary(one) for one in found], next_cursor=cursor)
    lines = [f"{one.id}  {one.name} ({one.platform}, {one.status}) {one.url}" for one in found]
    empty = "No websites are connected. connect_website begins with one; the platform builtin needs nothing else."
    return ToolResult("\n".join(lines) or empty, data)


class WebsiteParams(Params):
    """Which website."""

    website_id: WebsiteId


class WebsiteAnswer(BaseModel):
    """The answer of `get_website`."""

    website: WebsiteDetails
    capabilities: dict[str, bool] = Field(description="What can be done on this website.")
    control: ControlState
    limits: dict[str, int] = Field(description="Bounds of this server that matter for it.")


@mcp_tool(
    name="get_website",
    title="Website",
    description=(
        "Shows one website: its settings, what can be done there (draft, schedule, update, delete, tags, categories, "
        "canonical, featured_image, seo_meta, redirects), limits, the last error, and whether it is proven that the "
        "site controls its URL. Use it before publishing where something does not work as expected."
    ),
    result=WebsiteAnswer,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("sites",),
)
async def get_website(params: WebsiteParams, call: Call) -> ToolResult:
    """Return a website of the caller's account."""
    plugin = context(call)
    website = await Websites(plugin).get(call.caller.subject, params.website_id)
    shown = details(website)
    data = WebsiteAnswer(
        website=shown,
        capabilities=shown.capabilities,
        control=await _control_state(plugin, website),
        limits={"max_body_bytes": plugin.config.max_body_bytes, "max_websites": plugin.config.max_websites},
    )
    able = ", ".join(name for name, can in shown.capabilities.items() if can) or "nothing"
    problem = f"\nLast error: {website.last_error}" if website.last_error else ""
    text = f"{website.name} ({website.platform}, {website.status}) {website.url}\nIt can do: {able}.{problem}"
    return ToolResult(text, data)


async def _control_state(plugin: PluginContext, website: Website) -> ControlState:
    known = control_of(website)
    how = "" if known.proven else await Controls(plugin).how(website.user_id, website.id)
    return ControlState(proven=known.proven, method=known.method, proven_at=known.proven_at, how=how)


class ConnectParams(Params):
    """What to connect."""

    platform: str = Field(description="The software that the site runs on; builtin is a blog on this server itself.")
    url: str | None = Field(default=None, min_length=1, max_length=2000, description="The site's URL, if known.")
    name: str | None = Field(default=None, min_length=1, max_length=200, description="What the user calls the site.")


class ConnectAnswer(BaseModel):
    """The answer of `connect_website`."""

    connect_url: str = Field(description="For the user to open in a browser; of a built-in site, its URL.")
    state: Literal["waiting_for_user", "connected"]
    expires_at: datetime | None = Field(description="When the link stops working; null where there is nothing to do.")
    website_id: str | None = Field(description="The website, where it is connected already.")


@mcp_tool(
    name="connect_website",
    title="Connect a website",
    description=(
        "Begins to connect a website. Returns connect_url: show it to the user, who opens it in a browser, signs in "
        "and types the credential there. Never ask for a password, key or token in the chat. Afterwards list_websites "
        "shows the site. The platform builtin needs no credential: it is connected at once. The values "
        "of platform are what this server can do; the operator can install others as plugins."
    ),
    result=ConnectAnswer,
    annotations=Annotations(open_world=True),
    toolsets=("sites",),
    choices={"platform": connectors},
)
async def connect_website(params: ConnectParams, call: Call) -> ToolResult:
    """Make a link, or connect what needs none."""
    plugin, user_id = context(call), call.caller.subject
    if params.platform == BUILTIN:
        website = await Websites(plugin).add(user_id, BUILTIN, name=params.name or "My site", url="", credential={})
        data = ConnectAnswer(connect_url=website.url, state="connected", expires_at=None, website_id=website.id)
        return ToolResult(f"{website.name} is ready at {website.url} (website_id {website.id}).", data)
    url, expires_at = await ConnectionLinks(plugin).begin(
        user_id, params.platform, url=params.url or "", name=params.name or ""
    )
    data = ConnectAnswer(connect_url=url, state="waiting_for_user", expires_at=expires_at, website_id=None)
    title = connectors(plugin)[params.platform].title
    text = (
        f"Ask the user to open {url} in a browser until {expires_at:%H:%M} UTC, and to enter the credential of the "
        f"{title} site there. Other platforms of this server: {', '.join(_others(plugin, params.platform))}."
    )
    return ToolResult(text, data)


def _others(plugin: PluginContext, platform: str) -> list[str]:
    return [name for name in connectors(plugin) if name != platform] or ["none"]


class ConnectionCheckOut(BaseModel):
    """A point of a live check."""

    id: str
    status: Literal["ok", "warning", "error"]
    message: str
    fix: str = Field(description="What the site's owner can do about it.")


class ConnectionTestOut(BaseModel):
    """The answer of `test_website_connection`."""

    ok: bool = Field(description="Whether publishing is possible.")
    checks: list[ConnectionCheckOut]


@mcp_tool(
    name="test_website_connection",
    title="Test a website",
    description=(
        "Checks a website live: whether it can be reached, the credential is valid, the role allows publishing and "
        "uploading, SEO fields can be written, and whether the site is proven to control its URL. Changes nothing on "
        "the site. Use it when publishing failed, before something large, or once a verification file is in place. "
        "Returns ok and checks, each with a fix."
    ),
    result=ConnectionTestOut,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("sites",),
    timeout=60,
)
async def test_website_connection(params: WebsiteParams, call: Call) -> ToolResult:
    """Look at a website."""
    plugin, user_id = context(call), call.caller.subject
    _, finding = await check_website(plugin, user_id, params.website_id)
    checks = [*finding.checks, await Controls(plugin).check(user_id, params.website_id)]
    rows = [ConnectionCheckOut(id=one.id, status=one.status, message=one.message, fix=one.fix) for one in checks]
    lines = [f"{row.status}: {row.message}{f' ({row.fix})' if row.fix else ''}" for row in rows]
    return ToolResult("\n".join(lines), ConnectionTestOut(ok=finding.ok, checks=rows))


class DisconnectParams(Params):
    """What to disconnect."""

    website_id: WebsiteId
    confirm: bool = Field(description="Whether the user has agreed: the credential is forgotten for good.")
    delete_posts: bool = Field(
        default=False,
        description="For built-in sites: also deletes all posts, files and redirects of the site, for good.",
    )


class DisconnectAnswer(BaseModel):
    """The answer of `disconnect_website`."""

    disconnected: bool
    kept_publications: int = Field(description="Posts that stay online on the site.")


@mcp_tool(
    name="disconnect_website",
    title="Disconnect a website",
    description=(
        "Forgets a website's credential; nothing more is published there. What is online stays online, and cannot be "
        "changed from here any more, but with delete_posts on a built-in site. Ask the user first, then set confirm to "
        "true. Safe to repeat."
    ),
    result=DisconnectAnswer,
    annotations=Annotations(destructive=True, idempotent=True),
    toolsets=("sites",),
)
async def disconnect_website(params: DisconnectParams, call: Call) -> ToolResult:
    """Forget a website's credential."""
    confirmed(confirm=params.confirm)
    kept = await Websites(context(call)).disconnect(
        call.caller.subject, params.website_id, delete_posts=params.delete_posts
    )
    text = f"{params.website_id} is disconnected; {kept} publications stay online."
    return ToolResult(text, DisconnectAnswer(disconnected=True, kept_publications=kept))


def confirmed(*, confirm: bool) -> None:
    """Refuse what the user has not agreed to. Raises `InvalidInput`."""
    if not confirm:
        raise InvalidInput("confirm", "must be true; ask the user first whether this is to be done")


TOOLS = (list_websites, get_website, connect_website, test_website_connection, disconnect_website)
