"""The files that browsers, search engines and chats expect of a website: fonts, icon, cards, robots.txt and sitemap."""

from __future__ import annotations

import asyncio
import hashlib
import io
import time
import zipfile
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final
from xml.sax.saxutils import escape

import structlog
from sanic import HTTPResponse, Request

from pressroom.catalog.descriptor import generator_of
from pressroom.catalog.tool import ANONYMOUS
from pressroom.errors import CallError, NotFound
from pressroom.gate import PluginFailed
from pressroom.host.host import Host
from pressroom.http.assets import IMMUTABLE, LIGHT, text_on
from pressroom.http.page_frame import PageFrame, clip
from pressroom.http.responses import Endpoint, Handler, matches_etag
from pressroom.http.web_fonts import MEDIA_TYPE, PATH

log = structlog.get_logger()

FAVICONS: Final = "favicon-generator"
CARDS: Final = "image-generator"

_DAY: Final = "public, max-age=86400"
_RETRY_SECONDS: Final = 60.0
_MAX_TITLE: Final = 90
_MAX_SUBTITLE: Final = 140
_NAME_LENGTH: Final = 60


class ServerFiles:
    """Serves the URLs of these files. Generated images are rendered on the first request, and kept.

    Clients can cause one image to be rendered for each public tool, and no more.
    """

    def __init__(self, host: Host, site: PageFrame) -> None:
        self._host = host
        self._site = site
        self._branding = host.compiled.branding
        self._tools = {
            generator.slug: generator
            for generator in map(generator_of, host.services.catalog.plans[ANONYMOUS].generators)
        }
        self._cache: dict[str, bytes] = {}
        self._failed: dict[str, float] = {}
        self._turn = asyncio.Lock()

    def endpoints(self) -> list[Endpoint]:
        """Return the routes that plugins cannot replace."""
        endpoints = [Endpoint(f"{PATH}/<name:str>", ("GET",), self.font, on_virtual_hosts=True)]
        if CARDS in self._tools:
            endpoints += [
                Endpoint("/tools/card.png", ("GET",), self.card),
                Endpoint("/tools/<slug:str>/card.png", ("GET",), self.card),
            ]
        return endpoints

    def defaults(self) -> Mapping[str, Handler]:
        """Return handlers by path for the URLs that plugins can serve instead."""
        return {"/favicon.ico": self.icon, "/robots.txt": self.robots, "/sitemap.xml": self.sitemap}

    async def font(self, request: Request, name: str) -> HTTPResponse:
        """`GET /tools/static/fonts/<name>`. Frames with an opaque origin can use it too."""
        fonts = self._site.fonts
        if fonts is None:
            raise NotFound("this server has no fonts for pages")
        version = fonts.version(name)
        headers = {
            "ETag": f'"{version}"',
            "Cache-Control": IMMUTABLE if request.args.get("v") == version else "no-cache",
            "Access-Control-Allow-Origin": "*",
        }
        if matches_etag(request.headers.get("if-none-match", ""), headers["ETag"]):
            return HTTPResponse(status=304, headers=headers)
        return HTTPResponse(await fonts.content(name), headers=headers, content_type=MEDIA_TYPE)

    async def card(self, request: Request, slug: str = "") -> HTTPResponse:
        """`GET /tools/card.png`, `/tools/<slug>/card.png`: the link preview image of a page, at a permanent URL."""
        if slug and slug not in self._tools:
            raise NotFound(f"there is no tool {slug[:64]}")
        return _image(request, await self._cached(f"card {slug}", partial(self._make_card, slug)), "image/png")

    async def icon(self, request: Request) -> HTTPResponse:
        """`GET /favicon.ico`, for clients without SVG support. If it cannot be made, redirect to the SVG."""
        try:
            if FAVICONS not in self._tools:
                raise NotFound("there is no favicon generator")
            content = await self._cached("icon", self._make_icon)
        except (CallError, PluginFailed):
            return HTTPResponse(status=302, headers={"Location": f"{self._site.root}/tools/static/icon.svg"})
        return _image(request, content, "image/vnd.microsoft.icon")

    async def robots(self, _request: Request) -> HTTPResponse:
        """`GET /robots.txt` (RFC 9309): everything is allowed; non-public pages opt out themselves."""
        text = f"User-agent: *\nAllow: /\n\nSitemap: {self._site.base_url}/sitemap.xml\n"
        return HTTPResponse(text.encode(), headers={"Cache-Control": _DAY}, content_type="text/plain; charset=utf-8")

    async def sitemap(self, _request: Request) -> HTTPResponse:
        """`GET /sitemap.xml`: the public pages."""
        base = self._site.base_url
        urls = [f"{base}/tools", *(f"{base}/tools/{slug}" for slug in self._tools)]
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
            *(f"<url><loc>{escape(url)}</loc></url>" for url in urls),
            "</urlset>",
            "",
        ]
        body = "\n".join(lines).encode()
        return HTTPResponse(body, headers={"Cache-Control": _DAY}, content_type="application/xml; charset=utf-8")

    async def _cached(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the kept image, or make it. Raises `NotFound` for a minute after it failed."""
        async with self._turn:
            if key not in self._cache:
                if self._failed.get(key, 0.0) > time.monotonic():
                    raise NotFound("this image could not be rendered; try again in a minute")
                try:
                    self._cache[key] = await make()
                except (CallError, PluginFailed) as error:
                    self._failed[key] = time.monotonic() + _RETRY_SECONDS
                    log.warning("an image of the pages could not be made", image=key, error=str(error))
                    raise
            return self._cache[key]

    async def _make_card(self, slug: str) -> bytes:
        brand, tool = self._branding, self._tools.get(slug)
        props: dict[str, Any] = {
            "title": clip(tool.name if tool else brand.tagline or brand.name, _MAX_TITLE),
            "subtitle": clip(
                tool.summary if tool else ", ".join(generator.name for generator in self._tools.values()), _MAX_SUBTITLE
            ),
            "siteName": brand.name[:_NAME_LENGTH],
            "accentColor": brand.accent,
        }
        content, _ = await self._host.tools.make_file(CARDS, {"template": "og", "props": props})
        return content

    async def _make_icon(self) -> bytes:
        accent = self._branding.accent
        params = {
            "source": "letter",
            "content": self._branding.name.strip()[:1].upper() or "P",
            "bgColor": accent,
            "fgColor": text_on(accent, LIGHT.surface),
            "fontFamily": "serif",
        }
        content, _ = await self._host.tools.make_file(FAVICONS, params)
        with zipfile.ZipFile(io.BytesIO(content)) as bundle:
            return bundle.read("favicon.ico")


def _image(request: Request, content: bytes, media_type: str) -> HTTPResponse:
    etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {"ETag": etag, "Cache-Control": _DAY}
    if matches_etag(request.headers.get("if-none-match", ""), etag):
        return HTTPResponse(status=304, headers=headers)
    return HTTPResponse(content, headers=headers, content_type=media_type)
