"""HTTP API of generators: calls, the catalog, descriptors, and response envelopes."""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, get_args
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
    NotFound,
    Overloaded,
    RateLimited,
    UnsupportedMediaType,
)
from pressroom.host.host import Host
from pressroom.http.compression import mark_public_text
from pressroom.http.cors import TOOLS_API
from pressroom.http.errors import error_headers, status_of
from pressroom.http.responses import (
    INERT_CONTENT,
    EncodedHeaders,
    RawResponse,
    content_type,
    encode_headers,
)
from pressroom.interfaces.tools_api.openapi_parts import VERSION
from pressroom.interfaces.tools_api.pages.uploads import kilobytes
from pressroom.pipeline.context import (
    CallRequest,
    Delivery,
    Outcome,
    ReceivedCall,
    RefusedCall,
    RenderedFile,
    ValidatedCall,
)
from pressroom.pipeline.stages.respond import file_data, iso_time
from pressroom.sdk import CacheEntry, LimitStatus
from pressroom.storage.files.signing import disposition_type, extension_of
from pressroom.validation.echo import counted, format_value, nearest
from pressroom.validation.json import QUICK_BYTES, Parsed, parse_object

_MAX_WARNING_LENGTH: Final = 300
_MAX_WARNINGS_LENGTH: Final = 4000

_NO_LIMIT = LimitStatus(allowed=True, limit=0, remaining=0, reset_at=0)


class Envelopes:
    """Builds the JSON bodies of one host. `brand` is the promotional block, stored under the operator's `brand_key`."""

    def __init__(self, brand_key: str, brand: Mapping[str, Any]) -> None:
        self._brand_key = brand_key
        self._brand = orjson.Fragment(orjson.dumps(brand))

    def success(self, call: ValidatedCall, file: RenderedFile, endpoint: str) -> bytes:
        """Return the envelope of a file that is available at `call.url`."""
        meta = self._meta(call.request.tool_name, endpoint, call.cached, call.limit_status)
        return orjson.dumps({"ok": True, "data": file_data(call, file), "meta": meta, self._brand_key: self._brand})

    def failure(self, error: CallError, tool: str, endpoint: str, status: LimitStatus | None = None) -> bytes:
        """Return the envelope of an error."""
        error_body: dict[str, Any] = {"code": error.code, "message": error.message}
        if isinstance(error, RateLimited | Overloaded | CallTimeout):
            error_body["retryAfter"] = error.retry_after
        return orjson.dumps(
            {
                "ok": False,
                "error": error_body,
                "meta": self._meta(tool, endpoint, False, status),
                self._brand_key: self._brand,
            }
        )

    def document(self, data: Mapping[str, Any]) -> bytes:
        """Return the envelope of a single descriptor (interface contract, section 2.10)."""
        return orjson.dumps({"ok": True, "data": data, self._brand_key: self._brand})

    def branded(self, document: Mapping[str, Any]) -> bytes:
        """Return a document with the promotional block as an additional member."""
        return orjson.dumps({**document, self._brand_key: self._brand})

    @staticmethod
    def _meta(tool: str, endpoint: str, cached: bool, status: LimitStatus | None) -> dict[str, Any]:
        now = time.time()
        limit_status = status or _NO_LIMIT
        return {
            "tool": tool,
            "endpoint": endpoint,
            "version": VERSION,
            "cached": cached,
            "timestamp": iso_time(now),
            "rateLimit": {
                "limit": limit_status.limit,
                "remaining": limit_status.remaining,
                "resetAt": iso_time(math.ceil(max(limit_status.reset_at, now))),
            },
        }


def rate_limit_headers(status: LimitStatus | None) -> EncodedHeaders:
    """Return the `RateLimit-*` headers; `RateLimit-Reset` is in whole seconds from now."""
    limit_status = status or _NO_LIMIT
    return (
        (b"RateLimit-Limit", b"%d" % limit_status.limit),
        (b"RateLimit-Remaining", b"%d" % limit_status.remaining),
        (b"RateLimit-Reset", b"%d" % max(0, math.ceil(limit_status.reset_at - time.time()))),
    )


def warning_headers(warnings: Sequence[str]) -> EncodedHeaders:
    """Return the header `X-Warnings`, a JSON array in US-ASCII; empty without warnings.

    Proxies limit the size of headers: long warnings are truncated, and those that do not fit are only in
    `data.warnings`.
    """
    value = ""
    for count in range(1, len(warnings) + 1):
        candidate = json.dumps([_cut(warning) for warning in warnings[:count]])
        if len(candidate) > _MAX_WARNINGS_LENGTH:
            break
        value = candidate
    return ((b"X-Warnings", value.encode("ascii")),) if value else ()


