"""Documents of the built-in site beside its pages: sitemaps, feeds and card images."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

import structlog
from markupsafe import Markup
from pressroom.sdk import CallError, HttpResponse, NotFound, PluginContext

from pressroom_content.builtin_site.store import BuiltinSite
from pressroom_content.records import Website
from pressroom_content.tables import BuiltinPostRow
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.store import Websites

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OWN_PATH = re.compile(r'(\s(?:src|href)=")(/(?!/)[^"]*)')
_NAMESPACES: Final = (
    'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
MAX_SITEMAP_URLS: Final = 50_000
"""The bound of the sitemaps protocol."""


def rss(site: Mapping[str, str], items: Sequence[Mapping[str, Any]], language: str) -> bytes:
    """Return an RSS 2.0 feed. `items` have title, url, date, excerpt, html, author and categories."""
    newest = max((item["date"] for item in items), default=datetime(2000, 1, 1, tzinfo=UTC))
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<rss version="2.0" {_NAMESPACES}>',
        "<channel>",
        _element("title", site["name"]),
        _element("link", site["url"]),
        _element("description", site["description"] or site["name"]),
        _element("language", language) if language else "",
        _element("lastBuildDate", format_datetime(newest)),
        f'<atom:link href="{escape(site["url"])}/feed.xml" rel="self" type="application/rss+xml"/>',
    ]
    for item in items:
        parts += [
            "<item>",
            _element("title", item["title"]),
            _element("link", item["url"]),
            f'<guid isPermaLink="false">{escape(item["id"])}</guid>',
            _element("pubDate", format_datetime(item["date"])),
            _element("dc:creator", item["author"]) if item["author"] else "",
            *(_element("category", name) for name in item["categories"]),
            _element("description", item["excerpt"]) if item["excerpt"] else "",
            f"<content:encoded>{_cdata(absolute_links(item['html'], site['url']))}</content:encoded>"
            if item["html"]
            else "",
            "</item>",
        ]
    parts += ["</channel>", "</rss>", ""]
    return "\n".join(filter(None, parts)).encode("utf-8", "replace")


def sitemap(pages: Sequence[tuple[str, datetime]]) -> bytes:
    """Return a site map (sitemaps.org) of pairs of URL and time of the last change."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">']
    for url, changed in pages[:MAX_SITEMAP_URLS]:
        lines.append(f"<url><loc>{escape(url)}</loc><lastmod>{changed.isoformat(timespec='seconds')}</lastmod></url>")
    return "\n".join([*lines, "</urlset>", ""]).encode("utf-8", "replace")


def json_script(value: Any) -> Markup:
    """Return JSON that may stand inside a script element: it can neither end it nor open a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - holds no character that HTML would act on


def absolute_links(html: str, site_url: str) -> str:
    """Return HTML whose links to paths of this server are full URLs, for readers elsewhere."""
    parts = urlsplit(site_url)
    return _OWN_PATH.sub(rf"\1{parts.scheme}://{parts.netloc}\2", html)


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(_NOT_XML.sub('', text))}</{name}>"


def _cdata(text: str) -> str:
    return f"<![CDATA[{_NOT_XML.sub('', text).replace(']]>', ']]]]><![CDATA[>')}]]>"


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


log = structlog.get_logger()

GENERATOR: Final = "image-generator"
WIDTH: Final = 1200
HEIGHT: Final = 630
_ASK_AGAIN: Final = 300.0
_MAX_SHOWN: Final = 10
_NAMES: Final = {"subtitle": "excerpt", "siteName": "name of the site", "author": "author", "eyebrow": "category"}
_known: dict[int, tuple[float, bool]] = {}


async def available(plugin: PluginContext) -> bool:
    """Tell whether the image generator can be used. The answer is remembered for five minutes."""
    key = id(plugin.services)
    asked, answer = _known.get(key, (float("-inf"), False))
    if time.monotonic() - asked < _ASK_AGAIN:
        return answer
    try:
        await plugin.services.tools.make_file(GENERATOR, {})
    except NotFound:
        answer = False
    except CallError:
        answer = True  # it is there, and wants parameters
    except RuntimeError:
        return False  # the server still starts
    _known[key] = (time.monotonic(), answer)
    return answer


@dataclass(frozen=True, slots=True)
class Card:
    """What the image of a post shows, and what it leaves out.

    `props` are those of the template; there is no image where they are empty. `warning` says what no font can draw.
    """

    props: Mapping[str, str]
    warning: str = ""


async def compose(*, title: str, subtitle: str, site_name: str, author: str, eyebrow: str) -> Card:
    """Return the card of a post. A text with characters that no font has is left out, never drawn as boxes."""
    texts = {
        "title": _cut(title, 200),
        "subtitle": _cut(subtitle, 300),
        "siteName": _cut(site_name, 60),
        "author": _cut(author, 80),
        "eyebrow": _cut(eyebrow, 60),
    }
    return await asyncio.to_thread(_composed, {name: text for name, text in texts.items() if text})


async def draw(plugin: PluginContext, card: Card) -> tuple[bytes, str]:
    """Return the image and its media type; the generator keeps it for the next time. Raises `NotFound`."""
    if not card.props:
        raise NotFound("there is no image of this post: no font of the server has the characters of its title")
    try:
        return await plugin.services.tools.make_file(GENERATOR, {"template": "og", "props": dict(card.props)})
    except CallError as error:
        log.warning("an image of a post could not be made", error=error.message)
        raise NotFound("there is no image of this post") from error


def _composed(texts: Mapping[str, str]) -> Card:
    lacking = {name: characters for name, text in texts.items() if (characters := _not_in_any_font(text))}
    if not lacking:
        return Card(texts)
    characters = "".join(dict.fromkeys("".join(lacking.values())))
    reason = f"no font of this server has {_shown(characters)}; its operator can add one"
    drawn = {name: text for name, text in texts.items() if name not in lacking}
    if "title" not in lacking:
        left_out = " and ".join(_NAMES[name] for name in lacking)
        return Card(drawn, f"the post's image for link previews leaves out the {left_out}: {reason}")
    if "siteName" not in drawn:
        return Card({}, f"the post has no image for link previews: {reason}")
    only_name = {"title": drawn["siteName"]}
    return Card(only_name, f"the post's image for link previews shows the name of the site only: {reason}")


def _not_in_any_font(text: str) -> str:
    """Return the characters that would be boxes; nothing where the server has no fonts, and so no generator."""
    if find_spec("uharfbuzz") is None:
        return ""
    from pressroom.graphics.text import TextStyle, default_library, shape  # noqa: PLC0415 - it comes with an extra

    return "".join(shape(text, TextStyle(16), default_library()).missing)


def _shown(characters: str) -> str:
    more = len(characters) - _MAX_SHOWN
    return characters[:_MAX_SHOWN] + (f" and {more} more characters" if more > 0 else "")


def _cut(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"
