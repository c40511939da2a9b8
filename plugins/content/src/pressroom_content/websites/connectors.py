"""The platforms that websites can be connected on."""

from __future__ import annotations

from collections.abc import Mapping

from pressroom.sdk import InvalidInput, PluginContext

from pressroom_content.contract import BUILTIN, SiteConnector


def connectors(plugin: PluginContext) -> Mapping[str, SiteConnector]:
    """Return the connectors of this server by their platform: our own first, then the others by name."""
    offered = [connector for _, connector in plugin.extensions.of("pressroom_site_connectors")]
    in_order = sorted(offered, key=lambda one: (one.platform != BUILTIN, one.platform))
    return {connector.platform: connector for connector in in_order}


def connector_of(plugin: PluginContext, platform: str) -> SiteConnector:
    """Return the connector of a platform. Raises `InvalidInput`, which says which ones there are."""
    found = connectors(plugin)
    if platform in found:
        return found[platform]
    raise InvalidInput(
        "platform",
        f"this server has no connector for {platform}; it has {', '.join(found)}. The operator can install others "
        "as plugins",
    )
