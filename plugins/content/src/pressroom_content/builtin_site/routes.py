"""The URLs of built-in sites."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from urllib.parse import unquote

from pressroom.sdk import HttpRequest, HttpResponse, PluginContext, Route

from pressroom_content.builtin_site.feeds import Feeds
from pressroom_content.builtin_site.serving import BuiltinPages
from pressroom_content.builtin_site.store import BuiltinSite
from pressroom_content.builtin_site.terms import BlogTermKind
from pressroom_content.conditional import conditional
from pressroom_content.config import config_of
from pressroom_content.text_index.published import TextTwins, Twin


def routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the pages, feeds, site maps, twins and files of all built-in sites, and the server's robots.txt."""
    site = _SiteRoutes(plugin)
    own = [
        Route("/sites/<site>", site.home),
        Route("/sites/<site>/<slug>", site.post),
        Route("/sites/<site>/<slug>/llms.txt", site.text),
        Route("/sites/<site>/tags/<name>", partial(site.term, "tag")),
        Route("/sites/<site>/categories/<name>", partial(site.term, "category")),
        Route("/sites/<site>/authors/<name>", partial(site.term, "author")),
        Route("/sites/<site>/files/<name>", site.file),
        Route("/sites/<site>/cards/<name>", site.card),
    ]
    return [*own, Route("/robots.txt", site.robots)] if config_of(plugin).robots_txt else own


class _SiteRoutes:
    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._twins, self._feeds = TextTwins(plugin), Feeds(plugin)

    async def home(self, request: HttpRequest) -> HttpResponse:
        key, pages = _part(request, "site"), BuiltinPages(self._plugin)
        if key.endswith(".md"):
            key = key.removesuffix(".md")
            return await self._revalidated(request, key, await pages.contents(key))
        return await self._revalidated(request, key, await pages.home(key, _page(request)))

    async def term(self, kind: BlogTermKind, request: HttpRequest) -> HttpResponse:
        site, name = _part(request, "site"), _part(request, "name")
        if name == "llms.txt":  # of a post with a slug such as tags
            return await self._twin(request, site, request.path.rsplit("/", 2)[1], "text")
        pages = BuiltinPages(self._plugin)
        return await self._revalidated(request, site, await pages.term(site, kind, name, _page(request)))

    async def post(self, request: HttpRequest) -> HttpResponse:
        site, slug = _part(request, "site"), _part(request, "slug")
        if slug.endswith(".md"):
            return await self._twin(request, site, slug.removesuffix(".md"), "markdown")
        pages = BuiltinPages(self._plugin)
        match slug:
            case "robots.txt":
                return conditional(request, _kept_briefly(await pages.robots(site)))
            case "card.png":
                return conditional(request, await pages.site_card(site))
            case "style.css":
                return conditional(request, await pages.style(site, request.query.get("v", "")))
            case "feed.xml" | "atom.xml" | "feed.json":
                answer = await self._feeds.answer(site, slug)
            case "sitemap.xml":
                answer = await pages.sitemap(site)
            case "llms.txt":
                answer = await pages.contents(site)
            case "archive" | "search":
                answer = await self._list(request, site, slug)
            case _:
                answer = await pages.post(site, slug)
        return await self._revalidated(request, site, answer)

    async def _list(self, request: HttpRequest, site: str, name: str) -> HttpResponse:
        """Return the archive or the search of a site; the post that has had that slug for longer, if there is one."""
        pages = BuiltinPages(self._plugin)
        website = await pages.website(site)
        if await BuiltinSite(self._plugin, website.id).post(name) is not None:
            return await pages.post(site, name)
        if name == "search":
            return await pages.search(site, request.query.get("q", ""), _page(request))
        return await pages.archive(site, _page(request))

    async def text(self, request: HttpRequest) -> HttpResponse:
        return await self._twin(request, _part(request, "site"), _part(request, "slug"), "text")

    async def file(self, request: HttpRequest) -> HttpResponse:
        pages = BuiltinPages(self._plugin)
        return conditional(request, await pages.file(_part(request, "site"), _part(request, "name")))

    async def card(self, request: HttpRequest) -> HttpResponse:
        pages = BuiltinPages(self._plugin)
        return conditional(request, await pages.card(_part(request, "site"), _part(request, "name")))

    async def robots(self, request: HttpRequest) -> HttpResponse:
        return conditional(request, _kept_briefly(await BuiltinPages(self._plugin).root_robots()))

    async def _twin(self, request: HttpRequest, site: str, slug: str, kind: Twin) -> HttpResponse:
        """Return a page as text. What visitors see of the page decides whether it has one."""
        pages, ending = BuiltinPages(self._plugin), ".md" if kind == "markdown" else "/llms.txt"
        website = await pages.website(site)
        if await BuiltinSite(self._plugin, website.id).post(slug) is None:
            return await pages.instead(website, slug, after=ending)
        return await self._twins.answer(request, request.path.removesuffix(ending), kind)

    async def _revalidated(self, request: HttpRequest, site: str, answer: HttpResponse) -> HttpResponse:
        """Return an answer that browsers may keep, and ask about each time."""
        if answer.status != 200:
            return answer
        website = await BuiltinPages(self._plugin).website(site)
        changed = await BuiltinSite(self._plugin, website.id).changed_at()
        return conditional(request, _with(answer, "no-cache"), changed)


def _part(request: HttpRequest, name: str) -> str:
    """Return a segment of the path; slugs may be in any script, which URLs hold coded (RFC 3986, section 2.1)."""
    return unquote(request.path_params[name])


def _page(request: HttpRequest) -> int:
    """Return the number of the page of a list that is asked for; 0 for anything else."""
    page = request.query.get("page", "1")
    return int(page) if page.isascii() and page.isdecimal() and len(page) <= 6 else 0


def _kept_briefly(answer: HttpResponse) -> HttpResponse:
    return _with(answer, "public, max-age=3600")


def _with(answer: HttpResponse, caching: str) -> HttpResponse:
    headers = {**answer.headers, "Cache-Control": caching}
    return HttpResponse(answer.body, answer.status, answer.media_type, headers)
