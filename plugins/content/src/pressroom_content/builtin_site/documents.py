"""Documents of the built-in site for programs: robots.txt, structured data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from markupsafe import Markup

MAX_ROBOTS_BYTES: Final = 500_000
"""How much of a robots.txt crawlers have to read (RFC 9309, section 2.5: 500 KiB)."""


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
