"""What comes in as JSON-RPC 2.0, the bytes of the answers, and which version of MCP a client speaks."""

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
"""The id of an answer to something that has none, or none that can be read (JSON-RPC 2.0, section 5)."""

_ABSENT: Final = object()

ASSUMED: Final = "2025-03-26"
"""What a client speaks that sends no `MCP-Protocol-Version` (MCP 2025-06-18, transports)."""

HEADER: Final = "mcp-protocol-version"

_BEFORE_NEGOTIATION: Final = frozenset({"initialize", "notifications/initialized"})


class RpcError(Exception):
    """A request that is answered with an `error` member.

    `message_id` is the request's id as JSON; `status` is the HTTP status where the error is the whole answer.
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
        """Return the answer."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (self.message_id, orjson.dumps(error))


class Unauthorized(Exception):
    """The request has no credential, or one that is not valid. It is answered as a whole, with status 401.

    `challenge` says which `WWW-Authenticate` header the answer has; it is `None` where authorizing would not help.
    """

    def __init__(self, description: str, challenge: Literal["missing", "invalid"] | None) -> None:
        super().__init__(description)
        self.challenge = challenge
        self.body = orjson.dumps({"error": "unauthorized", "error_description": description})


@dataclass
class Incoming:
    """What came in one HTTP request: the parsed body, and whose credential came with it.

    `may_hold_nul` tells whether a text in the body may hold U+0000.
    """

    http: HttpRequest
    document: Any
    caller: Caller
    may_hold_nul: bool

    @cached_property
    def as_written(self) -> Any:
        """The document with its numbers as the client wrote them.

        Raises:
            RpcError: finding them would take too long; only ids that are not whole numbers of 64 bits need it.
        """
        if len(self.http.body) > QUICK_BYTES:
            raise RpcError(
                INVALID_REQUEST, "in a body of this size an id must be a string or a whole number of 64 bits"
            )
        return numbers_as_written(self.http.body)


@dataclass(slots=True)
class Request:
    """A message that wants an answer. `id` is JSON, to be sent back as it is."""

    id: bytes
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that is never answered, whatever the outcome."""

    method: str


@dataclass(frozen=True, slots=True)
class Response:
    """What a client answers; this server asks nothing, so nothing waits for it."""


Message = Request | Notification | Response


def read_message(value: Any, as_written: Callable[[], Any]) -> Message:
    """Return the message that a parsed JSON value is.

    `as_written` returns the same value with each number as it was written; it is asked only where the id may have
    lost digits.

    Raises:
        RpcError: it is not a message; the error carries the id where there is one.
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
    """Return the answer to a request; `result` is JSON."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (message_id, result)


@dataclass(frozen=True, slots=True)
class ProtocolVersion:
    """A version of MCP, and what clients that speak it know."""

    name: str
    allows_batches: bool
    """Whether several messages may come in one body: only 2025-03-26 has that."""

    has_resource_links: bool
    """Whether a result may link to a resource, which came with 2025-06-18."""

    @classmethod
    def named(cls, name: str) -> ProtocolVersion:
        """Return the version of a name. Names are dates, and compare as texts."""
        return cls(name, allows_batches=name < "2025-06-18", has_resource_links=name >= "2025-06-18")


class Versions:
    """The versions that the operator switched on, newest first."""

    def __init__(self, supported: Iterable[str]) -> None:
        self.supported = tuple(sorted(set(supported), reverse=True))
        self._by_name = {name: ProtocolVersion.named(name) for name in self.supported}
        self._assumed = ASSUMED if ASSUMED in self.supported else self.supported[-1]

    def negotiated(self, requested: Any) -> str:
        """Return the version that `initialize` answers with: the client's where it is supported, else the newest.

        Raises:
            RpcError: the client asked for none.
        """
        if type(requested) is not str:
            raise RpcError(INVALID_PARAMS, "params.protocolVersion must be a string such as 2025-06-18")
        return requested if requested in self.supported else self.supported[0]

    def of(self, message: Message | None, incoming: Incoming) -> ProtocolVersion:
        """Return the version that the header of a request names; `message` is `None` for a batch.

        What comes before the negotiation has the newest one, whatever the header says.

        Raises:
            RpcError: it is not supported; the error lists those that are.
        """
        if isinstance(message, Request | Notification) and message.method in _BEFORE_NEGOTIATION:
            return self._by_name[self.supported[0]]
        named = incoming.http.headers.getall(HEADER, [])
        value = (named[0] if len(named) == 1 else ", ".join(dict.fromkeys(named))).strip()
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
