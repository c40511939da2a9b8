"""The MCP SDK's own server with twenty tools and one API key, for comparison in the benchmark. Arguments: port, key."""

# The SDK is in a separate environment, which the type checker does not see.
# mypy: disable-error-code="import-not-found,attr-defined"
from __future__ import annotations

import hmac
import json
import sys
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import Server
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

NUMBER = {"type": "integer"}
INPUT = {
    "type": "object",
    "properties": {
        "a": {**NUMBER, "description": "The first number."},
        "b": {**NUMBER, "description": "The second number."},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {"total": {**NUMBER, "description": "Both together."}},
    "required": ["total"],
}
TOOLS = [
    types.Tool(
        name=f"add_{number}",
        title=f"Add, number {number}",
        description="Adds two numbers. Use it where the sum of two whole numbers is wanted. Returns the total.",
        input_schema=INPUT,
        output_schema=OUTPUT,
    )
    for number in range(1, 21)
]


class OneKey:
    """A token verifier that accepts a single key."""

    def __init__(self, key: str) -> None:
        self._key = key

    async def verify_token(self, token: str) -> Any:
        known = hmac.compare_digest(token.encode(), self._key.encode())
        return AccessToken(token=token, client_id="bench", scopes=[]) if known else None


async def list_tools(_context: Any, _params: Any) -> Any:
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(_context: Any, params: Any) -> Any:
    data = {"total": params.arguments["a"] + params.arguments["b"]}
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=json.dumps(data))], structured_content=data
    )


def main(port: int, key: str) -> None:
    server: Any = Server("peer", on_list_tools=list_tools, on_call_tool=call_tool)
    address = f"http://127.0.0.1:{port}"
    app = server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        token_verifier=OneKey(key),
        auth=AuthSettings(issuer_url=address, resource_server_url=f"{address}/mcp"),
    )
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
