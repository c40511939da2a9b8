"""Requests and responses of all interfaces: request IDs, common headers, the request log."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from types import NoneType
from typing import Any, Final

import structlog
from sanic import HTTPResponse, Request
from sanic.exceptions import SanicException
from sanic.helpers import has_message_body
from sanic.response.types import BaseHTTPResponse

from pressroom.errors import InternalError, PressroomError
from pressroom.gate import PluginCall, PluginFailed, PluginGate
from pressroom.gate.failures import describe_value
from pressroom.observability.logs import request_log
from pressroom.observability.secrets import SecretPaths
from pressroom.sdk import HttpResponse

log = structlog.get_logger()

Handler = Callable[..., Coroutine[Any, Any, HTTPResponse]]

Encoder = Callable[[Request, HTTPResponse], Awaitable[None]]
"""Adapts a handler's response to the client's request headers."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route of an interface.

    `path` can contain `<name:str>` segments. If `max_body_bytes` is 0, the server's limit applies. With `reads_body`,
    the handler itself awaits `receive_body` once it needs the body. With `on_virtual_hosts`, the route is also served
    under the host names of `VirtualHosts`.
    """

    path: str
    methods: tuple[str, ...]
    handler: Handler
    max_body_bytes: int = 0
    reads_body: bool = False
    on_virtual_hosts: bool = False


_HEALTH_CHECKS: Final = frozenset({"/healthz", "/readyz", "/metrics"})
_FAILED: Final = 400

_random = random.Random()  # noqa: S311 - an id names a request; it is not a secret
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)

MIN_ENCODED_BYTES: Final = 1024
"""Minimum size of responses to compress. Smaller ones fit into a packet or two anyway."""

BODY_LIMIT: Final = "max_body_bytes"
"""Attribute of the request context with a body limit below that of the endpoint."""

MASKED_PATHS: Final = "masked_paths"
"""Attribute of the application context with its `SecretPaths`."""


@contextmanager
def plugin_failures(gate: PluginGate, plugin: str, path: str) -> Iterator[None]:
    """Raise `InternalError` for unexpected exceptions of a plugin's route. Errors meant for clients pass through."""
    try:
        with gate.calling(PluginCall(plugin, "route", path), passes=(PressroomError, SanicException)):
            yield
    except PluginFailed as failure:
        raise InternalError("internal error; quote the request ID to the operator") from failure


def checked_response(response: object, *, framed: bool = False) -> HttpResponse:
    """Return the response of a plugin's route. With `framed`, it may become a part of a page.

    Raises:
        TypeError: It is not an `HttpResponse`, or one that cannot be sent.
    """
    if not isinstance(response, HttpResponse):
        raise TypeError(f"the route returned {type(response).__name__} instead of an HttpResponse")
    shape: Any = response  # Python does not check the types that a plugin passes
    if not isinstance(shape.status, int) or not 100 <= shape.status <= 999:
        raise TypeError(
            f"the status of the HttpResponse must be a number such as 200, not {describe_value(shape.status)}"
        )
    if framed and not isinstance(shape.media_type, str):
        raise TypeError(f"the media_type of the HttpResponse must be a str, not {describe_value(shape.media_type)}")
    # A str can be sent as it is, but not put into a page.
    in_page = framed and shape.media_type.startswith("text/html") and not 300 <= shape.status < 400
    if not isinstance(shape.body, _BYTES if in_page else (*_BYTES, str, NoneType)):
        raise TypeError(f"the body of the HttpResponse must be bytes, not {describe_value(shape.body)}")
    if shape.headers is None:
        raise TypeError("the headers of the HttpResponse must be a mapping, not None")
    return response


_BYTES: Final = (bytes, bytearray)

EncodedHeaders = tuple[tuple[bytes, bytes], ...]
"""Headers encoded for sending."""

SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
}

