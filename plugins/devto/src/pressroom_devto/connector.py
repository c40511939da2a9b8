"""What DEV is to the content plugin."""

from __future__ import annotations

from collections.abc import Mapping

from pressroom.sdk import Fetcher
from pressroom_content.contract import CredentialField, Site, SiteAddress, SiteConnector

from pressroom_devto.config import DevtoConfig
from pressroom_devto.pacing import PacedFetcher, Paces
from pressroom_devto.site import CAPABILITIES, DevtoSite


def connector(config: DevtoConfig) -> SiteConnector:
    """Return the connector for the API that the operator named."""
    paces = Paces(config.write_interval)

    def open_site(address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> Site:
        del address
        key = credential.get("api_key", "")
        return DevtoSite(config.api_url, key, PacedFetcher(fetcher, paces.of(key)))

    return SiteConnector(
        platform="devto",
        title="DEV",
        summary="Posts of an account on DEV (dev.to), over Forem's API.",
        open=open_site,
        capabilities=CAPABILITIES,
        fields=(
            CredentialField(
                "api_key",
                "API key",
                "On dev.to under Settings, Extensions, DEV Community API Keys.",
                pattern=r"[A-Za-z0-9_-]{10,100}",
            ),
        ),
        needs_url=False,
        term_kinds=("tag",),
        markdown=True,
        proves_control=True,
    )
