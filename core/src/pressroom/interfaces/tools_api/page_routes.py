"""The routes of the pages for people, and the images of examples that these pages show."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

import orjson
import structlog
from sanic import HTTPResponse, Request

from pressroom.catalog.compile import GENERATE
from pressroom.catalog.tool import ANONYMOUS, PlanTool
from pressroom.errors import CallError, InternalError, NotFound, Overloaded, UnsupportedMediaType
from pressroom.host.host import Host
from pressroom.http.assets import IMMUTABLE
from pressroom.http.errors import error_headers, status_of
from pressroom.http.page_frame import PageFrame
from pressroom.http.responses import INERT_CONTENT, matches_etag
from pressroom.interfaces.tools_api.pages import FormState, Pages, input_from_form, page_descriptor, parse_form
from pressroom.interfaces.tools_api.routes import ToolsApi, file_of, read_beside
from pressroom.pipeline.context import RefusedCall, ValidatedCall
from pressroom.sdk import Generator
from pressroom.validation.echo import nearest
from pressroom.validation.json import parse_object

log = structlog.get_logger()

RETRY_SECONDS: Final = 60
"""How long an image that could not be made is left alone."""

_AS_IT_IS: Final = frozenset({"image/svg+xml", "image/webp"})


@dataclass(frozen=True, slots=True)
class ExamplePicture:
    """An image that is small enough for a page."""

    media_type: str
    content: bytes


class Gallery:
    """Makes the images of examples when they are asked for first, and keeps them while the process lives.

    There are as many as examples, so that what is kept is bounded by the plugins, and anyone can make it do no more
    than one run an example. `addresses` holds, by the tool's slug, what follows `/tools/<slug>/` in each
    image's URL.
    """

    def __init__(self, host: Host) -> None:
        self._pipeline = host.pipeline
        self._files = host.services.files
        self._tools: dict[str, Generator] = {}
        self._made: dict[tuple[str, int], asyncio.Task[ExamplePicture]] = {}
        self._failed: dict[tuple[str, int], float] = {}
        self._versions: dict[str, list[str]] = {}
        for entry in host.services.catalog.plan(ANONYMOUS).generators:
            declaration = entry.tool.declaration
            if isinstance(declaration, Generator) and declaration.page.gallery:
                self._tools[entry.tool.name] = declaration
                self._versions[entry.tool.name] = [_version(entry, one.params) for one in declaration.examples]
        self.addresses: Mapping[str, tuple[str, ...]] = {
            slug: tuple(f"examples/{number}?v={version}" for number, version in enumerate(versions))
            for slug, versions in self._versions.items()
        }

    def is_current(self, slug: str, number: int, version: str) -> bool:
        """Tell whether a URL with this version always leads to the image that is made now."""
        return self._versions[slug][number] == version

    async def picture(self, slug: str, number: int) -> ExamplePicture:
        """Return the image of an example, by its number from 0.

        Raises:
            NotFound: there is no such example, or the tool makes no images.
            CallError: the generator could not make it.
        """
        if slug not in self._tools or not 0 <= number < len(self._tools[slug].examples):
            raise NotFound("there is no such example")
        key = slug, number
        if self._failed.get(key, 0.0) > time.monotonic():
            raise Overloaded("the image could not be made; try again in a minute", retry_after=RETRY_SECONDS)
        task = self._made.get(key)
        if task is None:
            task = self._made[key] = asyncio.create_task(self._make(slug, number))
        try:
            return await asyncio.shield(task)
        except CallError:
            if self._made.get(key) is task:
                del self._made[key]
                self._failed[key] = time.monotonic() + RETRY_SECONDS
            raise

    async def _make(self, slug: str, number: int) -> ExamplePicture:
        example = self._tools[slug].examples[number]
        try:
            call = await self._pipeline.run_internally(slug, example.params, f"example-{number}")
            media_type, content = await self._shown(call)
            return await asyncio.to_thread(_small, media_type, content)
        except CallError as error:
            log.warning("an example could not be drawn", tool=slug, example=example.title, error=error.message)
            raise
        except Exception as error:
            log.exception("an example could not be drawn", tool=slug, example=example.title)
            raise InternalError("the image could not be made") from error

    async def _shown(self, call: ValidatedCall) -> tuple[str, bytes]:
        if call.file is None:
            raise InternalError("the image could not be made")
        entry = call.file.entry
        if entry.preview:
            return _picture_type(entry.preview), await self._files.read(entry.preview)
        return entry.media_type, call.content


def _picture_type(key: str) -> str:
    return "image/svg+xml" if key.endswith(".svg") else "image/png"


def _small(media_type: str, content: bytes) -> ExamplePicture:
    if not media_type.startswith("image/"):
        raise NotFound("this tool makes no images")
    if media_type in _AS_IT_IS:
        return ExamplePicture(media_type, content)
    try:
        from pressroom.graphics.thumbnails import thumbnail  # noqa: PLC0415 - Pillow is an extra, and loads with the first
    except ImportError:
        return ExamplePicture(media_type, content)
    return ExamplePicture("image/webp", thumbnail(content))


def _version(entry: PlanTool, params: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(entry.tool.content_salt)
    digest.update(orjson.dumps(dict(params), option=orjson.OPT_SORT_KEYS))
    return digest.hexdigest()[:16]


HTML = "text/html; charset=utf-8"
FORM = "application/x-www-form-urlencoded"
_NUMBER: Final = re.compile(r"[0-9]{1,3}", re.ASCII)


class ToolPages:
    """Answers `/tools` and `/tools/<slug>`, which work without JavaScript, and what they load."""

    def __init__(self, api: ToolsApi, site: PageFrame, gallery: Gallery) -> None:
        self._api = api
        self._gallery = gallery
        previews = {slug: generator.preview for slug, generator in api.generators.items()}
        self._pages = Pages(site, previews, gallery.addresses)
        self._descriptors = {
            slug: page_descriptor(descriptor, api.generators[slug]) for slug, descriptor in api.descriptors.items()
        }
        self._index = b""
        self._tools: dict[str, bytes] = {}

    async def index(self, _request: Request) -> HTTPResponse:
        """`GET /tools`: the list of tools."""
        # Rendered by the first request rather than at start-up, which compiling the templates would double.
        if not self._index:
            self._index = self._pages.index(list(self._descriptors.values()))
        return self._html(self._index)

    async def tool(self, request: Request, slug: str) -> HTTPResponse:
        """`GET /tools/<slug>`: a tool's page, its form filled from the query where it names parameters."""
        descriptor = self._descriptors.get(slug)
        if descriptor is None:
            return self._missing(slug)
        if not request.query_string:
            if slug not in self._tools:
                self._tools[slug] = self._pages.tool(descriptor)
            return self._html(self._tools[slug])
        state = FormState.from_query(descriptor, parse_qs(request.query_string, keep_blank_values=True))
        return self._html(self._pages.tool(descriptor, state))

    async def submit(self, request: Request, slug: str) -> HTTPResponse:
        """`POST /tools/<slug>`: run the tool with a posted form, and show the page with what came of it."""
        descriptor = self._descriptors.get(slug)
        if descriptor is None:
            return self._missing(slug)
        form, arguments = await read_beside(lambda: _read_form(request, descriptor), request.body)
        outcome = await self._api.call(request, slug, arguments)
        envelopes = self._api.envelopes
        if isinstance(outcome, RefusedCall):
            body = envelopes.failure(outcome.error, slug, GENERATE, outcome.limit_status)
            status, headers, preview_url = status_of(outcome.error), error_headers(outcome.error), ""
        else:
            body = envelopes.success(outcome, file_of(outcome), GENERATE)
            status, headers, preview_url = 200, {}, outcome.preview_url
        page = self._pages.tool(descriptor, FormState(form, orjson.loads(body), preview_url))
        response = self._html(page, status, cache="no-store")
        response.headers.update(headers)
        return response

    async def asset(self, request: Request, name: str) -> HTTPResponse:
        """`GET /tools/static/<name>`: the style sheet, the script, the icon."""
        try:
            asset = self._pages.site.asset(name)
        except NotFound as error:
            return self.error(404, "Not found", error.message)
        headers = {"ETag": asset.etag, "Cache-Control": asset.cache_control(request.args.get("v", ""))}
        if matches_etag(request.headers.get("if-none-match", ""), asset.etag):
            return HTTPResponse(status=304, headers=headers)
        return HTTPResponse(asset.content, headers=headers, content_type=asset.media_type)

    async def example(self, request: Request, slug: str, number: str) -> HTTPResponse:
        """`GET /tools/<slug>/examples/<number>`: the image of an example, for the tool's gallery."""
        try:
            picture = await self._gallery.picture(slug, int(number) if _NUMBER.fullmatch(number) else -1)
        except CallError as error:
            response = self.error(status_of(error), "No image", error.message)
            response.headers.update(error_headers(error))
            return response
        version = request.args.get("v", "")
        current = self._gallery.is_current(slug, int(number), version)
        headers = {
            "Cache-Control": IMMUTABLE if current else "no-cache",
            "Content-Security-Policy": INERT_CONTENT,
        }
        return HTTPResponse(picture.content, headers=headers, content_type=picture.media_type)

    def error(self, status: int, title: str, message: str) -> HTTPResponse:
        """Return the page for an HTTP error."""
        return self._html(self._pages.site.error(status, title, message), status, cache="no-store")

    def _missing(self, slug: str) -> HTTPResponse:
        similar = nearest(slug, self._descriptors)
        return self.error(
            404,
            "No such tool",
            f"There is no tool called {slug[:64]}."
            + (f" Did you mean {similar}?" if similar else " The list of tools shows what there is."),
        )

    def _html(self, body: bytes, status: int = 200, cache: str = "no-cache") -> HTTPResponse:
        headers = {"Content-Security-Policy": self._pages.site.content_security_policy, "Cache-Control": cache}
        return HTTPResponse(body, status=status, headers=headers, content_type=HTML)


def _check_form_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != FORM:
        raise UnsupportedMediaType(f"a form is sent as {FORM}; programs post JSON to the tool's API instead")


def _read_form(
    request: Request, descriptor: Mapping[str, Any]
) -> tuple[Mapping[str, list[str]], dict[str, Any] | CallError]:
    """Return the fields of a posted form, as far as they can be read, and the arguments, or the error instead."""
    form: Mapping[str, list[str]] = {}
    try:
        _check_form_type(request)
        form = parse_form(request.body)
        given = input_from_form(descriptor["endpoints"][0]["params"], form)
        return form, parse_object(orjson.dumps(given))  # through the same door as the API's own
    except CallError as error:
        return form, error
