"""A linear-time HTML parser, and a filter for the HTML that articles can express.

Malformed HTML is reported, not repaired. Players of other sites are represented by the page URL that WordPress embeds,
and by the frame that readers see. An article can express only the elements and attributes that sanitising keeps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

VOID: Final = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
MAX_DEPTH: Final = 80
"""The maximum number of open elements. Anything deeper counts as malformed."""

_SPACE = re.compile(r"\s*+")
# An unmatched quotation mark ends at the next tag, so that matching stays linear.
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*+)((?>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*))>")
_ATTRIBUTE = re.compile(r"([^\s=/<>\"']++)(?>(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++)))?)")

TokenKind = Literal["text", "open", "close", "comment"]

_YOUTUBE = re.compile(
    r"https?://(?:(?:www\.|m\.)?youtube\.com/watch\?v=|youtu\.be/|(?:www\.)?youtube\.com/(?:embed|shorts)/)([\w-]{6,20})",
    re.ASCII,
)
_VIMEO = re.compile(r"https?://(?:(?:www\.)?vimeo\.com/|player\.vimeo\.com/video/)(\d{4,12})", re.ASCII)
_FRAME_HOSTS: Final = frozenset(
    {
        "bandcamp.com", "codepen.io", "codesandbox.io", "embed.podcasts.apple.com", "embed.ted.com",
        "geo.dailymotion.com", "open.spotify.com", "player.vimeo.com", "stackblitz.com", "w.soundcloud.com",
        "www.dailymotion.com", "www.google.com", "www.loom.com", "www.openstreetmap.org", "www.youtube-nocookie.com",
        "www.youtube.com",
    }
)  # fmt: skip
"""The hosts that sanitising allows as well; `test_bodies.py` compares the two."""


class HtmlToken(NamedTuple):
    """A token of HTML from `start` to `end`. `name` is its element in lower case, `inside` holds its attributes."""

    kind: TokenKind
    start: int
    end: int
    name: str = ""
    inside: str = ""

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes, with character references in their values decoded."""
        attributes: dict[str, str] = {}
        for match in _ATTRIBUTE.finditer(self.inside):
            value = next((group for group in match.groups()[1:] if group is not None), "")
            attributes.setdefault(match[1].lower(), unescape(value))
        return attributes


def after_space(text: str, at: int) -> int:
    """Return the end of the white space that begins at a position."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def tokens(html: str) -> Iterator[HtmlToken]:
    """Yield the tokens of HTML, which cover all of it. A `<` that does not begin a token is text."""
    at = written = 0
    comments = True
    while (at := html.find("<", at)) >= 0:
        if comments and html.startswith("<!--", at):
            end = html.find("-->", at + 4)
            comments = end >= 0
            token = HtmlToken("comment", at, end + 3) if comments else None
        else:
            match = _TAG.match(html, at)
            token = (
                HtmlToken("close" if match[1] else "open", at, match.end(), match[2].lower(), match[3])
                if match
                else None
            )
        if token is None:
            at += 1
            continue
        if written < at:
            yield HtmlToken("text", written, at)
        yield token
        at = written = token.end
    if written < len(html):
        yield HtmlToken("text", written, len(html))


@dataclass(slots=True)
class HtmlElement:
    """An element of HTML. Strings among its children are HTML text with character references."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[HtmlElement | str] = field(default_factory=list)

    def elements(self) -> Sequence[HtmlElement]:
        """Return the children that are elements."""
        return [child for child in self.children if isinstance(child, HtmlElement)]

    def only(self, *names: str) -> bool:
        """Check whether all children are elements with these names, ignoring white space."""
        return all(
            child.name in names if isinstance(child, HtmlElement) else not child.strip() for child in self.children
        )


def parse(html: str) -> Sequence[HtmlElement | str] | None:
    """Parse HTML to trees; return `None` if it is malformed: an unclosed element, or a `<` that does not begin a tag.

    Comments are removed.
    """
    root = HtmlElement("")
    stack = [root]
    for token in tokens(html):
        if token.kind == "text":
            text = html[token.start : token.end]
            if "<" in text:
                return None
            stack[-1].children.append(text)
        elif token.kind == "open":
            element = HtmlElement(token.name, token.attributes)
            stack[-1].children.append(element)
            if token.name not in VOID:
                if len(stack) > MAX_DEPTH:
                    return None
                stack.append(element)
        elif token.kind == "close":
            if len(stack) == 1 or stack[-1].name != token.name:
                return None
            stack.pop()
    return root.children if len(stack) == 1 else None


def attribute(name: str, value: str) -> str:
    """Return an attribute as HTML, preceded by a space. Empty boolean attributes are written as a name only.

    Brackets become character references: WordPress runs shortcodes in attributes too.
    """
    if not value and name in ("allowfullscreen", "open", "reversed"):
        return f" {name}"
    escaped = value.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return f' {name}="{escaped.replace("[", "&#91;")}"'


