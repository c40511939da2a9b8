"""What pages say of themselves in a sentence or two: their descriptions for search engines and link previews."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser

MAX_WIDTH: Final = 145.0
"""How wide a description may be, in small Latin letters: search results show about as much, and cut what is wider."""

ENOUGH: Final = 90.0
"""From this width on nothing more is added to a description."""

MAX_TITLE_WIDTH: Final = 58.0
"""How wide a title with the site's name behind it may be; beyond that it goes without the name."""

_WIDE: Final = 2.2
_CAPITAL: Final = 1.4
_OTHER_SCRIPT: Final = 1.08
"""Letters of other alphabets are wider on average, such as those of Russian and Arabic."""

_LATIN_ENDS: Final = "\u0250"
_MAX_HTML: Final = 60_000
"""The beginning of a body that is looked at."""

_LEFT_OUT: Final = "pre, table, sup, figcaption, iframe, section.footnotes, script, style"
_CLOSING: Final = "\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f"
"""Punctuation after which a text without spaces can be cut: commas, full stops and the like, full-width."""

_LOOSE: Final = " ,;:-\u2013\u2014\u3001\uff0c\uff1a\uff1b"
"""What is left out before an ellipsis, together with the marks that end sentences."""

_STOPS: Final = ".…\u3002\uff0e"


def width(text: str) -> float:
    """Return about how wide a text is, in small Latin letters."""
    return sum(map(_width, text))


def _width(character: str) -> float:
    if character.isupper():
        return _CAPITAL
    if character < _LATIN_ENDS or not character.isalpha():
        return _WIDE if unicodedata.east_asian_width(character) in "WF" else 1.0
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER_SCRIPT


def shortened(text: str, longest: float = MAX_WIDTH) -> str:
    """Return a text on one line, cut between words so that it is at most this wide."""
    line = " ".join(text[: int(longest) * 20].split())
    if width(line) <= longest:
        return line
    room, end = longest - 1.0, 0
    for character in line:
        room -= _width(character)
        if room < 0:
            break
        end += 1
    head = line[:end]
    if not line[end].isspace():
        place = max(head.rfind(" "), *(head.rfind(mark) + 1 for mark in _CLOSING))
        # A word that is longer than half of the line is cut, but not between a letter and its marks.
        if place > end // 2:
            head = head[:place]
        elif unicodedata.combining(line[end]):
            head = head[:-1]
    return f"{head.rstrip(_LOOSE + _STOPS)}…"


def summary(html: str) -> str:
    """Return the beginning of a body as a description: its first paragraphs, or what else there is to read.

    It is empty where the body has no text.
    """
    tree = LexborHTMLParser(html[:_MAX_HTML])
    for node in tree.css(_LEFT_OUT):
        node.decompose()
    found = _joined(" ".join(node.text(deep=True).split()) for node in tree.css("p"))
    if not found and tree.body is not None:
        found = _joined([tree.body.text(deep=True, separator=" ")])
    if not found:
        found = _joined(node.attributes.get("alt") or "" for node in tree.css("img"))
    return found


def description_of(fields: Mapping[str, Any], html: str) -> str:
    """Return the description of a post: what its author wrote for it, the excerpt, or the beginning of the body."""
    return fields.get("meta_description") or shortened(fields.get("excerpt") or "") or summary(html)


def list_description(about: str, posts: Sequence[tuple[str, str]]) -> str:
    """Return the description of a page that lists posts: what it is about, and what is on it.

    `posts` are titles and excerpts. Where the titles say too little, the excerpts say more.
    """
    titles = " · ".join(title for title, _ in posts if title)
    if width(f"{about} {titles}") >= ENOUGH:
        return _joined([about, titles])
    return _joined([about, *(": ".join(part for part in post if part.strip()) for post in posts)])


def list_title(name: str, *parts: str) -> str:
    """Return the title of a list of posts: its name, and the first of these parts that there is room for."""
    titles = [f"{name} · {part.strip()}" for part in parts if part.strip()]
    return next((title for title in titles if width(title) <= MAX_TITLE_WIDTH), name)


def page_title(title: str, site_name: str) -> str:
    """Return the title of a page for search results: with the name of the site where there is room for it."""
    whole = f"{title} · {site_name}"
    return whole if width(whole) <= MAX_TITLE_WIDTH else title


def _joined(parts: Iterable[str]) -> str:
    """Return the first of these texts, and more of them where it is short."""
    found = ""
    for part in parts:
        line = " ".join(part[:5000].split())
        if line:
            found = f"{found} {line}" if found else line
        if width(found) >= ENOUGH:
            break
    return shortened(found)
