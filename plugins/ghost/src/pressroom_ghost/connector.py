"""What Ghost is to the content plugin."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pressroom.sdk import Fetcher
from pressroom_content.contract import CredentialField, SiteAddress, SiteConnector

from pressroom_ghost.site import CAPABILITIES, GhostSite

FIDELITY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "task_lists": "converted: boxes are characters",
        "details": "converted: a toggle of Ghost",
    }
)
"""What readers on Ghost do not get as it was written. The tests of fidelity write it."""


def open_site(address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> GhostSite:
    """Return a Ghost site; nothing is sent yet."""
    return GhostSite(address, credential, fetcher)


CONNECTOR: Final = SiteConnector(
    platform="ghost",
    title="Ghost",
    summary="A Ghost site, through its Admin API.",
    open=open_site,
    capabilities=CAPABILITIES,
    proves_control=True,
    term_kinds=("tag", "author"),
    fields=(
        CredentialField(
            "admin_api_key",
            "Admin API key",
            "From Ghost Admin, Settings, Integrations, Add custom integration. It contains a colon.",
            pattern=r"[0-9a-fA-F]{24}:[0-9a-fA-F]{64}",
        ),
    ),
    fidelity=FIDELITY,
)
