"""The URLs of built-in sites."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import unquote

from pressroom.sdk import HttpRequest, HttpResponse, NotFound, PluginContext, Route

from pressroom_content.builtin_site.documents import Feeds
from pressroom_content.builtin_site.serving import BuiltinPages, style
from pressroom_content.text_index.published import TextTwins

STATIC = "static"


def routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the pages, feeds, site maps and files of all built-in sites."""
    twins, feeds = TextTwins(plugin), Feeds(plugin)

    async def home(request: HttpRequest) -> HttpResponse:
        page = request.query.get("page", "1")
        number = int(page) if page.isascii() and page.isdecimal() and len(page) <= 6 else 0
        return _revalidated(request, await BuiltinPages(plugin).home(_part(request, "site"), number))

    async def post(request: HttpRequest) -> HttpResponse:
        site, slug = _part(request, "site"), _part(request, "slug")
        if site == STATIC:
            return _static(request, slug)
        pages = BuiltinPages(plugin)
        match slug:
            case "feed.xml":
                answer = await feeds.answer(site)
            case "sitemap.xml":
                answer = await pages.sitemap(site)
            case _ if slug.endswith(".md"):
                return await twins.answer(request, request.path.removesuffix(".md"), "markdown")
            case _:
                answer = await pages.post(site, slug)
        return _revalidated(request, answer)

    async def file(request: HttpRequest) -> HttpResponse:
        return await BuiltinPages(plugin).file(_part(request, "site"), _part(request, "name"))

    async def card(request: HttpRequest) -> HttpResponse:
        return await BuiltinPages(plugin).card(_part(request, "site"), _part(request, "name"))

    return [
        Route("/sites/<site>", home),
        Route("/sites/<site>/<slug>", post),
        Route("/sites/<site>/files/<name>", file),
        Route("/sites/<site>/cards/<name>", card),
    ]


def _part(request: HttpRequest, name: str) -> str:
    """Return a segment of the path; slugs may be in any script, which URLs hold coded (RFC 3986, section 2.1)."""
    return unquote(request.path_params[name])


def _static(request: HttpRequest, name: str) -> HttpResponse:
    if name != "site.css":
        raise NotFound("there is no such file")
    content, version = style()
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "ETag": f'"{version}"'}
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return HttpResponse(b"", 304, headers=headers)
    return HttpResponse(content, media_type="text/css; charset=utf-8", headers=headers)


def _revalidated(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """Return an answer that browsers may keep, and ask about each time (RFC 9110, section 8.8.3)."""
    if answer.status != 200:
        return answer
    etag = answer.headers.get("ETag") or f'"{hashlib.sha256(answer.body).hexdigest()[:24]}"'
    headers: Mapping[str, str] = {**answer.headers, "ETag": etag, "Cache-Control": "no-cache"}
    if etag in request.headers.get("if-none-match", ""):
        return HttpResponse(b"", 304, answer.media_type, headers)
    return replace(answer, headers=headers)
