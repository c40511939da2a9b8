"""The SEO plugin: scores articles, crawls and checks sites, and builds and validates structured data."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from pressroom.sdk import Job, JobRun, McpTool, Models, Pause, Plugin, PluginContext, hookimpl

from pressroom_seo.config import CHECK_LINKS, CRAWL, TIDY, SeoConfig

PLUGIN = Plugin(
    id="seo",
    api="1",
    title="SEO",
    summary="Checks articles, pages and whole sites for search engines and readers.",
    config=SeoConfig,
    requires=("content",),
    worker_modules=("pressroom_seo.scoring", "pressroom_seo.scoring.preload"),
)

_DAY: Final = 86_400.0
_ATTEMPT: Final = 21_600.0
"""Timeout in seconds of one crawl attempt; the next attempt resumes from the last checkpoint."""

_ATTEMPTS: Final = 12


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
def pressroom_jobs(plugin: PluginContext[SeoConfig]) -> Iterable[Job]:
    """Register the background jobs: crawls, bulk link checks, and deleting the data of disconnected websites."""
    config = plugin.config

    async def crawl(run: JobRun) -> Mapping[str, Any] | Pause:
        return await (await asyncio.to_thread(_crawl_website))(plugin, run)

    async def check_links(run: JobRun) -> Mapping[str, Any]:
        return await (await asyncio.to_thread(_check_links))(plugin, run)

    async def tidy(_run: JobRun) -> Mapping[str, Any]:
        return {"forgotten": await (await asyncio.to_thread(_tidy_up))(plugin)}

    return [
        Job(CRAWL, crawl, attempts=_ATTEMPTS, lease=config.lease_seconds, timeout=_ATTEMPT),
        Job(CHECK_LINKS, check_links, timeout=3600),
        Job(TIDY, tidy, every=_DAY),
    ]


@hookimpl
def pressroom_article_scorers(plugin: PluginContext) -> Iterable[Any]:
    """Register the scorer that writing tools and the dashboard use."""
    from pressroom_seo.scorer import article_scorer  # noqa: PLC0415

    return [article_scorer(plugin)]


# The first job imports the parsers in a thread, so the event loop is not blocked.


def _crawl_website() -> Callable[[PluginContext, JobRun], Awaitable[Mapping[str, Any] | Pause]]:
    from pressroom_seo.reports.crawl_job import crawl_website  # noqa: PLC0415

    return crawl_website


def _check_links() -> Callable[[PluginContext, JobRun], Awaitable[Mapping[str, Any]]]:
    from pressroom_seo.live_pages import run_job  # noqa: PLC0415

    return run_job


def _tidy_up() -> Callable[[PluginContext], Awaitable[int]]:
    from pressroom_seo.reports.crawl_job import tidy_up  # noqa: PLC0415

    return tidy_up
