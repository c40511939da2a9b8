"""Connecting a website with a credential that a user entered, after checking it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pressroom.sdk import BackendError, CallError, InvalidInput, PluginContext, PluginError, Rejected
from pressroom_content.contract import CheckSite, ControlNotProven, CredentialField, Website

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.connecting.ownership import check_property, require_owner
from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.figures.fetching import wake
from pressroom_search_performance.host import analytics_of, redirect_uri_of, sources_of
from pressroom_search_performance.sources import google
from pressroom_search_performance.sources.credentials import check_key_file
from pressroom_search_performance.sources.google_auth import OAuthClient, redirect_problem

_MAX_LENGTHS: dict[str, int] = {"service_account": 8192}
_DEFAULT_MAX_LENGTH = 2048
_KEY_SECONDS = 10.0
_CHECK_SECONDS: Final = 50.0
"""Timeout for a source to check a credential, in seconds, while the user waits."""

_VISITS = "Visits by page, source, country, device and date, fetched on demand."


@dataclass(frozen=True, slots=True)
class Offer:
    """A source that websites can be connected to. If `fetched`, its figures are fetched nightly, else queried live.

    `label` is the source's term for a site's identifier; `summary` describes its data. `operators` means that the
    operator's credential can be used, and `account` is the e-mail address of that credential's account. `signs_in`
    means that users can sign in at the source instead of entering a credential.
    """

    name: str
    title: str
    hint: str
    fields: tuple[CredentialField, ...]
    check: CheckSite | None
    label: str = "Property"
    summary: str = ""
    fetched: bool = True
    operators: bool = False
    account: str = ""
    signs_in: bool = False


def offers(plugin: PluginContext[SearchPerformanceConfig]) -> Mapping[str, Offer]:
    """Return the sources of this server by name: those of search figures first, then analytics."""
    account = plugin.config.google_service_account
    email = ""
    if account is not None:
        # Parsing the private key is slow, and the configuration was validated when it was loaded.
        email = json.loads(account.get_secret_value())["client_email"]
    offers_by_name = {}
    for name, source in sorted(sources_of(plugin).items(), key=lambda entry: (entry[0] != google.NAME, entry[0])):
        operators = (name == google.NAME and bool(email)) or not source.fields
        offers_by_name[name] = Offer(
            name,
            source.title,
            source.site_hint,
            source.fields,
            source.check,
            summary="Clicks, impressions and positions in search, fetched every night.",
            operators=operators,
            account=email if name == google.NAME else "",
            signs_in=name == google.NAME and can_sign_in(plugin),
        )
    for kind in analytics_of(plugin).values():
        offers_by_name.setdefault(
            kind.name,
            Offer(kind.name, kind.title, kind.hint, kind.fields, kind.check, kind.label, _VISITS, fetched=False),
        )
    return offers_by_name


def can_sign_in(plugin: PluginContext[SearchPerformanceConfig]) -> bool:
    """Return whether users can sign in with Google: there is an OAuth client, and Google accepts the redirect URI."""
    return OAuthClient.of(plugin.config) is not None and not redirect_problem(redirect_uri_of(plugin))


async def connect(
    plugin: PluginContext[SearchPerformanceConfig],
    user_id: str,
    website: Website,
    offer: Offer,
    typed: Mapping[str, str],
) -> SourceConnection:
    """Check the input, store the connection, and schedule a fetch of its figures.

    Raises:
        InvalidInput: a field is invalid, the property is another site's, the source denies access, or the operator's
            credential would be used for a website that has not proven control of its URL.
    """
    site_url = " ".join(typed.get("property", "").split())
    if not site_url or len(site_url) > _DEFAULT_MAX_LENGTH or not site_url.isprintable():
        raise InvalidInput("property", f"must be given as {offer.title} names the site")
    credential = _credential(offer, typed)
    if offer.name == google.NAME and "service_account" in credential:
        await _check_key(plugin, user_id, credential["service_account"])
    return await connect_with(plugin, user_id, website, offer, site_url, credential)


async def connect_with(
    plugin: PluginContext[SearchPerformanceConfig],
    user_id: str,
    website: Website,
    offer: Offer,
    site_url: str,
    credential: Mapping[str, str],
) -> SourceConnection:
    """Check a credential whose fields are valid, store it, and schedule a fetch. If empty, use the operator's.

    Raises `InvalidInput` as `connect` does.
    """
    if offer.fetched:
        check_property(site_url, website.url, operators=not credential, hint=offer.hint)
        if not credential:
            await _check_owner(plugin, user_id, website, site_url)
    if offer.check is not None:
        operation, seconds = f"check of {offer.name}", min(_CHECK_SECONDS, plugin.config.source_seconds)
        try:
            with plugin.extensions.calling(operation, passes=(Exception,), private=True, seconds=seconds):
                await offer.check(site_url, credential, plugin.services.fetcher)
        except (Rejected, BackendError) as error:
            raise InvalidInput("", error.message) from None
        except PluginError as error:
            if isinstance(error.__cause__, TimeoutError):
                raise InvalidInput("", f"{offer.title} did not respond within {seconds:g} s") from error
            raise
    connection = await SourceConnections(plugin).connect(
        user_id, website.id, offer.name, site_url=site_url, credential=credential, fetched=offer.fetched
    )
    if connection.due_at is not None:
        await wake(plugin, connection.id, user_id, connection.due_at)
    return connection


async def _check_owner(
    plugin: PluginContext[SearchPerformanceConfig], user_id: str, website: Website, site_url: str
) -> None:
    try:
        await require_owner(plugin, user_id, website.id, site_url)
    except ControlNotProven as error:
        raise InvalidInput("", f"{error.message} Or enter a credential of your own.") from None


async def _check_key(plugin: PluginContext[SearchPerformanceConfig], user_id: str, text: str) -> None:
    run = plugin.services.workers.run
    try:
        await run(check_key_file, text, owner=user_id, what="the key", seconds=_KEY_SECONDS)
    except CallError as error:
        if error.code != "timeout":
            raise
        problem = "has a private key that takes too long to check; those of Google do not"
        raise InvalidInput("service_account", problem) from None


def _credential(offer: Offer, typed: Mapping[str, str]) -> Mapping[str, str]:
    credential = {field.name: typed.get(field.name, "").strip() for field in offer.fields}
    credential = {name: value for name, value in credential.items() if value}
    if not credential and offer.operators:
        return {}
    for field in offer.fields:
        value = credential.get(field.name, "")
        if field.required and not value:
            raise InvalidInput(field.name, "is required")
        if len(value) > _MAX_LENGTHS.get(field.name, _DEFAULT_MAX_LENGTH):
            raise InvalidInput(field.name, "is too long")
        if value and field.pattern and not re.fullmatch(field.pattern, value):
            raise InvalidInput(field.name, f"does not have the expected format. {field.hint}")
    if offer.name == google.NAME:
        _check_google(credential)
    return credential


def _check_google(credential: Mapping[str, str]) -> None:
    if "service_account" in credential:
        return
    missing = [name for name in ("client_id", "client_secret", "refresh_token") if name not in credential]
    if len(missing) == 3:
        raise InvalidInput("service_account", "is required unless all three fields of a refresh token are filled in")
    if missing:
        raise InvalidInput(missing[0], "is required: a refresh token works with its client only")
