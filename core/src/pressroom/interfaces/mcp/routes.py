"""The routes of the MCP endpoint: HTTP around the methods."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import structlog
from sanic import HTTPResponse, Request

from pressroom.errors import BackendError, CallError, InvalidJson, Rejected
from pressroom.host.host import Host
from pressroom.http.responses import EncodedHeaders, Endpoint, RawResponse, receive_body
from pressroom.interfaces.mcp.methods import Incoming, Methods
from pressroom.interfaces.mcp.origin_policy import Challenge, OriginPolicy, Unauthorized
from pressroom.interfaces.mcp.protocol import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, RpcError
from pressroom.oauth.records import RESOURCE_PATH
from pressroom.sdk import Caller
from pressroom.validation.echo import quoted
from pressroom.validation.json import QUICK_BYTES, parse_beside, parse_value

log = structlog.get_logger()

_NO_STORE: Final[EncodedHeaders] = ((b"Cache-Control", b"no-store"),)
_JSON: Final[EncodedHeaders] = ((b"Content-Type", b"application/json"),)
_BEARER: Final = "bearer"
_MEDIA_TYPE: Final = "application/json"


class McpEndpoint:
    """Answers `POST /api/mcp`: the Streamable HTTP transport of MCP, without sessions and without streams."""

    def __init__(self, host: Host) -> None:
        self._settings = host.settings.mcp
        self._pipeline = host.pipeline
        self._gate = OriginPolicy(host.settings)
        self._challenge = Challenge(host.settings)
        self._methods = Methods(host, self._challenge)
        self._parse = partial(parse_value, max_depth=self._settings.max_nesting)

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve; none where the operator switched MCP off."""
        if not self._settings.enabled:
            return []
        return [
            Endpoint(RESOURCE_PATH, ("POST",), self.post, self._settings.max_body_bytes, reads_body=True),
            Endpoint(RESOURCE_PATH, ("OPTIONS",), self.preflight),
        ]

    def serves(self, path: str) -> bool:
        """Tell whether a URL is the endpoint's, so that errors there have its shape."""
        return self._settings.enabled and path.removesuffix("/") == RESOURCE_PATH

    async def post(self, request: Request) -> HTTPResponse:
        """`POST /api/mcp`: one message, or a batch."""
        try:
            cors = self._gate.check(request)
        except RpcError as error:
            return _answer(error.body(), _NO_STORE, error.status)
        headers = _NO_STORE + cors
        try:
            body = await self._methods.answer(await self._receive(request))
        except RpcError as error:
            return _answer(error.body(), headers, error.status)
        except Unauthorized as refusal:
            return _answer(refusal.body, headers + refusal.headers, 401)
        except BackendError as error:
            log.warning("a credential could not be checked", error=error.message)
            failure = RpcError(INTERNAL_ERROR, "the credential cannot be checked right now; try again shortly")
            return _answer(failure.body(), (*headers, (b"Retry-After", b"1")), 503)
        return _answer(body or b"", headers, 202 if body is None else 200)

    async def preflight(self, request: Request) -> HTTPResponse:
        """`OPTIONS /api/mcp`: a CORS preflight (Fetch standard)."""
        try:
            return _answer(b"", self._gate.preflight(request), 204)
        except RpcError as error:
            return _answer(error.body(), _NO_STORE, error.status)

    def refuse(self, request: Request, error: CallError, status: int, headers: Mapping[str, str]) -> HTTPResponse:
        """Answer a request that never came to a message: another method, a body that is too large, a failure."""
        try:
            # A head that could not be read says nothing of where the request is from, and is refused for that alone.
            cors = self._gate.check(request) if request.headers else ()
        except RpcError as foreign:
            return _answer(foreign.body(), _NO_STORE, foreign.status)
        code = INVALID_REQUEST if status < 500 else INTERNAL_ERROR
        response = _answer(RpcError(code, error.message).body(), _NO_STORE + cors, status)
        response.headers.update(headers)
        return response

    async def _receive(self, request: Request) -> Incoming:
        _check_media_type(request)
        caller = self._pipeline.admit(request.ip, request.headers)
        request.ctx.client_ip = caller.client_ip
        caller = await self._identify(request, caller)
        await receive_body(request, 0 if caller.subject else min(QUICK_BYTES, self._settings.max_body_bytes))
        try:
            document = await parse_beside(self._parse, request.body)
        except InvalidJson as error:
            raise RpcError(PARSE_ERROR, error.message, status=400) from None
        return Incoming(request, document, caller)

    async def _identify(self, request: Request, anonymous: Caller) -> Caller:
        """Return whose credential came along; a credential that is not valid is refused whatever it came for.

        Raises:
            RpcError: there are several, of which a proxy may have looked at another one (RFC 6750, section 3.1).
            Unauthorized: it is not valid.
            BackendError: it could not be checked.
        """
        sent = request.headers.getall("authorization", [])
        if len(sent) > 1:
            raise RpcError(INVALID_REQUEST, f"send one Authorization header (got {len(sent)})", status=400)
        try:
            caller = await self._pipeline.identify(anonymous, request.headers)
        except Rejected as error:
            raise self._challenge.rejected(error) from None
        if sent and not caller.subject:
            scheme, _, credential = sent[0].partition(" ")
            if scheme.lower() == _BEARER and credential.strip():
                raise self._challenge.unknown()
        return caller


def _check_media_type(request: Request) -> None:
    sent = request.headers.get("content-type", "")
    if sent != _MEDIA_TYPE and (media_type := sent.partition(";")[0].strip().lower()) != _MEDIA_TYPE:
        got = quoted(media_type) if media_type else "none"
        raise RpcError(
            INVALID_REQUEST, f"the body must be JSON: send Content-Type: application/json (got {got})", status=415
        )
    coding = request.headers.get("content-encoding", "identity")
    if coding != "identity" and (coding := coding.strip().lower()) != "identity":
        raise RpcError(
            INVALID_REQUEST, f"the body must not be compressed (got Content-Encoding: {quoted(coding)})", status=415
        )


def _answer(body: bytes, headers: EncodedHeaders, status: int) -> HTTPResponse:
    return RawResponse(body, encoded=headers + _JSON if body else headers, status=status, content_type=None)
