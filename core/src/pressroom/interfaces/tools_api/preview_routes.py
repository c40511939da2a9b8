"""Live previews for a tool's page while its form changes. Not part of the API."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qs

import orjson
from sanic import HTTPResponse, Request

from pressroom.errors import CallError, Forbidden
from pressroom.host.host import Host
from pressroom.http.errors import error_headers, status_of
from pressroom.http.responses import INERT_CONTENT, RawResponse, content_type, encode_headers, matches_etag
from pressroom.interfaces.tools_api.pages import input_from_form
from pressroom.interfaces.tools_api.pages.forms import Param, first_endpoint
from pressroom.interfaces.tools_api.pages.results import titled_details
from pressroom.interfaces.tools_api.pages.views import editable_json
from pressroom.interfaces.tools_api.routes import (
    ToolsApi,
    design_in,
    rate_limit_headers,
    read_without_blocking,
    warning_headers,
)
from pressroom.pipeline.context import CallRequest, ReceivedCall
from pressroom.pipeline.previews import PreviewImage
from pressroom.sdk import LimitStatus
from pressroom.validation.json import parse_object

PREVIEW: Final = "/preview"

_PAGE: Final = re.compile(r"[A-Za-z0-9-]{1,36}", re.ASCII)
_MAX_DETAILS_LENGTH: Final = 4000
_INERT: Final = {"Content-Security-Policy": INERT_CONTENT, "Cross-Origin-Resource-Policy": "same-origin"}
_UNCACHED_HEADERS: Final = encode_headers({**_INERT, "Cache-Control": "no-store"})
_CHECKED: Final = encode_headers({**_INERT, "Cache-Control": "private, no-cache"})


class PreviewRoutes:
    """Serves `/tools/<slug>/preview` with an image, or with an error in the envelope of the API.

    `descriptors` are the page descriptors by slug.
    """

    def __init__(self, host: Host, api: ToolsApi, descriptors: Mapping[str, Mapping[str, Any]]) -> None:
        self._pipeline = host.pipeline
        self._previews = host.previews
        self._api = api
        self._descriptors = descriptors

    async def posted(self, request: Request, slug: str) -> HTTPResponse:
        """`POST /tools/<slug>/preview`: return the preview of a JSON body as in the API."""
        arguments = await read_without_blocking(design_in, request)
        return await self._respond(request, slug, arguments)

    async def linked(self, request: Request, slug: str) -> HTTPResponse:
        """`GET /tools/<slug>/preview?<fields>`: return the preview of a form, for pages without JavaScript."""
        return await self._respond(request, slug, self._from_query(request, slug), tagged=True)

    async def _respond(
        self, request: Request, slug: str, arguments: dict[str, Any] | CallError, *, tagged: bool = False
    ) -> HTTPResponse:
        try:
            _check_site(request)
            call_request = CallRequest(slug, arguments, request.ctx.request_id, "http", "binary")
            call = await self._pipeline.check(ReceivedCall(call_request, request.ip, request.headers))
        except CallError as error:
            return self._refusal(slug, error, None)
        client_ip = request.ctx.client_ip = call.caller.client_ip
        etag = f'"preview-{call.content_id}"'
        if tagged and matches_etag(request.headers.get("if-none-match", ""), etag):
            return RawResponse(b"", status=304, encoded=(*_CHECKED, (b"ETag", etag.encode())))
        try:
            preview, status = await self._previews.preview(call, _page(request))
        except CallError as error:
            return self._refusal(slug, error, await self._previews.budget(client_ip))
        tag = ((b"ETag", etag.encode()),) if tagged else ()
        headers = (*(_CHECKED if tagged else _UNCACHED_HEADERS), *tag, *_about(preview, self._params(slug)))
        return RawResponse(
            preview.content, encoded=headers + rate_limit_headers(status), content_type=content_type(preview.media_type)
        )

    def _from_query(self, request: Request, slug: str) -> dict[str, Any] | CallError:
        descriptor = self._descriptors.get(slug)
        params = self._params(slug)
        try:
            form = parse_qs(request.query_string, keep_blank_values=True)
            values = input_from_form(params, form, descriptor["page"]["switch"] if descriptor else "")
            return parse_object(orjson.dumps(values))
        except CallError as error:
            return error

    def _params(self, slug: str) -> Sequence[Param]:
        return first_endpoint(self._descriptors[slug]).get("params", ()) if slug in self._descriptors else ()

    def _refusal(self, slug: str, error: CallError, status: LimitStatus | None) -> HTTPResponse:
        body = self._api.envelopes.failure(error, slug, PREVIEW, status)
        return RawResponse(
            body,
            status=status_of(error),
            encoded=_UNCACHED_HEADERS + rate_limit_headers(status),
            headers=error_headers(error),
            content_type="application/json",
        )


def _check_site(request: Request) -> None:
    """Refuse requests from other sites (Fetch Metadata), which would use up the budgets of their visitors."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Forbidden("previews are for this site's own pages; other sites use the API")


def _page(request: Request) -> str:
    name = request.headers.get("x-preview-page", "")
    return name if _PAGE.fullmatch(name) else ""


def _about(preview: PreviewImage, params: Sequence[Param]) -> tuple[tuple[bytes, bytes], ...]:
    """Return headers with the information that the page shows next to the image."""
    details = preview.artifact.details
    data = json.dumps(titled_details(params, details.model_dump(mode="json", by_alias=True)) if details else {})
    headers = [(b"X-Details", data.encode("ascii"))] if len(data) <= _MAX_DETAILS_LENGTH else []
    if (text := preview.artifact.editable) is not None:
        headers.append((b"X-Editable-Text", editable_json(text).encode("ascii")))
    return (*headers, *warning_headers(preview.artifact.warnings))
