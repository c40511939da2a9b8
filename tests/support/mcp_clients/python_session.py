"""The Python SDK 2.x in one session: makes the calls read from standard input and writes their results, until EOF."""

# The SDK is in a separate environment, which the type checker does not see.
# mypy: disable-error-code="import-not-found,attr-defined"
from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from support.mcp_clients.protocol import write, write_failure


async def main(order: dict[str, Any]) -> None:
    """Open the session, write the server's identity, and make the calls."""
    async with (
        httpx2.AsyncClient(headers=order["headers"], timeout=60) as http,
        Client(streamable_http_client(order["url"], http_client=http)) as client,
    ):
        listed = await client.list_tools()
        server = client.server_info.model_dump(mode="json", by_alias=True, exclude_none=True)
        write({"protocol": client.protocol_version, "server": server, "tools": [tool.name for tool in listed.tools]})
        while line := await asyncio.to_thread(sys.stdin.readline):
            call = json.loads(line)
            result = await client.call_tool(call["name"], call["arguments"])
            write({"result": result.model_dump(mode="json", by_alias=True, exclude_none=True)})


if __name__ == "__main__":
    try:
        asyncio.run(main(json.loads(sys.stdin.readline())))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the test is told
        write_failure(error)
