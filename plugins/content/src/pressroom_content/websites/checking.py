"""What a website can do: live checks of the site and its credential, and what its readers do not get as written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import structlog
from pressroom.sdk import CallError, PluginContext

from pressroom_content.contract import (
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    SiteAddress,
    SiteConnector,
    SiteError,
    SiteRejected,
    SiteUnavailable,
    WorkingSite,
)
from pressroom_content.records import Website
from pressroom_content.vault import Vault
from pressroom_content.websites.connectors import connectors
from pressroom_content.websites.store import Websites

log = structlog.get_logger()

_CHECK_SECONDS: Final = 50.0
"""How long a connector may take to check a site; somebody waits for it."""


async def check_website(plugin: PluginContext, user_id: str, website_id: str) -> tuple[Website, ConnectionReport]:
    """Check a connected website, and keep what was found. Raises `NotFound`."""
    websites = Websites(plugin)
    try:
        _, site = await websites.open(user_id, website_id)
        finding = await site.check()
    except SiteError as error:
        website = await websites.get(user_id, website_id)
        finding = failed(error, Capabilities(**{name: bool(value) for name, value in website.capabilities.items()}))
    return await websites.note_finding(user_id, website_id, finding), finding


async def check_credential(
    plugin: PluginContext, connector: SiteConnector, address: SiteAddress, credential: Mapping[str, str]
) -> ConnectionReport:
    """Check a site with a credential that is not stored yet. Whatever goes wrong is a point of the finding."""
    try:
        # Neither messages nor frames are logged: they may hold the credential.
        called = f"platform {connector.platform}"
        with plugin.extensions.calling(called, connector, private=True, seconds=_CHECK_SECONDS):
            site = connector.open(address, credential, plugin.services.fetcher)
            if isinstance(site, WorkingSite):
                site.workers = plugin.services.workers
            return await site.check()
    except CallError as error:
        return failed(error, connector.capabilities)
    except Exception as error:  # noqa: BLE001 - a connector may raise anything
        log.warning(
            "a connector failed while it checked a site", platform=connector.platform, kind=type(error).__name__
        )
        return failed(CallError("the connector failed inside; the server's log has more"), connector.capabilities)


def failed(error: CallError, capabilities: Capabilities) -> ConnectionReport:
    """Return the finding for a site that could not be looked at."""
    id_ = "credential" if isinstance(error, SiteRejected) else "reachable"
    fix = error.hint or (
        "Check that the URL is right and that the site is up, then try again."
        if isinstance(error, SiteUnavailable)
        else ""
    )
    return ConnectionReport((ConnectionCheck(id_, "error", error.message, fix),), capabilities)


async def fidelity_of(plugin: PluginContext, user_id: str, website_id: str) -> Mapping[str, str]:
    """Return what readers of a connected website do not get as it was written, by construct. Raises `NotFound`."""
    async with plugin.services.database.reading() as session:
        website, sealed = await Websites(plugin).sealed(session, user_id, website_id)
    connector = connectors(plugin).get(website.platform)
    if connector is None:
        return {}
    if not connector.fidelity_by or not sealed:
        return connector.fidelity
    try:
        return connector.fidelity_for(Vault.of(plugin).open(sealed, website_id))
    except SiteRejected:
        return connector.fidelity
