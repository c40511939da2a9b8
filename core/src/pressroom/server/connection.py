"""A client connection: Sanic's, with deadlines that bytes do not extend, strict chunk parsing and limits per client."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic
from typing import Any, Final

from sanic import Request
from sanic.compat import Header
from sanic.exceptions import BadRequest, BadURL, RequestTimeout, SanicException, ServiceUnavailable
from sanic.http import Http, Stage
from sanic.http.http1 import HTTP_CONTINUE
from sanic.server.protocols.http_protocol import HttpProtocol

from pressroom.config.models import ServerSettings
from pressroom.errors import Overloaded
from pressroom.http.responses import BODY_LIMIT
from pressroom.server.plugin_requests import VIRTUAL_HOSTS, VirtualHostTable
from pressroom.validation.client_ip import UNKNOWN_IP, client_ip_of

_NO_HEADERS: Final = Header({})


class ClientBounds:
    """Counts connections or requests by client IP address, with IPv6 addresses grouped by /64.

    A connection has no forwarded IP address before the head of a request. Connections from trusted proxies carry many
    clients, so requests are counted instead. A connection without an IP address, such as that of a proxy on a Unix
    socket, has no limit.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._most = settings.connections_per_client
        self._proxies = settings.trusted_proxies
        self._secret = settings.forwarded_secret.get_secret_value() if settings.forwarded_secret else None
        self._counts: Counter[str] = Counter()

    @property
    def behind_proxies(self) -> bool:
        """Whether to count requests by the IP address that a proxy forwards, rather than connections."""
        return bool(self._proxies or self._secret)

    def connect(self, peer: Any) -> str | None:
        """Count a connection and return its client, for `leave`, or `None` if the client has the maximum."""
        if self.behind_proxies or not isinstance(peer, tuple):
            return ""
        return self._enter(client_ip_of(str(peer[0]), _NO_HEADERS, 0, None))

    def leave(self, client: str) -> None:
        """Count one connection or request less."""
        if client:
            self._counts[client] -= 1
            if not self._counts[client]:
                del self._counts[client]

    @contextmanager
    def request(self, request: Request) -> Iterator[None]:
        """Count a proxied request while it is in progress. Raises `Overloaded`."""
        client = self._enter(client_ip_of(request.ip, request.headers, self._proxies, self._secret))
        if client is None:
            raise Overloaded(
                f"you have {self._most} requests under way, the maximum for one IP address; wait until one of them "
                "is answered"
            )
        try:
            yield
        finally:
            self.leave(client)

    def _enter(self, client: str) -> str | None:
        if not self._most or client == UNKNOWN_IP:
            return ""
        if self._counts[client] >= self._most:
            return None
        self._counts[client] += 1
        return client


CLIENT_BOUNDS: Final = "client_bounds"
"""The name of the `ClientBounds` in the context of an application."""

UNREAD: Final = "NONE"
"""Sanic's method of a request whose head could not be parsed."""

_CHUNK_HEAD: Final = re.compile(rb"\r\n[0-9A-Fa-f]{1,15}(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?\r\n")
_MAX_CHUNK_HEAD: Final = 256

_MIN_PAUSE_SECONDS: Final = 0.05

_TOO_MANY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\nContent-Length: 53\r\n\r\n"
    b"Your IP address has too many connections to this host"
)


FIRST_REQUEST_SECONDS = 1.0
"""How old an unused connection must be, in seconds, for a stopping server to close it: a request may be on its way."""


class StrictHttp(Http):
    """Parses chunk headers strictly by RFC 9112, section 7.1; a proxy might otherwise see a different request.

    Sanic accepts `0x2` as a size, any two bytes after the data, and a line feed inside an extension.
    """

    async def read(self) -> bytes | None:
        """Return some bytes of the body, or `None` at its end. Raises `BadRequest`."""
        kind: Any = self.request_body
        if kind == "chunked" and not self.request_bytes_left:
            await self._check_chunk_head()
        return await super().read()

    async def _check_chunk_head(self) -> None:
        if self.expecting_continue:
            self.expecting_continue = False
            await self._send(HTTP_CONTINUE)
        buffer = self.recv_buffer
        while (end := buffer.find(b"\r\n", 2)) < 0 and len(buffer) <= _MAX_CHUNK_HEAD:
            await self._receive_more()
        if not 0 <= end <= _MAX_CHUNK_HEAD or not _CHUNK_HEAD.fullmatch(buffer, 0, end + 2):
            self.keep_alive = False
            raise BadRequest("Bad chunked encoding")


