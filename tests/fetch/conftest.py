"""A certificate authority, and servers with its certificates."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from pressroom.fetch import GuardedFetcher
from support.origins import Authority, Origin, Reply, StubNames, origin

NAME = "images.example.org"

RunOrigin = Callable[[Reply], AbstractAsyncContextManager[Origin]]
Fetcher = Callable[..., GuardedFetcher]


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def secure_origin(authority: Authority, tmp_path: Path) -> RunOrigin:
    """Return a function that runs a TLS server for `images.example.org` on 127.0.0.1."""
    tls = authority.server_context(tmp_path, NAME)

    @asynccontextmanager
    async def run(reply: Reply) -> AsyncIterator[Origin]:
        async with origin(reply, tls) as running:
            yield running

    return run


@pytest.fixture
def fetcher_for(authority: Authority) -> Fetcher:
    """Return a function that makes a fetcher that trusts the authority and may connect to the test servers' ports."""

    def make(*origins: Origin, names: StubNames | None = None, concurrency: int = 8) -> GuardedFetcher:
        return GuardedFetcher(
            concurrency=concurrency,
            tls=authority.client_context(),
            resolver=names or StubNames(["127.0.0.1"]),
            exempt=[("127.0.0.1", origin.port) for origin in origins],
        )

    return make
