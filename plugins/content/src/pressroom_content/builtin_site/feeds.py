"""The RSS feeds of built-in sites: made once, and kept while nothing in them changed."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from pressroom.sdk import HttpResponse, NotFound, PluginContext

from pressroom_content.builtin_site.documents import rss
from pressroom_content.builtin_site.store import BuiltinSite
from pressroom_content.records import Website
from pressroom_content.tables import BuiltinPostRow
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.store import Websites

_MAX_ITEMS: Final = 20
_MAX_TEXT: Final = 4 * 2**20
"""Characters that the bodies in one feed may have together; older posts are there with their excerpts."""

_MAX_KEPT_BYTES: Final = 32 * 2**20


@dataclass(frozen=True, slots=True)
class _Feed:
    state: str
    body: bytes
    etag: str


class Feeds:
    """The feeds of all sites of one server. One is made at a time: many readers cannot have the same work done."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._feeds: OrderedDict[str, _Feed] = OrderedDict()
        self._bytes = 0
        self._turn = asyncio.Lock()

    async def answer(self, site_key: str) -> HttpResponse:
        """Return the feed of a site with its `ETag`. Raises `NotFound`."""
        website = await Websites(self._plugin).by_key(site_key)
        if website is None:
            raise NotFound("there is no such site")
        posts = BuiltinSite(self._plugin, website.id)
        rows = await posts.live(limit=_MAX_ITEMS)
        state = _state(website, rows)
        feed = self._known(website.id, state)
        if feed is None:
            async with self._turn:
                feed = self._known(website.id, state) or await self._make(website, posts, rows, state)
        media_type = "application/rss+xml; charset=utf-8"
        return HttpResponse(feed.body, media_type=media_type, headers={"ETag": feed.etag})

    def _known(self, website_id: str, state: str) -> _Feed | None:
        feed = self._feeds.get(website_id)
        if feed is None or feed.state != state:
            return None
        self._feeds.move_to_end(website_id)
        return feed

    async def _make(self, website: Website, posts: BuiltinSite, rows: Sequence[BuiltinPostRow], state: str) -> _Feed:
        settings = site_settings.read(website.settings)
        items: list[dict[str, Any]] = []
        room = _MAX_TEXT
        for row in rows:
            html = ""
            if room > 0 and (whole := await posts.post(row.slug)) is not None and len(whole.html) <= room:
                html = whole.html
            room -= len(html)
            items.append(_item(website, row, html))
        site = {"name": website.name, "url": website.url, "description": settings.description}
        body = await asyncio.to_thread(rss, site, items, settings.language)
        feed = _Feed(state, body, f'"{hashlib.sha256(body).hexdigest()[:24]}"')
        self._keep(website.id, feed)
        return feed

    def _keep(self, website_id: str, feed: _Feed) -> None:
        if (earlier := self._feeds.pop(website_id, None)) is not None:
            self._bytes -= len(earlier.body)
        self._feeds[website_id] = feed
        self._bytes += len(feed.body)
        while self._bytes > _MAX_KEPT_BYTES and len(self._feeds) > 1:
            _, oldest = self._feeds.popitem(last=False)
            self._bytes -= len(oldest.body)


def _state(website: Website, rows: Sequence[BuiltinPostRow]) -> str:
    """Return what changes whenever the feed does."""
    posts = [(row.id, row.slug, row.revision, row.updated_at, row.published_at, row.publish_at) for row in rows]
    seen = (website.name, website.url, website.settings, posts)
    return hashlib.sha256(repr(seen).encode("utf-8", "surrogatepass")).hexdigest()


def _item(website: Website, row: BuiltinPostRow, html: str) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title,
        "url": f"{website.url}/{quote(row.slug)}",
        "date": row.published_at or row.publish_at or row.created_at,
        "author": row.fields.get("author", ""),
        "categories": [*row.fields.get("categories", []), *row.fields.get("tags", [])],
        "excerpt": row.fields.get("excerpt", ""),
        "html": html,
    }
