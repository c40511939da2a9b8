"""The MCP endpoint: HTTP transport, authentication and origin checks.

A page on any site can make a browser send requests to this server. Browsers state the page's origin in `Origin`; other
programs omit it. A server on loopback is also exposed to DNS rebinding, in which the host name of a page
resolves to the server's IP address; `Host` then still contains that host name.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Final
from urllib.parse import SplitResult, urlsplit

import structlog
from sanic import HTTPResponse, Request

from pressroom.config.models import Settings
from pressroom.errors import BackendError, CallError, InvalidJson, Rejected
from pressroom.host.host import Host
from pressroom.http.cors import MCP
from pressroom.http.responses import EncodedHeaders, Endpoint, RawResponse, encode_headers, receive_body
from pressroom.interfaces.mcp.methods import Methods
from pressroom.interfaces.mcp.protocol import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    UNAUTHORIZED,
    Incoming,
    RpcError,
    Unauthorized,
)
from pressroom.oauth.records import RESOURCE_METADATA_PATH, RESOURCE_PATH
from pressroom.sdk import Caller
from pressroom.validation.echo import quoted
from pressroom.validation.json import QUICK_BYTES, may_hold_nul, parse_value, parse_without_blocking

log = structlog.get_logger()

_NO_STORE: Final[EncodedHeaders] = ((b"Cache-Control", b"no-store"),)
_JSON: Final[EncodedHeaders] = ((b"Content-Type", b"application/json"),)
_BEARER: Final = "bearer"
_MEDIA_TYPE: Final = "application/json"
_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class McpEndpoint:
    """Handles `POST /api/mcp`: the Streamable HTTP transport of MCP, without sessions and streams."""

    def __init__(self, host: Host) -> None:
        self._settings = host.settings.mcp
        self._pipeline = host.pipeline
        self._gate = OriginPolicy(host.settings)
        self._challenges = _challenges(host.settings)
        self._methods = Methods(host)
        self._parse = partial(parse_value, max_depth=self._settings.max_nesting)

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve; none if MCP is disabled."""
        if not self._settings.enabled:
            return []
        return [
            Endpoint(RESOURCE_PATH, ("POST",), self.post, self._settings.max_body_bytes, reads_body=True),
            Endpoint(RESOURCE_PATH, ("OPTIONS",), self.preflight),
        ]

    def serves(self, path: str) -> bool:
        """Return whether a path is the endpoint's, so that its errors use the JSON-RPC format."""
        return self._settings.enabled and path.removesuffix("/") == RESOURCE_PATH

    async def post(self, request: Request) -> HTTPResponse:
        """`POST /api/mcp`: process one message, or a batch."""
        try:
            cors = self._gate.check(request)
        except RpcError as error:
            return _response(error.body(), _NO_STORE, error.status)
        headers = _NO_STORE + cors
        try:
            body = await self._methods.respond(await self._receive(request))
        except RpcError as error:
            return _response(error.body(), headers, error.status)
        except Unauthorized as refusal:
            return _response(refusal.body, headers + self._challenges.get(refusal.challenge, ()), 401)
        except BackendError as error:
            log.warning("a credential could not be checked", error=error.message)
            failure = RpcError(INTERNAL_ERROR, "the credential cannot be checked right now; try again shortly")
            return _response(failure.body(), (*headers, (b"Retry-After", b"1")), 503)
        return _response(body or b"", headers, 202 if body is None else 200)

    async def preflight(self, request: Request) -> HTTPResponse:
        """`OPTIONS /api/mcp`: respond to a CORS preflight (Fetch standard)."""
        try:
            return _response(b"", self._gate.preflight(request), 204)
        except RpcError as error:
            return _response(error.body(), _NO_STORE, error.status)

    def refuse(self, request: Request, error: CallError, status: int, headers: Mapping[str, str]) -> HTTPResponse:
        """Return an error for a request that did not reach a message: a wrong method, a large body, a failure."""
        try:
            # Without a readable head, the origin is unknown; the request is refused anyway.
            cors = self._gate.check(request) if request.headers else ()
        except RpcError as foreign:
            return _response(foreign.body(), _NO_STORE, foreign.status)
        code = INVALID_REQUEST if status < 500 else INTERNAL_ERROR
        response = _response(RpcError(code, error.message).body(), _NO_STORE + cors, status)
        response.headers.update(headers)
        return response

    async def _receive(self, request: Request) -> Incoming:
        _check_media_type(request)
        caller = self._pipeline.admit(request.ip, request.headers)
        request.ctx.client_ip = caller.client_ip
        caller = await self._identify(request, caller)
        await receive_body(request, 0 if caller.subject else min(QUICK_BYTES, self._settings.max_body_bytes))
        try:
            document = await parse_without_blocking(self._parse, request.body)
        except InvalidJson as error:
            raise RpcError(PARSE_ERROR, error.message, status=400) from None
        return Incoming(request, document, caller, may_hold_nul(request.body))

    async def _identify(self, request: Request, anonymous: Caller) -> Caller:
        """Return the authenticated caller; an invalid credential is refused whatever the request is for.

        Raises:
            RpcError: There are several credentials, and a proxy may have checked another one (RFC 6750, section 3.1).
            Unauthorized: The credential is not valid.
            BackendError: The credential could not be checked.
        """
        authorization = request.headers.getall("authorization", [])
        if len(authorization) > 1:
            raise RpcError(INVALID_REQUEST, f"send one Authorization header (got {len(authorization)})", status=400)
        try:
            caller = await self._pipeline.identify(anonymous, request.headers)
        except Rejected as error:
            raise Unauthorized(error.message, "invalid" if error.reauthorize else None) from None
        if authorization and not caller.subject:
            scheme, _, credential = authorization[0].partition(" ")
            if scheme.lower() == _BEARER and credential.strip():
                raise Unauthorized("the credential is neither an API key nor an access token of this server", "invalid")
        return caller


