"""Clients whose id is the URL of a document about them (OAuth Client ID Metadata Document, Internet-Draft)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.errors import FetchFailed, FetchRefused, InvalidClient, InvalidJson, OAuthError, PressroomError
from pressroom.fetch import GuardedFetcher
from pressroom.oauth.clients import MAX_ID_LENGTH, Clients
from pressroom.oauth.metadata import check_metadata
from pressroom.oauth.records import Client, ClientMetadata, Clock, utc_now
from pressroom.validation.json import parse_object

FRESH: Final = timedelta(hours=1)
"""How long a document is believed before it is fetched again."""

_MAX_BYTES: Final = 65_536
_SECONDS: Final = 5.0
_DEPTH: Final = 16


def is_document_address(client_id: str) -> bool:
    """Tell whether a client id is the URL of a document: https with a path, in one way of writing only."""
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
    """Fetches metadata documents, and keeps what they say among the clients."""

    def __init__(self, clients: Clients, fetcher: GuardedFetcher, *, clock: Clock = utc_now) -> None:
        self._clients = clients
        self._fetcher = fetcher
        self._clock = clock

    async def known(self, client_id: str) -> Client | None:
        """Return the client of a document that was fetched not long ago."""
        client = await self._clients.find(client_id)
        return client if client is not None and self._clock() - client.created_at < FRESH else None

    async def fetch(self, client_id: str) -> Client:
        """Return the client that a document describes now.

        Raises:
            InvalidClient: it cannot be fetched, or does not describe a client with this id that may be one here.
        """
        try:
            fetched = await self._fetcher.get(
                client_id, accept="application/json", max_bytes=_MAX_BYTES, seconds=_SECONDS, redirects=0
            )
        except (FetchRefused, FetchFailed) as error:
            raise _unusable(error) from None
        if fetched.status != 200:
            raise InvalidClient(f"the client's metadata document is not there: it was answered with {fetched.status}")
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
        raise InvalidClient("it must not hold a client_secret")
    if document.get("token_endpoint_auth_method", "none") != "none":
        raise InvalidClient("its token_endpoint_auth_method must be none")
    return check_metadata({**document, "token_endpoint_auth_method": "none"})


def _unusable(error: Exception) -> InvalidClient:
    reason = error.message if isinstance(error, PressroomError) else str(error)
    return InvalidClient(f"the client's metadata document cannot be used: {reason}")
