"""Making HTML safe to show by rules of what it may hold, and saying what that took away."""

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
"""How much is kept: `full` has figures, tables and iframes of known hosts, `basic` has none of them."""

FRAME_HOSTS: Final = frozenset(
    {
        "bandcamp.com", "codepen.io", "codesandbox.io", "embed.podcasts.apple.com", "embed.ted.com",
        "geo.dailymotion.com", "open.spotify.com", "player.vimeo.com", "stackblitz.com", "w.soundcloud.com",
        "www.dailymotion.com", "www.google.com", "www.loom.com", "www.openstreetmap.org", "www.youtube-nocookie.com",
        "www.youtube.com",
    }
)  # fmt: skip
"""The hosts whose pages may be in an article."""

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
    """What is kept. `attributes` are those of each element, `*` those of all."""

    tags: frozenset[str]
    attributes: Mapping[str, frozenset[str]]


def _rules(tags: frozenset[str]) -> Rules:
    own = {tag: names for tag, names in _ATTRIBUTES.items() if tag in tags}
    return Rules(tags, MappingProxyType({"*": _EVERYWHERE, **own}))


RULES: Final[Mapping[Sanitiser, Rules]] = MappingProxyType({"full": _rules(_FULL_TAGS), "basic": _rules(_BASIC_TAGS)})


def attribute_value(tag: str, attribute: str, value: str) -> str | None:
    """Return the value to keep of an attribute that the rules allow by its name; `None` removes it."""
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
    """Tell whether a page may be in an iframe."""
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
    """Tell whether all candidates are http or https URLs or paths."""
    for candidate in value.split(","):
        url = candidate.split()[:1]
        try:
            if url and urlsplit(url[0]).scheme not in ("", "http", "https"):
                return False
        except ValueError:
            return False
    return True


_WITH_CONTENT: Final = frozenset({"script", "style", "template", "noscript", "object", "svg", "math", "xmp", "title"})
"""Elements that go with everything inside them: none of it is meant to be read."""

_EMPTY_FRAME = re.compile(
    r"<iframe(?>(?:\s(?:allowfullscreen|height|loading|title|width|class|dir|id|lang)=\"[^\"<>]*+\")*)></iframe>"
)
_FRAME_OF_THE_PARSER: Final = frozenset({"html", "head", "body", "tbody"})
_MAX_REMOVED: Final = 50
COMMENTS: Final = "comments"

_Parts = Counter[tuple[str, str]]
"""How often there is an element (with an empty second name), or an attribute of it."""


@dataclass(frozen=True, slots=True)
class SanitisedHtml:
    """HTML that is safe to show, and what of the original is not in it, in words."""

    html: str
    removed: tuple[str, ...] = ()


def render(body: str, body_format: BodyFormat, sanitiser: Sanitiser = "full") -> SanitisedHtml:
    """Return a body as sanitised HTML. It takes about a second for a megabyte: call it in a thread.

    Raises:
        InvalidInput: the body is nested too deep, or too intricate to be parsed in time.
    """
    return sanitise(html_of_markdown(body) if body_format == "markdown" else body, sanitiser)


def sanitise(html: str, sanitiser: Sanitiser = "full") -> SanitisedHtml:
    """Return HTML without anything that could run, load or restyle the page that it is shown on.

    Raises:
        InvalidInput: it is nested too deep, or has too many tags.
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
    """Yield the parts of cleaned HTML without what stands inside of frames.

    A parser reads that as text, so the cleaner leaves tags in it as they are; they would come to life in a page that
    goes without the frame.
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


def _removed(gone: _Parts, sanitiser: Sanitiser) -> Iterator[str]:
    """Yield what is gone in words, the most frequent first."""
    tags = RULES[sanitiser].tags
    shown = 0
    for (tag, attribute), count in gone.most_common():
        if tag in _FRAME_OF_THE_PARSER or (attribute and tag not in tags and tag != "iframe"):
            continue
        if attribute and gone[tag, ""] >= count:
            continue  # it went with its element
        shown += 1
        if shown > _MAX_REMOVED:
            yield "and more"
            return
        times = f" ({count} times)" if count > 1 else ""
        yield (f"the attribute {attribute} of <{tag}>" if attribute else f"<{tag}>") + times


def _counted(html: str) -> _Parts:
    found: _Parts = Counter()
    root = LexborHTMLParser(html).root
    if root is None:
        return found
    check_depth(root)
    for node in root.traverse(include_text=False):
        tag = _shortened(node.tag or "")
        if tag.startswith("-"):
            continue  # comments and the like
        found[tag, ""] += 1
        for attribute in node.attributes:
            found[tag, _shortened(attribute)] += 1
    return found


def _shortened(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
