"""Bookmarks: two tools for AI clients and a page for people, with a table in the server's database."""

from __future__ import annotations

from pressroom.sdk import (
    DashboardPage,
    Instructions,
    McpTool,
    Models,
    Plugin,
    PluginContext,
    Route,
    StorageKind,
    hookimpl,
)

PLUGIN = Plugin(id="bookmarks", api="1", title="Bookmarks", summary="Keeps links for people and AI clients.")

# Every server imports this module when it starts: SQLAlchemy waits until somebody needs it.


@hookimpl
def pressroom_models() -> list[Models]:
    """Keep a table."""
    from bookmarks.tables import METADATA

    return [Models(METADATA, "bookmarks.migrations")]


@hookimpl
def pressroom_mcp_tools() -> list[McpTool]:
    """Offer the tools."""
    from bookmarks.tools import bookmark_page, list_bookmarks

    return [bookmark_page, list_bookmarks]


@hookimpl
def pressroom_mcp_instructions() -> list[Instructions]:
    """Say how the tools go together."""
    return [Instructions("Keep a page with bookmark_page when somebody wants to come back to it.")]


@hookimpl
def pressroom_routes(plugin: PluginContext) -> list[Route]:
    """Show the bookmarks in the dashboard."""
    from bookmarks.pages import BookmarkPages

    pages = BookmarkPages(plugin)
    return [Route("/dashboard/bookmarks", pages.show, ("GET", "POST"), DashboardPage("Bookmarks"))]


@hookimpl
def pressroom_storage() -> list[StorageKind]:
    """Count the bookmarks against the bound of the account's plan."""
    from bookmarks.tables import measure

    return [StorageKind("bookmarks", "bookmarks", measure, advice="delete bookmarks at /dashboard/bookmarks")]
