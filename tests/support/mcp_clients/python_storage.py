"""Storage of registrations and tokens for the Python SDKs; both versions use the same interface."""

# The SDK is in a separate environment, which the type checker does not see.
# mypy: disable-error-code="import-not-found"
from __future__ import annotations

import time

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken

from support.mcp_clients.protocol import Store


class Storage:
    """Implements the SDK's `TokenStorage` on a file, and records when the access token expires."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get_tokens(self) -> OAuthToken | None:
        stored = self._store.get("tokens")
        return OAuthToken.model_validate(stored) if stored else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._store.set("tokens", tokens.model_dump(mode="json", exclude_none=True))
        self._store.set("expires_at", time.time() + (tokens.expires_in or 0))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        stored = self._store.get("client")
        return OAuthClientInformationFull.model_validate(stored) if stored else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._store.set("client", client_info.model_dump(mode="json", exclude_none=True))


def resume(provider: OAuthClientProvider, store: Store) -> None:
    """Restore state that the SDK does not store between runs: the token's expiry and the server's metadata."""
    provider.context.token_expiry_time = store.get("expires_at")
    metadata = store.get("metadata")
    provider.context.oauth_metadata = OAuthMetadata.model_validate(metadata) if metadata else None


def suspend(provider: OAuthClientProvider, store: Store) -> None:
    """Store the server's metadata for the next run."""
    if metadata := provider.context.oauth_metadata:
        store.set("metadata", metadata.model_dump(mode="json", exclude_none=True))
