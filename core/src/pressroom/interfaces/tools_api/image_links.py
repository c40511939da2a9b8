"""Permanent image URLs: they contain the signed design, and the image is drawn on request."""

from __future__ import annotations

import asyncio
import hmac
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from sanic import HTTPResponse, Request

from pressroom.config.values import parse_rate
from pressroom.errors import BackendError, CallError, Forbidden, InvalidInput, NotFound, Overloaded
from pressroom.host.host import Host
from pressroom.http.cors import TOOLS_API
from pressroom.http.errors import error_headers, status_of
from pressroom.http.responses import INERT_CONTENT, RawResponse, content_type, encode_headers, matches_etag
from pressroom.interfaces.tools_api.openapi_parts import IMAGE, LINK, SHOWN_TYPES
from pressroom.interfaces.tools_api.routes import (
    ToolsApi,
    design_in,
    file_of,
    rate_limit_headers,
    read_without_blocking,
)
from pressroom.pipeline.context import CallRequest, IdentifiedCall, RefusedCall, ValidatedCall
from pressroom.pipeline.executors.process import default_processes
from pressroom.pipeline.stages.limit import limit_refusal
from pressroom.sdk import Caller
from pressroom.storage.files.signing import extension_of, signing_secret

MAX_DESIGN_LENGTH: Final = 1800
"""Maximum length of a compressed design in a URL: networks and mail programs cut URLs of more than about 2,000
characters."""

_MAX_PLAIN_BYTES: Final = 16_384
"""Maximum size of a design to compress: some texts take seconds, which would block the event loop."""

_MAX_WAITING: Final = 64
_RETRY_SECONDS: Final = 5
_DAY: Final = 86_400

_HEADERS: Final = {
    **TOOLS_API.headers(),
    "Content-Security-Policy": INERT_CONTENT,
    "Cross-Origin-Resource-Policy": "cross-origin",
}
_IMMUTABLE_HEADERS: Final = encode_headers({**_HEADERS, "Cache-Control": f"public, max-age={_DAY}"})
_UNCACHED_HEADERS: Final = encode_headers({**_HEADERS, "Cache-Control": "no-store"})


class DesignSigner:
    """Encodes designs in URLs, and verifies their signatures: HMAC-SHA256 over the tool and the design."""

    def __init__(self, secret: bytes) -> None:
        # A dedicated key, so nothing else signed with the same secret passes as a design.
        self._key = hmac.digest(secret, b"pressroom signed design", "sha256")

    def query(self, slug: str, arguments: Mapping[str, Any]) -> dict[str, str]:
        """Return the query parameters of a design. Raises `InvalidInput` if it is too long for a URL."""
        text = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
        if len(text) > _MAX_PLAIN_BYTES:
            raise _too_long(f"it has {len(text):,} bytes of at most {_MAX_PLAIN_BYTES:,}")
        design = _encoded(zlib.compress(text, 9))
        if len(design) > MAX_DESIGN_LENGTH:
            raise _too_long(f"it takes {len(design):,} characters, compressed, of at most {MAX_DESIGN_LENGTH:,}")
        return {"design": design, "signature": self._signature(slug, design)}

    def arguments(self, slug: str, design: str, signature: str) -> dict[str, Any]:
        """Return the design in a URL. Raises `Forbidden` if this server did not sign it for that tool."""
        if not hmac.compare_digest(self._signature(slug, design).encode(), signature.encode(errors="replace")):
            raise Forbidden("this image URL was altered, or signed by another server: create the link again")
        arguments: dict[str, Any] = orjson.loads(zlib.decompress(urlsafe_b64decode(design + "=" * (-len(design) % 4))))
        return arguments

    def _signature(self, slug: str, design: str) -> str:
        return _encoded(hmac.digest(self._key, f"{slug}\n{design}".encode(errors="replace"), "sha256"))


