"""The authorization server as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pressroom.accounts.credential_cache import cache_key
from pressroom.accounts.periodic import PeriodicTask
from pressroom.accounts.service import AccountServices
from pressroom.config.models import Settings
from pressroom.errors import Rejected, UnauthorizedClient
from pressroom.fetch import GuardedFetcher
from pressroom.oauth.access_tokens import LIFETIME, AccessToken, AccessTokens, SigningKeys, TokenInvalid
from pressroom.oauth.clients import ClientDocuments, Clients
from pressroom.oauth.grants import Grants, TokenGrant
from pressroom.oauth.records import REFRESH_TOKEN, Client, Clock, CodeExchange, EndpointUrls, TokenSet, utc_now
from pressroom.oauth.requests import requested_scope
from pressroom.sdk import Credentials, Identity
from pressroom.storage.database import SqlDatabase

PRUNE_SECONDS: Final = 600.0


class AuthorizationServer:
    """Issues and verifies access tokens for the MCP endpoint.

    A signing key is loaded before a code or refresh token is used up. If signing failed afterwards, the client's retry
    would count as reuse and revoke the grant.

    `clients` registers and finds clients, `documents` fetches client metadata documents (`None` if the operator
    disabled them), `grants` stores approvals, `keys` holds the signing keys, and `urls` the URLs that clients
    compare.

    Args:
        settings: The server's settings.
        database: Stores all data.
        accounts: The accounts of the people who approve.
        secret: The server's secret key.
        clock: Returns the current time.
        fetcher: Fetches metadata documents; by default from public hosts only.
    """

    def __init__(
        self,
        settings: Settings,
        database: SqlDatabase,
        accounts: AccountServices,
        secret: bytes,
        *,
        clock: Clock = utc_now,
        fetcher: GuardedFetcher | None = None,
    ) -> None:
        oauth, prefix = settings.oauth, settings.auth.prefix
        self.urls = EndpointUrls(settings.public_url)
        self.clients = Clients(database, oauth.unused_client_lifetime, clock=clock)
        self.grants = Grants(database, accounts, prefix, oauth.refresh_grace, clock=clock)
        self.keys = SigningKeys(database, secret, oauth.key_lifetime, LIFETIME, clock=clock)
        self._fetcher = (fetcher or GuardedFetcher()) if oauth.client_metadata_documents else None
        self.documents = ClientDocuments(self.clients, self._fetcher, clock=clock) if self._fetcher else None
        self._tokens = AccessTokens(prefix, self.urls, self.keys, clock=clock)
        self._accounts = accounts
        self._clock = clock
        self._enabled = oauth.enabled
        self._pruner = PeriodicTask(
            "removing what expired of OAuth", PRUNE_SECONDS, self.prune, end_after=PRUNE_SECONDS / 6
        )

    async def open(self) -> None:
        """Ensure that there is a signing key, and start the periodic deletion of expired rows."""
        if self._fetcher is not None:
            await self._fetcher.open()
        if self._enabled:
            await self.keys.current()
            self._pruner.start()

    async def close(self) -> None:
        """Stop the background tasks."""
        await self._pruner.stop()
        if self._fetcher is not None:
            await self._fetcher.close()

    async def exchange_code(self, client: Client, request: CodeExchange, resources: Sequence[str]) -> TokenSet:
        """Handle a token request with an authorization code.

        Raises:
            InvalidGrant: The code is not valid, or does not belong to this request.
            InvalidTarget: The request is for another resource.
        """
        self.urls.audience(resources)
        await self.keys.current()
        return await self._tokens_for(await self.grants.exchange(client, request))

    async def refresh(self, client: Client, token: str, scope: str, resources: Sequence[str]) -> TokenSet:
        """Handle a token request with a refresh token. `scope` is the narrowed scope, or empty.

        Raises:
            UnauthorizedClient: The client registered without this grant type.
            InvalidGrant: The token is not valid.
            InvalidScope: The scope exceeds what was approved.
            InvalidTarget: The request is for another resource.
        """
        if REFRESH_TOKEN not in client.metadata.grant_types:
            raise UnauthorizedClient(f"this client registered without the grant type {REFRESH_TOKEN}")
        self.urls.audience(resources)
        requested_scope(scope)
        await self.keys.current()
        return await self._tokens_for(await self.grants.refresh(client, token, scope))

    async def revoke(self, client: Client, token: str) -> None:
        """Revoke a token family by any of its tokens (RFC 7009, section 2.1). An unknown token is not an error.

        Raises:
            InvalidGrant: The token belongs to another client.
        """
        if await self.grants.revoke_refresh_token(client, token) or not self._tokens.is_one(token):
            return
        try:
            access = await self._tokens.verify(token, expired_too=True)
        except TokenInvalid:
            return
        await self.grants.revoke_family(client, access.family_id)

    async def authenticate(self, credentials: Credentials) -> Identity | None:
        """Return the identity that an access token belongs to, or `None` if the bearer is not an access token.

        Raises:
            Rejected: The token is not valid, or was revoked.
            BackendError: The token could not be checked.
        """
        bearer = credentials.bearer
        if not self._enabled or not self._tokens.is_one(bearer):
            return None
        remembered_by = cache_key(bearer)
        identity = self._accounts.credentials.get(remembered_by)
        if identity is None:
            access = await self._verified(bearer)
            remaining = access.expires_at - self._clock().timestamp()
            identity = await self._accounts.credentials.identity(
                remembered_by, lambda: self.grants.identity(access.family_id), seconds=remaining
            )
        self._accounts.credentials.note_use(identity.connection, credentials.client_ip)
        return identity

    async def prune(self) -> None:
        """Delete expired rows. Raises `BackendError`."""
        await self.grants.prune()
        await self.clients.prune()
        await self.keys.prune()

    async def _verified(self, bearer: str) -> AccessToken:
        try:
            return await self._tokens.verify(bearer)
        except TokenInvalid as error:
            raise Rejected(str(error), reauthorize=True) from None

    async def _tokens_for(self, exchanged: TokenGrant) -> TokenSet:
        grant = exchanged.grant
        return TokenSet(await self._tokens.issue(grant), exchanged.refresh_token, LIFETIME, grant.scope)
