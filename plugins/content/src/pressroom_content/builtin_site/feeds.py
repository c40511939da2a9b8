"""The feeds of built-in sites: RSS 2.0, Atom (RFC 4287) and JSON Feed 1.1."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Final
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape, quoteattr

from pressroom.sdk import HttpResponse, NotFound, PluginContext

from pressroom_content.builtin_site.store import BuiltinSite
from pressroom_content.builtin_site.tables import BuiltinPostRow
from pressroom_content.records import Website
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.domain_names import current_url, with_current_links
from pressroom_content.websites.store import Websites

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OWN_PATH = re.compile(r'(\s(?:src|href)=")(/(?!/)[^"]*)')
_NAMESPACES: Final = (
    'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
_LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FeedSite:
    """The metadata of a feed's site."""

    name: str
    url: str
    description: str
    language: str
    server_url: str = ""


@dataclass(frozen=True, slots=True)
class FeedItem:
    """A post in a feed. `html` is empty for posts beyond the feed's size limit; `image` is a full URL."""

    id: str
    title: str
    url: str
    date: datetime
    changed: datetime
    author: str
    categories: Sequence[str]
    excerpt: str
    html: str
    language: str
    image: str


def rss(site: FeedSite, items: Sequence[FeedItem]) -> bytes:
    """Return an RSS 2.0 feed."""
    newest = max((item.date for item in items), default=_LONG_AGO)
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<rss version="2.0" {_NAMESPACES}>',
        "<channel>",
        _element("title", site.name),
        _element("link", site.url),
        _element("description", site.description or site.name),
        _element("language", site.language) if site.language else "",
        _element("lastBuildDate", format_datetime(newest)),
        f'<atom:link href="{escape(site.url)}/feed.xml" rel="self" type="application/rss+xml"/>',
    ]
    for item in items:
        parts += [
            "<item>",
            _element("title", item.title),
            _element("link", item.url),
            f'<guid isPermaLink="false">{escape(item.id)}</guid>',
            _element("pubDate", format_datetime(item.date)),
            _element("dc:creator", item.author) if item.author else "",
            *(_element("category", name) for name in item.categories),
            _element("description", item.excerpt) if item.excerpt else "",
            f"<content:encoded>{_cdata(_html(item, site))}</content:encoded>" if item.html else "",
            "</item>",
        ]
    parts += ["</channel>", "</rss>", ""]
    return "\n".join(filter(None, parts)).encode("utf-8", "replace")


def atom(site: FeedSite, items: Sequence[FeedItem]) -> bytes:
    """Return an Atom feed."""
    language = f" xml:lang={quoteattr(site.language)}" if site.language else ""
    newest = max((item.changed for item in items), default=_LONG_AGO)
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<feed xmlns="http://www.w3.org/2005/Atom"{language}>',
        _element("id", site.url),
        _element("title", site.name),
        _element("subtitle", site.description) if site.description else "",
        _element("updated", newest.isoformat(timespec="seconds")),
        f"<link href={quoteattr(site.url)}/>",
        f'<link href={quoteattr(f"{site.url}/atom.xml")} rel="self" type="application/atom+xml"/>',
        f"<author>{_element('name', site.name)}</author>",
    ]
    for item in items:
        item_language = f" xml:lang={quoteattr(item.language)}" if item.language else ""
        parts += [
            f"<entry{item_language}>",
            _element("id", f"{site.url}#{item.id}"),
            _element("title", item.title),
            f"<link href={quoteattr(item.url)}/>",
            _element("published", item.date.isoformat(timespec="seconds")),
            _element("updated", item.changed.isoformat(timespec="seconds")),
            f"<author>{_element('name', item.author)}</author>" if item.author else "",
            *(f"<category term={quoteattr(_NOT_XML.sub('', name))}/>" for name in item.categories),
            _element("summary", item.excerpt) if item.excerpt or not item.html else "",
            f'<content type="html">{escape(_NOT_XML.sub("", _html(item, site)))}</content>' if item.html else "",
            "</entry>",
        ]
    parts += ["</feed>", ""]
    return "\n".join(filter(None, parts)).encode("utf-8", "replace")


def json_feed(site: FeedSite, items: Sequence[FeedItem]) -> bytes:
    """Return a JSON Feed (jsonfeed.org, version 1.1)."""
    feed: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": site.name,
        "home_page_url": site.url,
        "feed_url": f"{site.url}/feed.json",
        **({"description": site.description} if site.description else {}),
        **({"language": site.language} if site.language else {}),
        "items": [_json_item(site, item) for item in items],
    }
    return json.dumps(feed, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _json_item(site: FeedSite, item: FeedItem) -> Mapping[str, Any]:
    body = {"content_html": _html(item, site)} if item.html else {"content_text": item.excerpt}
    return {
        "id": item.id,
        "url": item.url,
        "title": item.title,
        **body,
        **({"summary": item.excerpt} if item.excerpt else {}),
        **({"image": item.image} if item.image else {}),
        "date_published": item.date.isoformat(timespec="seconds"),
        "date_modified": item.changed.isoformat(timespec="seconds"),
        **({"authors": [{"name": item.author}]} if item.author else {}),
        **({"tags": list(item.categories)} if item.categories else {}),
        **({"language": item.language} if item.language else {}),
    }


def _html(item: FeedItem, site: FeedSite) -> str:
    return absolute_links(with_current_links(item.html, site.url, site.server_url), site.url)


def absolute_links(html: str, site_url: str) -> str:
    """Return HTML with absolute URLs instead of paths of this server, for readers on other sites."""
    parts = urlsplit(site_url)
    return _OWN_PATH.sub(rf"\1{parts.scheme}://{parts.netloc}\2", html)


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(_NOT_XML.sub('', text))}</{name}>"


