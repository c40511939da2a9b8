"""The git plugin: registers the connector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pressroom.sdk import Plugin, PluginContext, hookimpl

from pressroom_git.config import GitConfig

PLUGIN = Plugin(
    id="git",
    api="1",
    title="Git",
    summary="Publishes articles in git repositories of Hugo, Jekyll and Astro sites.",
    config=GitConfig,
    requires=("content",),
)


@hookimpl
def pressroom_site_connectors(plugin: PluginContext[GitConfig]) -> Iterable[Any]:
    """Register the connector."""
    from pressroom_git.connector import connector  # noqa: PLC0415 - loads dulwich and YAML when a website is first used

    return [connector(plugin.config)]
