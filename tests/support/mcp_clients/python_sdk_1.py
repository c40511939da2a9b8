"""The Python SDK 1.x: lists tools and calls them, with a key or through OAuth."""

# The SDK is in a separate environment, which the type checker does not see.
# mypy: disable-error-code="import-not-found,attr-defined"
from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import httpx
from mcp import ClientSession, McpError
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from support.mcp_clients.protocol import CLIENT_NAME, Loopback, Store, read_order, write, write_failure
from support.mcp_clients.python_storage import Storage, resume, suspend


def oauth(url: str, store: Store) -> OAuthClientProvider:
    """Return the SDK's OAuth client, with the test acting as the browser."""
    loopback = Loopback()

    async def open_browser(url: str) -> None:
        write({"open": url})

    async def come_back() -> tuple[str, str | None]:
        parameters = await asyncio.to_thread(loopback.wait)
        return parameters.get("code", ""), parameters.get("state")

    metadata = OAuthClientMetadata.model_validate({"client_name": CLIENT_NAME, "redirect_uris": [loopback.url]})
    provider = OAuthClientProvider(url, metadata, Storage(store), open_browser, come_back)
    resume(provider, store)
    return provider


async def call(session: ClientSession, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await session.call_tool(name, arguments)
    except McpError as error:
        return {"error": {"code": error.error.code, "message": error.error.message}}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)  # type: ignore[no-any-return]


async def main(order: dict[str, Any]) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        auth = None
        if order["store"]:
            store = Store(order["store"])
            auth = oauth(order["url"], store)
            stack.callback(suspend, auth, store)
        http = await stack.enter_async_context(httpx.AsyncClient(headers=order["headers"], auth=auth, timeout=30))
        read, sent, _ = await stack.enter_async_context(streamable_http_client(order["url"], http_client=http))
        session = await stack.enter_async_context(ClientSession(read, sent))
        initialized = await session.initialize()
        listed = await session.list_tools()
        return {
            "protocol": initialized.protocolVersion,
            "server": initialized.serverInfo.model_dump(mode="json", by_alias=True, exclude_none=True),
            "capabilities": initialized.capabilities.model_dump(mode="json", by_alias=True, exclude_none=True),
            "instructions": initialized.instructions,
            "tools": [tool.name for tool in listed.tools],
            "calls": [await call(session, entry["name"], entry["arguments"]) for entry in order["calls"]],
        }


if __name__ == "__main__":
    try:
        write({"done": asyncio.run(main(read_order()))})
    except BaseException as error:  # noqa: BLE001 - whatever it is, the test is told
        write_failure(error)
