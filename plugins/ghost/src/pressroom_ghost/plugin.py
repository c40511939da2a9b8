"""The plugin: the connector for Ghost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pressroom.sdk import Plugin, hookimpl

PLUGIN = Plugin(id="ghost", api="1", title="Ghost", summary="Publishes articles on Ghost sites.", requires=("content",))


@hookimpl
def pressroom_site_connectors() -> Iterable[Any]:
    """Offer the platform."""
    from pressroom_ghost.connector import CONNECTOR  # noqa: PLC0415 - loads once a website is asked for

    return [CONNECTOR]
