"""Tools for listing websites, and for showing one in detail."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pressroom.sdk import (
    Annotations,
    Call,
    Integer,
    Params,
    PluginContext,
    ToolResult,
    mcp_tool,
)
from pydantic import BaseModel, Field

from pressroom_content.config import ContentConfig
from pressroom_content.contract import BUILTIN, Cursor, WebsiteId, control_of
from pressroom_content.records import Website
from pressroom_content.tools.common import context, local_time, time_text
from pressroom_content.voice.store import Voices, VoiceView, voice_lines
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.connecting import check_website, fidelity_of
from pressroom_content.websites.connectors import ABILITIES
from pressroom_content.websites.control import Controls
from pressroom_content.websites.domains import Domains, DomainState
from pressroom_content.websites.store import Websites


class WebsiteSummary(BaseModel):
    """A website in a list."""

    id: str
    name: str
    url: str
    platform: str
    status: Literal["active", "error", "paused"] = Field(
        description="error: the connection has to be renewed or fixed."
    )
    capabilities: dict[str, bool] = Field(description="What can be done there.")
    timezone: str = Field(description="The website's time zone, which all times here are in.")
    last_published_at: datetime | None


class ControlState(BaseModel):
    """Whether the website has proved that it controls its URL."""

    proven: bool = Field(
        description="Required for texts and redirects on this server, for the originals of copies, and for "
        "submissions to search engines."
    )
    method: Literal["", "server", "platform", "file", "meta"] = Field(
        description="server: it is on this server. platform: an administrator's credential. file, meta: its owner put "
        "one there."
    )
    proven_at: datetime | None
    how: str = Field(description="What the user can do if it is not proven; otherwise empty.")


class DomainOut(BaseModel):
    """The custom domain of a built-in site, verified or pending."""

    name: str
    status: Literal["waiting", "proven", "lost"] = Field(
        description="waiting: does not point here yet. proven: the site is served there. lost: no longer points here."
    )
    since: datetime | None
    checked_at: datetime | None
    problem: str = Field(description="What the last check found instead; empty if nothing is wrong.")
    how: str = Field(description="What the user has to do next; empty if nothing.")

    @classmethod
    def of(cls, state: DomainState | None) -> DomainOut | None:
        """Return the state of a domain as clients see it."""
        if state is None:
            return None
        return cls(
            name=state.name,
            status=state.status,
            since=state.since,
            checked_at=state.checked_at,
            problem=state.problem,
            how=state.how,
        )


def domain_lines(domain: DomainOut | None) -> Iterator[str]:
    """Yield the description of a domain for the model."""
    if domain is not None:
        yield f"Domain: {domain.name}, {domain.status}. {domain.problem} {domain.how}".rstrip()


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
    zone = site_settings.zone_of(website.settings)
    return WebsiteSummary(
        id=website.id,
        name=website.name,
        url=website.url,
        platform=website.platform,
        status=website.status,
        capabilities={name: bool(value) for name, value in website.capabilities.items()},
        timezone=zone.key,
        last_published_at=local_time(website.last_published_at, zone),
    )


def details(website: Website) -> WebsiteDetails:
    """Return all details of a website except its credential."""
    zone = site_settings.zone_of(website.settings)
    return WebsiteDetails(
        **summary(website).model_dump(),
        settings=site_settings.effective(website.platform, website.settings)
        | ({"domain": website.domain} if website.platform == BUILTIN else {}),
        checks=[dict(check) for check in website.checks],
        checked_at=local_time(website.checked_at, zone),
        last_error=website.last_error,
        last_error_at=local_time(website.last_error_at, zone),
        connected_at=local_time(website.created_at, zone),
        version=website.version,
    )


def settings_line(website: WebsiteDetails) -> str:
    """Return the settings of a website as a line for the model."""
    empty = {"language": "unknown"}
    values = (
        f"{name} {empty.get(name, 'none') if value in ('', []) else value}" for name, value in website.settings.items()
    )
    return f"Settings, version {website.version}: {'; '.join(values)}"


class ListWebsitesParams(Params):
    """Which websites."""

    status: Literal["active", "error", "paused"] | None = Field(
        default=None, description="Only websites with this status."
    )
    limit: Integer = Field(default=50, ge=1, le=200, description="Maximum number.")
    cursor: Cursor | None = Field(default=None, description="next_cursor of the last result.")


class WebsitePage(BaseModel):
    """The result of `list_websites`."""

    websites: list[WebsiteSummary]
    next_cursor: str | None = Field(description="Pass it as cursor for more; null at the end.")


@mcp_tool(
    name="list_websites",
    title="Websites",
    description=(
        "Lists the connected websites, newest first, with platform, status and time zone. Use it first when "
        "the user wants to write for or publish on a website, to learn the website_id. Next: get_website."
    ),
    result=WebsitePage,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("core", "websites"),
)
async def list_websites(params: ListWebsitesParams, call: Call) -> ToolResult:
    """Return a page of the caller's websites."""
    websites, cursor = await Websites(context(call)).page(
        call.caller.subject, status=params.status, limit=params.limit, cursor=params.cursor
    )
    data = WebsitePage(websites=[summary(website) for website in websites], next_cursor=cursor)
    lines = [
        f"{website.id}  {website.name} ({website.platform}, {website.status}, {website.timezone}) {website.url}"
        for website in data.websites
    ]
    if cursor:
        lines.append(f"More: call list_websites again with cursor {cursor}")
    empty = "No websites are connected. Connect one with connect_website; the platform builtin needs no credential."
    if params.status is not None or params.cursor is not None:
        empty = "No websites match; without status and cursor, list_websites shows all."
    return ToolResult("\n".join(lines) or empty, data)


