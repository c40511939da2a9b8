"""The plugin: two tools for AI clients, and the table that they use."""

from __future__ import annotations

from collections.abc import Iterable

from pressroom.sdk import McpTool, Models, Plugin, hookimpl

PLUGIN = Plugin(
    id="{{ cookiecutter.plugin_id }}",
    api="1",
    title="{{ cookiecutter.title }}",
    summary="Keeps notes for AI clients.",
)


@hookimpl
def pressroom_mcp_tools() -> Iterable[McpTool]:
    """Offer the tools."""
    # Imported here, since SQLAlchemy would slow down every start of the server, and commands that don't use the table.
    from {{ cookiecutter.package }}.tools import add, list_notes

    return [add, list_notes]


@hookimpl
def pressroom_models() -> Iterable[Models]:
    """Offer the table, and the migrations that create it."""
    from {{ cookiecutter.package }}.tables import METADATA

    return [Models(METADATA, "{{ cookiecutter.package }}.migrations")]
