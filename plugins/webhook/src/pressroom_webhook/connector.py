"""What webhooks are to the content plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pressroom.sdk import Fetcher
from pressroom_content.contract import CredentialField, SiteAddress, SiteConnector

from pressroom_webhook.fidelity import FIDELITY
from pressroom_webhook.site import CAPABILITIES, WebhookSite


def open_site(address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> WebhookSite:
    """Return a receiver of webhooks; nothing is sent yet."""
    return WebhookSite(address, credential, fetcher)


CONNECTOR: Final = SiteConnector(
    platform="webhook",
    title="Webhook",
    summary="A program of your own that takes signed webhooks. The URL of the website is where readers see posts.",
    open=open_site,
    capabilities=CAPABILITIES,
    fields=(
        CredentialField(
            "endpoint",
            "URL of the receiver",
            "Where events are sent to, such as https://example.com/hooks/pressroom.",
            pattern=r"https?://[^\s\\#]{1,2000}",
        ),
        CredentialField(
            "secret",
            "Signing secret",
            "whsec_ and the base64 of 24 to 64 random bytes. The receiver verifies signatures with it.",
            pattern=r"whsec_[A-Za-z0-9+/]{32,86}={0,2}",
        ),
    ),
    fidelity=FIDELITY,
)
