"""Metadata and interface texts of built-in sites: descriptions, titles, wording, robots.txt and linked data."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final
from zoneinfo import ZoneInfo

from icu4py.messageformat import MessageFormat
from markupsafe import Markup, escape
from selectolax.lexbor import LexborHTMLParser

from pressroom_content.language import primary_subtag

MAX_WIDTH: Final = 145.0
"""The maximum width of a description, in small Latin letters: search results truncate what is wider."""

ENOUGH: Final = 90.0
"""The width from which on a description is not extended."""

MAX_TITLE_WIDTH: Final = 58.0
"""The maximum width of a title with the site's name appended. Otherwise the name is omitted."""

_WIDE: Final = 2.2
_CAPITAL: Final = 1.4
_OTHER_SCRIPT: Final = 1.08
"""Letters of other alphabets, such as Cyrillic and Arabic, are wider on average."""

_LATIN_ENDS: Final = "\u0250"
_MAX_HTML: Final = 60_000
"""The number of characters of a body that are read."""

_LEFT_OUT: Final = "pre, table, sup, figcaption, iframe, section.footnotes, script, style"
_CLOSING: Final = "\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f"
"""Full-width punctuation after which a text without spaces can be cut."""

_LOOSE: Final = " ,;:-\u2013\u2014\u3001\uff0c\uff1a\uff1b"
"""Characters that are removed before an ellipsis, together with those that end sentences."""

_STOPS: Final = ".…\u3002\uff0e"

_CODE: Final = "code, kbd, samp"
_ISOLATED, _END_ISOLATED = "\ufdd0", "\ufdd1"
"""Delimiters around code while a text is shortened: noncharacters of no width, which texts should not contain."""

_ISOLATES: Final = re.compile(f"([{_ISOLATED}{_END_ISOLATED}])")


def width(text: str) -> float:
    """Return the approximate width of a text, in small Latin letters."""
    return sum(map(_width, text))


def _width(character: str) -> float:
    if character in (_ISOLATED, _END_ISOLATED):
        return 0.0
    if character.isupper():
        return _CAPITAL
    if character < _LATIN_ENDS or not character.isalpha():
        return _WIDE if unicodedata.east_asian_width(character) in "WF" else 1.0
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER_SCRIPT


def shortened(text: str, max_width: float = MAX_WIDTH) -> str:
    """Return a text on one line, cut between words to at most this width."""
    line = " ".join(text[: int(max_width) * 20].split())
    if width(line) <= max_width:
        return line
    remaining, end = max_width - 1.0, 0
    for character in line:
        remaining -= _width(character)
        if remaining < 0:
            break
        end += 1
    head = line[:end]
    if not line[end].isspace():
        position = max(head.rfind(" "), *(head.rfind(mark) + 1 for mark in _CLOSING))
        # A word longer than half of the line is cut, but not between a letter and its combining marks.
        if position > end // 2:
            head = head[:position]
        elif unicodedata.combining(line[end]):
            head = head[:-1]
    return f"{head.rstrip(_LOOSE + _STOPS)}…"


def summary(html: str) -> str:
    """Return the beginning of a body as a description: its first paragraphs, or any other text.

    It is empty if the body has no text.
    """
    return _summary(_readable(html))


def excerpt_of(html: str, max_width: float) -> tuple[str, Markup]:
    """Return the beginning of a body for a list of posts, as text and as HTML.

    In the HTML, code is isolated: in right-to-left text, `print()` would be shown as `()print`.
    """
    text = shortened(summary(html), max_width)
    if "<code" not in html and "<kbd" not in html and "<samp" not in html:
        return text, escape(text)
    tree = _readable(html)
    for node in tree.css(_CODE):
        node.insert_before(_ISOLATED)
        node.insert_after(_END_ISOLATED)
    return text, _isolating(shortened(_summary(tree), max_width))


def _isolating(marked: str) -> Markup:
    """Return marked text as HTML, with code in `bdi` elements. An element that was cut off is closed."""
    text, ellipsis = (marked[:-1], "…") if marked.endswith("…") else (marked, "")
    parts, depth = [], 0
    for part in _ISOLATES.split(text):
        if part == _ISOLATED:
            parts.append(Markup('<bdi dir="ltr">'))
            depth += 1
        elif part != _END_ISOLATED:
            parts.append(escape(part))
        elif depth:
            parts.append(Markup("</bdi>"))
            depth -= 1
    return Markup("").join([*parts, Markup("</bdi>") * depth, ellipsis])


def _readable(html: str) -> LexborHTMLParser:
    """Return the beginning of a body, without elements that are not part of the running text."""
    tree = LexborHTMLParser(html[:_MAX_HTML])
    for node in tree.css(_LEFT_OUT):
        node.decompose()
    return tree


def _summary(tree: LexborHTMLParser) -> str:
    text = _joined(" ".join(node.text(deep=True).split()) for node in tree.css("p"))
    if not text and tree.body is not None:
        text = _joined([tree.body.text(deep=True, separator=" ")])
    if not text:
        text = _joined(node.attributes.get("alt") or "" for node in tree.css("img"))
    return text


