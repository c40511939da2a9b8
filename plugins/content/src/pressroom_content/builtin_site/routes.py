"""The routes of built-in sites, at `/sites/<site>` and under their own domains.

Nothing is served under a domain before it is proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from pressroom.sdk import Fetched, HttpRequest, HttpResponse, NotFound, PluginContext, Route, VirtualHosts

from pressroom_content.builtin_site.feeds import Feeds
from pressroom_content.builtin_site.frame import REVALIDATE
from pressroom_content.builtin_site.list_pages import SiteMaps
from pressroom_content.builtin_site.post_lists import BlogTermKind
from pressroom_content.builtin_site.serving import BuiltinPages
from pressroom_content.builtin_site.store import BuiltinSite
from pressroom_content.conditional import conditional
from pressroom_content.config import ContentConfig
from pressroom_content.records import Website
from pressroom_content.text_index.published import TextTwins, Twin
from pressroom_content.websites.domains import PROOF_PATH, PROVEN_CHANGES, Domains

_KINDS: Final[dict[str, BlogTermKind]] = {"tags": "tag", "categories": "category", "authors": "author"}
_FEEDS: Final = ("feed.xml", "atom.xml", "feed.json")
_UNMOVED: Final = ("card.png", "icon.svg", "style.css")
"""Resources of pages that are still served at their old URLs."""

_PLAIN: Final = "text/plain; charset=utf-8"
_NO_STORE: Final = {"Cache-Control": "no-store"}


def routes(plugin: PluginContext[ContentConfig]) -> Sequence[Route]:
    """Return the routes of all built-in sites (pages, feeds, sitemaps, twins, files), and the server's robots.txt."""
    site = SiteRoutes(plugin)
    site_routes = [
        Route("/sites/<site>", site.home),
        Route("/sites/<site>/<slug>", site.post),
        Route("/sites/<site>/<slug>/llms.txt", site.text),
        *(Route(f"/sites/<site>/{name}/<name>", partial(site.term, name)) for name in _KINDS),
        Route("/sites/<site>/files/<name>", site.file),
        Route("/sites/<site>/cards/<name>", site.card),
    ]
    return [*site_routes, Route("/robots.txt", site.robots)] if plugin.config.robots_txt else site_routes


