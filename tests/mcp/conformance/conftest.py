"""A server for the conformance suite."""

from collections.abc import Iterator

import pytest
from support.key_proxy import adding_authorization
from support.mcp_server import McpServer


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The MCP endpoint behind a proxy that adds an API key."""
    with McpServer(tmp_path_factory.mktemp("server")) as server:
        server.add_account()
        with adding_authorization(server.url, f"Bearer {server.create_key()}") as url:
            yield f"{url}/api/mcp"
