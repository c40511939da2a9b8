"""What Google knows of single pages."""

from __future__ import annotations

from typing import Final

from pressroom.sdk import Annotations, Call, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_search_performance.connecting.store import SourceConnections
from pressroom_search_performance.host import plugin_of
from pressroom_search_performance.sources import google
from pressroom_search_performance.sources.requesting import text
from pressroom_search_performance.tools.common import WebsiteId, check_own, connected, spoken

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
        "last crawled it. Use it when a page gets no impressions a week after it was published. Google allows 2,000 "
        "questions a day for a property. submit_urls tells search engines about the page."
    ),
    result=InspectResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("performance", "seo"),
    timeout=70,
)
async def inspect_url_index(params: InspectParams, call: Call) -> ToolResult:
    """Inspect a page."""
    website, connection = await connected(call, params.website_id, google.NAME)
    check_own("url", params.url, website.url, connection)
    plugin = plugin_of(call)
    with spoken(plugin, website):
        credential = await SourceConnections(plugin).credential(connection)
        console = google.console_of(plugin.config)
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
    told += f"; robots.txt: {result.robots}"
    if result.google_canonical and result.google_canonical != params.url:
        told += f"; Google takes {result.google_canonical} for the original"
    told += f"; in the sitemaps {', '.join(result.sitemaps)}" if result.sitemaps else "; in no known sitemap"
    return ToolResult(told, result)


TOOLS: Final = (inspect_url_index,)
