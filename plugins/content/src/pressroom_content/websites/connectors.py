"""The platforms on which websites can be connected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pressroom.sdk import InvalidInput, PluginContext

from pressroom_content.contract import BUILTIN, SiteConnector, TermKind, site_connectors

ABILITIES: Final[Mapping[str, str]] = {
    "draft": "drafts",
    "schedule": "scheduling",
    "update": "updates",
    "unpublish": "unpublishing",
    "delete": "deleting posts",
    "tags": "tags",
    "categories": "categories",
    "canonical": "canonical URLs",
    "featured_image": "featured images",
    "upload": "image uploads",
    "seo_meta": "SEO titles and descriptions",
    "redirects": "redirects",
    "import_posts": "reading existing posts",
}
"""Display names of the capabilities in `contract.Capabilities`."""

_KINDS: Final[Mapping[TermKind, str]] = {
    "category": "categories",
    "tag": "tags",
    "author": "authors",
    "blog": "blogs",
    "collection": "collections",
}


def connectors(plugin: PluginContext) -> Mapping[str, SiteConnector]:
    """Return the connectors of this server by platform: the built-in one first, then the others by name."""
    offered = [connector for _, connector in site_connectors(plugin)]
    in_order = sorted(offered, key=lambda connector: (connector.platform != BUILTIN, connector.platform))
    return {connector.platform: connector for connector in in_order}


def connector_of(plugin: PluginContext, platform: str) -> SiteConnector:
    """Return the connector of a platform. Raises `InvalidInput`, which lists the available platforms."""
    available = connectors(plugin)
    if platform in available:
        return available[platform]
    raise InvalidInput(
        "platform",
        f"this server has no connector for {platform}; it has {', '.join(available)}. The operator can install others "
        "as plugins",
    )


def term_kinds(plugin: PluginContext) -> Sequence[TermKind]:
    """Return the kinds of terms that at least one platform of this server can list."""
    known = {kind for connector in connectors(plugin).values() for kind in connector.term_kinds}
    return [kind for kind in _KINDS if kind in known]


def require_term_kind(plugin: PluginContext, platform: str, kind: TermKind) -> None:
    """Reject a kind of terms that a platform cannot list. Raises `InvalidInput`, which lists the supported kinds."""
    connector = connector_of(plugin, platform)
    if kind in connector.term_kinds:
        return
    if not connector.term_kinds:
        raise InvalidInput(
            "website_id",
            f"{connector.title} cannot be asked which terms it has; name them in tags and categories of create_content",
        )
    raise InvalidInput("kind", f"{connector.title} has no {_KINDS[kind]}; use {' or '.join(connector.term_kinds)}")
