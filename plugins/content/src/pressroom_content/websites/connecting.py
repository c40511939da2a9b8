"""Connecting a site: the links that people open to do so, and live checks of the site and its credential."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

import structlog
from pressroom.columns import hash_of, new_id, new_secret
from pressroom.sdk import CallError, Forbidden, InvalidInput, NotFound, PluginContext
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.config import ContentConfig
from pressroom_content.contract import (
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    CredentialField,
    SiteConnector,
    SiteError,
    SiteInfo,
    SiteRejected,
    SiteUnavailable,
)
from pressroom_content.contract.control import is_on_this_server, url_key
from pressroom_content.records import Website
from pressroom_content.tables import ConnectRow
from pressroom_content.vault import Vault
from pressroom_content.websites.bounded_site import open_site
from pressroom_content.websites.connectors import connector_of, connectors
from pressroom_content.websites.domains import Domains
from pressroom_content.websites.store import Websites

_MAX_OPEN = 50
_KEEP_EXPIRED = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Connect:
    """A temporary link to connect a site. `website_id` is the website whose credential it renews."""

    id: str
    user_id: str
    platform: str
    url: str
    name: str
    website_id: str | None
    expires_at: datetime
    used: bool


class ConnectionLinks:
    """Creates links, and processes the forms submitted on them."""

    def __init__(self, plugin: PluginContext[ContentConfig]) -> None:
        self._plugin = plugin
        self._database = plugin.services.database

    async def begin(
        self, user_id: str, platform: str, *, url: str = "", name: str = "", website_id: str | None = None
    ) -> tuple[str, datetime]:
        """Create a link, and return its URL and expiry time.

        Raises:
            InvalidInput: the platform is unknown, the URL is invalid or this server's, or the account has reached its
                limit of websites or open links.
        """
        connector = connector_of(self._plugin, platform)
        url = await self._website_url(url) if url and connector.needs_url else ""
        if website_id is None and await Websites(self._plugin).count(user_id) >= self._plugin.config.max_websites:
            raise InvalidInput(
                "",
                f"this account has {self._plugin.config.max_websites} websites, the maximum; disconnect one first",
            )
        now, token = datetime.now(UTC), new_secret()
        expires_at = now + timedelta(minutes=self._plugin.config.connect_minutes)
        row = ConnectRow(
            token_hash=hash_of(token),
            id=new_id("c"),
            user_id=user_id,
            platform=platform,
            url=url,
            name=name.strip()[:200],
            website_id=website_id,
            created_at=now,
            expires_at=expires_at,
        )
        async with self._database.writing() as session:
            await session.execute(delete(ConnectRow).where(ConnectRow.expires_at < now - _KEEP_EXPIRED))
            query = select(func.count()).where(ConnectRow.user_id == user_id, ConnectRow.expires_at > now)
            if int(await session.scalar(query) or 0) >= _MAX_OPEN:
                raise InvalidInput("", f"{_MAX_OPEN} links to connect sites are already open; use one, or wait")
            session.add(row)
        return f"{self._plugin.base_url}/dashboard/connect/{token}", expires_at

    async def open(self, token: str, user_id: str) -> Connect:
        """Return the link of a token, for the account that created it.

        Raises:
            NotFound: the link does not exist or has expired.
            Forbidden: another account created it.
        """
        async with self._database.reading() as session:
            row = await session.get(ConnectRow, hash_of(token))
        if row is None or row.expires_at <= datetime.now(UTC):
            raise NotFound("This link has expired, or is not from this server. Ask your AI client for a new one.")
        if row.user_id != user_id:
            raise Forbidden("This link was created by another account. Sign in with that account to connect the site.")
        return Connect(
            row.id,
            row.user_id,
            row.platform,
            row.url,
            row.name,
            row.website_id,
            row.expires_at,
            row.used_at is not None,
        )

    async def remember(self, token: str, *, url: str, name: str) -> None:
        """Save the form's values until the site redirects the user back."""
        change = update(ConnectRow).where(ConnectRow.token_hash == hash_of(token))
        async with self._database.writing() as session:
            await session.execute(change.values(url=url, name=name.strip()[:200]))

    def connector(self, connect: Connect) -> SiteConnector:
        """Return the connector of the link's platform. Raises `InvalidInput` if it is not installed."""
        return connector_of(self._plugin, connect.platform)

    async def finish(
        self, token: str, connect: Connect, *, url: str, name: str, credential: Mapping[str, str]
    ) -> tuple[Website | None, ConnectionReport]:
        """Check a credential at the site and, if the check passes, store it and mark the link as used.

        Raises:
            NotFound: the link was used, or the website disconnected, in the meantime.
            InvalidInput: a field is missing or wrong, or the account has reached its limit of websites.
        """
        connector = self.connector(connect)
        url = await self._website_url(url) if connector.needs_url else ""
        values = read_fields(connector.fields, credential)
        info = SiteInfo(connect.website_id or new_id("w"), connect.user_id, name, url)
        finding = await check_credential(self._plugin, connector, info, values)
        if not finding.ok:
            return None, finding
        websites = Websites(self._plugin)

        async def use(session: AsyncSession) -> None:
            await self._use(session, token)

        if connect.website_id is not None:
            reconnected = await websites.reconnect(
                connect.user_id, connect.website_id, credential=values, url=url, finding=finding, together=use
            )
            return reconnected, finding
        created = await websites.add(
            connect.user_id,
            connect.platform,
            name=name.strip() or finding.name or urlsplit(url).netloc or connector.title,
            url=url,
            credential=values,
            finding=finding,
            website_id=info.id,
            together=use,
        )
        return created, finding

    async def _website_url(self, typed: str) -> str:
        url = website_url(typed)
        is_own = is_on_this_server(url, self._plugin.base_url)
        if is_own or await Domains(self._plugin).site_path_of(url) is not None:
            raise InvalidInput("url", "must not be a URL of this server: those are for built-in sites")
        return url

    async def _use(self, session: AsyncSession, token: str) -> None:
        row = await session.get(ConnectRow, hash_of(token), with_for_update=True)
        if row is None or row.used_at is not None:
            raise NotFound("This link was already used. Your websites show the result.")
        row.used_at = datetime.now(UTC)


