"""The HTTP face of generators: one call, the catalog, the descriptors."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final
from urllib.parse import quote

import orjson
from sanic import HTTPResponse, Request

from pressroom.catalog.compile import GENERATE
from pressroom.catalog.descriptor import describe_catalog, describe_generator, generator_of
from pressroom.catalog.tool import ANONYMOUS
from pressroom.errors import (
    CallError,
    CallTimeout,
    InvalidInput,
    MethodNotAllowed,
    NotFound,
    Overloaded,
    RateLimited,
    UnsupportedMediaType,
)
from pressroom.host.host import Host
from pressroom.http.responses import (
    CORS_HEADERS,
    INERT_CONTENT,
    EncodedHeaders,
    RawResponse,
    content_type,
    encode_headers,
    mark_public_text,
)
from pressroom.interfaces.tools_api.envelope import STATUS, Envelopes, rate_limit_headers, warning_headers
from pressroom.pipeline.exchange import Exchange
from pressroom.sdk import EXTENSIONS, CacheEntry
from pressroom.validation.echo import shown
from pressroom.validation.json import QUICK_BYTES, Parsed, parse_object
from pressroom.validation.nearest import nearest

DELIVERIES: Final = ("url", "binary")

_JSON_HEADERS: Final = encode_headers({**CORS_HEADERS, "Cache-Control": "no-store"})
_FILE_HEADERS: Final = encode_headers({**CORS_HEADERS, "Content-Security-Policy": INERT_CONTENT})
_JSON_SUFFIX: Final = re.compile(r"application/[a-z0-9.+-]+\+json", re.ASCII)


class ToolsApi:
    """Answers the routes under `/tools/<slug>/api` and `/tools/api`.

    What does not change while the host lives, the catalog and its descriptors, is rendered once.
    """

    def __init__(self, host: Host) -> None:
        self._pipeline = host.pipeline
        self.envelopes = Envelopes(host.settings.branding.key, host.services.brand)
        self._max_body = host.settings.server.max_body_bytes
        view = host.services.catalog.plan(ANONYMOUS)
        self.generators = {entry.tool.name: generator_of(entry) for entry in view.generators}
        self.descriptors = {entry.tool.name: describe_generator(entry) for entry in view.generators}
        self._catalog = self.envelopes.branded(describe_catalog(view, host.compiled.branding, host.settings.public_url))
        self._documents = {slug: self.envelopes.document(one) for slug, one in self.descriptors.items()}

    async def generate(self, request: Request, slug: str) -> HTTPResponse:
        """`POST /tools/<slug>/api/generate`: run the tool with the body's parameters."""
        read = await read_beside(lambda: _arguments(request), request.body)
        return await self._answer(request, slug, lambda exchange: _with_delivery(read(), exchange))

    async def refuse(self, request: Request, slug: str, error: CallError) -> HTTPResponse:
        """Answer a call whose request could not be read, with the state of the caller's limit as on any other."""

        def read(_exchange: Exchange) -> dict[str, Any]:
            raise error

        return await self._answer(request, slug, read)

    async def catalog(self, request: Request) -> HTTPResponse:
        """`GET /tools/api`: the whole catalog."""
        mark_public_text(request)
        return json_response(self._catalog)

    async def descriptor(self, request: Request, slug: str) -> HTTPResponse:
        """`GET /tools/<slug>/api`: one descriptor."""
        document = self._documents.get(slug)
        if document is None:
            similar = nearest(slug, self._documents)
            error = NotFound(
                f"there is no tool {slug[:64]!r}"
                + (f"; did you mean {similar}?" if similar else "; GET /tools/api lists the tools")
            )
            return self.failure(error, slug, "")
        mark_public_text(request)
        return json_response(document)

    def failure(self, error: CallError, slug: str, endpoint: str) -> HTTPResponse:
        """Return an error outside of any tool's call."""
        body = self.envelopes.failure(error, slug, endpoint)
        return _refusal(error, body, rate_limit_headers(None))

    async def call(self, request: Request, slug: str, read: Callable[[Exchange], dict[str, Any]]) -> Exchange:
        """Run one call through the pipeline and return it with its outcome."""
        exchange = Exchange(
            tool_name=slug,
            read_arguments=read,
            peer=request.ip,
            headers=request.headers,
            request_id=request.ctx.request_id,
        )
        await self._pipeline(exchange)
        if exchange.caller is not None:
            request.ctx.address = exchange.caller.address
        return exchange

    async def _answer(self, request: Request, slug: str, read: Callable[[Exchange], dict[str, Any]]) -> HTTPResponse:
        exchange = await self.call(request, slug, read)
        own = rate_limit_headers(exchange.limit_status)
        if exchange.error is not None:
            body = self.envelopes.failure(exchange.error, slug, GENERATE, exchange.limit_status)
            return _refusal(exchange.error, body, own)
        if exchange.made is not None:
            own += warning_headers(exchange.made.entry.warnings)
        if exchange.delivery == "binary" and exchange.made is not None:
            return _file(exchange, exchange.made.entry, own)
        headers = _JSON_HEADERS + _preview_link(exchange) + own
        return RawResponse(self.envelopes.success(exchange, GENERATE), encoded=headers)