_ENCODED_SECURITY_HEADERS: Final = tuple((name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items())

EMPTY_CONTENT: Final = "text/plain; charset=utf-8"
"""Content type of a response without a body or a type."""

INERT_CONTENT: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""Content security policy of generated files: an SVG opened directly cannot run scripts."""


def encode_headers(headers: Mapping[str, str]) -> EncodedHeaders:
    """Encode constant headers for sending."""
    return tuple((name.encode("ascii"), value.encode("ascii")) for name, value in headers.items())


def content_type(media_type: str) -> str:
    """Return the `Content-Type` of a generated file, with UTF-8 as the charset of text types."""
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type


def matches_etag(if_none_match: str, etag: str) -> bool:
    """Return whether `If-None-Match` matches a strong tag, using weak comparison (RFC 9110, section 13.1.2)."""
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags


class RawResponse(HTTPResponse):
    """A response with pre-encoded headers: constants, and values known to be valid.

    Sanic checks and encodes each header of each response, which takes longer than a cached call itself.
    """

    __slots__ = ("encoded",)

    def __init__(
        self,
        body: bytes,
        *,
        encoded: EncodedHeaders,
        status: int = 200,
        headers: dict[str, str] | None = None,
        content_type: str | None = "application/json",
    ) -> None:
        # Skips `HTTPResponse.__init__`, which would build the headers a second time.
        BaseHTTPResponse.__init__(self)
        self.body, self.status, self.content_type = body, status, content_type
        if headers:
            self.headers.update(headers)
        self.encoded = encoded

    @property
    def processed_headers(self) -> Iterator[tuple[bytes, bytes]]:
        """All headers, encoded for sending. None of them contains client input, so none needs sanitising."""
        if self.content_type and has_message_body(self.status):
            self.headers.setdefault("content-type", self.content_type)
        return chain(self.encoded, [(name.encode(), str(value).encode()) for name, value in self.headers.items()])


class HandlerWrapper:
    """Wraps handlers: assigns request IDs, adds common headers, and logs requests."""

    def __init__(
        self,
        *,
        log_requests: bool,
        log_health_checks: bool = True,
        confirm: Encoder | None = None,
        encode: Encoder | None = None,
    ) -> None:
        self._log_requests = log_requests
        self._unlogged: frozenset[str] = frozenset() if log_health_checks else _HEALTH_CHECKS
        self._confirm, self._encode = confirm, encode

    def wrap(self, handler: Handler, *, reads: bool = False) -> Handler:
        """Return a handler for Sanic that calls this one and finishes the response.

        With `reads`, the response can become a 304 if the client has a current copy.
        """

        async def wrapped(request: Request, **path: Any) -> HTTPResponse:
            begin(request)
            response = await handler(request, **path)
            if reads and self._confirm is not None:
                await self._confirm(request, response)
            if self._encode is not None and (response.status == 304 or len(response.body or b"") >= MIN_ENCODED_BYTES):
                await self._encode(request, response)
            return self.finish(request, response)

        return wrapped

    def finish(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        """Add the common headers to the response of a request that `begin` was called for, and log the request."""
        context = request.ctx
        if isinstance(response, RawResponse):
            request_id = (b"X-Request-Id", context.request_id.encode("ascii"))
            response.encoded = (*response.encoded, request_id, *_ENCODED_SECURITY_HEADERS)
        else:
            response.headers["X-Request-Id"] = context.request_id
            for name, value in SECURITY_HEADERS.items():
                response.headers.setdefault(name, value)
            # Sanic would send `content-type: None` for a response without a body, such as a redirect.
            response.content_type = response.content_type or EMPTY_CONTENT
        if self._log_requests and not (response.status < _FAILED and request.path in self._unlogged):
            request_log(
                method=request.method,
                path=logged_path(request),
                status=response.status,
                duration=time.perf_counter() - context.started,
                size=len(response.body or b""),
                client_ip=context.client_ip,
                request_id=context.request_id,
            )
        return response


def begin(request: Request) -> None:
    """Set the ID, the start time and the client IP of a request. Repeated calls have no effect.

    The IP is that of the connection; interfaces that determine the actual client replace it.
    """
    context = request.ctx
    if not hasattr(context, "request_id"):
        context.started = time.perf_counter()
        context.client_ip = request.ip
        stream: Any = request.stream
        if stream is not None:
            # Sanic exempts connections that request a WebSocket from timeouts, and this server has no WebSockets.
            stream.upgrade_websocket = False
        sent_id = request.headers.get("x-request-id")
        context.request_id = (accept_request_id(sent_id) if sent_id else None) or new_request_id()


def new_request_id() -> str:
    """Return a new ID of 32 lower-case hex digits, the format of a trace ID in W3C Trace Context.

    The first 12 digits are the time in milliseconds, which makes IDs sort by age; the other 80 bits are random.
    """
    return (time.time_ns() // 1_000_000).to_bytes(6, "big").hex() + _random.randbytes(10).hex()


def accept_request_id(header: str | None) -> str | None:
    """Return the ID that a client sent as `X-Request-Id`, or `None` if it is not 8 to 64 of `[A-Za-z0-9._-]`."""
    return header if header and _ACCEPTED.fullmatch(header) else None


def receive_body(request: Request, max_bytes: int = 0) -> Awaitable[None]:
    """Read the body of a request whose endpoint has `reads_body`. `max_bytes`, unless 0, lowers the endpoint's limit.

    Raises:
        sanic.exceptions.PayloadTooLarge: the body exceeds the limit. Raised before all of it is received.
        sanic.exceptions.RequestTimeout: the body did not arrive in time.
    """
    if max_bytes:
        setattr(request.ctx, BODY_LIMIT, max_bytes)
    return request.receive_body()


def logged_path(request: Request) -> str:
    """Return the path of a request for the log: without its query, and with secrets masked."""
    paths: SecretPaths | None = getattr(request.app.ctx, MASKED_PATHS, None)
    return request.path if paths is None else paths.masked(request.path)
