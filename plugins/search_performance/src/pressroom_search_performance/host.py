"""What a call gives of the host."""

from __future__ import annotations

from urllib.parse import urlsplit

from pressroom.sdk import Call, PluginContext
from pressroom_content.contract import SearchSource, Website, content_services, search_sources

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.contract import AnalyticsSource, KeywordSource, analytics_sources, keyword_sources

PLUGIN_ID = "search_performance"
PAGE = "/dashboard/search"
"""Where people connect websites with sources."""

CALLBACK = f"{PAGE}/google/callback"
"""Where Google sends people back to who sign in there."""


def plugin_of(call: Call) -> PluginContext[SearchPerformanceConfig]:
    """Return the plugin's context; a call of the process executor, which is not the case here, would have none."""
    if call.plugin is None:
        raise RuntimeError("the tools of this plugin run in the server's own process")
    return call.plugin


def content_of(plugin: PluginContext) -> PluginContext:
    """Return the context of the content plugin, which has the websites and articles."""
    return plugin.required["content"]


async def website_of(call: Call, website_id: str) -> Website:
    """Return a website of the caller. Raises `NotFound`."""
    return await content_services(plugin_of(call)).websites.get(call.caller.subject, website_id)


def sources_of(plugin: PluginContext) -> dict[str, SearchSource]:
    """Return the sources of search figures by their names."""
    return {source.name: source for _, source in search_sources(plugin)}


def analytics_of(plugin: PluginContext) -> dict[str, AnalyticsSource]:
    """Return the kinds of analytics by their names, in the order in which a website's visits are looked for.

    Those of this plugin come first, then those of others in the order of plugin ids.
    """
    offered = sorted(analytics_sources(plugin), key=lambda pair: pair[0] != PLUGIN_ID)
    return {source.name: source for _, source in offered}


def keyword_source_of(plugin: PluginContext[SearchPerformanceConfig]) -> KeywordSource | None:
    """Return the provider of keyword data: the one that the operator chose, or else the first by plugin id.

    It is `None` where no plugin offers one, or none of the name that was chosen.
    """
    chosen = plugin.config.keyword_source
    return next((one for _, one in keyword_sources(plugin) if chosen in ("", one.name)), None)


def root_of(plugin: PluginContext) -> str:
    """Return the path that the server's URLs begin with; usually it is empty."""
    return urlsplit(plugin.base_url).path.rstrip("/")


def redirect_uri_of(plugin: PluginContext) -> str:
    """Return the redirect URI that the operator's OAuth client of Google has to have."""
    return f"{plugin.base_url}{CALLBACK}"


def page_of(plugin: PluginContext, website_id: str) -> str:
    """Return the URL at which a person connects a website with sources."""
    return f"{plugin.base_url}{PAGE}/{website_id}"
