"""Connecting a website by signing in with Google: redirect, callback with a code, and choice of a property.

The state of a sign-in is in the database, so that any process can handle the callback. A `state` can be redeemed once,
and only in the browser session, by the account and for the website that started the sign-in: a callback URL obtained by
somebody else connects nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from pressroom.columns import as_id, hash_of, new_secret
from pressroom.sdk import BackendError, Forbidden, InvalidInput, Job, JobRun, NotFound, PluginContext, Rejected
from pressroom_content.contract import SiteError, Website, content_services
from sqlalchemy import Select, delete, func, select

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.connecting.connecting import can_sign_in, connect_with, offers
from pressroom_search_performance.connecting.ownership import check_property
from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.host import redirect_uri_of
from pressroom_search_performance.sources import google
from pressroom_search_performance.sources.google_auth import SIGNED_IN, ClientRefused, GrantRefused, SignInGrant
from pressroom_search_performance.tables import GoogleSignInRow, SourceConnectionRow

_LIFETIME: Final = timedelta(minutes=15)
_MAX_OPEN: Final = 50
_MAX_PROPERTIES: Final = 50
_MAX_CODE_LENGTH: Final = 4096
_MAX_EXPIRED: Final = 100
_AGAIN: Final = "Sign in with Google again"
_OVER: Final = (
    "This sign-in with Google did not start in this browser, is already over, or took longer than 15 minutes. "
    "Open the website under Search sources: it is connected, or you can sign in with Google again."
)
_DENIED: Final = (
    "Google did not let this server in: you declined, or this server's app is still being tested at Google, where only "
    f"the accounts that its operator named may sign in. {_AGAIN}, or ask the operator"
)
_SCOPE_NOT_GRANTED: Final = (
    f"the permission for Search Console was left out at Google, so nothing can be read. {_AGAIN}, and tick the box "
    "for Search Console data"
)
_TEMPORARY_ACCESS: Final = (
    "Google gave access for an hour only. Remove this server at https://myaccount.google.com/connections, then sign in "
    "with Google again"
)
_MISCONFIGURED: Final = (
    "Google refuses this server's OAuth client, or its redirect URI. Ask the operator of this server to correct it"
)

EXPIRE: Final = "search_performance.expire_sign_ins"
_EXPIRE_SECONDS: Final = 900.0

log = structlog.get_logger()


def jobs(plugin: PluginContext[SearchPerformanceConfig]) -> Sequence[Job]:
    """Return the job that deletes abandoned sign-ins."""

    async def expire(_run: JobRun) -> Mapping[str, int]:
        return {"expired": await GoogleSignIns(plugin).expire()}

    return [Job(EXPIRE, expire, every=_EXPIRE_SECONDS)]


@dataclass(frozen=True, slots=True)
class GoogleSignIn:
    """A sign-in whose user has returned from Google, and the website that it is for."""

    website_id: str
    code_verifier: str = field(repr=False)


class GoogleSignIns:
    """Sign-ins with Google. `session` identifies the user's browser session."""

    def __init__(self, plugin: PluginContext[SearchPerformanceConfig]) -> None:
        self._plugin = plugin
        self._database = plugin.services.database
        self._vault = content_services(plugin).credentials
        self._console = google.console_of(plugin.config)

    async def begin(self, user_id: str, session: str, website: Website) -> str:
        """Start a sign-in and return the Google URL to redirect the browser to.

        Raises:
            NotFound: this server does not offer signing in with Google.
            InvalidInput: the account has too many open sign-ins.
        """
        client = self._console.auth.client
        if client is None or not can_sign_in(self._plugin):
            raise NotFound("this server does not offer signing in with Google; open the page again")
        state, code_verifier = new_secret(), new_secret()
        await self._add(state, user_id, session, website.id, {"code_verifier": code_verifier})
        return client.authorization_url_for(redirect_uri_of(self._plugin), state, code_verifier)

    async def take(self, user_id: str, session: str, state: str) -> GoogleSignIn:
        """Return the sign-in of a `state` and consume it, even if the wrong session presents it.

        Raises `Forbidden` if it did not start in this session, or is already used or expired.
        """
        website_id, code_verifier = "", ""
        async with self._database.writing() as database:
            row = await database.get(GoogleSignInRow, _id_of(state), with_for_update=True)
            if row is not None:
                if (row.user_id, row.session) == (user_id, session) and row.expires_at > datetime.now(UTC):
                    website_id = row.website_id
                    code_verifier = self._opened(row.sealed, website_id).get("code_verifier", "")
                await database.delete(row)
        if not code_verifier:
            raise Forbidden(_OVER)
        return GoogleSignIn(website_id, code_verifier)

    async def finish(
        self, user_id: str, session: str, website: Website, sign_in: GoogleSignIn, response: Mapping[str, str]
    ) -> SourceConnection | None:
        """Redeem the code in Google's response, and connect the website to the property that matches it.

        Returns `None` if several match, so the user has to choose one.

        Raises:
            InvalidInput: google denied access, or no property matches; the message is for the user.
        """
        grant = await self._redeem(sign_in, response)
        if not grant.complete:
            await self.withdraw(user_id, grant.credential)
            raise InvalidInput("", _SCOPE_NOT_GRANTED)
        if not grant.credential:
            raise InvalidInput("", _TEMPORARY_ACCESS)
        try:
            fitting = await self._fitting(user_id, website, grant.credential)
            if len(fitting) == 1:
                return await self._connect(user_id, website, fitting[0], grant.credential)
        except InvalidInput:
            await self.withdraw(user_id, grant.credential)
            raise
        await self._add(new_secret(), user_id, session, website.id, grant.credential, fitting)
        return None

    async def choices(self, user_id: str, session: str, website_id: str) -> Sequence[str]:
        """Return the properties that the user can choose from; empty if there is nothing to choose."""
        row = await self._pending_choice(user_id, session, website_id)
        return _properties(row) if row is not None else ()

    async def choose(self, user_id: str, session: str, website: Website, site_url: str) -> SourceConnection:
        """Connect a website to one of the offered properties. Raises `InvalidInput`."""
        row = await self._pending_choice(user_id, session, website.id)
        if row is None:
            raise InvalidInput("", f"this sign-in is already over, or took longer than 15 minutes. {_AGAIN}")
        if site_url not in _properties(row):
            raise InvalidInput("", "choose one of the properties in the list")
        connection = await self._connect(user_id, website, site_url, self._vault.open(row.sealed, website.id))
        async with self._database.writing() as database:
            await database.execute(delete(GoogleSignInRow).where(GoogleSignInRow.id == row.id))
        return connection

    async def cancel(self, user_id: str, session: str, website_id: str) -> None:
        """Discard a sign-in that is waiting for the choice of a property. Idempotent."""
        row = await self._pending_choice(user_id, session, website_id)
        if row is not None:
            await self._forget(row)

    async def expire(self) -> int:
        """Delete expired sign-ins, and return how many there were."""
        old = select(GoogleSignInRow).where(GoogleSignInRow.expires_at <= datetime.now(UTC)).limit(_MAX_EXPIRED)
        async with self._database.reading() as database:
            rows = list(await database.scalars(old))
        for row in rows:
            await self._forget(row)
        return len(rows)

    async def signed_in_with(self, user_id: str, website_id: str) -> Mapping[str, str]:
        """Return the credential from a website's sign-in; empty if it is connected in another way."""
        statement = _connected(user_id).where(SourceConnectionRow.website_id == as_id(website_id))
        async with self._database.reading() as database:
            row = await database.scalar(statement)
        credential = self._opened(row.credential, row.website_id) if row is not None else {}
        return credential if SIGNED_IN in credential else {}

    async def withdraw(self, user_id: str, credential: Mapping[str, str]) -> None:
        """Revoke a sign-in at Google when it is no longer needed.

        Revoking would also end the account's other sign-ins, so nothing is revoked while there are any.
        """
        if SIGNED_IN in credential and not await self._has_others(user_id):
            await self._console.auth.revoke(credential, self._plugin.services.fetcher)

    async def _has_others(self, user_id: str) -> bool:
        now = datetime.now(UTC)
        waiting = select(func.count()).where(
            GoogleSignInRow.user_id == user_id, GoogleSignInRow.properties != "", GoogleSignInRow.expires_at > now
        )
        async with self._database.reading() as database:
            if await database.scalar(waiting):
                return True
            rows = list(await database.scalars(_connected(user_id)))
        return any(SIGNED_IN in self._opened(row.credential, row.website_id) for row in rows)

    async def _add(
        self,
        secret: str,
        user_id: str,
        session: str,
        website_id: str,
        sealed_fields: Mapping[str, str],
        properties: Sequence[str] = (),
    ) -> None:
        now = datetime.now(UTC)
        row = GoogleSignInRow(
            id=_id_of(secret),
            user_id=user_id,
            website_id=website_id,
            session=session,
            sealed=self._vault.seal(sealed_fields, website_id),
            properties=json.dumps(properties) if properties else "",
            expires_at=now + _LIFETIME,
        )
        statement = select(func.count()).where(GoogleSignInRow.user_id == user_id, GoogleSignInRow.expires_at > now)
        async with self._database.writing() as database:
            if int(await database.scalar(statement) or 0) >= _MAX_OPEN:
                raise InvalidInput("", f"{_MAX_OPEN} sign-ins with Google are open already; finish one, or wait")
            database.add(row)

    async def _redeem(self, sign_in: GoogleSignIn, response: Mapping[str, str]) -> SignInGrant:
        if refusal := response.get("error"):
            raise InvalidInput("", _refusal_text(refusal))
        code = response.get("code", "")
        if not code or len(code) > _MAX_CODE_LENGTH or not code.isprintable():
            raise InvalidInput("", f"Google's response is incomplete. {_AGAIN}")
        redirect_uri, fetcher = redirect_uri_of(self._plugin), self._plugin.services.fetcher
        try:
            return await self._console.auth.redeem(code, sign_in.code_verifier, redirect_uri, fetcher)
        except GrantRefused:
            raise InvalidInput("", f"Google no longer accepts its own code: it took too long. {_AGAIN}") from None
        except ClientRefused as error:
            log.warning("Google refuses the OAuth client or its redirect URI", reason=error.message)
            raise InvalidInput("", _MISCONFIGURED) from None
        except (Rejected, BackendError) as error:
            raise InvalidInput("", f"{error.message}. {_AGAIN}") from None

    async def _fitting(self, user_id: str, website: Website, credential: Mapping[str, str]) -> Sequence[str]:
        """Return the properties to choose from, at least one. Raises `InvalidInput` if none matches."""
        try:
            properties = await self._console.sites(credential, self._plugin.services.fetcher)
        except (Rejected, BackendError) as error:
            raise InvalidInput("", f"{error.message}. {_AGAIN}") from None
        fitting = fitting_properties(properties, website.url)[:_MAX_PROPERTIES]
        if not fitting:
            listed = f"it has {', '.join(sorted(properties)[:10])}" if properties else "it has none"
            raise InvalidInput(
                "",
                f"this Google account has no property in Search Console that contains {website.url}; {listed}. Sign in "
                "with another Google account, or add the website to Search Console first",
            )
        connection = (await SourceConnections(self._plugin).of(user_id, website.id)).get(google.NAME)
        # Renewing a broken connection keeps its property, and with it the stored figures.
        if connection is not None and connection.status == "error" and connection.property in fitting:
            return (connection.property,)
        return fitting

    async def _connect(
        self, user_id: str, website: Website, site_url: str, credential: Mapping[str, str]
    ) -> SourceConnection:
        offer = offers(self._plugin)[google.NAME]
        return await connect_with(self._plugin, user_id, website, offer, site_url, credential)

    async def _pending_choice(self, user_id: str, session: str, website_id: str) -> GoogleSignInRow | None:
        statement = select(GoogleSignInRow).where(
            GoogleSignInRow.user_id == user_id,
            GoogleSignInRow.session == session,
            GoogleSignInRow.website_id == as_id(website_id),
            GoogleSignInRow.properties != "",
            GoogleSignInRow.expires_at > datetime.now(UTC),
        )
        async with self._database.reading() as database:
            row: GoogleSignInRow | None = await database.scalar(
                statement.order_by(GoogleSignInRow.expires_at.desc()).limit(1)
            )
        return row

    async def _forget(self, row: GoogleSignInRow) -> None:
        async with self._database.writing() as database:
            deletion = await database.execute(delete(GoogleSignInRow).where(GoogleSignInRow.id == row.id))
        if deletion.rowcount and row.properties:
            await self.withdraw(row.user_id, self._opened(row.sealed, row.website_id))

    def _opened(self, sealed: str, website_id: str) -> Mapping[str, str]:
        """Return a credential; empty if no key decrypts it."""
        try:
            return self._vault.open(sealed, website_id)
        except SiteError:
            return {}


