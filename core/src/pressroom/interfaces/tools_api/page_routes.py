"""Routes of the tool pages and of their example images.

A tool's page is also available as Markdown, at its URL with `.md`, for language models (the llms.txt convention).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qs

import orjson
import structlog
from sanic import HTTPResponse, Request

from pressroom.catalog.compile import GENERATE
from pressroom.errors import CallError
from pressroom.http.assets import IMMUTABLE
from pressroom.http.errors import error_headers, status_of
from pressroom.http.page_frame import ALL_TOOLS, PageFrame
from pressroom.http.responses import INERT_CONTENT, matches_etag
from pressroom.interfaces.tools_api.form_bodies import FormBodies
from pressroom.interfaces.tools_api.gallery import Gallery
from pressroom.interfaces.tools_api.image_links import ImageLinks
from pressroom.interfaces.tools_api.pages import (
    FormState,
    OfferedService,
    Pages,
    page_descriptor,
)
from pressroom.interfaces.tools_api.routes import ToolsApi, file_of
from pressroom.pipeline.context import RefusedCall
from pressroom.validation.echo import nearest

SUFFIX: Final = ".md"
"""The path suffix that requests a page as Markdown."""

log = structlog.get_logger()
HTML = "text/html; charset=utf-8"


def index_text(name: str, descriptors: Iterable[Mapping[str, Any]], base_url: str) -> str:
    """Return the list of tools as Markdown."""
    lines = [f"# {_line(name)} tools", ""]
    for tool in descriptors:
        url = f"{base_url}/tools/{tool['slug']}{SUFFIX}"
        lines.append(f"- [{_line(tool['name'])}]({url}): {_line(_summary(tool))}")
    lines += ["", f"Each tool is one POST. The catalog: {base_url}/tools/api; OpenAPI: {base_url}/openapi.json", ""]
    return "\n".join(lines)


def tool_text(descriptor: Mapping[str, Any], base_url: str) -> str:
    """Return the description of a tool as Markdown: its purpose, its request and its parameters."""
    summary = _summary(descriptor)
    lines = [f"# {_line(descriptor['name'])}", "", _line(summary), ""]
    if descriptor["description"] != summary:
        lines += [_line(descriptor["description"]), ""]
    for endpoint in descriptor["endpoints"]:
        url = f"{base_url}/tools/{descriptor['slug']}/api{endpoint['path']}"
        lines += [*_call(endpoint, url), ""]
    for note in descriptor.get("notes", ()):
        lines += [_line(note), ""]
    return "\n".join(lines)


def _call(endpoint: Mapping[str, Any], url: str) -> list[str]:
    lines = [f"`{endpoint['method']} {url}` with a JSON object.", "", "## Parameters", ""]
    for param in endpoint["params"]:
        kind = param["type"] + (", required" if param["required"] else "")
        lines.append(f"- `{param['name']}` ({kind}): {_line(param['description'])}{_bounds(param)}")
    for example in endpoint.get("examples", ())[:1]:
        lines += ["", "## Example", "", "```json", json.dumps(example["params"], ensure_ascii=False, indent=2), "```"]
    return lines


def _summary(descriptor: Mapping[str, Any]) -> str:
    endpoints = descriptor["endpoints"]
    return str(endpoints[0]["summary"] if endpoints else descriptor["description"])


def _bounds(param: Mapping[str, Any]) -> str:
    sentences = []
    if values := param.get("enumValues"):
        sentences.append(f"One of {', '.join(json.dumps(value) for value in values)}.")
    if "min" in param or "max" in param:
        unit = " characters" if param["type"] == "string" else ""
        minimum, maximum = param.get("min"), param.get("max")
        bounds = f"{minimum} to {maximum}" if minimum is not None and maximum is not None else None
        sentences.append(f"{bounds or (f'At most {maximum}' if minimum is None else f'At least {minimum}')}{unit}.")
    if param.get("default") is not None:
        sentences.append(f"Default: {json.dumps(param['default'], ensure_ascii=False)}.")
    return "".join(f" {sentence}" for sentence in sentences)


def _line(text: str) -> str:
    return " ".join(text.split())


class ToolPages:
    """Serves `/tools` and `/tools/<slug>`, which work without JavaScript, and their assets."""

    def __init__(
        self,
        api: ToolsApi,
        site: PageFrame,
        gallery: Gallery,
        links: ImageLinks,
        services: Sequence[OfferedService] = (),
    ) -> None:
        self._api = api
        self._forms = FormBodies(api.max_body, api.shrink)
        self._services = services
        self._links = links
        self._gallery = gallery
        previews = {slug: generator.preview for slug, generator in api.generators.items()}
        self._pages = Pages(site, previews, gallery.urls, image_links=links.enabled)
        self.descriptors = {
            slug: page_descriptor(descriptor, api.generators[slug]) for slug, descriptor in api.descriptors.items()
        }
        self._index = b""
        self._tools: dict[str, bytes] = {}

    async def index(self, _request: Request) -> HTTPResponse:
        """`GET /tools`: return the list of tools."""
        # Rendered on the first request: compiling the templates would double the start-up time.
        if not self._index:
            self._index = self._pages.index(list(self.descriptors.values()), self._services)
        return self._html(self._index)

    async def index_text(self, _request: Request) -> HTTPResponse:
        """`GET /tools.md`: return the list of tools as Markdown."""
        site = self._pages.site
        return _text(index_text(site.branding.name, self.descriptors.values(), site.base_url))

    async def tool(self, request: Request, slug: str) -> HTTPResponse:
        """`GET /tools/<slug>`: return a tool's page, with the form filled from query parameters, if any.

        `GET /tools/<slug>.md` returns the page as Markdown.
        """
        if slug.endswith(SUFFIX) and (tool_descriptor := self.descriptors.get(slug.removesuffix(SUFFIX))) is not None:
            return _text(tool_text(tool_descriptor, self._pages.site.base_url))
        descriptor = self.descriptors.get(slug)
        if descriptor is None:
            return self._missing(slug)
        if not request.query_string:
            return self._html(self._tools.get(slug) or self._first_page(slug, descriptor))
        state = FormState.from_query(descriptor, parse_qs(request.query_string, keep_blank_values=True))
        return self._html(self._pages.tool(descriptor, state))

    def _first_page(self, slug: str, descriptor: Mapping[str, Any]) -> bytes:
        """Render a tool's initial page. Cache it once the size of its image is known, or if it has no image."""
        canvas = self._gallery.canvas(slug)
        size, editable = (canvas.size, canvas.editable) if canvas else (None, None)
        page = self._pages.tool(descriptor, canvas_size=size, editable=editable)
        if size is not None or slug not in self._gallery.urls:
            self._tools[slug] = page
        return page

    async def submit(self, request: Request, slug: str) -> HTTPResponse:
        """`POST /tools/<slug>`: run the tool with a posted form, and return the page with the result."""
        descriptor = self.descriptors.get(slug)
        if descriptor is None:
            return self._missing(slug)
        form, arguments = await self._forms.read(request, descriptor)
        outcome = await self._api.call(request, slug, arguments)
        envelopes = self._api.envelopes
        if isinstance(outcome, RefusedCall):
            body = envelopes.failure(outcome.error, slug, GENERATE, outcome.limit_status)
            status, headers, preview_url = status_of(outcome.error), error_headers(outcome.error), ""
            permanent_url = ""
        else:
            file = file_of(outcome)
            body = envelopes.success(outcome, file, GENERATE)
            permanent_url = await self._links.url_or_nothing(outcome, file.entry.media_type)
            status, headers, preview_url = 200, {}, outcome.preview_url
        page = self._pages.tool(
            descriptor, FormState(form, orjson.loads(body), preview_url, permanent_url=permanent_url)
        )
        response = self._html(page, status, cache="no-store")
        response.headers.update(headers)
        return response

    async def asset(self, request: Request, name: str) -> HTTPResponse:
        """`GET /tools/static/<name>`: return a style sheet, script, icon or operator's file. Raises `NotFound`."""
        asset = self._pages.site.asset(name)
        headers = {"ETag": asset.etag, "Cache-Control": asset.cache_control(request.args.get("v", ""))}
        if matches_etag(request.headers.get("if-none-match", ""), asset.etag):
            return HTTPResponse(status=304, headers=headers)
        return HTTPResponse(asset.content, headers=headers, content_type=asset.media_type)

    async def example(self, request: Request, slug: str, number: str, size: str = "") -> HTTPResponse:
        """`GET /tools/<slug>/examples/<number>`: return the image of an example; with `/large` in full."""
        return await self._image(request, slug, f"examples/{number}/{size}" if size else f"examples/{number}")

    async def choice(self, request: Request, slug: str, name: str, value: str) -> HTTPResponse:
        """`GET /tools/<slug>/choices/<name>/<value>`: return an image that shows the effect of a parameter's value."""
        return await self._image(request, slug, f"choices/{name}/{value}")

    async def _image(self, request: Request, slug: str, name: str) -> HTTPResponse:
        try:
            image = await self._gallery.image(slug, name)
        except CallError as error:
            response = self.error(status_of(error), "No image", error.message)
            response.headers.update(error_headers(error))
            return response
        current = self._gallery.is_current(slug, name, request.args.get("v", ""))
        headers = {
            "Cache-Control": IMMUTABLE if current else "no-cache",
            "Content-Security-Policy": INERT_CONTENT,
        }
        return HTTPResponse(image.content, headers=headers, content_type=image.media_type)

    def error(self, status: int, title: str, message: str, next_link: tuple[str, str] = ALL_TOOLS) -> HTTPResponse:
        """Return the page of an HTTP error. `next_link` is the path and text of its link."""
        return self._html(self._pages.site.error(status, title, message, next_link), status, cache="no-store")

    def _missing(self, slug: str) -> HTTPResponse:
        similar = nearest(slug, self.descriptors)
        return self.error(
            404,
            "No such tool",
            f"There is no tool called {slug[:64]}."
            + (f" Did you mean {similar}?" if similar else " See the list of tools."),
        )

    def _html(self, body: bytes, status: int = 200, cache: str = "no-cache") -> HTTPResponse:
        headers = {"Content-Security-Policy": self._pages.site.content_security_policy, "Cache-Control": cache}
        return HTTPResponse(body, status=status, headers=headers, content_type=HTML)


def _text(markdown: str) -> HTTPResponse:
    return HTTPResponse(
        markdown.encode("utf-8", "replace"),
        headers={"Cache-Control": "no-cache"},
        content_type="text/markdown; charset=utf-8",
    )
