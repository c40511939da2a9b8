"""An authorization server without HTTP, with a clock set by the test."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pressroom.accounts.records import AccessChoice
from pressroom.accounts.service import AccountServices
from pressroom.columns import new_secret
from pressroom.config import Settings
from pressroom.errors import Rejected
from pressroom.oauth.metadata import check_metadata
from pressroom.oauth.records import AuthorizationRequest, Client, CodeExchange, TokenSet
from pressroom.oauth.service import AuthorizationServer
from pressroom.sdk import Credentials, Identity
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import CodeRow, ConnectionRow, RefreshTokenRow, TokenFamilyRow
from sqlalchemy import func, select

from support.oauth import LOOPBACK, challenge_of

SECRET = b"a secret key for tests, long enough"


class MovingClock:
    """Returns the time set by the test."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **duration: float) -> None:
        self.now += timedelta(**duration)


@dataclass
class World:
    """A server, and the operations of tests on it."""

    settings: Settings
    database: SqlDatabase
    clock: MovingClock
    accounts: AccountServices
    server: AuthorizationServer

    async def user(self) -> str:
        """Return the id of a new account."""
        return (await self.accounts.users.add(f"{secrets.token_hex(6)}@example.com")).id

    async def client(self, **metadata: Any) -> Client:
        """Return a new client: a public one, unless `metadata` overrides it."""
        default = {
            "client_name": f"Client {secrets.token_hex(4)}",
            "redirect_uris": [LOOPBACK],
            "token_endpoint_auth_method": "none",
        }
        registered = await self.server.clients.register(check_metadata({**default, **metadata}), "192.0.2.1")
        return registered.client

    async def approve(self, user_id: str, client: Client, choice: AccessChoice | None = None) -> CodeExchange:
        """Have a user approve a client, and return a valid token request."""
        verifier = new_secret()
        request = AuthorizationRequest(
            client=client,
            redirect_uri=client.redirect_uris[0],
            redirect_uri_sent=True,
            state="",
            scope="mcp",
            resource=self.server.urls.resource,
            code_challenge=challenge_of(verifier),
        )
        code = await self.server.grants.approve(user_id, request, choice)
        return CodeExchange(code, client.redirect_uris[0], verifier)

    async def connect(self, user_id: str, client: Client, choice: AccessChoice | None = None) -> TokenSet:
        """Approve a client and exchange the code."""
        return await self.server.exchange_code(client, await self.approve(user_id, client, choice), [])

    async def identity(self, token: str) -> Identity | None:
        """Return whom an access token identifies, or `None` for other bearer tokens. Raises `Rejected`."""
        return await self.server.authenticate(Credentials(bearer=token, client_ip="192.0.2.1", headers={}))

    async def is_valid(self, token: str) -> bool:
        """Return whether an access token identifies somebody."""
        try:
            return await self.identity(token) is not None
        except Rejected:
            return False

    async def count(self, *tables: type[CodeRow | RefreshTokenRow | TokenFamilyRow | ConnectionRow]) -> list[int]:
        """Return the number of rows of each table."""
        async with self.database.reading() as session:
            return [await session.scalar(select(func.count()).select_from(table)) or 0 for table in tables]


MakeWorld = Callable[..., World]
"""Creates a server from the server's secret and members of `[oauth]`."""


def world_on(database: SqlDatabase, settings: Settings, clock: MovingClock, secret: bytes, **oauth: Any) -> World:
    """Return a server on a database; keyword arguments are members of `[oauth]`."""
    # The credential cache does not use the test's clock: turn it off.
    auth = settings.auth.model_copy(update={"cache": 0.0})
    settings = settings.model_copy(update={"oauth": settings.oauth.model_copy(update=oauth), "auth": auth})
    accounts = AccountServices(settings, database)
    return World(
        settings, database, clock, accounts, AuthorizationServer(settings, database, accounts, secret, clock=clock)
    )
