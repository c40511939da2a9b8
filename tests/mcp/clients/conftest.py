"""A server with an account, for real MCP clients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.mcp_clients.clients import CLIENTS, Client
from support.mcp_server import EMAIL, PASSWORD, McpServer
from support.scripted_browser import ScriptedBrowser


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServer]:
    """A server with one account and the tools of the plan `free`. Tests restart it with the same data."""
    with McpServer(tmp_path_factory.mktemp("server")) as running:
        running.add_account()
        yield running


@pytest.fixture
def key(server: McpServer) -> str:
    """An API key for the account."""
    return server.create_key()


@pytest.fixture
def browser() -> Iterator[ScriptedBrowser]:
    """A browser that signs in with the account's password and approves what clients request."""
    with ScriptedBrowser(EMAIL, PASSWORD) as scripted:
        yield scripted


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    """Each of the supported clients."""
    chosen: Client = request.param
    return chosen


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The file in which a client stores its registration and tokens."""
    return tmp_path / "store.json"