class SiteRoutes:
    """Serves built-in sites.

    Pages of a site with its own domain redirect from their URLs on the server to the domain, but only if they exist.
    Resources of pages are served at both, for other websites that embed them.
    """

    def __init__(self, plugin: PluginContext[ContentConfig]) -> None:
        self._plugin = plugin
        self._twins, self._feeds = TextTwins(plugin), Feeds(plugin)

    async def inside(self, request: HttpRequest, key: str) -> HttpResponse:
        """Return the response for a request whose path is relative to the site with this key. Raises `NotFound`."""
        match request.path.removesuffix("/").split("/")[1:]:
            case []:
                return await self.home(_within(request, key))
            case [slug] if slug:
                return await self.post(_within(request, key, slug=slug))
            case [slug, "llms.txt"]:
                return await self.text(_within(request, key, slug=slug))
            case ["files", name]:
                return await self.file(_within(request, key, name=name))
            case ["cards", name]:
                return await self.card(_within(request, key, name=name))
            case [kind, name] if kind in _KINDS:
                return await self.term(kind, _within(request, key, name=name))
            case _:
                return await self.missing(key)

    async def home(self, request: HttpRequest) -> HttpResponse:
        """Return the list of all posts, or with `.md` its text."""
        key, pages = _part(request, "site"), BuiltinPages(self._plugin)
        is_text = key.endswith(".md")
        key = key.removesuffix(".md")
        website = await pages.website(key)
        if _has_moved(request, website):
            return _moved(website, "llms.txt" if is_text else "", request)
        response = await pages.contents(key) if is_text else await pages.home(key, _page(request))
        return await self._revalidated(request, website, response)

    async def term(self, name: str, request: HttpRequest) -> HttpResponse:
        """Return the posts of a tag, a category or an author. `name` is the segment before the term."""
        site, term = _part(request, "site"), _part(request, "name")
        pages = BuiltinPages(self._plugin)
        website = await pages.website(site)
        if term == "llms.txt":  # of a post whose slug is a word such as tags
            return await self._twin(request, website, name, "text")
        response = await pages.term(site, _KINDS[name], term, _page(request))
        if response.status == 200 and _has_moved(request, website):
            return _moved(website, f"{name}/{quote(term)}", request)
        return await self._revalidated(request, website, response)

    async def post(self, request: HttpRequest) -> HttpResponse:
        """Return the resource at a path of one segment: a post, a feed, the sitemap, and so on."""
        site, slug = _part(request, "site"), _part(request, "slug")
        pages = BuiltinPages(self._plugin)
        website = await pages.website(site)
        if slug.endswith(".md"):
            return await self._twin(request, website, slug.removesuffix(".md"), "markdown")
        if _has_moved(request, website) and slug not in _UNMOVED:
            return await self._moved_page(request, website, slug)
        match slug:
            case "robots.txt":
                return conditional(request, _briefly_cached(await pages.robots(site)))
            case "card.png":
                return conditional(request, await pages.site_card(site))
            case "icon.svg" | "style.css":
                return conditional(request, await pages.asset(site, slug, request.query.get("v", "")))
            case "feed.xml" | "atom.xml" | "feed.json":
                response = await self._feeds.respond(site, slug)
            case "sitemap.xml":
                response = await SiteMaps(self._plugin).respond(site, request.query.get("part", ""))
            case "llms.txt":
                response = await pages.contents(site)
            case "archive" | "search":
                response = await self._list(request, website, site, slug)
            case _:
                response = await pages.post(site, slug)
        return await self._revalidated(request, website, response)

    async def _moved_page(self, request: HttpRequest, website: Website, slug: str) -> HttpResponse:
        """Redirect to a page of the domain. Missing, removed and redirected pages are handled directly."""
        fixed = (*_FEEDS, "robots.txt", "sitemap.xml", "llms.txt", "archive", "search")
        if slug in fixed or await BuiltinSite(self._plugin, website.id).post(slug) is not None:
            return _moved(website, quote(slug), request)
        return await BuiltinPages(self._plugin).instead(website, slug)

    async def _list(self, request: HttpRequest, website: Website, site: str, name: str) -> HttpResponse:
        """Return the archive or the search of a site, or else the existing post with that slug."""
        pages = BuiltinPages(self._plugin)
        if await BuiltinSite(self._plugin, website.id).post(name) is not None:
            return await pages.post(site, name)
        if name == "search":
            return await pages.search(site, request.query.get("q", ""), _page(request))
        return await pages.archive(site, _page(request))

    async def text(self, request: HttpRequest) -> HttpResponse:
        """Return a post as plain text."""
        website = await BuiltinPages(self._plugin).website(_part(request, "site"))
        return await self._twin(request, website, _part(request, "slug"), "text")

    async def file(self, request: HttpRequest) -> HttpResponse:
        """Return an image of a post."""
        pages = BuiltinPages(self._plugin)
        return conditional(request, await pages.file(_part(request, "site"), _part(request, "name")))

    async def card(self, request: HttpRequest) -> HttpResponse:
        """Return the link preview image of a post."""
        pages = BuiltinPages(self._plugin)
        return conditional(request, await pages.card(_part(request, "site"), _part(request, "name")))

    async def robots(self, request: HttpRequest) -> HttpResponse:
        """Return the server's robots.txt."""
        return conditional(request, _briefly_cached(await BuiltinPages(self._plugin).root_robots()))

    async def missing(self, site: str) -> HttpResponse:
        """Return the site's 404 page."""
        pages = BuiltinPages(self._plugin)
        return await pages.missing(await pages.website(site))

    async def moved(self, request: HttpRequest, site: str, path: str) -> HttpResponse:
        """Redirect from a path of the site on the server to the same path on its domain."""
        return _moved(await BuiltinPages(self._plugin).website(site), path, request)

    async def _twin(self, request: HttpRequest, website: Website, slug: str, kind: Twin) -> HttpResponse:
        """Return a page as text. It exists only if the page is public."""
        pages, ending = BuiltinPages(self._plugin), ".md" if kind == "markdown" else "/llms.txt"
        if await BuiltinSite(self._plugin, website.id).post(slug) is None:
            return await pages.instead(website, slug, after=ending)
        if _has_moved(request, website):
            return _moved(website, f"{quote(slug)}{ending}", request)
        return await self._twins.respond(request, request.path.removesuffix(ending), kind)

    async def _revalidated(self, request: HttpRequest, website: Website, response: HttpResponse) -> HttpResponse:
        """Add `Cache-Control: no-cache` to a successful response, and handle conditional requests."""
        if response.status != 200:
            return response
        changed = await BuiltinSite(self._plugin, website.id).changed_at()
        return conditional(request, _with(response, "no-cache"), changed)


