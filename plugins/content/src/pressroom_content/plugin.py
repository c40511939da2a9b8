"""The plugin: websites, the articles that people write with their AI clients, and what of them is published where."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from pressroom.sdk import (
    IndexEntries,
    Job,
    McpTool,
    Models,
    Plugin,
    PluginContext,
    Route,
    SharedKeys,
    StorageKind,
    hookimpl,
)

from pressroom_content.config import ContentConfig
from pressroom_content.contract import SiteConnector
from pressroom_content.contract.hookspecs import ContentHooks

PLUGIN = Plugin(
    id="content",
    api="1",
    title="Content",
    summary="Websites, articles, publications, a calendar and brand voices, for AI clients.",
    config=ContentConfig,
    hookspecs=ContentHooks,
    unique={
        "pressroom_site_connectors": "platform",
        "pressroom_image_sources": "name",
        "pressroom_search_sources": "name",
        "pressroom_media_libraries": "name",
        "pressroom_article_scorers": "name",
    },
    worker_modules=("pressroom_content.articles.analysis", "pressroom_content.articles.importing"),
)


@hookimpl
def pressroom_models() -> Iterable[Models]:
    """Keep the tables."""
    return [Models(_parts().METADATA, "pressroom_content.migrations")]


@hookimpl
def pressroom_shared_keys(plugin: PluginContext) -> Iterable[SharedKeys]:
    """Name the keys that sites' credentials are encrypted with."""
    keys: Iterable[SharedKeys] = _parts().shared_keys(plugin)
    return keys


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
def pressroom_storage() -> Iterable[StorageKind]:
    """Count articles, exports and built-in sites against the bound of an account's plan."""
    kinds: Iterable[StorageKind] = _parts().STORAGE
    return kinds


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


@hookimpl
def pressroom_site_connectors(plugin: PluginContext) -> Iterable[SiteConnector]:
    """Offer built-in sites."""
    return [_parts().builtin_connector(plugin)]


def _parts() -> ModuleType:
    from pressroom_content import parts  # noqa: PLC0415 - SQLAlchemy and the parsers load once the plugin is used

    return parts
