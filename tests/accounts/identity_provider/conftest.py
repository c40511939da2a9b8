"""An identity provider shared by the tests of a module, with this server as its client."""

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
    """Return a provider shared by the tests of a module; tests must leave it unchanged."""
    with OidcProvider() as running:
        yield running


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    """Return an HTTP client like the server's own."""
    async with httpx.AsyncClient() as client:
        yield client


@pytest.fixture
def client(http: httpx.AsyncClient) -> Client:
    """Return a function that makes the server's client of a provider; keyword arguments override its settings."""

    def make(issuer: str, **settings: Any) -> IdentityProvider:
        values = {"issuer": issuer, "client_id": "basic", "client_secret": SECRET, "name": "Example", "timeout": 10}
        return IdentityProvider(IdentityProviderSettings.model_validate(values | settings), http)

    return make
