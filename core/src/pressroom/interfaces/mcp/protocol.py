"""JSON-RPC 2.0 messages, encoding of responses, and MCP protocol versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import orjson
from sanic import Request as HttpRequest

from pressroom.sdk import Caller
from pressroom.validation.echo import cut, printable, quoted
from pressroom.validation.json import QUICK_BYTES, numbers_as_written

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
UNAUTHORIZED: Final = -32001

NULL_ID: Final = b"null"
"""The ID in a response to a message without a readable ID (JSON-RPC 2.0, section 5)."""

_ABSENT: Final = object()

ASSUMED: Final = "2025-03-26"
"""Assumed version of clients that send no `MCP-Protocol-Version` (MCP 2025-06-18, transports)."""

HEADER: Final = "mcp-protocol-version"

_BEFORE_NEGOTIATION: Final = frozenset({"initialize", "notifications/initialized"})


class RpcError(Exception):
    """A request whose response has an `error` member.

    `message_id` is the request's ID as JSON. `status` is the HTTP status if the error is the whole response.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        message_id: bytes = NULL_ID,
        status: int = 200,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.message_id = message_id
        self.status = status
        self.data = data

    def body(self) -> bytes:
        """Return the response as JSON."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (self.message_id, orjson.dumps(error))


class Unauthorized(Exception):
    """The request has no credential or an invalid one. It is refused as a whole, with status 401.

    `challenge` selects the response's `WWW-Authenticate` header; it is `None` if authorizing would not help.
    """

    def __init__(self, description: str, challenge: Literal["missing", "invalid"] | None) -> None:
        super().__init__(description)
        self.challenge = challenge
        self.body = orjson.dumps({"error": "unauthorized", "error_description": description})


@dataclass
class Incoming:
    """The contents of an HTTP request: its parsed body, and the caller that its credential belongs to.

    `may_hold_nul` states whether a string in the body can contain U+0000.
    """

    http: HttpRequest
    document: Any
    caller: Caller
    may_hold_nul: bool

    @cached_property
    def as_written(self) -> Any:
        """The document with its numbers as written by the client.

        Raises:
            RpcError: The body is too large to search for them. Only IDs that are not 64-bit integers need this.
        """
        if len(self.http.body) > QUICK_BYTES:
            raise RpcError(
                INVALID_REQUEST, "in a body of this size an id must be a string or a whole number of 64 bits"
            )
        return numbers_as_written(self.http.body)


@dataclass(slots=True)
class Request:
    """A message that requires a response. `id` is JSON, to be sent back unchanged."""

    id: bytes
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that never gets a response."""

    method: str


@dataclass(frozen=True, slots=True)
class Response:
    """A client's response. This server sends no requests, so it is ignored."""


Message = Request | Notification | Response


def read_message(value: Any, as_written: Callable[[], Any]) -> Message:
    """Parse a JSON value as a message.

    `as_written` returns the same value with its numbers as written; it is called only if the ID may have lost digits.

    Raises:
        RpcError: The value is not a message; the error carries the ID if there is one.
    """
    if type(value) is not dict:
        raise RpcError(INVALID_REQUEST, "a message must be a JSON object")
    identifier = value.get("id", _ABSENT)
    encoded = NULL_ID if identifier is _ABSENT else _encoded_id(identifier, as_written)
    if value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'jsonrpc must be "2.0"', message_id=encoded)
    method = value.get("method", _ABSENT)
    if method is _ABSENT:
        if "result" in value or "error" in value:
            return Response()
        raise RpcError(INVALID_REQUEST, "method is missing", message_id=encoded)
    if type(method) is not str:
        raise RpcError(INVALID_REQUEST, "method must be a string", message_id=encoded)
    if identifier is _ABSENT:
        return Notification(method)
    params = value.get("params", _ABSENT)
    if params is _ABSENT:
        params = {}
    elif type(params) is not dict:
        raise RpcError(INVALID_PARAMS, "params must be a JSON object", message_id=encoded)
    return Request(encoded, method, params)


def _encoded_id(identifier: Any, as_written: Callable[[], Any]) -> bytes:
    kind = type(identifier)
    if kind is float:
        return orjson.dumps(as_written()["id"])
    if kind is str or kind is int or identifier is None:
        return orjson.dumps(identifier)
    raise RpcError(INVALID_REQUEST, "id must be a string, a number or null")


def result_body(message_id: bytes, result: bytes) -> bytes:
    """Return the response to a request; `result` is JSON."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (message_id, result)


@dataclass(frozen=True, slots=True)
class ProtocolVersion:
    """An MCP version, and the features of clients that use it."""

    name: str
    allows_batches: bool
    """Whether a body can contain several messages, which only 2025-03-26 allows."""

    has_resource_links: bool
    """Whether a result can contain resource links, which 2025-06-18 introduced."""

    @classmethod
    def named(cls, name: str) -> ProtocolVersion:
        """Return the version with that name. Names are dates, which compare as strings."""
        return cls(name, allows_batches=name < "2025-06-18", has_resource_links=name >= "2025-06-18")


class Versions:
    """The protocol versions that the operator enabled, newest first."""

    def __init__(self, supported: Iterable[str]) -> None:
        self.supported = tuple(sorted(set(supported), reverse=True))
        self._by_name = {name: ProtocolVersion.named(name) for name in self.supported}
        self._assumed = ASSUMED if ASSUMED in self.supported else self.supported[-1]

    def negotiated(self, requested: Any) -> str:
        """Return the version for the response to `initialize`: the client's if it is supported, else the newest.

        Raises:
            RpcError: The client did not send a version.
        """
        if type(requested) is not str:
            raise RpcError(INVALID_PARAMS, "params.protocolVersion must be a string such as 2025-06-18")
        return requested if requested in self.supported else self.supported[0]

    def of(self, message: Message | None, incoming: Incoming) -> ProtocolVersion:
        """Return the version in a request's header; `message` is `None` for a batch.

        Messages before the negotiation get the newest version, whatever the header contains.

        Raises:
            RpcError: The version is not supported; the error lists the supported ones.
        """
        if isinstance(message, Request | Notification) and message.method in _BEFORE_NEGOTIATION:
            return self._by_name[self.supported[0]]
        headers = incoming.http.headers.getall(HEADER, [])
        value = (headers[0] if len(headers) == 1 else ", ".join(dict.fromkeys(headers))).strip()
        version = self._by_name.get(value or self._assumed)
        if version is None:
            raise RpcError(
                INVALID_REQUEST,
                f"MCP-Protocol-Version {quoted(value)} is not supported; use {' or '.join(self.supported)}",
                message_id=message.id if isinstance(message, Request) else NULL_ID,
                status=400,
                data={"supported": self.supported, "requested": printable(cut(value))},
            )
        return version
