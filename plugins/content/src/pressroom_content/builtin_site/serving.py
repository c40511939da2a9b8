"""The pages of built-in sites: what is answered at each URL."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit
from zoneinfo import ZoneInfo

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from pressroom.sdk import Fetched, HttpResponse, NotFound, PluginContext
from sqlalchemy import select

from pressroom_content.builtin_site import documents as cards
from pressroom_content.builtin_site.documents import MAX_SITEMAP_URLS, json_script, sitemap
from pressroom_content.builtin_site.store import BuiltinSite
from pressroom_content.records import Website
from pressroom_content.rendering.sanitising import FRAME_HOSTS
from pressroom_content.tables import BuiltinFileRow, BuiltinPostRow
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.store import Websites

PER_PAGE: Final = 12
_MAX_PAGES: Final = 10_000
_RTL: Final = frozenset({"ar", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
_WORDS_A_MINUTE: Final = 230
_IMG = re.compile(r"<img (?![^<>]*\bloading=)")
_WIDE = re.compile(r"<(pre|table)(?=[\s>])")
_TAG = re.compile(r"<[^<>]++>")
_HTML: Final = "text/html; charset=utf-8"
_IMMUTABLE: Final = "public, max-age=31536000, immutable"

_POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self' https: data:",
        "font-src 'self'",
        f"frame-src {' '.join(f'https://{host}' for host in sorted(FRAME_HOSTS))}",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
_PAGE_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "X-Content-Type-Options": "nosniff",
}
_INERT: Final = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


@dataclass(frozen=True, slots=True)
class _Shown:
    """A post in a list, or at the head of its page."""

    title: str
    url: str
    iso: str
    modified: str
    date: str
    excerpt: str
    minutes: int


class BuiltinPages:
    """Answers requests for the pages of built-in sites."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._root = urlsplit(plugin.base_url).path.rstrip("/")

    async def home(self, site_key: str, page: int = 1) -> HttpResponse:
        """Return a page of the list of posts. Raises `NotFound`."""
        website = await self._website(site_key)
        posts = BuiltinSite(self._plugin, website.id)
        if not 1 <= page <= _MAX_PAGES:
            return self._missing(website)
        found = list(await posts.live(limit=PER_PAGE + 1, offset=(page - 1) * PER_PAGE))
        if not found and page > 1:
            return self._missing(website)
        settings = site_settings.read(website.settings)
        address = website.url if page == 1 else f"{website.url}?page={page}"
        linked = {
            "@context": "https://schema.org",
            "@type": "Blog",
            "name": website.name,
            "url": website.url,
            "description": settings.description or website.name,
        }
        return self._page(
            website,
            "home.html",
            title=website.name if page == 1 else f"{website.name}, page {page}",
            description=settings.description or f"All posts of {website.name}.",
            canonical=address,
            is_home=True,
            posts=[self._shown(website, row) for row in found[:PER_PAGE]],
            newer="" if page == 1 else website.url if page == 2 else f"{website.url}?page={page - 1}",
            older=f"{website.url}?page={page + 1}" if len(found) > PER_PAGE else "",
            linked_data=json_script(linked),
        )

    async def post(self, site_key: str, slug: str) -> HttpResponse:
        """Return the page of a post, the redirect from an old URL, or a page that says that nothing is there.

        Raises `NotFound` where there is no such site.
        """
        website = await self._website(site_key)
        posts = BuiltinSite(self._plugin, website.id)
        row = await posts.post(slug)
        if row is None:
            found = await posts.redirect(f"/{slug}")
            if found is None:
                return self._missing(website)
            target = f"{website.url}{quote(found.target)}" if found.target.startswith("/") else found.target
            return HttpResponse(b"", 301 if found.permanent else 302, headers={"Location": target})
        others = [one for one in await posts.live(limit=4) if one.id != row.id][:3]
        featured = await self._featured(row)
        image = await self._preview(website, row, featured)
        fields, shown = row.fields, self._shown(website, row, row.html)
        description = fields.get("meta_description") or shown.excerpt or row.title
        title = fields.get("meta_title") or f"{row.title} · {website.name}"
        return self._page(
            website,
            "post.html",
            title=title,
            og_title=fields.get("meta_title") or row.title,
            description=description,
            canonical=fields.get("canonical_url") or shown.url,
            language=fields.get("language", ""),
            post=shown,
            body=Markup(_for_readers(row.html)),  # noqa: S704 - sanitised before it was stored
            author=fields.get("author", ""),
            tags=fields.get("tags", []),
            categories=fields.get("categories", []),
            featured=featured,
            image=image,
            others=[self._shown(website, other) for other in others],
            linked_data=json_script(_linked_data(website, row, shown, image, description)),
        )

    async def sitemap(self, site_key: str) -> HttpResponse:
        """Return the site map. Raises `NotFound`."""
        website = await self._website(site_key)
        rows = await BuiltinSite(self._plugin, website.id).live(limit=MAX_SITEMAP_URLS - 1)
        newest = max((row.updated_at for row in rows), default=website.created_at)
        # A post whose original is elsewhere is not one of ours.
        own = [row for row in rows if row.fields.get("canonical_url") in ("", None, _url(website, row))]
        pages = [(website.url, newest), *((_url(website, row), row.updated_at) for row in own)]
        return HttpResponse(sitemap(pages), media_type="application/xml; charset=utf-8")

    async def file(self, site_key: str, name: str) -> HttpResponse:
        """Return an image that was uploaded to the site. Raises `NotFound`."""
        website = await self._website(site_key)
        found = await BuiltinSite(self._plugin, website.id).file(name)
        if found is None:
            raise NotFound("there is no such file")
        headers = {"Cache-Control": _IMMUTABLE, "X-Content-Type-Options": "nosniff", **_INERT}
        return HttpResponse(found.content, media_type=found.media_type, headers=headers)

    async def card(self, site_key: str, name: str) -> HttpResponse:
        """Return the image of a post for link previews. Raises `NotFound`."""
        website = await self._website(site_key)
        row = await BuiltinSite(self._plugin, website.id).post(name.removesuffix(".png"))
        if row is None or not name.endswith(".png"):
            raise NotFound("there is no image of this post")
        content, media_type = await cards.draw(self._plugin, await self._card(website, row))
        headers = {"Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff"}
        return HttpResponse(content, media_type=media_type, headers=headers)

    async def fetched(self, url: str) -> Fetched:
        """Return a page of this server's own as a visitor would get it, with up to one redirect."""
        redirects: tuple[str, ...] = ()
        answer = await self._answer(url)
        if "Location" in answer.headers:
            redirects, url = (url,), answer.headers["Location"]
            answer = await self._answer(url)
        media_type = answer.media_type.partition(";")[0]
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Fetched(url, answer.status, media_type, answer.body, headers, redirects)

    async def _answer(self, url: str) -> HttpResponse:
        path = unquote(url.removeprefix(f"{self._plugin.base_url}/sites/"))
        site_key, _, slug = path.partition("/")
        try:
            return await (self.post(site_key, slug) if slug else self.home(site_key))
        except NotFound:
            return HttpResponse(b"", 404)

    async def _website(self, site_key: str) -> Website:
        website = await Websites(self._plugin).by_key(site_key)
        if website is None:
            raise NotFound("there is no such site")
        return website

    async def _featured(self, row: BuiltinPostRow) -> Mapping[str, Any] | None:
        if not row.featured.get("url"):
            return None
        wanted = select(BuiltinFileRow.width, BuiltinFileRow.height).where(
            BuiltinFileRow.id == row.featured.get("id", "")
        )
        async with self._plugin.services.database.reading() as session:
            size = (await session.execute(wanted)).first()
        width, height = (size.width, size.height) if size is not None else (0, 0)
        said = {name: row.featured.get(name, "") for name in ("url", "alt", "caption")}
        return {**said, "width": width, "height": height}

    async def _preview(
        self, website: Website, row: BuiltinPostRow, featured: Mapping[str, Any] | None
    ) -> Mapping[str, Any] | None:
        """Return the image that link previews show."""
        if featured is not None:
            parts = urlsplit(website.url)
            url = featured["url"]
            return {**featured, "url": f"{parts.scheme}://{parts.netloc}{url}" if url.startswith("/") else url}
        if not await cards.available(self._plugin):
            return None
        card = await self._card(website, row)
        if not card.props:
            return None
        url = f"{website.url}/cards/{quote(row.slug)}.png?v={row.revision}"
        return {"url": url, "alt": card.props["title"], "width": cards.WIDTH, "height": cards.HEIGHT}

    async def _card(self, website: Website, row: BuiltinPostRow) -> cards.Card:
        categories = row.fields.get("categories", [])
        return await cards.compose(
            title=row.title,
            subtitle=row.fields.get("excerpt", ""),
            site_name=website.name,
            author=row.fields.get("author", ""),
            eyebrow=categories[0] if categories else "",
        )

    def _shown(self, website: Website, row: BuiltinPostRow, html: str = "") -> _Shown:
        at = _date(row)
        local = at.astimezone(ZoneInfo(site_settings.read(website.settings).timezone))
        words = len(_TAG.sub(" ", html).split())
        return _Shown(
            title=row.title,
            url=_url(website, row),
            iso=at.isoformat(timespec="seconds"),
            modified=max(row.updated_at, at).isoformat(timespec="seconds"),
            date=f"{local.day} {local:%B %Y}",
            excerpt=row.fields.get("excerpt", ""),
            minutes=max(1, round(words / _WORDS_A_MINUTE)) if words else 0,
        )

    def _missing(self, website: Website) -> HttpResponse:
        return self._page(website, "missing.html", status=404, title=f"Page not found · {website.name}")

    def _page(
        self, website: Website, template: str, *, status: int = 200, language: str = "", **values: Any
    ) -> HttpResponse:
        settings = site_settings.read(website.settings)
        language = language or settings.language or "en"
        given = {
            "site": {"name": website.name, "url": website.url, "description": settings.description},
            "root": self._root,
            "lang": language,
            "rtl": language.partition("-")[0].lower() in _RTL,
            "style_version": style()[1],
            "description": "",
            "canonical": "",
            "og_title": "",
            "is_home": False,
        }
        text = _templates().get_template(template).render(given | values)
        return HttpResponse(text.encode("utf-8", "replace"), status, _HTML, dict(_PAGE_HEADERS))