def _cdata(text: str) -> str:
    return f"<![CDATA[{_NOT_XML.sub('', text).replace(']]>', ']]]]><![CDATA[>')}]]>"


_MAX_ITEMS: Final = 20
_MAX_TEXT: Final = 4 * 2**20
"""The maximum total length of the bodies in one feed, in characters. Older posts are included with their excerpts."""

_MAX_CACHED_BYTES: Final = 32 * 2**20


_FORMS: Final[Mapping[str, tuple[Callable[[FeedSite, Sequence[FeedItem]], bytes], str]]] = {
    "feed.xml": (rss, "application/rss+xml; charset=utf-8"),
    "atom.xml": (atom, "application/atom+xml; charset=utf-8"),
    "feed.json": (json_feed, "application/feed+json; charset=utf-8"),
}


@dataclass(frozen=True, slots=True)
class _Feed:
    state: str
    body: bytes
    etag: str


class Feeds:
    """The feeds of all sites of one server. They are built one at a time, so that concurrent requests share work."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._feeds: OrderedDict[tuple[str, str], _Feed] = OrderedDict()
        self._bytes = 0
        self._turn = asyncio.Lock()

    async def respond(self, site_key: str, form: str) -> HttpResponse:
        """Return a feed of a site with its `ETag`: `feed.xml`, `atom.xml` or `feed.json`. Raises `NotFound`."""
        website = await Websites(self._plugin).by_key(site_key)
        if website is None:
            raise NotFound("there is no such site")
        posts = BuiltinSite(self._plugin, website.id)
        rows = await posts.live(limit=_MAX_ITEMS)
        state = _state(website, rows)
        key = (website.id, form)
        feed = self._known(key, state)
        if feed is None:
            async with self._turn:
                feed = self._known(key, state) or await self._make(website, form, posts, rows, state)
        headers = {"ETag": feed.etag, "Access-Control-Allow-Origin": "*"}
        return HttpResponse(feed.body, media_type=_FORMS[form][1], headers=headers)

    def _known(self, key: tuple[str, str], state: str) -> _Feed | None:
        feed = self._feeds.get(key)
        if feed is None or feed.state != state:
            return None
        self._feeds.move_to_end(key)
        return feed

    async def _make(
        self, website: Website, form: str, posts: BuiltinSite, rows: Sequence[BuiltinPostRow], state: str
    ) -> _Feed:
        settings = site_settings.read(website.settings)
        items: list[FeedItem] = []
        remaining = _MAX_TEXT
        for row in rows:
            html = ""
            if remaining > 0 and (post := await posts.post(row.slug)) is not None and len(post.html) <= remaining:
                html = post.html
            remaining -= len(html)
            items.append(_item(website, row, html))
        site = FeedSite(website.name, website.url, settings.description, settings.language, website.server_url)
        run = self._plugin.services.workers.run
        body = await run(_FORMS[form][0], site, items, owner=website.user_id, what="the feed")
        feed = _Feed(state, body, f'"{hashlib.sha256(body).hexdigest()[:24]}"')
        self._keep((website.id, form), feed)
        return feed

    def _keep(self, key: tuple[str, str], feed: _Feed) -> None:
        if (earlier := self._feeds.pop(key, None)) is not None:
            self._bytes -= len(earlier.body)
        self._feeds[key] = feed
        self._bytes += len(feed.body)
        while self._bytes > _MAX_CACHED_BYTES and len(self._feeds) > 1:
            _, oldest = self._feeds.popitem(last=False)
            self._bytes -= len(oldest.body)


def _state(website: Website, rows: Sequence[BuiltinPostRow]) -> str:
    """Return a hash that changes whenever the feed does."""
    posts = [(row.id, row.slug, row.revision, row.updated_at, row.published_at, row.publish_at) for row in rows]
    fields = (website.name, website.url, website.settings, posts)
    return hashlib.sha256(repr(fields).encode("utf-8", "surrogatepass")).hexdigest()


def _item(website: Website, row: BuiltinPostRow, html: str) -> FeedItem:
    parts, image = urlsplit(website.url), str(row.featured.get("url", ""))
    image = current_url(image, website.url, website.server_url)
    date = row.published_at or row.publish_at or row.created_at
    return FeedItem(
        id=row.id,
        title=row.title,
        url=f"{website.url}/{quote(row.slug)}",
        date=date,
        changed=max(row.updated_at, date),
        author=row.fields.get("author", ""),
        categories=[*row.fields.get("categories", []), *row.fields.get("tags", [])],
        excerpt=row.fields.get("excerpt", ""),
        html=html,
        language=row.fields.get("language") or "",
        image=f"{parts.scheme}://{parts.netloc}{image}" if image.startswith("/") else image,
    )