def fitting_properties(properties: Iterable[str], website_url: str) -> Sequence[str]:
    """Return the properties that contain a website: domain properties first, then the most specific ones."""
    fitting = []
    for name in properties:
        try:
            check_property(name, website_url, operators=False)
        except InvalidInput:
            continue
        fitting.append(name)
    return sorted(fitting, key=lambda name: (not name.startswith("sc-domain:"), -len(name), name))


def _connected(user_id: str) -> Select[SourceConnectionRow]:
    return select(SourceConnectionRow).where(
        SourceConnectionRow.user_id == user_id,
        SourceConnectionRow.source == google.NAME,
        SourceConnectionRow.credential != "",
    )


def _properties(row: GoogleSignInRow) -> Sequence[str]:
    properties: list[str] = json.loads(row.properties)
    return properties


def _id_of(secret: str) -> str:
    return hash_of(secret).hex()


def _refusal_text(error: str) -> str:
    """Return a message for the error code of an authorization response (RFC 6749, section 4.1.2.1)."""
    code = error if re.fullmatch(r"[a-z_]{1,40}", error) else "an unknown error"
    if code == "access_denied":
        return _DENIED
    if code in ("server_error", "temporarily_unavailable"):
        return f"Google is not available right now ({code}). {_AGAIN} later"
    if code in ("redirect_uri_mismatch", "invalid_client", "unauthorized_client", "invalid_request"):
        return f"{_MISCONFIGURED} ({code})"
    return f"Google refused the sign-in ({code}). {_AGAIN}, or ask the operator of this server"