class ImageLinks:
    """Serves `/tools/<slug>/link`, which returns the permanent URL of an image, and `/tools/<slug>/image`, the image.

    Creating a link counts as a call of the API, which draws the image once. Fetching it counts only if it has to be
    drawn again: limited to `[image_links] rate_limit` per IP address, and to half of the worker processes.
    """

    def __init__(self, host: Host, api: ToolsApi) -> None:
        settings = host.settings
        self.enabled = settings.image_links.enabled
        self._rate = parse_rate(settings.image_links.rate_limit)
        self._blocked = frozenset(settings.image_links.blocked)
        self._public_url = settings.public_url
        self._signer = DesignSigner(signing_secret(settings))
        self._host = host
        self._api = api
        self._semaphore = asyncio.Semaphore(max(1, (settings.executors.processes or default_processes()) // 2))
        self._waiting = 0

    def url(self, slug: str, arguments: Mapping[str, Any]) -> str:
        """Return the permanent URL of a tool's image for these arguments. Raises `InvalidInput` if too long."""
        return f"{self._public_url}/tools/{slug}{IMAGE}?{urlencode(self._signer.query(slug, arguments))}"

    async def url_or_nothing(self, call: ValidatedCall, media_type: str) -> str:
        """Return the permanent URL of the image that a call created, or an empty string if it cannot have one."""
        if not self.enabled or media_type not in SHOWN_TYPES:
            return ""
        try:
            return self.url(call.request.tool_name, await self._design_of(call))
        except InvalidInput:
            return ""

    async def link(self, request: Request, slug: str) -> HTTPResponse:
        """`POST /tools/<slug>/link`: create the image of a JSON body as in the API, and return its permanent URL."""
        arguments = await read_without_blocking(design_in, request)
        try:
            self._check_tool(slug)
            checked = await self._checked(slug, arguments, request.ctx.request_id)
            # Malformed input is refused below, as in the API.
            url = self.url(slug, await self._design_of(checked)) if checked else ""
        except CallError as error:
            return self._refusal(slug, LINK, error)
        outcome = await self._api.call(request, slug, arguments)
        if isinstance(outcome, RefusedCall):
            return self._refusal(slug, LINK, outcome.error)
        if not url:
            return self._refusal(slug, LINK, Forbidden(f"{slug} is not for everybody, so it has no public links"))
        file = file_of(outcome)
        if file.entry.media_type not in SHOWN_TYPES:
            return self._refusal(slug, LINK, _no_image(slug))
        envelope = orjson.loads(self._api.envelopes.success(outcome, file, LINK))
        envelope["data"] |= {"url": url, "expiresAt": None}
        limits = rate_limit_headers(outcome.limit_status)
        return RawResponse(orjson.dumps(envelope), encoded=_UNCACHED_HEADERS + limits)

    async def image(self, request: Request, slug: str) -> HTTPResponse:
        """`GET /tools/<slug>/image?design=…&signature=…`: return the image of a design that this server signed."""
        try:
            return await self._image(request, slug)
        except CallError as error:
            return self._refusal(slug, IMAGE, error)

    async def _image(self, request: Request, slug: str) -> HTTPResponse:
        self._check_tool(slug)
        signature = request.args.get("signature", "")
        arguments = self._signer.arguments(slug, request.args.get("design", ""), signature)
        checked = await self._check(slug, arguments, request.ctx.request_id)
        if self._blocked and not self._blocked.isdisjoint((signature, await self._own_signature(checked))):
            raise Forbidden("the operator of this server has withdrawn this image")
        tag = ((b"ETag", f'"{checked.content_id}"'.encode("ascii")),)
        if matches_etag(request.headers.get("if-none-match", ""), f'"{checked.content_id}"'):
            return RawResponse(b"", status=304, encoded=(*_IMMUTABLE_HEADERS, *tag))
        client_ip = self._host.pipeline.admit(request.ip, request.headers).client_ip
        drawing = False

        async def before_run() -> None:
            nonlocal drawing
            await self._count(client_ip)
            await self._enter()
            drawing = True

        try:
            call = await self._host.pipeline.run_internally(slug, arguments, request.ctx.request_id, before_run)
        finally:
            if drawing:
                self._semaphore.release()
        entry = file_of(call).entry
        if entry.media_type not in SHOWN_TYPES:
            raise _no_image(slug)
        name = f'inline; filename="{slug}.{extension_of(entry.key)}"'
        headers = (*_IMMUTABLE_HEADERS, *tag, (b"Content-Disposition", name.encode("ascii")))
        return RawResponse(call.content, encoded=headers, content_type=content_type(entry.media_type))

    async def _check(self, slug: str, arguments: dict[str, Any] | CallError, request_id: str) -> ValidatedCall:
        call_request = CallRequest(slug, arguments, request_id, "http", "binary")
        return await self._host.pipeline.check(IdentifiedCall(call_request, Caller("")))

    async def _checked(self, slug: str, arguments: dict[str, Any] | CallError, request_id: str) -> ValidatedCall | None:
        try:
            return await self._check(slug, arguments, request_id)
        except CallError:
            return None

    async def _design_of(self, call: ValidatedCall) -> Mapping[str, Any]:
        """Return the canonical arguments of an image for its URL, independent of how it was requested.

        Default values are left out, unless that would change the image.
        """
        design = call.params.model_dump(mode="json", exclude_defaults=True)
        rechecked = await self._checked(call.request.tool_name, design, call.request.request_id)
        if rechecked is not None and rechecked.content_id == call.content_id:
            return design
        return call.request.arguments if isinstance(call.request.arguments, dict) else design

    async def _own_signature(self, call: ValidatedCall) -> str:
        """Return the signature that `link` creates for the design of a call."""
        slug = call.request.tool_name
        try:
            return self._signer.query(slug, await self._design_of(call))["signature"]
        except InvalidInput:
            return ""

    def _check_tool(self, slug: str) -> None:
        if not self.enabled:
            raise NotFound("this server does not offer permanent links to images: [image_links] enabled is false")
        if slug not in self._api.generators:
            raise NotFound(f"there is no tool {slug[:64]!r}; GET /tools/api lists the tools")
        if not SHOWN_TYPES & set(self._api.generators[slug].produces):
            raise _no_image(slug)

    async def _count(self, client_ip: str) -> None:
        services = self._host.services
        try:
            status = await services.limiter.take(self._rate, f"image links\n{client_ip}", 1.0)
        except BackendError as error:
            services.metrics.backend_failure("limits")
            if services.settings.limits.on_outage == "refuse":
                raise Overloaded("images cannot be counted right now; try again shortly") from error
            return
        if not status.allowed:
            raise limit_refusal(self._rate, status)

    async def _enter(self) -> None:
        if self._waiting >= _MAX_WAITING:
            raise Overloaded("too many images are being drawn; try again in a moment", retry_after=_RETRY_SECONDS)
        self._waiting += 1
        try:
            await self._semaphore.acquire()
        finally:
            self._waiting -= 1

    def _refusal(self, slug: str, endpoint: str, error: CallError) -> HTTPResponse:
        return RawResponse(
            self._api.envelopes.failure(error, slug, endpoint),
            status=status_of(error),
            encoded=_UNCACHED_HEADERS,
            headers=error_headers(error),
            content_type="application/json",
        )


def _too_long(reason: str) -> InvalidInput:
    advice = "Shorten its texts, or download the image and put it on your own site"
    return InvalidInput("", f"the design is too long for a link: {reason}. {advice}")


def _no_image(slug: str) -> InvalidInput:
    return InvalidInput("", f"{slug} does not make images that pages can show, so it has no permanent links")


def _encoded(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode("ascii")