def website_url(text: str) -> str:
    """Return the URL of a site without a trailing slash. `https://` may be omitted.

    Raises `InvalidInput`.
    """
    url = text.strip()
    if url and "://" not in url:
        url = f"https://{url}"
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid, parts = False, urlsplit("")
    if not valid or len(url) > 2000 or re.search(r"[\s\x00-\x1f\\]", url):
        raise InvalidInput("url", "must be the URL of a site, such as https://blog.example.com")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput("url", "must not contain a user name or password; the connect page asks for them")
    url = f"{parts.scheme}://{parts.netloc.lower()}{parts.path}".rstrip("/")
    if not url_key(url):
        raise InvalidInput("url", "must be a plain URL such as https://blog.example.com, without parts such as ..")
    return url


def read_fields(fields: tuple[CredentialField, ...], typed: Mapping[str, str]) -> dict[str, str]:
    """Return the values of a connector's form. Raises `InvalidInput` with the field's name but not its value."""
    values: dict[str, str] = {}
    for field in fields:
        value = typed.get(field.name, "").strip()
        if field.multiline:  # browsers submit line breaks as CR LF
            value = value.replace("\r\n", "\n").replace("\r", "\n")
        if not value:
            if field.required:
                raise InvalidInput(field.name, f"{field.label} is missing")
            continue
        if len(value) > 20_000 or "\0" in value:
            raise InvalidInput(field.name, f"{field.label} is too long, or no text")
        if field.options and value not in field.options:
            raise InvalidInput(field.name, f"{field.label} must be one of {', '.join(field.options)}")
        if field.pattern and not re.fullmatch(field.pattern, value):
            raise InvalidInput(field.name, f"{field.label} doesn't look right. {field.hint}".strip())
        values[field.name] = value
    return values


log = structlog.get_logger()

_CHECK_SECONDS: Final = 50.0
"""The maximum time of a connector's check, in seconds: a user waits for it."""


async def check_website(plugin: PluginContext, user_id: str, website_id: str) -> tuple[Website, ConnectionReport]:
    """Check a connected website, and store the finding. Raises `NotFound`."""
    websites = Websites(plugin)
    try:
        _, site = await websites.open(user_id, website_id)
        finding = await site.check()
    except SiteError as error:
        website = await websites.get(user_id, website_id)
        finding = failed(error, Capabilities(**{name: bool(value) for name, value in website.capabilities.items()}))
    return await websites.note_finding(user_id, website_id, finding), finding


async def check_credential(
    plugin: PluginContext, connector: SiteConnector, info: SiteInfo, credential: Mapping[str, str]
) -> ConnectionReport:
    """Check a site with a credential that is not stored yet. Errors are reported in the finding, not raised."""
    try:
        # Neither messages nor frames are logged: they may include the credential.
        called = f"platform {connector.platform}"
        with plugin.extensions.calling(called, connector, private=True, seconds=_CHECK_SECONDS):
            return await open_site(plugin, connector, info, credential).check()
    except CallError as error:
        return failed(error, connector.capabilities)
    except Exception as error:  # noqa: BLE001 - a connector may raise anything
        log.warning(
            "a connector failed while it checked a site", platform=connector.platform, kind=type(error).__name__
        )
        return failed(
            CallError("the connector failed with an internal error; see the server's log"), connector.capabilities
        )


def failed(error: CallError, capabilities: Capabilities) -> ConnectionReport:
    """Return the finding for a site that could not be checked."""
    id_ = "credential" if isinstance(error, SiteRejected) else "reachable"
    fix = error.hint or (
        "Check that the URL is right and that the site is up, then try again."
        if isinstance(error, SiteUnavailable)
        else ""
    )
    return ConnectionReport((ConnectionCheck(id_, "error", error.message, fix),), capabilities)


async def fidelity_of(plugin: PluginContext, user_id: str, website_id: str) -> Mapping[str, str]:
    """Return the constructs that a connected website does not show as written, and why. Raises `NotFound`."""
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
