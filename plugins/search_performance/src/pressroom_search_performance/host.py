"""Access to the plugin's context, its sources and its URLs."""

from __future__ import annotations

from urllib.parse import urlsplit

from pressroom.sdk import Call, HttpRequest, NotFound, PluginContext
from pressroom_content.contract import SearchSource, Website, content_services, search_sources

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.contract import AnalyticsSource, KeywordSource, analytics_sources, keyword_sources

PLUGIN_ID = "search_performance"
PAGE = "/dashboard/search"
"""Path of the pages on which users connect websites to sources."""

CALLBACK = f"{PAGE}/google/callback"
"""Path to which Google redirects users after they sign in."""


def plugin_of(call: Call) -> PluginContext[SearchPerformanceConfig]:
    """Return the plugin's context. Raises `RuntimeError` in the process executor, where tools have none."""
    if call.plugin is None:
        raise RuntimeError("the tools of this plugin run in the server's own process")
    return call.plugin


def content_of(plugin: PluginContext) -> PluginContext:
    """Return the context of the content plugin, which manages websites and articles."""
    return plugin.required["content"]


async def website_of(call: Call, website_id: str) -> Website:
    """Return one of the caller's websites. Raises `NotFound`."""
    return await content_services(plugin_of(call)).websites.get(call.caller.subject, website_id)


async def website_on_page(plugin: PluginContext, request: HttpRequest, website_id: str) -> Website:
    """Return the website that a page is about. Raises `NotFound` with a message for people."""
    try:
        return await content_services(plugin).websites.get(request.subject, website_id)
    except NotFound:
        raise NotFound("That website is no longer connected. Websites lists the connected ones.") from None


def sources_of(plugin: PluginContext) -> dict[str, SearchSource]:
    """Return the sources of search figures by name."""
    return {source.name: source for _, source in search_sources(plugin)}


def analytics_of(plugin: PluginContext) -> dict[str, AnalyticsSource]:
    """Return the analytics services by name, in the order in which they are tried for a website.

    Those of this plugin come first, then those of other plugins by plugin ID.
    """
    offered = sorted(analytics_sources(plugin), key=lambda pair: pair[0] != PLUGIN_ID)
    return {source.name: source for _, source in offered}


def keyword_source_of(plugin: PluginContext[SearchPerformanceConfig]) -> KeywordSource | None:
    """Return the provider of keyword data: the one that the operator chose, or else the first by plugin ID.

    Returns `None` if no plugin offers one, or none has the chosen name.
    """
    configured = plugin.config.keyword_source
    return next((source for _, source in keyword_sources(plugin) if configured in ("", source.name)), None)


def root_of(plugin: PluginContext) -> str:
    """Return the path prefix of the server's URLs, usually an empty string."""
    return urlsplit(plugin.base_url).path.rstrip("/")


def redirect_uri_of(plugin: PluginContext) -> str:
    """Return the redirect URI that the operator's Google OAuth client needs."""
    return f"{plugin.base_url}{CALLBACK}"


def page_of(plugin: PluginContext, website_id: str) -> str:
    """Return the URL of the page for connecting a website to sources."""
    return f"{plugin.base_url}{PAGE}/{website_id}"
