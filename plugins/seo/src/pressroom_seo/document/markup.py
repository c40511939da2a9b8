"""Sanitising of untrusted HTML before parsing, and helpers for element attributes.

Three kinds of input make an HTML parser slow or memory-hungry: endlessly nested elements, endless attributes (both cost
quadratic time), and unclosed formatting elements, which the parser reopens in every block. So tags and nesting levels
are limited, a tag with too many attributes becomes text, and formatting elements become `span`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Final

MAX_BODY: Final = 2_000_000
"""Maximum number of characters of a body to parse; longer than a novel."""

MAX_DEPTH: Final = 250
"""Maximum nesting depth of elements; parsing time grows quadratically with it."""

MAX_PAGE_LENGTH: Final = 2_000_000
"""Maximum number of characters of a page to parse; search engines read no more."""

MAX_TAGS: Final = 20_000
"""Maximum number of opening and closing tags of a page to parse."""

MAX_ATTRIBUTES: Final = 300
"""Maximum number of attributes of a tag."""

_SUSPICIOUS: Final = 2 * MAX_DEPTH
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,40})(?=[\s/>])[^<>]{0,4000}>?")
_ANY_TAG = re.compile(r"</?[A-Za-z]")
_ONE = r"""[\s/]*+[^\s/>][^\s/>=]*+(?>(?:\s*+=\s*+(?>(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?))?)"""
_ATTRIBUTE = re.compile(_ONE)
_ATTRIBUTES = re.compile(rf"[^\s/>]*+(?>(?:{_ONE}){{0,{MAX_ATTRIBUTES}}})")
_FORMATTING = re.compile(r"(</?)(?:big|b|code|em|font|i|nobr|small|strike|strong|s|tt|u)(?=[\s/>]|\Z)", re.IGNORECASE)
_NEVER_DEEP: Final = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "p",
        "li",
        "option",
        "tr",
        "td",
        "th",
        "thead",
        "tbody",
        "tfoot",
        "colgroup",
        "caption",
    ]
)
"""Void elements, and elements that the next sibling closes implicitly (HTML Standard, 13.1.2.4)."""

_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SIZED: Final = re.compile(r"(?:^|[\s;])(?:aspect-ratio|height)\s*:(?!\s*auto)", re.IGNORECASE)
_POINT: Final = re.compile(r"\s*0*[01](?:px)?\s*")
_INVISIBLE: Final = str.maketrans(dict.fromkeys(["\x00", "\u00ad", "\u200b", "\u2060", "\ufeff"]))


def clean_text(text: str) -> str:
    """Normalise text to NFC without lone surrogates, NUL or invisible break characters."""
    if text.isascii():
        return text.replace("\x00", "")
    valid = text.encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFC", valid.translate(_INVISIBLE))


def safe_html(html: str) -> str:
    """Limit HTML to `MAX_BODY` characters and `MAX_DEPTH` levels, so it parses in linear time.

    Tags that would open a deeper level are dropped; their content stays.
    """
    html = html[:MAX_BODY]
    return _flattened(html) if html.count("<") > _SUSPICIOUS else html


def bounded_html(text: str) -> tuple[str, bool]:
    """Return the part of a page to parse, sanitised, and whether the page was cut."""
    end = min(len(text), MAX_PAGE_LENGTH)
    budget = 8 * end + 100_000
    parts: list[str] = []
    after = 0
    for count, tag in enumerate(_ANY_TAG.finditer(text, 0, end)):
        attributes = _ATTRIBUTES.match(text, tag.end(), end)
        ends = attributes.end() if attributes else tag.end()
        budget -= ends - tag.start()
        if count == MAX_TAGS or budget < 0:
            end = tag.start()
            break
        if _ATTRIBUTE.match(text, ends, end):
            parts += (text[after : tag.start()], "&lt;")
            after = tag.start() + 1
    parts.append(text[after:end])
    return _FORMATTING.sub(r"\1span", "".join(parts)), end < len(text)


def _flattened(html: str) -> str:
    opened: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    depth = 0

    def judge(match: re.Match[str]) -> str:
        nonlocal depth
        name = match[2].lower()
        if name in _NEVER_DEEP:
            return match[0]
        if match[1]:
            if left_out[name]:
                left_out[name] -= 1
                return ""
            if opened[name]:
                opened[name] -= 1
                depth -= 1
            return match[0]
        if depth >= MAX_DEPTH:
            left_out[name] += 1
            return ""
        opened[name] += 1
        depth += 1
        return match[0]

    return _TAG.sub(judge, html)


Attributes = Mapping[str, str | None]


def media_source(attributes: Attributes) -> str:
    """Return the source of an image or frame, including lazy-loaded ones (`data-src`); empty without one.

    An inline image next to `data-src` is only a placeholder.
    """
    source, lazy = attributes.get("src") or "", attributes.get("data-src") or ""
    return lazy if lazy and (not source or source.startswith("data:")) else source


def alternative_text(attributes: Attributes) -> str | None:
    """Return the alternative text of an image; `None` without an `alt` attribute."""
    return attributes["alt"] or "" if "alt" in attributes else None


def is_hidden(attributes: Attributes) -> bool:
    """Return whether an element's own attributes hide it."""
    return "hidden" in attributes or bool(_HIDDEN.search(attributes.get("style") or ""))


def is_point(attributes: Attributes) -> bool:
    """Return whether an image is at most one pixel in size, such as a tracking pixel."""
    return all(_POINT.fullmatch(attributes.get(name) or "") for name in ("width", "height"))


def is_decorative(attributes: Attributes) -> bool:
    """Return whether an image is marked as decorative for assistive technology, hidden or a tracking pixel."""
    if attributes.get("role") in {"presentation", "none"} or attributes.get("aria-hidden") == "true":
        return True
    return is_hidden(attributes) or is_point(attributes)


def is_sized(attributes: Attributes) -> bool:
    """Return whether a browser can reserve an image's space before it loads; also true for hidden images."""
    if attributes.get("width") and attributes.get("height"):
        return True
    return is_hidden(attributes) or bool(_SIZED.search(attributes.get("style") or ""))


def relations(attributes: Attributes) -> frozenset[str]:
    """Return the link types of a link (HTML Standard, 4.6.7), such as `nofollow` and `canonical`."""
    return frozenset((attributes.get("rel") or "").lower().split())