class ClientConnection(HttpProtocol):
    """Serves one connection of a client, unless the client has too many.

    `request_timeout` applies to the whole head, counted from its first byte, to the whole body, and to the rest of a
    body that no handler reads. Sanic would restart the timeout with every byte.
    """

    HTTP_CLASS = StrictHttp
    __slots__ = ("_bounds", "_client", "_reads_body", "_request_started", "_virtual_hosts")

    def _setup(self) -> None:
        super()._setup()  # type: ignore[no-untyped-call]
        self._bounds: ClientBounds = getattr(self.app.ctx, CLIENT_BOUNDS)
        self._virtual_hosts: VirtualHostTable = getattr(self.app.ctx, VIRTUAL_HOSTS)
        self._client: str | None = ""
        self._request_started = False
        self._reads_body = False
        self.request_handler = self._handle_counted if self._bounds.behind_proxies else self._handle

    def _handle(self, request: Request) -> Awaitable[None]:
        # Not a coroutine, to save time: nearly every request is for the server's own name.
        is_own = self._virtual_hosts.leave(request)
        return self.app.handle_request(request) if is_own else self._handle_elsewhere(request)

    async def _handle_elsewhere(self, request: Request) -> None:
        await self._virtual_hosts.enter(request)
        await self.app.handle_request(request)

    async def _handle_counted(self, request: Request) -> None:
        with self._bounds.request(request):
            await self._handle(request)

    def connection_made(self, transport: Any) -> None:
        """Begin to serve, or respond that there are too many connections."""
        self._client = self._bounds.connect(transport.get_extra_info("peername"))
        if self._client is None:
            transport.write(_TOO_MANY)
            transport.close()
        else:
            super().connection_made(transport)  # type: ignore[no-untyped-call]

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop serving."""
        if self._client is not None:
            self._bounds.leave(self._client)
            super().connection_lost(exc)  # type: ignore[no-untyped-call]

    def data_received(self, data: bytes) -> None:
        """Receive bytes. Only the first ones of a request start its timeout."""
        if self._client is None:
            return
        began, self._request_started = self._time, True
        super().data_received(data)
        http = self.http
        if http is not None and (http.stage is not Stage.IDLE or _is_unread(http)):
            self._time = began

    def close_if_idle(self) -> bool:
        """Close the connection, unless it has a request in progress, or is new and its first may be on its way."""
        if not self._request_started and monotonic() - self._time < FIRST_REQUEST_SECONDS:
            return False
        closed: bool = super().close_if_idle()
        return closed

    def begin_body(self) -> None:
        """Suspend the timeout while the body is read; `end_body` starts the one for the response."""
        self._reads_body = True

    def end_body(self) -> None:
        """Start the timeout for the response."""
        self._reads_body = False
        self._time = monotonic()

    def check_timeouts(self) -> None:
        """End the current stage if it has taken too long, and schedule the next check."""
        http = self.http
        if not self._task or http is None:
            return
        seconds, error = self._stage_timeout(http)
        remaining = self._time + seconds - monotonic()
        if remaining > 0:
            # The next stage may have a shorter timeout than what is left of this one.
            pause = min(self.keep_alive_timeout, self.request_timeout, self.response_timeout) / 2
            pause = max(_MIN_PAUSE_SECONDS, min(remaining, pause))
            self._callback_check_timeouts = self.loop.call_later(pause, self.check_timeouts)
            return
        if error is not None:
            http.exception = error
        self._task.cancel()

    def _stage_timeout(self, http: Http) -> tuple[float, SanicException | None]:
        """Return the timeout of the current stage in seconds, and the error for the client after that."""
        if http.stage is Stage.IDLE:
            return (self.request_timeout if _is_unread(http) else self.keep_alive_timeout), None
        if http.stage is Stage.REQUEST:
            return self.request_timeout, RequestTimeout("Request Timeout")
        if self._reads_body:
            return inf, None
        return self.response_timeout, ServiceUnavailable("Response Timeout")


def _is_unread(http: Http) -> bool:
    """Return whether a response was sent before the whole request body had arrived."""
    # A connection has no such attribute before its first request.
    return bool(getattr(http, "request_body", None))


class ServedRequest(Request):
    """A request whose target may be invalid, and whose body must arrive in time, like its head.

    Sanic can only respond to a target that is not a URL with a request that has a valid one.
    """

    def __init__(
        self, url_bytes: bytes, headers: Header, version: str, method: str, transport: Any, app: Any, **parts: Any
    ) -> None:
        try:
            super().__init__(url_bytes, headers, version, method, transport, app, **parts)
        except BadURL:
            if method != UNREAD:
                raise
            super().__init__(b"*", headers, version, method, transport, app, **parts)
        if method != UNREAD:
            _check_head(headers, version)

    async def receive_body(self) -> None:
        """Read the whole body. Raises `RequestTimeout`, after which the connection is not reused.

        A body larger than the route accepts is refused with `PayloadTooLarge` as soon as that is known.
        """
        stream: Any = self.stream
        stream.request_max_size = body_limit(self) or stream.request_max_size
        # See `begin`, which only runs after the body has been read.
        stream.upgrade_websocket = False
        if stream.request_body is True and len(stream.recv_buffer) >= stream.request_bytes_left:
            # The whole body has arrived, so Sanic's steps for reading the rest are unnecessary.
            self.body = await stream.read() or b""
            stream.request_body = None
            return
        stream.protocol.begin_body()
        try:
            async with asyncio.timeout(self.app.config.REQUEST_TIMEOUT):
                self.body = b"".join([part async for part in stream])
        except TimeoutError:
            stream.keep_alive, stream.request_body = False, None
            raise RequestTimeout from None
        finally:
            stream.protocol.end_body()


def body_limit(request: Request) -> int:
    """Return the maximum size in bytes of a body on this request's route, or 0 if it has none."""
    limit: int = getattr(request.ctx, BODY_LIMIT, 0)
    return limit or (request.route.ctx.max_body_bytes if request.route else 0)


def _check_head(headers: Header, version: str) -> None:
    """Refuse a head that a proxy in front may have parsed differently (RFC 9112, 3.2, 5.1, 5.2 and 6.1)."""
    names = "".join(headers)
    if " " in names or "\t" in names:
        raise BadRequest("a header has white space before its colon, or continues in a second line")
    hosts = headers.getall("host", ())
    if len(hosts) > 1 or (not hosts and version == "1.1"):
        raise BadRequest(f"the request must have one Host header (got {len(hosts)})")
    if version == "1.0" and "transfer-encoding" in headers:
        raise BadRequest("HTTP/1.0 has no Transfer-Encoding; send HTTP/1.1, or a Content-Length")