def _cut(warning: str) -> str:
    return warning if len(warning) <= _MAX_WARNING_LENGTH else f"{warning[: _MAX_WARNING_LENGTH - 1]}…"


DELIVERIES: Final[tuple[Delivery, ...]] = get_args(Delivery)

_JSON_HEADERS: Final = encode_headers({**TOOLS_API.headers(), "Cache-Control": "no-store"})
_FILE_HEADERS: Final = encode_headers({**TOOLS_API.headers(), "Content-Security-Policy": INERT_CONTENT})
_SHRINK_SECONDS: Final = 10.0
_SHRINK_MIB: Final = 512
_SHRINK_PREVIEWS: Final = 10
"""Number of previews charged to a client's budget for scaling down an image, which no call is counted for yet."""
_JSON_SUFFIX: Final = re.compile(r"application/[a-z0-9.+-]+\+json", re.ASCII)


class ToolsApi:
    """Serves the routes under `/tools/<slug>/api` and `/tools/api`.

    The catalog and the descriptors, which never change while the host runs, are rendered once.
    """

    def __init__(self, host: Host) -> None:
        self._pipeline = host.pipeline
        self._workers, self._previews = host.workers, host.previews
        self.envelopes = Envelopes(host.settings.branding.key, host.services.brand)
        self.max_body = host.settings.server.max_body_bytes
        view = host.services.catalog.plans[ANONYMOUS]
        self.generators = {entry.tool.name: generator_of(entry) for entry in view.generators}
        self.descriptors = {entry.tool.name: describe_generator(entry) for entry in view.generators}
        self._catalog = self.envelopes.branded(describe_catalog(view, host.compiled.branding, host.settings.public_url))
        self._documents = {slug: self.envelopes.document(descriptor) for slug, descriptor in self.descriptors.items()}

    async def generate(self, request: Request, slug: str) -> HTTPResponse:
        """`POST /tools/<slug>/api/generate`: run the tool with the parameters in the body."""
        arguments, delivery = await read_without_blocking(_read, request)
        return await self._respond(request, slug, arguments, delivery)

    async def shrink(self, request: Request, content: bytes, media_types: Sequence[str], max_bytes: int) -> bytes:
        """Scale down an image of a form in a worker process shared by all clients.

        Raises:
            RateLimited: the client's preview budget, which this is charged to, is used up.
            InvalidInput: the image cannot be made small enough.
            CallTimeout: it takes too long.
            Overloaded: too many tasks are already waiting.
            InternalError: it needs too much memory.
        """
        from pressroom.graphics.thumbnails import within_bytes  # noqa: PLC0415 - Pillow is an extra

        owner = self._pipeline.admit(request.ip, request.headers).client_ip
        try:
            await self._previews.charge(owner, _SHRINK_PREVIEWS)
        except RateLimited as error:
            raise RateLimited(
                f"this image is too large, and making it smaller counts as {_SHRINK_PREVIEWS} previews. Your limit of "
                f"{self._previews.rate} is used up. Choose an image of at most {kilobytes(max_bytes)}, or turn on "
                f"JavaScript: your browser then makes it smaller. Try again in {counted(error.retry_after, 'second')}",
                retry_after=error.retry_after,
            ) from error
        return await self._workers.run(
            within_bytes,
            content,
            tuple(media_types),
            max_bytes,
            owner=owner,
            what="the image",
            seconds=_SHRINK_SECONDS,
            memory_mib=_SHRINK_MIB,
        )

    async def refuse(self, request: Request, slug: str, error: CallError) -> HTTPResponse:
        """Return an error for a call whose request could not be read, with the caller's rate limit status."""
        return await self._respond(request, slug, error)

    async def catalog(self, request: Request) -> HTTPResponse:
        """`GET /tools/api`: return the whole catalog."""
        mark_public_text(request)
        return json_response(self._catalog)

    async def descriptor(self, request: Request, slug: str) -> HTTPResponse:
        """`GET /tools/<slug>/api`: return the descriptor of one tool."""
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
        """Return an error response that does not belong to a call of a tool."""
        body = self.envelopes.failure(error, slug, endpoint)
        return _refusal(error, body, rate_limit_headers(None))

    async def call(
        self, request: Request, slug: str, arguments: dict[str, Any] | CallError, delivery: Delivery = "url"
    ) -> Outcome:
        """Run one call through the pipeline and return the outcome. `arguments` can be an error, which is returned."""
        call_request = CallRequest(slug, arguments, request.ctx.request_id, "http", delivery, headers=request.headers)
        outcome = await self._pipeline(ReceivedCall(call_request, request.ip, request.headers))
        if outcome.caller is not None:
            request.ctx.client_ip = outcome.caller.client_ip
        return outcome

    async def _respond(
        self, request: Request, slug: str, arguments: dict[str, Any] | CallError, delivery: Delivery = "url"
    ) -> HTTPResponse:
        outcome = await self.call(request, slug, arguments, delivery)
        if isinstance(outcome, RefusedCall):
            body = self.envelopes.failure(outcome.error, slug, GENERATE, outcome.limit_status)
            return _refusal(outcome.error, body, rate_limit_headers(outcome.limit_status))
        file = file_of(outcome)
        link = _preview_link(outcome)
        extra_headers = rate_limit_headers(outcome.limit_status) + warning_headers(file.entry.warnings)
        if delivery == "binary":
            return _file(outcome, file.entry, extra_headers)
        return RawResponse(
            self.envelopes.success(outcome, file, GENERATE), encoded=_JSON_HEADERS + link + extra_headers
        )