@cache
def style() -> tuple[bytes, str]:
    """Return the style sheet and its version."""
    content = files(__package__).joinpath("static", "site.css").read_bytes()
    return content, hashlib.sha256(content).hexdigest()[:16]


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def _for_readers(html: str) -> str:
    """Return a body whose images load when they are near, and whose wide parts the keyboard can scroll."""
    return _WIDE.sub(r'<\1 tabindex="0"', _IMG.sub('<img loading="lazy" ', html))


def _url(website: Website, row: BuiltinPostRow) -> str:
    return f"{website.url}/{quote(row.slug)}"


def _date(row: BuiltinPostRow) -> datetime:
    return row.published_at or row.publish_at or row.created_at


def _linked_data(
    website: Website, row: BuiltinPostRow, shown: _Shown, image: Mapping[str, Any] | None, description: str
) -> Mapping[str, Any]:
    """Return the post as schema.org's BlogPosting."""
    fields = row.fields
    author: Mapping[str, str] = (
        {"@type": "Person", "name": fields["author"]}
        if fields.get("author")
        else {"@type": "Organization", "name": website.name}
    )
    keywords: Sequence[str] = fields.get("tags", [])
    data: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "BlogPosting",
        "headline": row.title[:110],
        "description": description,
        "url": shown.url,
        "mainEntityOfPage": shown.url,
        "datePublished": shown.iso,
        "dateModified": shown.modified,
        "author": author,
        "publisher": {"@type": "Organization", "name": website.name, "url": website.url},
    }
    if fields.get("language"):
        data["inLanguage"] = fields["language"]
    if keywords:
        data["keywords"] = ", ".join(keywords)
    if image is not None:
        data["image"] = image["url"]
    return data