def description_of(fields: Mapping[str, Any], html: str) -> str:
    """Return the description of a post: its meta description, its excerpt, or the beginning of the body."""
    return fields.get("meta_description") or shortened(fields.get("excerpt") or "") or summary(html)


def list_description(about: str, posts: Sequence[tuple[str, str]]) -> str:
    """Return the description of a page that lists posts, from its subject and its contents.

    `posts` are titles and excerpts. The excerpts are used only if the titles are too short.
    """
    titles = " · ".join(title for title, _ in posts if title)
    if width(f"{about} {titles}") >= ENOUGH:
        return _joined([about, titles])
    return _joined([about, *(": ".join(part for part in post if part.strip()) for post in posts)])


def list_title(name: str, *parts: str) -> str:
    """Return the title of a list of posts: its name, and the first of these parts that fits."""
    titles = [f"{name} · {part.strip()}" for part in parts if part.strip()]
    return next((title for title in titles if width(title) <= MAX_TITLE_WIDTH), name)


def page_title(title: str, site_name: str) -> str:
    """Return the title of a page for search results, with the name of the site if it fits."""
    full_title = f"{title} · {site_name}"
    return full_title if width(full_title) <= MAX_TITLE_WIDTH else title


def _joined(parts: Iterable[str]) -> str:
    """Return the first of these texts, extended by the next ones until it is long enough."""
    joined = ""
    for part in parts:
        line = " ".join(part[:5000].split())
        if line:
            joined = f"{joined} {line}" if joined else line
        if width(joined) >= ENOUGH:
            break
    return shortened(joined)


FALLBACK: Final = "en"
_NAMES: Final[Mapping[str, str]] = {
    "ar": "Arabic",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "zh": "Chinese",
}
_RTL: Final = frozenset({"ar", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


class Wording:
    """The interface texts of one language.

    `language` is the language of the texts: English for tags that have none. Dates are formatted for the tag itself
    even then.
    """

    def __init__(self, tag: str) -> None:
        self.tag = tag or FALLBACK
        primary = primary_subtag(self.tag)
        self.language = primary if primary in _tables() else FALLBACK
        self.is_rtl = is_rtl(self.language)
        self._words = _tables()[self.language]

    def __getitem__(self, name: str) -> str:
        """Return a text without variables."""
        return self._words[name]

    def say(self, name: str, /, **values: str | int) -> str:
        """Return a text with its variables filled in."""
        return str(_message(self._words[name], self.language).format({**values}))

    def date(self, at: datetime, zone: ZoneInfo) -> str:
        """Return a localised day, such as 3 March 2026."""
        return self._formatted("{at, date, long}", at, zone)

    def month(self, at: datetime, zone: ZoneInfo) -> str:
        """Return a localised month, such as March 2026."""
        return self._formatted("{at, date, ::yMMMM}", at, zone)

    def _formatted(self, pattern: str, at: datetime, zone: ZoneInfo) -> str:
        # MessageFormat has no time zone: it gets the site's local time as if it were UTC.
        wall = at.astimezone(zone).replace(hour=12, tzinfo=ZoneInfo("UTC"))
        return str(_message(pattern, self.tag).format({"at": wall}))


@lru_cache(maxsize=256)
def wording(tag: str) -> Wording:
    """Return the wording for a language tag (BCP 47)."""
    return Wording(tag)


def languages() -> frozenset[str]:
    """Return the languages with a translation."""
    return frozenset(_tables())


def spoken_languages() -> dict[str, str]:
    """Return the English names of the languages with a translation, by tag."""
    return {tag: _NAMES.get(tag, tag) for tag in _tables()}


def is_rtl(tag: str) -> bool:
    """Check whether a language is written from right to left."""
    return primary_subtag(tag) in _RTL


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[str, str]]:
    """Return the texts of all languages. Raises `ValueError` if any of them differs in its keys."""
    text = files(__package__).joinpath("wording.toml").read_text("utf-8")
    tables: dict[str, dict[str, str]] = tomllib.loads(text)
    for language, words in tables.items():
        if differing := words.keys() ^ tables[FALLBACK].keys():
            raise ValueError(f"wording.toml: {language} and {FALLBACK} differ in {', '.join(sorted(differing))}")
    return tables


@lru_cache(maxsize=2048)
def _message(pattern: str, language: str) -> MessageFormat:
    return MessageFormat(pattern, language.replace("-", "_"))


MAX_ROBOTS_BYTES: Final = 500_000
"""The part of a robots.txt that crawlers must be able to parse (RFC 9309, section 2.5: 500 KiB), rounded down."""


def robots_txt(sitemaps: Sequence[str]) -> bytes:
    """Return a robots.txt (RFC 9309) that allows everything and lists sitemaps up to the size limit."""
    lines, remaining = ["User-agent: *", "Allow: /", ""], MAX_ROBOTS_BYTES - 100
    for url in sitemaps:
        line = f"Sitemap: {url}"
        remaining -= len(line.encode()) + 1
        if remaining < 0:
            break
        lines.append(line)
    return "\n".join([*lines, ""]).encode()


def json_script(value: Any) -> Markup:
    """Return JSON that is safe inside a script element: it can neither close it nor open a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - holds no character that HTML would act on
