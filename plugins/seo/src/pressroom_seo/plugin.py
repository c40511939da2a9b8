"""The SEO plugin: scores articles, crawls and checks sites, and builds and validates structured data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pressroom.sdk import Job, McpTool, Models, Plugin, PluginContext, hookimpl

from pressroom_seo.config import SeoConfig

PLUGIN = Plugin(
    id="seo",
    api="1",
    title="SEO",
    summary="Checks articles, pages and whole sites for search engines and readers.",
    config=SeoConfig,
    requires=("content",),
    worker_modules=("pressroom_seo.scoring", "pressroom_seo.scoring.preload"),
)


@hookimpl
def pressroom_models() -> Iterable[Models]:
    """Register the tables and their migrations."""
    from pressroom_seo.tables import SeoBase  # noqa: PLC0415 - loads with the server, not with every command

    return [Models(SeoBase.metadata, "pressroom_seo.migrations")]


@hookimpl
def pressroom_mcp_tools() -> Iterable[McpTool]:
    """Register the MCP tools."""
    from pressroom_seo.tools import articles, pages, reports  # noqa: PLC0415

    return [*articles.TOOLS, *reports.TOOLS, *pages.TOOLS]


@hookimpl
def pressroom_jobs(plugin: PluginContext) -> Iterable[Job]:
    """Register the background jobs."""
    from pressroom_seo.jobs import jobs  # noqa: PLC0415

    return jobs(plugin)


@hookimpl
def pressroom_article_scorers(plugin: PluginContext) -> Iterable[Any]:
    """Register the scorer that writing tools and the dashboard use."""
    from pressroom_seo.scorer import article_scorer  # noqa: PLC0415

    return [article_scorer(plugin)]
