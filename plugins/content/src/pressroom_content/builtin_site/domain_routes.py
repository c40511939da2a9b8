"""Built-in sites under domains of their own: which there are, how one is proven, and what is answered there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from pressroom.sdk import HttpRequest, HttpResponse, NotFound, PluginContext, Route, VirtualHosts

from pressroom_content.builtin_site.routes import SiteRoutes
from pressroom_content.websites.domains import PROOF_PATH, Domains

_PLAIN: Final = "text/plain; charset=utf-8"
_NO_STORE: Final = {"Cache-Control": "no-store"}
_LISTS: Final = ("tags", "categories", "authors")


def virtual_hosts(plugin: PluginContext) -> Sequence[VirtualHosts]:
    """Return what serves sites under their domains."""
    return [VirtualHosts("sites", lambda: Domains(plugin).proven(), DomainSites(plugin).answer)]


def routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the URLs that prove domains, and the one that proxies ask about them."""

    async def proof(request: HttpRequest) -> HttpResponse:
        token = await Domains(plugin).answer(request.host, request.path_params["website"])
        if token is None:
            raise NotFound(f"there is nothing at {request.path[:200]}")
        return HttpResponse(f"{token}\n".encode(), 200, _PLAIN, _NO_STORE)

    async def allowed(request: HttpRequest) -> HttpResponse:
        name = request.query.get("domain", "").rstrip(".").lower()
        known = await Domains(plugin).key_of(name) is not None
        text = b"This is the domain of a site.\n" if known else b"No site has this domain.\n"
        return HttpResponse(text, 200 if known else 404, _PLAIN, _NO_STORE)

    return [
        Route(f"{PROOF_PATH}/<website>", proof, on_virtual_hosts=True),
        Route(PROOF_PATH, allowed),
    ]


class DomainSites:
    """Answers requests under the domains of sites, as the routes at `/sites/<site>` do for the same site."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._site = SiteRoutes(plugin)

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """Return what is at a path of a domain. Raises `NotFound`."""
        key = await Domains(self._plugin).key_of(request.virtual_host)
        if key is None:
            raise NotFound("no site has this domain any more")
        segments = request.path.removesuffix("/").split("/")[1:]
        if segments[:2] == ["sites", quote(key)]:
            return await self._site.moved(request, key, "/".join(segments[2:]))
        site = self._site
        match segments:
            case []:
                return await site.home(_within(request, key))
            case [slug] if slug:
                return await site.post(_within(request, key, slug=slug))
            case [slug, "llms.txt"]:
                return await site.text(_within(request, key, slug=slug))
            case ["files", name]:
                return await site.file(_within(request, key, name=name))
            case ["cards", name]:
                return await site.card(_within(request, key, name=name))
            case [kind, name] if kind in _LISTS:
                return await site.term(kind, _within(request, key, name=name))
            case _:
                return await site.missing(key)


def _within(request: HttpRequest, key: str, **parts: str) -> HttpRequest:
    """Return the request as it would be at the site's URL on the server."""
    path = f"/sites/{quote(key)}{request.path if request.path != '/' else ''}"
    return replace(request, path=path.removesuffix("/"), path_params={"site": quote(key), **parts})