def file_of(call: ValidatedCall) -> RenderedFile:
    """Return the file of a successful call: over HTTP every tool is a generator."""
    if call.file is None:
        raise TypeError(f"{call.request.tool_name} ended without a file")
    return call.file


def _preview_link(call: ValidatedCall) -> EncodedHeaders:
    """Return the `Link` header to an image that represents the file (RFC 8288, RFC 6903), if there is one."""
    if not call.preview_url:
        return ()
    target = quote(call.preview_url, safe=":/?#[]@!$&'()*+,;=%~")
    return ((b"Link", f'<{target}>; rel="preview"'.encode("ascii")),)


def _refusal(error: CallError, body: bytes, limits: EncodedHeaders) -> HTTPResponse:
    status = status_of(error)
    return RawResponse(body, status=status, encoded=_JSON_HEADERS + limits, headers=error_headers(error))


def _file(call: ValidatedCall, entry: CacheEntry, limits: EncodedHeaders) -> HTTPResponse:
    name = f"{call.request.tool_name}.{extension_of(entry.key)}"
    disposition = disposition_type(entry.media_type).encode("ascii")
    file_headers = (
        (b"ETag", b'"%b"' % call.content_id.encode("ascii")),
        (b"X-Cache", b"HIT" if call.cached else b"MISS"),
        (b"Content-Disposition", b'%b; filename="%b"' % (disposition, name.encode("ascii"))),
    )
    return RawResponse(
        call.content, encoded=_FILE_HEADERS + file_headers + limits, content_type=content_type(entry.media_type)
    )


async def read_without_blocking(read: Callable[[Request], Parsed], request: Request) -> Parsed:
    """Call `read` with a request. For a large body, run it in a thread so as not to block the event loop."""
    return read(request) if len(request.body) <= QUICK_BYTES else await asyncio.to_thread(read, request)


def _read(request: Request) -> tuple[dict[str, Any] | CallError, Delivery]:
    """Return a call's arguments, or the error in reading them, and how to deliver the file."""
    try:
        arguments = body_object(request)
        delivery = arguments.pop("response", None)
        if delivery is not None and delivery not in DELIVERIES:
            raise InvalidInput("response", f"must be one of url, binary (got {format_value(delivery)})")
    except CallError as error:
        return error, "url"
    return arguments, delivery or "url"


def body_object(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request's body. Raises a `CallError` if the body is invalid."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not _JSON_SUFFIX.fullmatch(media_type):
        actual = ascii(media_type[:80]) if media_type else "none"
        raise UnsupportedMediaType(f"the body must be JSON: send Content-Type: application/json (got {actual})")
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        raise UnsupportedMediaType(f"the body must not be compressed (got Content-Encoding: {coding[:80]!a})")
    return parse_object(request.body)


def design_in(request: Request) -> dict[str, Any] | CallError:
    """Return the parameters in a request's body without `response`, or the error in reading them."""
    try:
        arguments = body_object(request)
    except CallError as error:
        return error
    arguments.pop("response", None)
    return arguments


def json_response(body: bytes) -> HTTPResponse:
    """Return a JSON response that any web page can read and nobody can cache."""
    return RawResponse(body, encoded=_JSON_HEADERS)


def pretty(document: Any) -> bytes:
    """Return a document as indented JSON."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)
