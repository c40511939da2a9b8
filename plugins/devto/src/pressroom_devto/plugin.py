"""The plugin with the connector for DEV."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pressroom.sdk import Plugin, PluginContext, hookimpl

from pressroom_devto.config import DevtoConfig

PLUGIN = Plugin(
    id="devto",
    api="1",
    title="DEV",
    summary="Publishes articles on DEV (dev.to).",
    config=DevtoConfig,
    requires=("content",),
)


@hookimpl
def pressroom_site_connectors(plugin: PluginContext[DevtoConfig]) -> Iterable[Any]:
    """Register the platform."""
    from pressroom_devto.site import connector  # noqa: PLC0415 - loads only when a website needs it

    return [connector(plugin.config)]
