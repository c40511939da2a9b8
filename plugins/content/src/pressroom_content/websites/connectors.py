"""The platforms that websites can be connected on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pressroom.sdk import InvalidInput, PluginContext

from pressroom_content.contract import SiteConnector

PLATFORMS: Final = (
    "builtin",
    "wordpress",
    "ghost",
    "git",
    "webhook",
    "devto",
    "wagtail",
    "strapi",
    "directus",
    "webflow",
    "shopify",
    "contentful",
    "hashnode",
)
"""Every platform that has a name; on one server there are those whose connector is installed."""

BUILTIN: Final = "builtin"


def connectors(plugin: PluginContext) -> Mapping[str, SiteConnector]:
    """Return the connectors of this server by their platform: our own, then others' in the order of plugin ids."""
    from pressroom_content.builtin_site.connector import builtin_connector  # noqa: PLC0415 - it needs this module

    found = {BUILTIN: builtin_connector(plugin)}
    for _, connector in sorted(plugin.extensions.of("pressroom_site_connectors"), key=lambda pair: pair[0]):
        found.setdefault(connector.platform, connector)
    return found


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
