"""Clients whose ID is the URL of their metadata document."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pressroom.errors import InvalidClient
from pressroom.fetch import GuardedFetcher
from pressroom.oauth.clients import ClientDocuments, is_document_url
from support.oauth import LOOPBACK
from support.oauth_world import World
from support.origins import Authority, Origin, StubNames, Visit, origin

NAME = "editor.example.org"

Publish = Callable[[Callable[[str], Any]], AbstractAsyncContextManager["Site"]]


class Site:
    """A site that publishes a client metadata document, and the server's cache of fetched documents."""

    def __init__(self, world: World, client_id: str, fetcher: GuardedFetcher) -> None:
        self.client_id = client_id
        self.documents = ClientDocuments(world.server.clients, fetcher, clock=world.clock)
        self.visits = 0

    async def client(self) -> Any:
        """Return the client as the consent page receives it."""
        return await self.documents.known(self.client_id) or await self.documents.fetch(self.client_id)


@pytest.fixture
def publish(world: World, tmp_path: Path) -> Publish:
    """Return a function that runs a site; its argument builds the document from the client ID."""
    authority = Authority()
    tls = authority.server_context(tmp_path, NAME)

    @asynccontextmanager
    async def run(document: Callable[[str], Any]) -> AsyncIterator[Site]:
        async def reply(visit: Visit) -> None:
            site.visits += 1
            metadata = document(site.client_id)
            content = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
            await visit.respond(content, "Content-Type: application/json")

        handler: Callable[[Visit], Awaitable[None]] = reply
        async with origin(handler, tls) as running, fetcher_to(authority, running) as fetcher:
            site = Site(world, f"https://{NAME}:{running.port}/client.json", fetcher)
            yield site

    return run


def fetcher_to(authority: Authority, running: Origin) -> GuardedFetcher:
    return GuardedFetcher(
        tls=authority.client_context(), resolver=StubNames(["127.0.0.1"]), exempt=[("127.0.0.1", running.port)]
    )


def right(client_id: str) -> dict[str, Any]:
    return {
        "client_id": client_id,
        "client_name": "My editor",
        "redirect_uris": [LOOPBACK],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
    }


async def test_a_client_metadata_document_identifies_a_client(world: World, publish: Publish) -> None:
    async with publish(right) as site:
        client = await site.client()
    assert (client.id, client.metadata.name, client.from_document) == (site.client_id, "My editor", True)
    assert client.redirect_uris == (LOOPBACK,)
    tokens = await world.connect(await world.user(), client)
    authenticated = await world.server.clients.authenticate(site.client_id, "")
    assert (await world.server.refresh(authenticated, tokens.refresh_token, "", [])).access_token


async def test_a_document_is_cached_for_an_hour(world: World, publish: Publish) -> None:
    names = iter(["Before", "After"])
    async with publish(lambda client_id: {**right(client_id), "client_name": next(names)}) as site:
        await site.client()
        world.clock.advance(minutes=59)
        assert (await site.client()).metadata.name == "Before"
        world.clock.advance(minutes=1)
        assert (await site.client()).metadata.name == "After"
    assert site.visits == 2


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": "https://editor.example.org/client.json"},
        {"client_id": None},
        {"client_secret": "a secret"},
        {"client_secret_expires_at": 0},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"redirect_uris": []},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"grant_types": ["client_credentials"]},
    ],
)
async def test_an_invalid_document_is_refused(publish: Publish, change: dict[str, Any]) -> None:
    async with publish(lambda client_id: {**right(client_id), **change}) as site:
        with pytest.raises(InvalidClient):
            await site.client()
        assert await site.documents.known(site.client_id) is None


@pytest.mark.parametrize("content", [b"", b"[]", b"nonsense", b"\xff", b'{"a":' * 40, b" " * 70_000])
async def test_something_that_is_not_a_document_is_refused(publish: Publish, content: bytes) -> None:
    async with publish(lambda _: content) as site:
        with pytest.raises(InvalidClient):
            await site.client()


async def test_documents_on_internal_addresses_are_not_fetched(world: World) -> None:
    async with GuardedFetcher(resolver=StubNames(["10.0.0.1"])) as fetcher:
        documents = ClientDocuments(world.server.clients, fetcher, clock=world.clock)
        for client_id in ("https://inside.example/client.json", "https://127.0.0.1/client.json"):
            with pytest.raises(InvalidClient, match="public internet"):
                await documents.fetch(client_id)


@pytest.mark.parametrize(
    ("client_id", "expected"),
    [
        ("https://editor.example/client.json", True),
        ("https://editor.example:8443/a/b", True),
        ("https://editor.example", False),
        ("https://editor.example/", False),
        ("http://editor.example/client.json", False),
        ("https://user@editor.example/client.json", False),
        ("https://editor.example/client.json#part", False),
        ("https://editor.example/a/../client.json", False),
        ("https://editor.example/./client.json", False),
        ("https://editor.example\\client.json", False),
        ("https://editor.example/client .json", False),
        ("https://editor.example/\n", False),
        ("https://[broken/client.json", False),
        ("https:///client.json", False),
        ("https://editor.example/" + "x" * 500, False),
        ("client_abc", False),
        ("", False),
    ],
)
def test_which_client_ids_are_document_urls(client_id: str, expected: bool) -> None:
    assert is_document_url(client_id) is expected
