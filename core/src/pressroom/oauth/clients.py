"""OAuth clients, registered (RFC 7591) or described by a document at their ID's URL, and their authentication."""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
import structlog
from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError

from pressroom.columns import hash_of, new_id, new_secret
from pressroom.errors import FetchFailed, FetchRefused, InvalidClient, InvalidJson, NotFound, OAuthError, PressroomError
from pressroom.fetch import GuardedFetcher
from pressroom.oauth.metadata import check_metadata
from pressroom.oauth.records import AUTH_METHODS, AuthMethod, Client, ClientMetadata, Clock, utc_now
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import ClientRow, ConnectionRow, TokenFamilyRow
from pressroom.validation.json import parse_object

log = structlog.get_logger()

MAX_ID_LENGTH: Final = 500
_ID: Final = re.compile(rf"[\x21-\x7e]{{1,{MAX_ID_LENGTH}}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RegisteredClient:
    """A registered client. `secret` is empty for a public client; it cannot be retrieved again.

    `is_new` is false if a client with the same metadata already existed.
    """

    client: Client
    secret: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class ClientSummary:
    """A client as shown to the operator. `connections` is the number of active ones."""

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    auth_method: str
    created_at: datetime
    last_approved_at: datetime | None
    connections: int


class Clients:
    """Registers and finds clients, and deletes clients that were not approved in time."""

    def __init__(self, database: SqlDatabase, unused_lifetime: float, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._unused_lifetime = timedelta(seconds=unused_lifetime)
        self._clock = clock

    async def register(self, metadata: ClientMetadata, client_ip: str) -> RegisteredClient:
        """Register a client that sent its request from `client_ip`.

        Public clients with the same metadata share one registration: many installations of a program send the same
        metadata, and some programs register again whenever they start.
        """
        if metadata.auth_method != "none":
            secret = new_secret()
            row = _row(new_id("client"), metadata, client_ip, self._clock())
            row.secret_hash = hash_of(secret)
            async with self._database.writing() as session:
                session.add(row)
            return RegisteredClient(client_of(row), secret, is_new=True)
        renewed = await self._renewed(metadata)
        if renewed is not None:
            return RegisteredClient(renewed, "", is_new=False)
        row = _row(new_id("client"), metadata, client_ip, self._clock())
        row.metadata_hash = _hash(metadata)
        try:
            async with self._database.writing() as session:
                session.add(row)
        except IntegrityError:
            renewed = await self._renewed(metadata)
            if renewed is None:
                raise
            return RegisteredClient(renewed, "", is_new=False)
        return RegisteredClient(client_of(row), "", is_new=True)

    async def find(self, client_id: str) -> Client | None:
        """Return a client, or `None` if the ID is unknown."""
        if not _ID.fullmatch(client_id):
            return None
        async with self._database.reading() as session:
            row = await session.get(ClientRow, client_id)
        return client_of(row) if row is not None else None

    async def authenticate(self, client_id: str, secret: str) -> Client:
        """Authenticate the client that sent a token request. `secret` is empty if it sent none.

        It does not matter whether the secret came in the header or in the body.

        Raises:
            InvalidClient: The client is unknown, its secret is wrong or missing, or it is public and sent a secret.
        """
        client = await self.find(client_id)
        if client is None:
            raise InvalidClient("this client is not registered on this server; register it again")
        if client.secret_hash is None:
            if secret:
                raise InvalidClient("this client is public and has no secret; send only client_id")
        elif not secret:
            raise InvalidClient("this client has a secret, and has to send it")
        elif not hmac.compare_digest(hash_of(secret), client.secret_hash):
            raise InvalidClient("the client secret is wrong")
        return client

    async def keep_document(self, client_id: str, metadata: ClientMetadata) -> Client:
        """Store the current contents of a client's metadata document."""
        row = _row(client_id, metadata, "", self._clock())
        try:
            await self._keep(row)
        except IntegrityError:
            await self._keep(row)  # a concurrent request has just stored it
        return client_of(row)

    async def list(self) -> Sequence[ClientSummary]:
        """Return all clients, most recently approved or registered first."""
        connections = (
            select(func.count(func.distinct(TokenFamilyRow.connection_id)))
            .join(ConnectionRow, ConnectionRow.id == TokenFamilyRow.connection_id)
            .where(TokenFamilyRow.client_id == ClientRow.id, ConnectionRow.revoked_at.is_(None))
            .scalar_subquery()
        )
        newest = func.coalesce(ClientRow.last_used_at, ClientRow.created_at).desc()
        async with self._database.reading() as session:
            rows = (await session.execute(select(ClientRow, connections).order_by(newest, ClientRow.id))).all()
        return [
            ClientSummary(
                row.id, row.name, tuple(row.redirect_uris), row.auth_method, row.created_at, row.last_used_at, count
            )
            for row, count in rows
        ]

    async def revoke(self, client_id: str) -> int:
        """Delete a client with its tokens, revoke its connections, and return the number of revoked connections.

        Raises:
            NotFound: The client does not exist.
        """
        if await self.find(client_id) is None:
            raise NotFound("there is no such client", hint="`pressroom clients list` shows those that there are")
        connection_ids = select(TokenFamilyRow.connection_id).where(TokenFamilyRow.client_id == client_id)
        async with self._database.writing() as session:
            revoked = await session.execute(
                update(ConnectionRow)
                .where(ConnectionRow.id.in_(connection_ids), ConnectionRow.revoked_at.is_(None))
                .values(revoked_at=self._clock())
                .returning(ConnectionRow.id)
            )
            count = len(revoked.all())
            await session.execute(delete(ClientRow).where(ClientRow.id == client_id))
        log.info("removed an OAuth client", client=client_id, connections=count)
        return count

    async def prune(self) -> int:
        """Delete clients that were not approved in time, and return their number."""
        cutoff = self._clock() - self._unused_lifetime
        unused = delete(ClientRow).where(ClientRow.last_used_at.is_(None), ClientRow.created_at < cutoff)
        async with self._database.writing() as session:
            return len((await session.execute(unused.returning(ClientRow.id))).all())

    async def _keep(self, row: ClientRow) -> None:
        async with self._database.writing() as session:
            existing = await session.get(ClientRow, row.id, with_for_update=True)
            if existing is None:
                session.add(row)
                return
            existing.name, existing.redirect_uris = row.name, row.redirect_uris
            existing.client_metadata, existing.created_at = row.client_metadata, row.created_at

    async def _renewed(self, metadata: ClientMetadata) -> Client | None:
        """Return the public client with this metadata, or `None`. Restarts the time that it has to be approved."""
        async with self._database.writing() as session:
            row = await session.scalar(
                select(ClientRow).where(ClientRow.metadata_hash == _hash(metadata)).with_for_update()
            )
            if row is not None and row.last_used_at is None:
                row.created_at = self._clock()
        return client_of(row) if row is not None else None


def client_of(row: ClientRow) -> Client:
    """Return the client of a row."""
    stored = row.client_metadata
    metadata = ClientMetadata(
        redirect_uris=tuple(row.redirect_uris),
        auth_method=_auth_method(row.auth_method),
        grant_types=tuple(stored["grant_types"]),
        name=row.name,
        client_uri=stored["client_uri"],
        logo_uri=stored["logo_uri"],
    )
    return Client(row.id, metadata, row.secret_hash, row.created_at, row.id.startswith("https://"))


def _auth_method(text: str) -> AuthMethod:
    return next(method for method in AUTH_METHODS if method == text)


def _row(client_id: str, metadata: ClientMetadata, client_ip: str, now: datetime) -> ClientRow:
    return ClientRow(
        id=client_id,
        name=metadata.name,
        redirect_uris=list(metadata.redirect_uris),
        auth_method=metadata.auth_method,
        secret_hash=None,
        metadata_hash=None,
        client_metadata=metadata.as_stored(),
        registered_from=client_ip[:64],
        created_at=now,
        last_used_at=None,
    )


def _hash(metadata: ClientMetadata) -> bytes:
    """Return the hash that identifies a public client by its metadata, regardless of the order of redirect URIs."""
    canonical = replace(metadata, redirect_uris=tuple(sorted(metadata.redirect_uris)))
    return hash_of(orjson.dumps(canonical, option=orjson.OPT_SORT_KEYS).decode())


FRESH: Final = timedelta(hours=1)
"""How long a document is used before it is fetched again."""

_MAX_BYTES: Final = 65_536
_SECONDS: Final = 5.0
_DEPTH: Final = 16


def is_document_url(client_id: str) -> bool:
    """Return whether a client ID is the URL of a document: https with a path, in canonical form only."""
    if not client_id.startswith("https://") or len(client_id) > MAX_ID_LENGTH:
        return False
    if not client_id.isascii() or not client_id.isprintable() or any(mark in client_id for mark in " #@\\"):
        return False
    try:
        parts = urlsplit(client_id)
        port = parts.port
    except ValueError:
        return False
    dots = {".", ".."} & set(parts.path.split("/"))
    return bool(parts.hostname) and port != 0 and parts.path not in ("", "/") and not dots


class ClientDocuments:
    """Fetches metadata documents and stores the clients that they describe."""

    def __init__(self, clients: Clients, fetcher: GuardedFetcher, *, clock: Clock = utc_now) -> None:
        self._clients = clients
        self._fetcher = fetcher
        self._clock = clock

    async def known(self, client_id: str) -> Client | None:
        """Return the client of a document fetched within the last hour, or `None`."""
        client = await self._clients.find(client_id)
        return client if client is not None and self._clock() - client.created_at < FRESH else None

    async def fetch(self, client_id: str) -> Client:
        """Fetch a metadata document and return the client that it describes.

        Raises:
            InvalidClient: The document cannot be fetched, or does not describe an acceptable client with this ID.
        """
        try:
            fetched = await self._fetcher.get(
                client_id, accept="application/json", max_bytes=_MAX_BYTES, seconds=_SECONDS, redirects=0
            )
        except (FetchRefused, FetchFailed) as error:
            raise _unusable(error) from None
        if fetched.status != 200:
            raise InvalidClient(f"the client's metadata document is not there: it returned {fetched.status}")
        try:
            document = parse_object(fetched.content, max_depth=_DEPTH)
            metadata = _metadata(client_id, document)
        except (InvalidJson, OAuthError, ValueError) as error:
            raise _unusable(error) from None
        return await self._clients.keep_document(client_id, metadata)


def _metadata(client_id: str, document: dict[str, Any]) -> ClientMetadata:
    if document.get("client_id") != client_id:
        raise InvalidClient("its client_id is not the URL that it was fetched from")
    if "client_secret" in document or "client_secret_expires_at" in document:
        raise InvalidClient("it must not contain a client_secret")
    if document.get("token_endpoint_auth_method", "none") != "none":
        raise InvalidClient("its token_endpoint_auth_method must be none")
    return check_metadata({**document, "token_endpoint_auth_method": "none"})


def _unusable(error: Exception) -> InvalidClient:
    reason = error.message if isinstance(error, PressroomError) else str(error)
    return InvalidClient(f"the client's metadata document cannot be used: {reason}")
