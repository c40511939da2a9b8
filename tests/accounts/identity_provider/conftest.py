"""A provider for all tests of a file, and this server as its client."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest
from pressroom.accounts.identity_provider import IdentityProvider
from pressroom.config.account_models import IdentityProviderSettings
from support.oidc_provider import SECRET, OidcProvider

Client = Callable[..., IdentityProvider]


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcProvider]:
    """Return a provider that all tests of a file share; they leave it as it was."""
    with OidcProvider() as running:
        yield running


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    """Return the client that this server would use."""
    async with httpx.AsyncClient() as client:
        yield client


@pytest.fixture
def client(http: httpx.AsyncClient) -> Client:
    """Return what makes this server a client of a provider, with other settings where they are given."""

    def make(issuer: str, **settings: Any) -> IdentityProvider:
        values = {"issuer": issuer, "client_id": "basic", "client_secret": SECRET, "name": "Example", "timeout": 10}
        return IdentityProvider(IdentityProviderSettings.model_validate(values | settings), http)

    return make
