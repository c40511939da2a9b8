"""The plugin with the connector for WordPress."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pressroom.sdk import Plugin, hookimpl

PLUGIN = Plugin(
    id="wordpress",
    api="1",
    title="WordPress",
    summary="Publishes articles on WordPress sites.",
    requires=("content",),
)


@hookimpl
def pressroom_site_connectors() -> Iterable[Any]:
    """Register the platform."""
    from pressroom_wordpress.connector import CONNECTOR  # noqa: PLC0415 - loads only when a website needs it

    return [CONNECTOR]