def _has_moved(request: HttpRequest, website: Website) -> bool:
    """Check whether a request for a site with its own domain came to its URL on the server."""
    return website.url != website.server_url and not request.virtual_host


def _moved(website: Website, path: str, request: HttpRequest) -> HttpResponse:
    """Return the redirect to a path of the site. Caches must revalidate it, because the domain may change."""
    target = f"{website.url}/{path}" if path else website.url
    query = f"?{urlencode(request.query)}" if request.query else ""
    return HttpResponse(b"", 301, headers={"Location": f"{target}{query}", **REVALIDATE})


def _part(request: HttpRequest, name: str) -> str:
    """Return a decoded path segment: slugs can be in any script, percent-encoded in URLs (RFC 3986, section 2.1)."""
    return unquote(request.path_params[name])


def _page(request: HttpRequest) -> int:
    """Return the requested page number of a list; 0 if it is invalid."""
    page = request.query.get("page", "1")
    return int(page) if page.isascii() and page.isdecimal() and len(page) <= 6 else 0


def _briefly_cached(response: HttpResponse) -> HttpResponse:
    return _with(response, "public, max-age=3600")


def _with(response: HttpResponse, caching: str) -> HttpResponse:
    headers = {**response.headers, "Cache-Control": caching}
    return HttpResponse(response.body, response.status, response.media_type, headers)


def domain_hosts(plugin: PluginContext[ContentConfig]) -> Sequence[VirtualHosts]:
    """Return the virtual hosts that serve sites under their domains."""
    return [VirtualHosts("sites", lambda: Domains(plugin).proven(), DomainSites(plugin).respond, PROVEN_CHANGES)]


def domain_routes(plugin: PluginContext[ContentConfig]) -> Sequence[Route]:
    """Return the route of the domain challenge, and the one that proxies query about domains."""

    async def proof(request: HttpRequest) -> HttpResponse:
        token = await Domains(plugin).proof(request.host, request.path_params["website"])
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
    """Serves sites under their domains, with the same responses as `routes` at `/sites/<site>`."""

    def __init__(self, plugin: PluginContext[ContentConfig]) -> None:
        self._plugin = plugin
        self._site = SiteRoutes(plugin)

    async def respond(self, request: HttpRequest) -> HttpResponse:
        """Return the response for a path of a domain. Raises `NotFound`."""
        key = await Domains(self._plugin).key_of(request.virtual_host)
        if key is None:
            raise NotFound("no site has this domain any longer")
        segments = request.path.removesuffix("/").split("/")[1:]
        if segments[:2] == ["sites", quote(key)]:
            return await self._site.moved(request, key, "/".join(segments[2:]))
        return await self._site.inside(request, key)


def _within(request: HttpRequest, key: str, **parts: str) -> HttpRequest:
    """Rewrite a request to the site's URL on the server."""
    path = f"/sites/{quote(key)}{request.path if request.path != '/' else ''}"
    return replace(request, path=path.removesuffix("/"), path_params={"site": quote(key), **parts})


async def fetched(plugin: PluginContext[ContentConfig], url: str) -> Fetched:
    """Return a resource of a built-in site as a visitor would get it, following at most one redirect.

    This needs no network request. Any other URL gets 404.
    """
    redirects: tuple[str, ...] = ()
    response = await _redirect_of(plugin, url) or HttpResponse(b"", 404)
    target = response.headers.get("Location", "")
    if target and (redirected := await _redirect_of(plugin, target)) is not None:
        redirects, url, response = (url,), target, redirected
    media_type = response.media_type.partition(";")[0]
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Fetched(url, response.status, media_type, response.body, headers, redirects)


async def _redirect_of(plugin: PluginContext[ContentConfig], url: str) -> HttpResponse | None:
    """Return the response for a URL of a built-in site; `None` for any other URL."""
    location = await Domains(plugin).site_path_of(url)
    if location is None:
        return None
    key, path = location
    parts = urlsplit(url)
    name = "" if url.startswith(f"{plugin.base_url}/") else parts.hostname or ""
    request = HttpRequest("GET", f"/{quote(path)}", dict(parse_qsl(parts.query)), {}, b"", "", "", virtual_host=name)
    try:
        return await SiteRoutes(plugin).inside(request, key)
    except NotFound:
        return HttpResponse(b"", 404)