def _check_media_type(request: Request) -> None:
    content_type = request.headers.get("content-type", "")
    if content_type != _MEDIA_TYPE and (media_type := content_type.partition(";")[0].strip().lower()) != _MEDIA_TYPE:
        actual = quoted(media_type) if media_type else "none"
        raise RpcError(
            INVALID_REQUEST, f"the body must be JSON: send Content-Type: application/json (got {actual})", status=415
        )
    coding = request.headers.get("content-encoding", "identity")
    if coding != "identity" and (coding := coding.strip().lower()) != "identity":
        raise RpcError(
            INVALID_REQUEST, f"the body must not be compressed (got Content-Encoding: {quoted(coding)})", status=415
        )


def _response(body: bytes, headers: EncodedHeaders, status: int) -> HTTPResponse:
    return RawResponse(body, encoded=headers + _JSON if body else headers, status=status, content_type=None)


def _challenges(settings: Settings) -> Mapping[str | None, EncodedHeaders]:
    """Return the `WWW-Authenticate` headers (RFC 6750, section 3, and RFC 9728, section 5.1) by `challenge`."""
    metadata = f'resource_metadata="{settings.public_url}{RESOURCE_METADATA_PATH}", scope="mcp"'
    parameters = [metadata] if settings.oauth.enabled else []
    invalid = ", ".join([*parameters, 'error="invalid_token"'])
    return {
        "missing": encode_headers({"WWW-Authenticate": " ".join(["Bearer", *parameters])}),
        "invalid": encode_headers({"WWW-Authenticate": f"Bearer {invalid}"}),
    }


class OriginPolicy:
    """The server's own origins and host names, and the origins that the operator allows."""

    def __init__(self, settings: Settings) -> None:
        allowed = {origin.lower().rstrip("/") for origin in settings.mcp.allowed_origins}
        public_url = urlsplit(settings.public_url.lower())
        self._anyone = "*" in allowed
        self._origins = allowed | {_origin(public_url)}
        self._hosts: frozenset[str] | None = None
        if _is_loopback(settings.server.host):
            names = {settings.server.host.lower(), *_LOOPBACK_NAMES}
            self._origins |= {f"http://{_bracketed(name)}:{settings.server.port}" for name in names}
            # A proxy can send any host name in `Host`, and web pages then reach the proxy and not this server.
            if not settings.server.trusted_proxies and settings.server.forwarded_secret is None:
                self._hosts = frozenset({*names, public_url.hostname or ""})

    def check(self, request: Request) -> EncodedHeaders:
        """Return the CORS headers (Fetch standard) for all responses to this request.

        Raises:
            RpcError: The request comes from a page that is not allowed to call the endpoint.
        """
        headers = request.headers
        if self._hosts is not None and _host_name(headers.get("host", "")) not in self._hosts:
            raise RpcError(
                UNAUTHORIZED,
                f"Host {quoted(headers.get('host', ''))} is not this server; set base_url to the name it is reached by",
                status=403,
            )
        origin = headers.get("origin", "")
        if not origin:
            return ()
        if self._anyone:
            return encode_headers(MCP.headers())
        if origin.lower() not in self._origins:
            raise RpcError(
                UNAUTHORIZED,
                f"Origin {quoted(origin)} may not call this endpoint; the operator can add it to [mcp] allowed_origins",
                status=403,
            )
        return encode_headers(MCP.headers(origin))

    def preflight(self, request: Request) -> EncodedHeaders:
        """Return the headers for a CORS preflight response. Raises `RpcError` like `check`."""
        return (*self.check(request), *encode_headers({**MCP.preflight_headers("POST"), "Allow": "POST, OPTIONS"}))


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _origin(url: SplitResult) -> str:
    """Return the origin of a URL in the form that browsers send, without a default port."""
    port = "" if url.port in (None, _DEFAULT_PORTS.get(url.scheme)) else f":{url.port}"
    return f"{url.scheme}://{_bracketed(url.hostname or '')}{port}"


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


@lru_cache(maxsize=64)
def _host_name(host: str) -> str:
    """Return the lower-case host name in a `Host` header, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].rstrip(".").lower()
