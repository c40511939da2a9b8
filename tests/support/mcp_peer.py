"""Raw requests and responses of the MCP endpoint, without a client library that would correct them."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import orjson
from pressroom.accounts.records import Connection
from pressroom.testing import RunningHost

_NUMBERS = count(1)

PATH = "/api/mcp"
JSON = {"content-type": "application/json"}


@dataclass
class Account:
    """An account with one API key."""

    user_id: str
    connection: Connection
    key: str

    @property
    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key}"}


def account(host: RunningHost, plan: str = "", off: tuple[str, ...] = ()) -> Account:
    """Create an account on a plan, with a key for which the tools in `off` are disabled."""
    accounts = host.host.accounts
    user = host.run(accounts.users.add(f"person{next(_NUMBERS)}@example.org", plan=plan))
    connection, key = host.run(accounts.api_keys.create(user.id, "a test"))
    if off:
        host.run(accounts.connections.set_disabled_tools(user.id, connection.id, off))
    return Account(user.id, connection, key)


@dataclass
class Peer:
    """A client of one host. Without an account it sends no credential."""

    host: RunningHost
    account: Account | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        credentials = self.account.bearer if self.account else {}
        self.http = httpx.Client(base_url=self.host.url, headers={**credentials, **self.headers}, timeout=30)

    def __del__(self) -> None:
        self.http.close()

    def post(self, body: Any, **headers: str) -> httpx.Response:
        """Post a body: bytes unchanged, anything else as JSON. Underscores in header names become hyphens."""
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        http_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post(PATH, content=content, headers={**JSON, **http_headers})

    def request(self, method: str, params: Any = None, **headers: str) -> dict[str, Any]:
        """Send a request and return the response, which must be a valid one with status 200."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, **({} if params is None else {"params": params})}
        response = self.post(message, **headers)
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        assert {"jsonrpc": "2.0", "id": 1}.items() <= body.items()
        return body

    def tools(self) -> list[dict[str, Any]]:
        """Return the definitions from `tools/list`."""
        tools: list[dict[str, Any]] = self.request("tools/list")["result"]["tools"]
        return tools

    def call(self, name: str, arguments: Any = None, **headers: str) -> dict[str, Any]:
        """Call a tool and return its result, whether it is an error or not."""
        params = {"name": name, **({} if arguments is None else {"arguments": arguments})}
        result: dict[str, Any] = self.request("tools/call", params, **headers)["result"]
        return result

    def refused(self, name: str, arguments: Any = None) -> str:
        """Call a tool that must fail, and return the error text for the model."""
        result = self.call(name, arguments)
        assert result["isError"] is True
        (content,) = result["content"]
        assert content["type"] == "text"
        text: str = content["text"]
        return text


def error(response: httpx.Response) -> tuple[int, int]:
    """Return the status and error code of a response, which must consist of exactly one JSON-RPC error."""
    body = response.json()
    assert set(body) == {"jsonrpc", "id", "error"}, body
    assert body["jsonrpc"] == "2.0"
    assert {"code", "message"} <= set(body["error"]) <= {"code", "message", "data"}
    assert 0 < len(body["error"]["message"]) < 500
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"]
    return response.status_code, body["error"]["code"]


def exchange(host: RunningHost, *parts: bytes) -> bytes:
    """Send bytes on a new connection, and return everything received until the server closes it."""
    with socket.create_connection(("127.0.0.1", host.settings.server.port), timeout=20) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server may have responded and closed before everything was sent
        with connection.makefile("rb") as received:
            try:
                return received.read()
            except ConnectionResetError:
                return b""


def head(*headers: str, method: str = "POST", path: str = PATH, host: str = "127.0.0.1") -> bytes:
    """Return the head of a request with `Connection: close`."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1")
