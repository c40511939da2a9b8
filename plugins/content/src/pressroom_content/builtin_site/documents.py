"""Documents of the built-in site for programs: site maps, robots.txt, structured data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from xml.sax.saxutils import escape

from markupsafe import Markup

MAX_SITEMAP_URLS: Final = 50_000
"""The bound of the sitemaps protocol."""

MAX_ROBOTS_BYTES: Final = 500_000
"""How much of a robots.txt crawlers have to read (RFC 9309, section 2.5: 500 KiB)."""


def sitemap(pages: Sequence[tuple[str, datetime]]) -> bytes:
    """Return a site map (sitemaps.org) of pairs of URL and time of the last change."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">']
    for url, changed in pages[:MAX_SITEMAP_URLS]:
        lines.append(f"<url><loc>{escape(url)}</loc><lastmod>{changed.isoformat(timespec='seconds')}</lastmod></url>")
    return "\n".join([*lines, "</urlset>", ""]).encode("utf-8", "replace")


def robots_txt(sitemaps: Sequence[str]) -> bytes:
    """Return a robots.txt (RFC 9309) that allows everything and names sitemaps, as many as crawlers read."""
    lines, room = ["User-agent: *", "Allow: /", ""], MAX_ROBOTS_BYTES - 100
    for url in sitemaps:
        line = f"Sitemap: {url}"
        room -= len(line.encode()) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join([*lines, ""]).encode()


def json_script(value: Any) -> Markup:
    """Return JSON that may stand inside a script element: it can neither end it nor open a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - holds no character that HTML would act on
