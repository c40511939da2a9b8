"""What a built-in site says of itself to programs: feed, site map, structured data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Final
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from markupsafe import Markup

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
