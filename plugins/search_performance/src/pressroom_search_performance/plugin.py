"""The plugin: search figures of websites, fetched every night, and the tools that analyse them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pressroom.sdk import Check, Job, McpTool, Models, OverviewSection, Plugin, PluginContext, Route, hookimpl

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.contract import AnalyticsSource, KeywordSource, SearchPerformanceHooks

PLUGIN = Plugin(
    id="search_performance",
    api="1",
    title="Search performance",
    summary="Fetches search figures every night and suggests what to do.",
    config=SearchPerformanceConfig,
    requires=("content",),
    templates=("pressroom_search_performance.charts",),
    hookspecs=SearchPerformanceHooks,
    unique={"pressroom_analytics_sources": "name", "pressroom_keyword_sources": "name"},
)


@hookimpl
def pressroom_models() -> Iterable[Models]:
    """Register the tables."""
    from pressroom_search_performance.tables import SearchPerformanceBase  # noqa: PLC0415 - loads with the server, not with every command

    return [Models(SearchPerformanceBase.metadata, "pressroom_search_performance.migrations")]


@hookimpl
def pressroom_mcp_tools() -> Iterable[McpTool]:
    """Offer the tools."""
    from pressroom_search_performance.tools import (  # noqa: PLC0415
        content,
        keyword_data,
        keywords,
        opportunities,
        performance,
        submitting,
        traffic,
    )

    return [
        *performance.TOOLS,
        *opportunities.TOOLS,
        *content.TOOLS,
        *keywords.TOOLS,
        *submitting.TOOLS,
        *traffic.TOOLS,
        *keyword_data.TOOLS,
    ]


@hookimpl
def pressroom_jobs(plugin: PluginContext[SearchPerformanceConfig]) -> Iterable[Job]:
    """Fetch figures in the background, and delete abandoned sign-ins."""
    from pressroom_search_performance.connecting import signing_in  # noqa: PLC0415
    from pressroom_search_performance.figures import fetching  # noqa: PLC0415

    return [*fetching.jobs(plugin), *signing_in.jobs(plugin)]


@hookimpl
def pressroom_routes(plugin: PluginContext[SearchPerformanceConfig]) -> Iterable[Route]:
    """Serve the pages with figures, those for connecting websites, and key files for IndexNow."""
    from pressroom_search_performance import indexnow  # noqa: PLC0415
    from pressroom_search_performance.charts import pages as charts  # noqa: PLC0415
    from pressroom_search_performance.connecting import pages  # noqa: PLC0415

    return [*charts.routes(plugin), *pages.routes(plugin), *indexnow.routes(plugin)]


@hookimpl
def pressroom_overview(plugin: PluginContext[SearchPerformanceConfig]) -> Iterable[OverviewSection]:
    """Show the search clicks of websites."""
    from pressroom_search_performance.charts import pages  # noqa: PLC0415

    return pages.sections(plugin)


@hookimpl
def pressroom_search_sources(plugin: PluginContext[SearchPerformanceConfig]) -> Iterable[Any]:
    """Offer Google Search Console and Bing Webmaster Tools."""
    from pressroom_search_performance.sources import bing, google  # noqa: PLC0415

    config = plugin.config
    return [google.source(google.console_of(config)), bing.source(bing.webmaster_of(config.bing_url))]


@hookimpl
def pressroom_analytics_sources(plugin: PluginContext[SearchPerformanceConfig]) -> Iterable[AnalyticsSource]:
    """Offer Plausible, Umami and Matomo."""
    from pressroom_search_performance.analytics import matomo, plausible, umami  # noqa: PLC0415

    config = plugin.config
    return [plausible.source(config.plausible_url), umami.source(config.umami_url), matomo.source()]


@hookimpl
def pressroom_checks(plugin: PluginContext[SearchPerformanceConfig]) -> Iterable[Check]:
    """Check the sources that plugins offer, and signing in with Google."""
    from pressroom_search_performance.diagnosis import checks  # noqa: PLC0415

    return checks(plugin)


@hookimpl
def pressroom_keyword_sources(plugin: PluginContext[SearchPerformanceConfig]) -> Iterable[KeywordSource]:
    """Offer DataForSEO if the operator has configured an account."""
    from pressroom_search_performance import keyword_data  # noqa: PLC0415

    config = plugin.config
    if config.dataforseo_password is None:
        return []
    password = config.dataforseo_password.get_secret_value()
    return [keyword_data.source(keyword_data.DataForSeo(config.dataforseo_url, config.dataforseo_login, password))]
