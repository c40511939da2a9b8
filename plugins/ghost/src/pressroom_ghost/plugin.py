"""The Ghost plugin: registers the connector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pressroom.sdk import Plugin, hookimpl

PLUGIN = Plugin(id="ghost", api="1", title="Ghost", summary="Publishes articles on Ghost sites.", requires=("content",))


@hookimpl
def pressroom_site_connectors() -> Iterable[Any]:
    """Register the connector."""
    from pressroom_ghost.connector import CONNECTOR  # noqa: PLC0415 - loads when a website is first used

    return [CONNECTOR]