def tag(name: str, attributes: Mapping[str, str]) -> str:
    """Return the opening tag of an element."""
    return f"<{name}{''.join(attribute(key, value) for key, value in attributes.items())}>"


def serialised(nodes: Sequence[HtmlElement | str]) -> str:
    """Serialise trees to HTML."""
    parts: list[str] = []
    _write(nodes, parts)
    return "".join(parts)


def _write(nodes: Sequence[HtmlElement | str], parts: list[str]) -> None:
    for node in nodes:
        if isinstance(node, str):
            parts.append(node)
            continue
        parts.append(tag(node.name, node.attributes))
        if node.name not in VOID:
            _write(node.children, parts)
            parts.append(f"</{node.name}>")


@dataclass(frozen=True, slots=True)
class Player:
    """A video. `url` is its page, `frame` the URL of its player."""

    provider: str
    url: str
    frame: str

    @property
    def html(self) -> str:
        """The player as HTML."""
        title = {"youtube": "YouTube", "vimeo": "Vimeo"}[self.provider]
        return f'<iframe src="{escape(self.frame)}" width="560" height="315" title="{title}" allowfullscreen></iframe>'


def player_of(url: str) -> Player | None:
    """Return the video of a page or player URL; `None` for any other URL.

    URLs with further parameters, such as a start time, do not match: the parameters would be lost.
    """
    if match := _YOUTUBE.fullmatch(url.strip()):
        identifier = match[1]
        return Player(
            "youtube",
            f"https://www.youtube.com/watch?v={identifier}",
            f"https://www.youtube.com/embed/{identifier}",
        )
    if match := _VIMEO.fullmatch(url.strip()):
        return Player("vimeo", f"https://vimeo.com/{match[1]}", f"https://player.vimeo.com/video/{match[1]}")
    return None


def is_known_frame(url: str) -> bool:
    """Check whether an article can embed this page in an iframe."""
    try:
        parts = urlsplit(url.strip())
        if parts.port not in (None, 443) or parts.username is not None:
            return False
    except ValueError:
        return False
    if parts.hostname == "www.google.com":
        return parts.scheme in ("https", "") and parts.path.startswith("/maps/")
    return parts.scheme in ("https", "") and parts.hostname in _FRAME_HOSTS


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
"""Editor metadata that readers do not see."""

_SUPPORTED_CLASS = re.compile(r"(?:language-|footnote|align|wp-image-)[\w+#-]*", re.ASCII)
_INTERNAL_CLASS = re.compile(
    r"wp-block-[\w-]+|wp-element-[\w-]+|size-[\w-]+|is-resized|has-fixed-layout|has-alpha-channel-opacity"
)
"""Classes that WordPress generates, and generates again when the block is recreated."""

_ALIGNED_TEXT = re.compile(r"has-text-align-(left|center|right)")
_ID = re.compile(r"[^\W_][\w:.-]{0,99}")
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):")
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel"})
_NUMBER = re.compile(r"\d{1,5}(?:px|%)?", re.ASCII)


def without_internals(nodes: Sequence[HtmlElement | str]) -> list[HtmlElement | str] | None:
    """Return trees without WordPress's internal attributes; `None` if readers would miss something.

    This is the case for an element, an attribute or a class that sanitising removes, such as a colour.
    """
    visible: list[HtmlElement | str] = []
    for node in nodes:
        if isinstance(node, str):
            visible.append(node)
            continue
        attributes = _attributes(node)
        children = without_internals(node.children)
        if attributes is None or children is None or (node.name == "iframe" and (node.children or not attributes)):
            return None
        visible.append(HtmlElement(node.name, attributes, children))
    return visible


def _attributes(element: HtmlElement) -> Mapping[str, str] | None:
    name = element.name
    if name not in INLINE and name not in _BLOCKS:
        return None
    allowed = _ATTRIBUTES.get(name, frozenset())
    attributes: dict[str, str] = {}
    for key, value in element.attributes.items():
        if key in _IGNORED.get(name, ()):
            continue
        if key == "class":
            if not _classes(name, value, attributes):
                return None
        elif (key in allowed or key in _EVERYWHERE) and _is_supported(name, key, value):
            attributes[key] = value
        else:
            return None
    return attributes


def _classes(name: str, value: str, attributes: dict[str, str]) -> bool:
    """Add the relevant classes to `attributes`. Return whether all of them are known."""
    names: list[str] = []
    for class_name in value.split():
        aligned = _ALIGNED_TEXT.fullmatch(class_name)
        if aligned and name in ("td", "th"):
            attributes["align"] = aligned[1]
        elif _SUPPORTED_CLASS.fullmatch(class_name):
            names.append(class_name)
        elif not _INTERNAL_CLASS.fullmatch(class_name):
            return False
    if names:
        attributes["class"] = " ".join(names)
    return True


def _is_supported(name: str, key: str, value: str) -> bool:
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