def error_headers(error: CallError) -> dict[str, str]:
    """Return the headers that say when to come again, or which methods there are."""
    if isinstance(error, RateLimited | Overloaded | CallTimeout):
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, MethodNotAllowed):
        return {"Allow": ", ".join(error.allowed)}
    return {}


def _preview_link(exchange: Exchange) -> EncodedHeaders:
    """Return the header that names a picture of the file (RFC 8288, with the relation of RFC 6903), if there is one."""
    if not exchange.preview_url:
        return ()
    target = quote(exchange.preview_url, safe=":/?#[]@!$&'()*+,;=%~")
    return ((b"Link", f'<{target}>; rel="preview"'.encode("ascii")),)


def _refusal(error: CallError, body: bytes, limits: EncodedHeaders) -> HTTPResponse:
    status = STATUS.get(error.code, 500)
    return RawResponse(body, status=status, encoded=_JSON_HEADERS + limits, headers=error_headers(error))


def _file(exchange: Exchange, entry: CacheEntry, limits: EncodedHeaders) -> HTTPResponse:
    name = f"{exchange.tool_name}.{EXTENSIONS[entry.media_type]}"
    own = (
        (b"ETag", b'"%b"' % exchange.content_id.encode("ascii")),
        (b"X-Cache", b"HIT" if exchange.cached else b"MISS"),
        (b"Content-Disposition", b'inline; filename="%b"' % name.encode("ascii")),
    )
    return RawResponse(
        exchange.content, encoded=_FILE_HEADERS + own + limits, content_type=content_type(entry.media_type)
    )


async def read_beside(read: Callable[[], Parsed], body: bytes) -> Callable[[], Parsed]:
    """Return a function that returns or raises what `read` does. For a large body a thread has done it by then.

    A small one is read where the pipeline asks for it.
    """
    if len(body) <= QUICK_BYTES:
        return read
    # A future takes no call's error for unnoticed, and raises it as often as it is asked.
    done: Future[Parsed] = Future()

    def run() -> None:
        try:
            done.set_result(read())
        except CallError as error:
            done.set_exception(error)

    await asyncio.to_thread(run)
    return done.result


def _arguments(request: Request) -> dict[str, Any]:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not _JSON_SUFFIX.fullmatch(media_type):
        got = ascii(media_type[:80]) if media_type else "none"
        raise UnsupportedMediaType(f"the body must be JSON: send Content-Type: application/json (got {got})")
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        raise UnsupportedMediaType(f"the body must not be compressed (got Content-Encoding: {coding[:80]!a})")
    return parse_object(request.body)


def _with_delivery(arguments: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    delivery = arguments.pop("response", "url")
    if delivery not in DELIVERIES:
        raise InvalidInput("response", f"must be one of url, binary (got {shown(delivery)})")
    exchange.delivery = delivery
    return arguments


def json_response(body: bytes) -> HTTPResponse:
    """Return a JSON answer that any web page may read and nobody may cache."""
    return RawResponse(body, encoded=_JSON_HEADERS)


def pretty(document: Any) -> bytes:
    """Return a document as indented JSON, for people."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)
