"""A minimal AI client of an account that calls tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
from pressroom.accounts.records import Connection
from pressroom.testing import RunningHost


@dataclass(frozen=True, slots=True)
class ToolClient:
    """Calls tools of all toolsets at `/api/mcp` with an account's API key."""

    host: RunningHost
    user_id: str
    connection: Connection
    key: str

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return the result, whether it is an error or not."""
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        headers = {
            "authorization": f"Bearer {self.key}",
            "mcp-protocol-version": "2025-06-18",
            "x-mcp-toolsets": "all",
        }
        response = httpx.post(f"{self.host.url}/api/mcp", json=body, headers=headers, timeout=60)
        assert response.status_code == 200, response.text
        result: dict[str, Any] = response.json()["result"]
        return result

    def data(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed, and return its structured content."""
        result = self.call(name, **arguments)
        assert not result.get("isError"), result
        content: dict[str, Any] = result["structuredContent"]
        return content

    def refusal(self, name: str, /, **arguments: Any) -> str:
        """Call a tool that must fail, and return the error text."""
        result = self.call(name, **arguments)
        assert result.get("isError"), result
        text: str = result["content"][0]["text"]
        return text


def client_of(host: RunningHost, email: str, name: str = "laptop") -> ToolClient:
    """Return a new client of an account, creating the account if missing."""
    accounts = host.host.accounts
    user = host.run(accounts.users.by_email(email)) or host.run(accounts.users.add(email))
    connection, key = host.run(accounts.api_keys.create(user.id, name))
    return ToolClient(host, user.id, connection, key)
