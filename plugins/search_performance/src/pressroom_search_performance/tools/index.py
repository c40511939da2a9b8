"""What Google knows of single pages, and of sitemaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.sdk import Annotations, Call, InvalidInput, Params, ToolResult, mcp_tool
from pressroom_content.contract import is_below
from pydantic import BaseModel, Field

from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.host import config_of, plugin_of
from pressroom_search_performance.sources import google
from pressroom_search_performance.sources.requesting import number, text
from pressroom_search_performance.tools.common import WebsiteId, connected, spoken

_MAX_SITEMAPS: Final = 200


class InspectParams(Params):
    """Which page."""

    website_id: WebsiteId
    url: str = Field(min_length=8, max_length=2048, description="Full URL of a page of the website.")


class InspectResult(BaseModel):
    """The answer of `inspect_url_index`."""

    verdict: str = Field(description="PASS is indexed, NEUTRAL is left out, FAIL is an error.")
    coverage_state: str = Field(description="Google's own words on why.")
    google_canonical: str | None = Field(description="The URL that Google takes for the original.")
    user_canonical: str | None = Field(description="The URL that the page itself names.")
    last_crawl_time: str | None
    robots: str = Field(description="Whether robots.txt allows it.")
    sitemaps: list[str] = Field(description="Sitemaps that name the page.")


@mcp_tool(
    name="inspect_url_index",
    title="Index status of a page",
    description=(
        "Asks Google whether a page is in its index, why not, which URL it takes for the original, and when it "
        "last came by. Use it when a page gets no impressions a week after it was published. Returns Google's verdict. "
        "Google allows 2,000 questions a day for a property."
    ),
    result=InspectResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("performance",),
    timeout=70,
)
async def inspect_url_index(params: InspectParams, call: Call) -> ToolResult:
    """Inspect a page."""
    website, connection = await connected(call, params.website_id, google.NAME)
    _check_own("url", params.url, website.url, connection)
    plugin = plugin_of(call)
    with spoken(plugin, website):
        credential = await SourceConnections(plugin).credential(connection)
        console = google.console_of(config_of(plugin))
        found = await console.inspect(connection.property, params.url, credential, plugin.services.fetcher)
    listed = found.get("sitemap")
    result = InspectResult(
        verdict=text(found.get("verdict"), 50) or "VERDICT_UNSPECIFIED",
        coverage_state=text(found.get("coverageState"), 200),
        google_canonical=text(found.get("googleCanonical")) or None,
        user_canonical=text(found.get("userCanonical")) or None,
        last_crawl_time=text(found.get("lastCrawlTime"), 50) or None,
        robots=text(found.get("robotsTxtState"), 50) or "ROBOTS_TXT_STATE_UNSPECIFIED",
        sitemaps=[text(one) for one in listed[:_MAX_SITEMAPS]] if isinstance(listed, list) else [],
    )
    told = f"{params.url}: {result.verdict}, {result.coverage_state}; last crawled {result.last_crawl_time or 'never'}"
    if result.google_canonical and result.google_canonical != params.url:
        told += f"; Google takes {result.google_canonical} for the original"
    return ToolResult(told, result)


class SitemapParams(Params):
    """Which sitemap."""

    website_id: WebsiteId
    sitemap_url: str | None = Field(
        default=None, min_length=8, max_length=2048, description="Full URL; left out, the known ones are listed."
    )


class SitemapOut(BaseModel):
    """A sitemap that Google knows."""

    path: str
    last_submitted: str | None
    last_downloaded: str | None = Field(description="null: Google has not come by yet.")
    is_pending: bool
    warnings: int
    errors: int
    submitted_urls: int


class SitemapResult(BaseModel):
    """The answer of `submit_sitemap`."""

    sitemaps: list[SitemapOut]


@mcp_tool(
    name="submit_sitemap",
    title="Sitemaps at Google",
    description=(
        "Lists the sitemaps that Google knows of a website, with errors and when it last read them; with sitemap_url, "
        "submits that one first. Use it once for a new website or a new sitemap; Google reads known ones again by "
        "itself. Returns all sitemaps. Safe to repeat."
    ),
    result=SitemapResult,
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("performance",),
    timeout=130,
)
async def submit_sitemap(params: SitemapParams, call: Call) -> ToolResult:
    """List sitemaps, or submit one."""
    website, connection = await connected(call, params.website_id, google.NAME)
    if params.sitemap_url is not None:
        _check_own("sitemap_url", params.sitemap_url, website.url, connection)
    plugin = plugin_of(call)
    fetcher, console = plugin.services.fetcher, google.console_of(config_of(plugin))
    with spoken(plugin, website):
        credential = await SourceConnections(plugin).credential(connection)
        if params.sitemap_url is not None:
            await console.submit_sitemap(connection.property, params.sitemap_url, credential, fetcher)
        found = await console.sitemaps(connection.property, credential, fetcher)
    sitemaps = [_sitemap(one) for one in found[:_MAX_SITEMAPS]]
    lines = [
        f"{one.path}: {one.submitted_urls} URLs, {one.errors} errors, {one.warnings} warnings, "
        f"read {one.last_downloaded or 'not yet'}"
        for one in sitemaps
    ]
    return ToolResult("\n".join(lines) or "Google knows no sitemap of this website.", SitemapResult(sitemaps=sitemaps))


TOOLS: Final = (inspect_url_index, submit_sitemap)


def _check_own(field: str, url: str, website_url: str, connection: SourceConnection) -> None:
    """Refuse what is not the website's: of its host, and with the operator's credential below its URL."""
    try:
        parts = urlsplit(url)
        own = parts.hostname == urlsplit(website_url).hostname and parts.scheme in ("http", "https")
    except ValueError:
        own = False
    if connection.uses_operators:
        own = own and is_below(url, website_url)
    if not own or not url.isprintable():
        raise InvalidInput(field, f"must be a URL of the website {website_url}")


def _sitemap(one: Mapping[str, Any]) -> SitemapOut:
    contents = one.get("contents")
    listed = [each for each in contents if isinstance(each, dict)] if isinstance(contents, list) else []
    return SitemapOut(
        path=text(one.get("path")),
        last_submitted=text(one.get("lastSubmitted"), 50) or None,
        last_downloaded=text(one.get("lastDownloaded"), 50) or None,
        is_pending=one.get("isPending") is True,
        warnings=_whole(one.get("warnings")),
        errors=_whole(one.get("errors")),
        submitted_urls=sum(_whole(each.get("submitted")) for each in listed),
    )


def _whole(value: Any) -> int:
    """Return a number, which Google writes as a text (`int64` in JSON)."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        return int(value)
    return int(number(value))
