"""Which HTML of a site can be said in an article: elements and attributes that sanitising keeps, and nothing more."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pressroom_wordpress.markup import HtmlElement, is_known_frame

INLINE: Final = frozenset(
    {
        "a", "abbr", "b", "br", "cite", "code", "del", "em", "i", "img", "ins", "kbd", "mark", "q", "s", "samp",
        "small", "span", "strong", "sub", "sup", "time", "u", "var",
    }
)  # fmt: skip
_BLOCKS: Final = frozenset(
    {
        "blockquote", "caption", "col", "colgroup", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "h1",
        "h2", "h3", "h4", "h5", "h6", "hr", "iframe", "li", "ol", "p", "pre", "section", "summary", "table", "tbody",
        "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
_EVERYWHERE: Final = frozenset({"class", "dir", "id", "lang", "title"})
_ATTRIBUTES: Final[Mapping[str, frozenset[str]]] = {
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
_IGNORED: Final[Mapping[str, frozenset[str]]] = {
    "a": frozenset({"data-type", "data-id"}),
    "td": frozenset({"data-align"}),
    "th": frozenset({"data-align"}),
}
"""What editors note for themselves: readers see nothing of it."""

_KEPT_CLASS = re.compile(r"(?:language-|footnote|align|wp-image-)[\w+#-]*", re.ASCII)
_OWN_CLASS = re.compile(
    r"wp-block-[\w-]+|wp-element-[\w-]+|size-[\w-]+|is-resized|has-fixed-layout|has-alpha-channel-opacity"
)
"""Classes that WordPress writes itself, and again when the block is made anew."""

_ALIGNED_TEXT = re.compile(r"has-text-align-(left|center|right)")
_ID = re.compile(r"[^\W_][\w:.-]{0,99}")
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):")
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})
_NUMBER = re.compile(r"\d{1,5}(?:px|%)?", re.ASCII)


def said(nodes: Sequence[HtmlElement | str]) -> list[HtmlElement | str] | None:
    """Return trees without what only WordPress has a use for; `None` where readers would miss something.

    Readers would miss an element, an attribute or a class that sanitising takes away, such as a colour.
    """
    made: list[HtmlElement | str] = []
    for node in nodes:
        if isinstance(node, str):
            made.append(node)
            continue
        attributes = _attributes(node)
        children = said(node.children)
        if attributes is None or children is None or (node.name == "iframe" and (node.children or not attributes)):
            return None
        made.append(HtmlElement(node.name, attributes, children))
    return made


def _attributes(element: HtmlElement) -> Mapping[str, str] | None:
    name = element.name
    if name not in INLINE and name not in _BLOCKS:
        return None
    allowed = _ATTRIBUTES.get(name, frozenset())
    kept: dict[str, str] = {}
    for key, value in element.attributes.items():
        if key in _IGNORED.get(name, ()):
            continue
        if key == "class":
            if not _classes(name, value, kept):
                return None
        elif (key in allowed or key in _EVERYWHERE) and _is_kept(name, key, value):
            kept[key] = value
        else:
            return None
    return kept


def _classes(name: str, value: str, kept: dict[str, str]) -> bool:
    """Add what classes say to `kept`; tell whether all of them are known."""
    names: list[str] = []
    for one in value.split():
        aligned = _ALIGNED_TEXT.fullmatch(one)
        if aligned and name in ("td", "th"):
            kept["align"] = aligned[1]
        elif _KEPT_CLASS.fullmatch(one):
            names.append(one)
        elif not _OWN_CLASS.fullmatch(one):
            return False
    if names:
        kept["class"] = " ".join(names)
    return True


def _is_kept(name: str, key: str, value: str) -> bool:
    match key:
        case "id":
            return bool(_ID.fullmatch(value))
        case "width" | "height":
            return bool(_NUMBER.fullmatch(value))
        case "target":
            return value == "_blank"
        case "src" if name == "iframe":
            return is_known_frame(value)
        case "href" | "src" | "cite":
            scheme = _SCHEME.match(value)
            return not scheme or scheme[1].lower() in _SCHEMES
        case _:
            return True