class GetWebsiteParams(Params):
    """Which website."""

    website_id: WebsiteId
    check: bool = Field(default=False, description="Also test the connection live.")


class ConnectionCheckOut(BaseModel):
    """An item of a live check."""

    id: str
    status: Literal["ok", "warning", "error"]
    message: str
    fix: str = Field(description="What the site's owner can do about it.")


class LiveCheck(BaseModel):
    """What a live check found just now."""

    ok: bool = Field(description="Whether publishing is possible.")
    checks: list[ConnectionCheckOut]


class WebsiteResult(BaseModel):
    """The result of `get_website`."""

    website: WebsiteDetails
    control: ControlState
    domain: DomainOut | None = Field(
        description="The custom domain of a built-in site; null without one. check tests it too."
    )
    voice: VoiceView = Field(description="The brand voice: follow it when you write for this website.")
    voice_version: int = Field(description="Give it to set_brand_voice as expected_version; 0 before the first one.")
    live_check: LiveCheck | None = Field(description="null without check.")
    limits: dict[str, int] = Field(description="Limits of this server for articles and websites.")
    formatting: dict[str, str] = Field(description="Formatting that the platform converts or loses.")


@mcp_tool(
    name="get_website",
    title="Website",
    description=(
        "Shows one website: settings, time zone, what the platform can do, the last error, whether it is proven to "
        "control its URL, and the brand voice, which every text for it should follow. Use it before writing for a "
        "website. With check it also tests the connection live: reachability, credential, role, uploads, SEO fields "
        "and control of the URL, each with a fix; use that when publishing failed or to finish a verification."
    ),
    result=WebsiteResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("core", "websites"),
    timeout=60,
)
async def get_website(params: GetWebsiteParams, call: Call) -> ToolResult:
    """Return a website of the caller's account, and check it where that is asked for."""
    plugin, user_id = context(call), call.caller.subject
    live = await _checked(plugin, user_id, params.website_id) if params.check else None
    website = await Websites(plugin).get(user_id, params.website_id)
    voice, voice_version = await Voices(plugin).get(user_id, website.id)
    domain = await Domains(plugin).state(user_id, website.id)
    data = WebsiteResult(
        website=details(website),
        control=await _control_state(plugin, website),
        domain=DomainOut.of(domain),
        voice=VoiceView.of(voice),
        voice_version=voice_version,
        live_check=live,
        limits={"max_body_bytes": plugin.config.max_body_bytes, "max_websites": plugin.config.max_websites},
        formatting=dict(await fidelity_of(plugin, user_id, website.id)),
    )
    return ToolResult("\n".join(_lines(data)), data)


async def _checked(plugin: PluginContext[ContentConfig], user_id: str, website_id: str) -> LiveCheck:
    await Domains(plugin).check(user_id, website_id)
    _, finding = await check_website(plugin, user_id, website_id)
    checks = [*finding.checks, await Controls(plugin).check(user_id, website_id)]
    rows = [
        ConnectionCheckOut(id=check.id, status=check.status, message=check.message, fix=check.fix) for check in checks
    ]
    return LiveCheck(ok=finding.ok, checks=rows)


async def _control_state(plugin: PluginContext[ContentConfig], website: Website) -> ControlState:
    control = control_of(website)
    how = "" if control.proven else await Controls(plugin).how(website.user_id, website.id)
    at = local_time(control.proven_at, site_settings.zone_of(website.settings))
    return ControlState(proven=control.proven, method=control.method, proven_at=at, how=how)


def _lines(data: WebsiteResult) -> Iterator[str]:
    website = data.website
    zone = ZoneInfo(website.timezone)
    yield f"{website.name} ({website.platform}, {website.status}) {website.url}"
    yield f"website_id {website.id}, connected {time_text(website.connected_at, zone)}"
    if data.live_check is not None:
        yield f"Live check: publishing is {'possible' if data.live_check.ok else 'not possible'}."
        for row in data.live_check.checks:
            yield f"- {row.status}: {row.message}{f' ({row.fix})' if row.fix else ''}"
    yield f"Time zone: {zone.key}; now {time_text(datetime.now(UTC), zone)}. Used for times without an offset."
    supported = [words for name, words in ABILITIES.items() if website.capabilities.get(name)]
    unsupported = [words for name, words in ABILITIES.items() if website.capabilities.get(name) is False]
    yield f"Supported: {', '.join(supported) or 'nothing'}. Not supported: {', '.join(unsupported) or 'nothing'}."
    yield settings_line(website)
    proven = f"proven ({data.control.method})" if data.control.proven else f"not proven. {data.control.how}"
    yield f"Control of the URL: {proven}"
    yield from domain_lines(data.domain)
    published = website.last_published_at
    yield f"Last published: {time_text(published, zone) if published else 'never'}"
    if website.last_error and website.last_error_at:
        yield f"Last error, {time_text(website.last_error_at, zone)}: {website.last_error}"
    if data.formatting:
        notes = (f"{name.replace('_', ' ')} ({note})" for name, note in data.formatting.items())
        yield f"Formatting is kept, except: {', '.join(notes)}."
    yield f"Limits: {', '.join(f'{name} {value:,}' for name, value in data.limits.items())}"
    yield from voice_lines(data.voice, data.voice_version)


TOOLS = (list_websites, get_website)
