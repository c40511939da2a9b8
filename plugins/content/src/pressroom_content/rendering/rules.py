"""What HTML may hold: elements, attributes and URLs, where much of it is kept and where little is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import urlsplit

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
