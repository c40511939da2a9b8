"""Sanitising HTML by an allowlist, and reporting what was removed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import urlsplit

import nh3
from selectolax.lexbor import LexborHTMLParser

from pressroom_content.records import BodyFormat
from pressroom_content.rendering.markdown import check_depth, check_html, html_of_markdown

Sanitiser = Literal["full", "basic"]
"""The level of sanitising: `full` keeps figures, tables and iframes of known hosts, `basic` removes them."""

FRAME_HOSTS: Final = frozenset(
    {
        "bandcamp.com", "codepen.io", "codesandbox.io", "embed.podcasts.apple.com", "embed.ted.com",
        "geo.dailymotion.com", "open.spotify.com", "player.vimeo.com", "stackblitz.com", "w.soundcloud.com",
        "www.dailymotion.com", "www.google.com", "www.loom.com", "www.openstreetmap.org", "www.youtube-nocookie.com",
        "www.youtube.com",
    }
)  # fmt: skip
"""The hosts whose pages can be embedded in an article."""

SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})

_BASIC_TAGS: Final = frozenset(
    {
        "a", "abbr", "b", "blockquote", "br", "cite", "code", "dd", "del", "div", "dl", "dt", "em", "h1", "h2", "h3",
        "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "section",
        "small", "span", "strong", "sub", "sup", "time", "u", "ul", "var",
    }
)  # fmt: skip
_FULL_TAGS: Final = _BASIC_TAGS | {
    "caption", "col", "colgroup", "details", "figcaption", "figure", "iframe", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr",
}  # fmt: skip

_EVERYWHERE: Final = frozenset({"class", "dir", "id", "lang", "title"})
_ATTRIBUTES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "a": frozenset({"href", "hreflang", "rel", "target"}),
        "blockquote": frozenset({"cite"}),
        "col": frozenset({"span"}),
        "colgroup": frozenset({"span"}),
        "del": frozenset({"cite", "datetime"}),
        "details": frozenset({"open"}),
        "iframe": frozenset({"allowfullscreen", "height", "loading", "src", "width"}),
        "img": frozenset({"alt", "decoding", "height", "loading", "sizes", "src", "srcset", "width"}),
        "ins": frozenset({"cite", "datetime"}),
        "li": frozenset({"value"}),
        "ol": frozenset({"reversed", "start", "type"}),
        "q": frozenset({"cite"}),
        "td": frozenset({"align", "colspan", "headers", "rowspan"}),
        "th": frozenset({"align", "colspan", "headers", "rowspan", "scope"}),
        "time": frozenset({"datetime"}),
    }
)

_CLASS = re.compile(r"(?:language-|footnote|align|wp-block|wp-image-|kg-)[\w+#-]*", re.ASCII)
_ID = re.compile(r"[^\W_][\w:.-]{0,99}")
_RELATIONS: Final = frozenset({"license", "me", "nofollow", "noopener", "noreferrer", "sponsored", "ugc"})
_LENGTH = re.compile(r"\d{1,5}(?:px|%)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rules:
    """The allowlist. `attributes` maps each element to its attributes, `*` to those of all elements."""

    tags: frozenset[str]
    attributes: Mapping[str, frozenset[str]]


def _rules(tags: frozenset[str]) -> Rules:
    attributes = {tag: names for tag, names in _ATTRIBUTES.items() if tag in tags}
    return Rules(tags, MappingProxyType({"*": _EVERYWHERE, **attributes}))


RULES: Final[Mapping[Sanitiser, Rules]] = MappingProxyType({"full": _rules(_FULL_TAGS), "basic": _rules(_BASIC_TAGS)})


def attribute_value(tag: str, attribute: str, value: str) -> str | None:
    """Return the value to keep of an attribute whose name is allowed; `None` removes it."""
    match attribute:
        case "class":
            return " ".join(name for name in value.split() if _CLASS.fullmatch(name)) or None
        case "id":
            return value if _ID.fullmatch(value) else None
        case "rel":
            return " ".join(name for name in value.lower().split() if name in _RELATIONS) or None
        case "target":
            return value if value == "_blank" else None
        case "srcset":
            return value if _is_srcset(value) else None
        case "width" | "height":
            return value if _LENGTH.fullmatch(value) else None
        case "src" if tag == "iframe":
            return value if is_known_frame(value) else None
        case _:
            return value


def is_known_frame(url: str) -> bool:
    """Check whether a page can be embedded in an iframe."""
    try:
        parts = urlsplit(url.strip())
        if parts.port not in (None, 443) or parts.username is not None:
            return False
    except ValueError:
        return False
    if parts.hostname == "www.google.com":
        return parts.scheme in ("https", "") and parts.path.startswith("/maps/")
    return parts.scheme in ("https", "") and parts.hostname in FRAME_HOSTS


def _is_srcset(value: str) -> bool:
    """Check whether all candidates are http or https URLs or paths."""
    for candidate in value.split(","):
        url = candidate.split()[:1]
        try:
            if url and urlsplit(url[0]).scheme not in ("", "http", "https"):
                return False
        except ValueError:
            return False
    return True


_WITH_CONTENT: Final = frozenset({"script", "style", "template", "noscript", "object", "svg", "math", "xmp", "title"})
"""Elements that are removed together with their content, which is not meant to be read."""

_EMPTY_FRAME = re.compile(
    r"<iframe(?>(?:\s(?:allowfullscreen|height|loading|title|width|class|dir|id|lang)=\"[^\"<>]*+\")*)></iframe>"
)
_PARSER_ELEMENTS: Final = frozenset({"html", "head", "body", "tbody"})
_MAX_REMOVED: Final = 50
COMMENTS: Final = "comments"

_Parts = Counter[tuple[str, str]]
"""The number of occurrences of each element (with an empty second name) and of each of its attributes."""


@dataclass(frozen=True, slots=True)
class SanitisedHtml:
    """HTML that is safe to show, and descriptions of the removed parts."""

    html: str
    removed: tuple[str, ...] = ()


def render(body: str, body_format: BodyFormat, sanitiser: Sanitiser = "full") -> SanitisedHtml:
    """Return a body as sanitised HTML. It takes about a second per megabyte: call it in a thread.

    Raises:
        InvalidInput: the body is nested too deeply, or too complex to be parsed in time.
    """
    return sanitise(html_of_markdown(body) if body_format == "markdown" else body, sanitiser)


def sanitise(html: str, sanitiser: Sanitiser = "full") -> SanitisedHtml:
    """Remove scripts, styles, unknown frames and everything else that could take over the page that shows the HTML.

    Raises:
        InvalidInput: it is nested too deeply, or has too many tags.
    """
    check_html(html)
    before = _counted(html)
    cleaned = _cleaner(sanitiser).clean(html)
    emptied = "".join(_emptied(cleaned))
    removed = [*_removed(before - _counted(emptied), sanitiser)]
    if "".join(emptied.split()) != "".join(cleaned.split()):
        removed.append("what stood inside <iframe>")
    if "<!--" in html:
        removed.append(COMMENTS)
    return SanitisedHtml(_EMPTY_FRAME.sub("", emptied), tuple(removed))


def _emptied(cleaned: str) -> Iterator[str]:
    """Yield the parts of cleaned HTML without the content of frames.

    Parsers treat that content as text, so the cleaner leaves tags in it unchanged. They would become active if the
    frame was removed.
    """
    at = 0
    while (start := cleaned.find("<iframe", at)) >= 0:
        opened = cleaned.find(">", start) + 1  # the cleaner escapes it in attributes
        closed = cleaned.find("</iframe>", opened)
        yield cleaned[at : opened or None]
        if not opened or closed < 0:
            return
        at = closed
    yield cleaned[at:]


@cache
def _cleaner(sanitiser: Sanitiser) -> nh3.Cleaner:
    rules = RULES[sanitiser]
    return nh3.Cleaner(
        tags=set(rules.tags),
        attributes={tag: set(names) for tag, names in rules.attributes.items()},
        clean_content_tags=set(_WITH_CONTENT),
        attribute_filter=attribute_value,
        url_schemes=set(SCHEMES),
        link_rel=None,
        strip_comments=True,
    )


def _removed(removed: _Parts, sanitiser: Sanitiser) -> Iterator[str]:
    """Yield descriptions of the removed parts, most frequent first."""
    tags = RULES[sanitiser].tags
    listed = 0
    for (tag, attribute), count in removed.most_common():
        if tag in _PARSER_ELEMENTS or (attribute and tag not in tags and tag != "iframe"):
            continue
        if attribute and removed[tag, ""] >= count:
            continue  # it was removed with its element
        listed += 1
        if listed > _MAX_REMOVED:
            yield "and more"
            return
        times = f" ({count} times)" if count > 1 else ""
        yield (f"the attribute {attribute} of <{tag}>" if attribute else f"<{tag}>") + times


def _counted(html: str) -> _Parts:
    counts: _Parts = Counter()
    root = LexborHTMLParser(html).root
    if root is None:
        return counts
    check_depth(root)
    for node in root.traverse(include_text=False):
        tag = _shortened(node.tag or "")
        if tag.startswith("-"):
            continue  # comments and the like
        counts[tag, ""] += 1
        for attribute in node.attributes:
            counts[tag, _shortened(attribute)] += 1
    return counts


def _shortened(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
