"""The common parts of all pages of a built-in site.

These are the surrounding template, posts in lists, and the images of link previews.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, urlsplit
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape
from pressroom.sdk import HttpResponse, NotFound, PluginContext

from pressroom_content.builtin_site import cards
from pressroom_content.builtin_site.appearance import grounds, icon_of, style_of
from pressroom_content.builtin_site.files import SiteImage, images_of, names_in
from pressroom_content.builtin_site.post_lists import ListedPost, PostLists
from pressroom_content.builtin_site.summaries import Wording, excerpt_of, is_rtl, wording
from pressroom_content.builtin_site.tables import BuiltinPostRow
from pressroom_content.records import Website
from pressroom_content.rendering.sanitising import FRAME_HOSTS
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.domain_names import current_url
from pressroom_content.websites.settings import WebsiteSettings
from pressroom_content.websites.store import Websites

_WORDS_PER_MINUTE: Final = 230
_CHARACTERS_A_MINUTE: Final = 500
"""For texts without spaces between words."""

_TAG = re.compile(r"<[^<>]++>")
_SPACELESS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_EXCERPT_WIDTH: Final = 220.0
_HTML: Final = "text/html; charset=utf-8"
REVALIDATE: Final = {"Cache-Control": "no-cache"}
"""Caches have to revalidate these responses: a missing page may appear at any time."""

_POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self' https: data:",
        "font-src 'self'",
        # Scripts cannot run, but page auditing tools fetch `robots.txt` from within the page.
        "connect-src 'self'",
        f"frame-src {' '.join(f'https://{host}' for host in sorted(FRAME_HOSTS))}",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
_PAGE_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "X-Content-Type-Options": "nosniff",
}


PER_PAGE: Final = 12
"""Posts per page of a list."""


@dataclass(frozen=True, slots=True)
class BlogImage:
    """An image with the attributes that browsers need to reserve space and to select a size."""

    url: str
    alt: str = ""
    caption: str = ""
    width: int = 0
    height: int = 0
    srcset: str = ""


@dataclass(frozen=True, slots=True)
class PostView:
    """A post in a list or at the top of its page. `updated` is empty unless it changed on a later day.

    `excerpt_html` is the excerpt for pages.
    """

    title: str
    url: str
    language: str
    iso: str
    modified: str
    date: str
    updated: str
    excerpt: str
    excerpt_html: Markup
    minutes: int
    cover: BlogImage | None = None


class SiteFrame:
    """Renders pages of built-in sites."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._root = urlsplit(plugin.base_url).path.rstrip("/")

    def current(self, website: Website, url: str) -> str:
        """Return the current form of a URL that was stored with a site or a post; see `current_url`."""
        return current_url(url, website.url, website.server_url)

    async def website(self, site_key: str) -> Website:
        """Return the site of a key. Raises `NotFound`."""
        website = await Websites(self._plugin).by_key(site_key)
        if website is None:
            raise NotFound("there is no such site")
        return website

    async def missing(self, website: Website, status: int = 404) -> HttpResponse:
        """Return the error page for a page that does not exist (404) or was taken down (410)."""
        words = words_of(website)
        heading = words["missing"] if status == 404 else words["gone"]
        note = words["missing_note"] if status == 404 else words["gone_note"]
        title = f"{heading} · {website.name}"
        response = await self.page(website, "missing.html", status=status, title=title, heading=heading, note=note)
        return replace(response, headers={**response.headers, **REVALIDATE})

    async def page(
        self, website: Website, template: str, *, status: int = 200, language: str = "", **values: Any
    ) -> HttpResponse:
        """Render a page in a language; empty means the site's language."""
        settings = site_settings.read(website.settings)
        language = language or settings.language or "en"
        settings = settings.model_copy(
            update={name: self.current(website, getattr(settings, name)) for name in ("logo", "logo_dark", "favicon")}
        )
        light, dark = grounds(settings)
        # The home page of a small site lists all of its posts already.
        has_archive = await PostLists(self._plugin, website).count() > PER_PAGE
        context = {
            "site": {"name": website.name, "url": website.url, "description": settings.description},
            "root": self._root if website.url == website.server_url else "",
            "settings": settings,
            "menu": await self._menu(website, settings, wording(language), has_archive=has_archive),
            "has_archive": has_archive,
            "w": wording(language),
            "lang": language,
            "rtl": is_rtl(language),
            "light": light,
            "dark": dark,
            "style_version": style_of(settings)[1],
            "icon_version": icon_of(website.name, settings)[1],
            "description": "",
            "canonical": "",
            "og_title": "",
            "image": None,
            "is_home": False,
            "query": "",
        }
        text = self._plugin.templates.render(template, **(context | values))
        return HttpResponse(text.encode("utf-8", "replace"), status, _HTML, dict(_PAGE_HEADERS))

    async def _menu(
        self, website: Website, settings: WebsiteSettings, words: Wording, *, has_archive: bool
    ) -> Sequence[tuple[str, str]]:
        """Return the links of the header: the owner's menu, or the pages and the archive."""
        if settings.menu:
            return [(item.label, _menu_url(website, item.url)) for item in settings.menu]
        pages = await PostLists(self._plugin, website).pages()
        links = [(title, f"{website.url}/{quote(slug)}") for title, slug in pages]
        return [*links, (words["archive"], f"{website.url}/archive")] if has_archive else links

    async def listed(self, website: Website, posts: Sequence[ListedPost], language: str = "") -> Sequence[PostView]:
        """Return posts with excerpts and covers, for a list in a language; empty means the site's language."""
        names = names_in(*(str(post.row.featured.get("url", "")) for post in posts))
        images = await self.images(website, names)
        return [
            replace(
                self.post_view(website, post.row, beginning=post.beginning, language=language),
                cover=self.cover(website, post.row, images),
            )
            for post in posts
        ]

    async def images(self, website: Website, names: frozenset[str]) -> Mapping[str, SiteImage]:
        """Return the stored images of a site, by name."""
        async with self._plugin.services.database.reading() as session:
            return await images_of(session, website.id, names)

    def cover(self, website: Website, row: BuiltinPostRow, images: Mapping[str, SiteImage]) -> BlogImage | None:
        """Return the featured image of a post, or `None`."""
        url = self.current(website, row.featured.get("url") or "")
        if not url:
            return None
        alt, caption = row.featured.get("alt", ""), row.featured.get("caption", "")
        image = next((images[name] for name in names_in(url) if name in images), None)
        if image is None:
            return BlogImage(url, alt, caption)
        return BlogImage(url, alt, caption, image.width, image.height, image.srcset(files_path(website)))

    def post_view(
        self, website: Website, row: BuiltinPostRow, *, beginning: str = "", html: str = "", language: str = ""
    ) -> PostView:
        """Return a post for display. `html` is its whole body, from which the reading time is estimated."""
        settings = site_settings.read(website.settings)
        at, zone = date_of(row), ZoneInfo(settings.timezone)
        words = wording(language or settings.language)
        changed = max(row.updated_at, at)
        excerpt = row.fields.get("excerpt") or row.fields.get("meta_description") or ""
        excerpt_html = escape(excerpt)
        if not excerpt and beginning:
            excerpt, excerpt_html = excerpt_of(beginning, _EXCERPT_WIDTH)
        is_later = changed.astimezone(zone).date() > at.astimezone(zone).date()
        return PostView(
            title=row.title,
            url=url_of(website, row),
            language=row.fields.get("language") or "",
            iso=at.isoformat(timespec="seconds"),
            modified=changed.isoformat(timespec="seconds"),
            date=words.date(at, zone),
            updated=words.date(changed, zone) if is_later else "",
            excerpt=excerpt,
            excerpt_html=excerpt_html,
            minutes=_minutes(html),
        )


