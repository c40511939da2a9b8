"""The plugin: websites, the articles that people write with their AI clients, and what of them is published where."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from pressroom.sdk import IndexEntries, Job, McpTool, Models, Plugin, PluginContext, Route, hookimpl

from pressroom_content.config import ContentConfig
from pressroom_content.contract.hookspecs import ContentHooks

PLUGIN = Plugin(
    id="content",
    title="Content",
    summary="Websites, articles, publications, a calendar and brand voices, for AI clients.",
    config=ContentConfig,
    hookspecs=ContentHooks,
)


@hookimpl
def pressroom_models() -> Iterable[Models]:
    """Keep the tables."""
    return [Models(_parts().METADATA, "pressroom_content.migrations")]


@hookimpl
def pressroom_mcp_tools() -> Iterable[McpTool]:
    """Offer the tools."""
    tools: Iterable[McpTool] = _parts().TOOLS
    return tools


@hookimpl
def pressroom_jobs(plugin: PluginContext) -> Iterable[Job]:
    """Offer the background work."""
    jobs: Iterable[Job] = _parts().jobs(plugin)
    return jobs


@hookimpl
def pressroom_routes(plugin: PluginContext) -> Iterable[Route]:
    """Serve the pages and files."""
    routes: Iterable[Route] = _parts().routes(plugin)
    return routes


@hookimpl
def pressroom_index_entries(plugin: PluginContext) -> Iterable[IndexEntries]:
    """Name the published articles in the text index."""
    entries: Iterable[IndexEntries] = _parts().index_entries(plugin)
    return entries


def _parts() -> ModuleType:
    from pressroom_content import parts  # noqa: PLC0415 - SQLAlchemy and the parsers load once the plugin is used

    return parts
