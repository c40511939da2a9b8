"""The plugin with the connector for webhooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pressroom.sdk import Plugin, hookimpl

PLUGIN = Plugin(
    id="webhook",
    api="1",
    title="Webhook",
    summary="Publishes articles to programs that accept signed webhooks.",
    requires=("content",),
)


@hookimpl
def pressroom_site_connectors() -> Iterable[Any]:
    """Register the platform."""
    from pressroom_webhook.site import CONNECTOR  # noqa: PLC0415 - loads only when a website needs it

    return [CONNECTOR]