def words_of(website: Website) -> Wording:
    """Return the wording of a site's own pages."""
    return wording(site_settings.read(website.settings).language)


def url_of(website: Website, row: BuiltinPostRow) -> str:
    """Return the URL of a post."""
    return f"{website.url}/{quote(row.slug)}"


def date_of(row: BuiltinPostRow) -> datetime:
    """Return the publication date of a post."""
    return row.published_at or row.publish_at or row.created_at


def files_path(website: Website) -> str:
    """Return the path of a site's files, on this server or on the site's own domain."""
    return f"{urlsplit(website.url).path}/files"


def _menu_url(website: Website, url: str) -> str:
    path = urlsplit(website.server_url).path
    if not url.startswith("/") or url == path or url.startswith(f"{path}/"):
        return current_url(url, website.url, website.server_url)
    return f"{website.url}{url.rstrip('/')}"


def _minutes(html: str) -> int:
    text = _TAG.sub(" ", html)
    spaceless = len(_SPACELESS.findall(text))
    minutes = len(_SPACELESS.sub(" ", text).split()) / _WORDS_PER_MINUTE + spaceless / _CHARACTERS_A_MINUTE
    return max(1, round(minutes)) if minutes else 0


class LinkPreviews:
    """Finds and draws images for link previews."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    async def of_post(self, website: Website, row: BuiltinPostRow, cover: BlogImage | None) -> BlogImage | None:
        """Return the preview image of a post: its cover, or a card."""
        if cover is not None:
            parts = urlsplit(website.url)
            url = f"{parts.scheme}://{parts.netloc}{cover.url}" if cover.url.startswith("/") else cover.url
            return BlogImage(url, cover.alt, width=cover.width, height=cover.height)
        if not await cards.available(self._plugin):
            return None
        card = await self.card(website, row)
        url = f"{website.url}/cards/{quote(row.slug)}.png?v={row.revision}"
        return _preview(card, url)

    async def of_site(self, website: Website) -> BlogImage | None:
        """Return the preview image of the list of posts."""
        if not await cards.available(self._plugin):
            return None
        card = await self.card(website)
        version = hashlib.sha256(repr(sorted(card.props.items())).encode("utf-8", "replace")).hexdigest()[:8]
        return _preview(card, f"{website.url}/card.png?v={version}")

    async def card_image(self, card: cards.Card) -> HttpResponse:
        """Return a card as an image. Raises `NotFound`."""
        content, media_type = await cards.draw(self._plugin, card)
        headers = {"Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff"}
        return HttpResponse(content, media_type=media_type, headers=headers)

    async def card(self, website: Website, row: BuiltinPostRow | None = None) -> cards.Card:
        """Return the card of a post, or that of the site itself."""
        if row is None:
            subtitle = site_settings.read(website.settings).description
            return await cards.compose(title=website.name, subtitle=subtitle, site_name="", author="", eyebrow="")
        categories = row.fields.get("categories", [])
        return await cards.compose(
            title=row.title,
            subtitle=row.fields.get("excerpt", ""),
            site_name=website.name,
            author=row.fields.get("author", ""),
            eyebrow=categories[0] if categories else "",
        )


def _preview(card: cards.Card, url: str) -> BlogImage | None:
    return BlogImage(url, card.props["title"], width=cards.WIDTH, height=cards.HEIGHT) if card.props else None
