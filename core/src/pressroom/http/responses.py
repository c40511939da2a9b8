"""What all interfaces share of HTTP: request ids, common headers, the request log."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import structlog
from sanic import HTTPResponse, Request
from sanic.exceptions import SanicException
from sanic.helpers import has_message_body
from sanic.response.types import BaseHTTPResponse

from pressroom.errors import InternalError, PressroomError
from pressroom.gate import PluginCall, PluginFailed, PluginGate
from pressroom.http.precompressed import PrecompressedText
from pressroom.observability.logs import request_log
from pressroom.observability.secrets import SecretPaths
from pressroom.sdk import HttpResponse

log = structlog.get_logger()

Handler = Callable[..., Coroutine[Any, Any, HTTPResponse]]

Encoder = Callable[[Request, HTTPResponse], Awaitable[None]]
"""Changes the answer of a handler to what the client can make use of."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route of an interface.

    `path` may hold `<name:str>` segments. `max_body_bytes` is the server's own where it is 0. `reads_body` tells that
    the handler awaits `receive_body` itself, once it knows that it wants the body. `on_virtual_hosts` serves the route
    under the names of `VirtualHosts` too.
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
"""From this size on answers are compressed. What is smaller fits into a packet or two anyway."""

BODY_LIMIT: Final = "max_body_bytes"
"""Where the context of a request holds the bound on its body, if that is below the one of its endpoint."""

PUBLIC_TEXT: Final = "public_text"
"""Where the context of a request holds that its answer is the same for everybody, whatever its headers say: `True`, or
the part of it that was compressed before."""

MASKED_PATHS: Final = "masked_paths"
"""Where the context of an application holds its `SecretPaths`."""


@contextmanager
def plugin_failures(gate: PluginGate, plugin: str, path: str) -> Iterator[None]:
    """Raise `InternalError` for whatever a plugin's route raises; what is meant for clients passes."""
    try:
        with gate.calling(PluginCall(plugin, "route", path), passes=(PressroomError, SanicException)):
            yield
    except PluginFailed as failure:
        raise InternalError("internal error; quote the request ID to the operator") from failure


def checked_answer(answer: object) -> HttpResponse:
    """Return what a plugin's route answered. Raises `TypeError` where that is something else."""
    if not isinstance(answer, HttpResponse):
        raise TypeError(f"the route returned {type(answer).__name__} instead of an HttpResponse")
    return answer


EncodedHeaders = tuple[tuple[bytes, bytes], ...]
"""Headers as they are sent."""

SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
}

_ENCODED_SECURITY_HEADERS: Final = tuple((name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items())

EMPTY_CONTENT: Final = "text/plain; charset=utf-8"
"""Content type of an answer that has no body and names no type."""

INERT_CONTENT: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""Content security policy of generated files: an SVG that is opened by itself can run nothing."""


def encode_headers(headers: Mapping[str, str]) -> EncodedHeaders:
    """Return constant headers as they are sent."""
    return tuple((name.encode("ascii"), value.encode("ascii")) for name, value in headers.items())


def content_type(media_type: str) -> str:
    """Return the `Content-Type` of a generated file: texts are UTF-8."""
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type


def matches_etag(if_none_match: str, etag: str) -> bool:
    """Tell whether `If-None-Match` names a strong tag, which is compared weakly (RFC 9110, section 13.1.2)."""
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags


class RawResponse(HTTPResponse):
    """A response with headers that were encoded before: constants, and values that are known to be clean.

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
        # Not that of `HTTPResponse`, which makes the headers a second time.
        BaseHTTPResponse.__init__(self)
        self.body, self.status, self.content_type = body, status, content_type
        if headers:
            self.headers.update(headers)
        self.encoded = encoded

    @property
    def processed_headers(self) -> Iterator[tuple[bytes, bytes]]:
        """All headers as they are sent. None comes from a client, so none needs to be cleaned."""
        if self.content_type and has_message_body(self.status):
            self.headers.setdefault("content-type", self.content_type)
        return chain(self.encoded, [(name.encode(), str(value).encode()) for name, value in self.headers.items()])


class HandlerWrapper:
    """Wraps handlers: gives each request an id, adds what every answer carries, and logs it."""

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
        """Return a handler for Sanic that does the same, and finishes the answer.

        What only `reads` may find that the client has its answer already.
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
        """Add the headers that every answer carries to that of a request that has begun, and log the request."""
        context = request.ctx
        if isinstance(response, RawResponse):
            request_id = (b"X-Request-Id", context.request_id.encode("ascii"))
            response.encoded = (*response.encoded, request_id, *_ENCODED_SECURITY_HEADERS)
        else:
            response.headers["X-Request-Id"] = context.request_id
            for name, value in SECURITY_HEADERS.items():
                response.headers.setdefault(name, value)
            # Sanic would write `content-type: None` for an empty answer, such as a redirect.
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


def mark_public_text(request: Request, compressed: PrecompressedText | None = None) -> None:
    """Say that the answer to a request holds no secret.

    It may be compressed, and confirmed by its tag, though it is not to be stored. `compressed` is the part of it that
    was compressed before.
    """
    setattr(request.ctx, PUBLIC_TEXT, compressed or True)


def begin(request: Request) -> None:
    """Give a request its id, its starting time and the IP address of its connection, once.

    An interface that learns the client's puts it in its place.
    """
    context = request.ctx
    if not hasattr(context, "request_id"):
        context.started = time.perf_counter()
        context.client_ip = request.ip
        stream: Any = request.stream
        if stream is not None:
            # Sanic never again looks at the time of a connection that asks for a websocket, and this server has none.
            stream.upgrade_websocket = False
        sent = request.headers.get("x-request-id")
        context.request_id = (accept_request_id(sent) if sent else None) or new_request_id()


def new_request_id() -> str:
    """Return a new id of 32 lower-case hex digits, the form of a trace id in W3C Trace Context.

    The first 12 digits are the time in milliseconds, so that ids sort by age; the other 80 bits are random.
    """
    return (time.time_ns() // 1_000_000).to_bytes(6, "big").hex() + _random.randbytes(10).hex()


def accept_request_id(header: str | None) -> str | None:
    """Return the id that a client sent as `X-Request-Id`, or `None` where it is not 8 to 64 of `[A-Za-z0-9._-]`."""
    return header if header and _ACCEPTED.fullmatch(header) else None


def receive_body(request: Request, max_bytes: int = 0) -> Awaitable[None]:
    """Read the body of a request whose endpoint has `reads_body`, with a bound below the endpoint's own unless it is 0.

    Raises:
        sanic.exceptions.PayloadTooLarge: it is larger, which is known before all of it has come.
        sanic.exceptions.RequestTimeout: it did not arrive in time.
    """
    if max_bytes:
        setattr(request.ctx, BODY_LIMIT, max_bytes)
    return request.receive_body()


def logged_path(request: Request) -> str:
    """Return the path of a request as the log shows it: without its query, and with the secrets in it masked."""
    paths: SecretPaths | None = getattr(request.app.ctx, MASKED_PATHS, None)
    return request.path if paths is None else paths.masked(request.path)
