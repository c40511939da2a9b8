"""Tools for connecting and disconnecting websites."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pressroom.sdk import Annotations, Call, ClientRequestId, Params, PluginContext, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.contract import BUILTIN, WebsiteId
from pressroom_content.tools.common import confirmed, context
from pressroom_content.websites.connecting import ConnectionLinks
from pressroom_content.websites.connectors import connectors
from pressroom_content.websites.store import Websites


class ConnectParams(Params):
    """What to connect."""

    platform: str = Field(description="What the site runs on; builtin: a blog on this server.")
    url: str | None = Field(default=None, min_length=1, max_length=2000, description="The site's URL, if known.")
    name: str | None = Field(default=None, min_length=1, max_length=200, description="Display name.")
    client_request_id: ClientRequestId = None


class ConnectResult(BaseModel):
    """The result of `connect_website`."""

    connect_url: str = Field(description="For the user to open in a browser; of a built-in site, its URL.")
    state: Literal["waiting_for_user", "connected"]
    expires_at: datetime | None = Field(description="When the link expires; null if it does not.")
    website_id: str | None = Field(description="The website, if it is already connected.")


@mcp_tool(
    name="connect_website",
    title="Connect a website",
    description=(
        "Starts connecting a website. Returns connect_url: show it to the user, who opens it in a browser, signs in "
        "and types the credential there. Never ask for a password, key or token in the chat. Afterwards list_websites "
        "shows the site. The platform builtin is ready at once. If a platform is missing here, the operator can "
        "install a plugin for it."
    ),
    result=ConnectResult,
    annotations=Annotations(open_world=True),
    toolsets=("core", "websites"),
    choices={"platform": connectors},
)
async def connect_website(params: ConnectParams, call: Call) -> ToolResult:
    """Make a link, or connect what needs none."""
    plugin, user_id = context(call), call.caller.subject
    if params.platform == BUILTIN:
        website = await Websites(plugin).add(user_id, BUILTIN, name=params.name or "My site", url="", credential={})
        data = ConnectResult(connect_url=website.url, state="connected", expires_at=None, website_id=website.id)
        return ToolResult(f"{website.name} is ready at {website.url} (website_id {website.id}).", data)
    url, expires_at = await ConnectionLinks(plugin).begin(
        user_id, params.platform, url=params.url or "", name=params.name or ""
    )
    data = ConnectResult(connect_url=url, state="waiting_for_user", expires_at=expires_at, website_id=None)
    title = connectors(plugin)[params.platform].title
    text = (
        f"Ask the user to open {url} in a browser before {expires_at:%H:%M} UTC, and to enter the credential of the "
        f"{title} site there. Then call list_websites. Other platforms of this server: "
        f"{', '.join(_others(plugin, params.platform))}."
    )
    return ToolResult(text, data)


def _others(plugin: PluginContext, platform: str) -> list[str]:
    return [name for name in connectors(plugin) if name != platform] or ["none"]


class DisconnectParams(Params):
    """What to disconnect."""

    website_id: WebsiteId
    confirm: bool = Field(description="Must be true: the user has agreed.")
    delete_posts: bool = Field(
        default=False,
        description="Built-in sites only: also delete all posts, files and redirects for good.",
    )


class DisconnectResult(BaseModel):
    """The result of `disconnect_website`."""

    disconnected: bool
    kept_publications: int = Field(description="Posts that stay online on the site.")


@mcp_tool(
    name="disconnect_website",
    title="Disconnect a website",
    description=(
        "Deletes a website's credential permanently. Live posts stay online, but can no longer be changed from here; "
        "delete_posts deletes them. Ask the user first."
    ),
    result=DisconnectResult,
    annotations=Annotations(destructive=True, idempotent=True),
    toolsets=("websites",),
)
async def disconnect_website(params: DisconnectParams, call: Call) -> ToolResult:
    """Forget a website's credential."""
    confirmed(confirm=params.confirm)
    remaining = await Websites(context(call)).disconnect(
        call.caller.subject, params.website_id, delete_posts=params.delete_posts
    )
    text = f"{params.website_id} is disconnected; {remaining} publications stay online."
    return ToolResult(text, DisconnectResult(disconnected=True, kept_publications=remaining))


TOOLS = (connect_website, disconnect_website)
