"""Parses HTML to a tree of elements, with the default styles of elements (HTML Standard, section 15)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pressroom.sdk import InvalidInput
from selectolax.lexbor import LexborHTMLParser

from pressroom_image_generator.engine.notes import Notes, quoted

MAX_ELEMENTS: Final = 5000
MAX_DEPTH: Final = 100
"""Maximum depth of nested elements."""

_REFUSED: Final = {
    "script": "scripts do not run here",
    "style": "style sheets are not read; write the styles into style attributes",
    "link": "style sheets and fonts are not loaded; write the styles into style attributes",
    "iframe": "other pages cannot be embedded",
    "frame": "other pages cannot be embedded",
    "object": "other documents cannot be embedded",
    "embed": "other documents cannot be embedded",
    "video": "videos cannot be shown; use an <img>",
    "audio": "sound cannot be shown",
    "base": "relative URLs are not supported",
}
_NO_CLASSES: Final = "style sheets are not read; write the styles into style attributes"
_IGNORED: Final = {
    "class": _NO_CLASSES,
    "classname": _NO_CLASSES,
    "align": "write text-align into the style attribute",
    "valign": "write vertical-align or align-items into the style attribute",
    "bgcolor": "write background-color into the style attribute",
    "color": "write color into the style attribute",
    "face": "write font-family into the style attribute",
}
_LEFT_OUT: Final = frozenset(
    {"head", "title", "meta", "template", "noscript", "source", "track", "param", "area", "map"}
)
_NOT_DRAWN: Final = frozenset({"canvas", "dialog", "input", "meter", "progress", "select", "textarea"})
_LISTS: Final = frozenset({"ol", "ul", "menu"})
_IMAGE_DATA: Final = re.compile(r"data:image/(png|jpe?g|gif|webp|avif|svg\+xml)[;,]", re.IGNORECASE)
_CONTROLS: Final = re.compile(r"[\x00-\x20]")


@dataclass(slots=True, eq=False)
class Element:
    """An element with lower-case attribute names. `children` are elements and texts; `markup` is that of `<svg>`.

    `lists` is the number of lists around it.
    """

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)
    markup: str = ""
    lists: int = 0

    @property
    def text(self) -> str:
        """The text content at any depth."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


def parse_html(html: str, notes: Notes) -> Element:
    """Parse HTML to a tree whose root represents the canvas.

    Raises:
        InvalidInput: the HTML contains something that is refused, too many elements, or elements nested too deeply.
    """
    parser = LexborHTMLParser(html, is_fragment=True)
    root = Element("canvas")
    elements = 0
    # A stack instead of recursion: hostile HTML nests thousands of elements.
    waiting: list[tuple[Any, Element, int]] = [(node, root, 1) for node in reversed(_siblings(parser.root))]
    while waiting:
        node, parent, depth = waiting.pop()
        if node.is_text_node:
            parent.children.append(node.text_content or "")
            continue
        if not node.is_element_node:
            continue
        elements += 1
        if elements > MAX_ELEMENTS:
            raise InvalidInput("html", f"it has more than {MAX_ELEMENTS} elements; draw fewer of them")
        if depth > MAX_DEPTH:
            raise InvalidInput(
                "html", f"more than {MAX_DEPTH} elements are nested inside each other; nest fewer of them"
            )
        element = _element(node, html, notes)
        if element is None:
            continue
        parent.children.append(element)
        element.lists = parent.lists + (parent.tag in _LISTS)
        if not element.markup:
            waiting += [(child, element, depth + 1) for child in reversed(_siblings(node.child))]
    return root


def image_sources(root: Element) -> Iterator[str]:
    """Yield the sources of the `<img>` elements in document order."""
    waiting: list[Element] = [root]
    while waiting:
        element = waiting.pop()
        if element.tag == "img" and element.attributes.get("src"):
            yield element.attributes["src"]
        waiting += [child for child in reversed(element.children) if isinstance(child, Element)]


def refuse_url(url: str, where: str, html: str = "") -> None:
    """Raise `InvalidInput` for a URL that is neither `https` nor an image in a `data:` URL."""
    if url.lower().startswith("https://") or _IMAGE_DATA.match(url):
        return
    raise InvalidInput(
        "html",
        f"{where}{_place(html, url)} names {quoted(url)}; only https:// and data:image/ URLs "
        "(png, jpeg, gif, webp, avif, svg+xml) are allowed",
    )


def _siblings(node: Any) -> list[Any]:
    siblings = []
    while node is not None:
        siblings.append(node)
        node = node.next
    return siblings


def _element(node: Any, html: str, notes: Notes) -> Element | None:
    tag = str(node.tag or "").lower()
    if tag in _REFUSED:
        raise InvalidInput("html", f"<{tag}>{_place(html, f'<{tag}')} is not allowed: {_REFUSED[tag]}")
    if tag in _LEFT_OUT:
        return None
    if tag in _NOT_DRAWN:
        notes.warn(f"<{tag}> is not drawn; use elements such as <div> with styles")
    attributes = {str(name).lower(): str(value or "") for name, value in node.attributes.items()}
    for name in attributes:
        if name.startswith("on"):
            notes.warn(f"the attribute {quoted(name)} is ignored: scripts do not run here")
        elif tag != "svg" and (instead := _IGNORED.get(name)):
            notes.warn(f"the attribute {name} is ignored: {instead}")
    if tag == "img" and (source := attributes.get("src", "")):
        attributes["src"] = _CONTROLS.sub("", source) if source.strip().lower().startswith("https:") else source.strip()
        refuse_url(attributes["src"], "<img src>", html)
    return Element(tag, attributes, markup=str(node.html or "") if tag == "svg" else "")


def _place(html: str, text: str) -> str:
    """Return the position of the first occurrence of a text, for messages: the parser records none."""
    index = html.lower().find(text.lower()) if text else -1
    if index < 0:
        return ""
    line = html.count("\n", 0, index) + 1
    column = index - (html.rfind("\n", 0, index) + 1) + 1
    return f" at line {line}, column {column}"


_Declarations = tuple[tuple[str, str], ...]

_BLOCK: Final[_Declarations] = (("display", "block"),)
_HIDDEN: Final[_Declarations] = (("display", "none"),)
_BOLD: Final[_Declarations] = (("font-weight", "bold"),)
_ITALIC: Final[_Declarations] = (("font-style", "italic"),)
_MONO: Final[_Declarations] = (("font-family", "monospace"), ("font-size", "0.8125em"))
_UNDERLINE: Final[_Declarations] = (("text-decoration-line", "underline"),)
_STRUCK: Final[_Declarations] = (("text-decoration-line", "line-through"),)


def _margins(top: str, more: _Declarations = ()) -> _Declarations:
    return (*_BLOCK, ("margin-top", top), ("margin-bottom", top), *more)


def _heading(size: str, margin: str) -> _Declarations:
    return (*_BLOCK, ("font-size", size), *_BOLD, ("margin-top", margin), ("margin-bottom", margin))


_INDENTED: Final[_Declarations] = (("margin-left", "40px"), ("margin-right", "40px"))
_LIST: Final[_Declarations] = (("padding-inline-start", "40px"),)

_DEFAULTS: Final[dict[str, _Declarations]] = {
    **dict.fromkeys(
        ("html", "body", "div", "main", "section", "article", "header", "footer", "nav", "aside", "address", "form",
         "fieldset", "details", "summary", "hgroup", "search", "dt", "figcaption", "legend"),
        _BLOCK,
    ),
    "center": (*_BLOCK, ("text-align", "center")),
    **dict.fromkeys(("b", "strong"), _BOLD),
    **dict.fromkeys(("i", "em", "cite", "dfn", "var"), _ITALIC),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), _MONO),
    **dict.fromkeys(("u", "ins"), _UNDERLINE),
    **dict.fromkeys(("s", "del", "strike"), _STRUCK),
    **dict.fromkeys(("datalist", *_NOT_DRAWN), _HIDDEN),
    "p": _margins("1em"),
    "h1": _heading("2em", "0.67em"),
    "h2": _heading("1.5em", "0.83em"),
    "h3": _heading("1.17em", "1em"),
    "h4": _heading("1em", "1.33em"),
    "h5": _heading("0.83em", "1.67em"),
    "h6": _heading("0.67em", "2.33em"),
    "blockquote": _margins("1em", _INDENTED),
    "figure": _margins("1em", _INDENTED),
    "menu": _margins("1em", (*_LIST, ("list-style-type", "disc"))),
    "ul": _margins("1em", (*_LIST, ("list-style-type", "disc"))),
    "ol": _margins("1em", (*_LIST, ("list-style-type", "decimal"))),
    "dl": _margins("1em"),
    "dd": (*_BLOCK, ("margin-left", "40px")),
    "pre": (*_MONO, *_margins("1em", (("white-space", "pre"),))),
    "hr": (
        *_margins("0.5em"), ("margin-left", "auto"), ("margin-right", "auto"),
        *((f"border-{side}-{part}", value) for side in ("top", "right", "bottom", "left")
          for part, value in (
              ("width", "1px"), ("style", "solid"), ("color", "#9a9a9a" if side in ("top", "left") else "#eee"))),
    ),
    "li": (("display", "list-item"),),
    "small": (("font-size", "smaller"),),
    "big": (("font-size", "larger"),),
    "sub": (("vertical-align", "sub"), ("font-size", "smaller")),
    "sup": (("vertical-align", "super"), ("font-size", "smaller")),
    "mark": (("background-color", "yellow"), ("color", "black")),
    "a": (("color", "#0000ee"), *_UNDERLINE),
    "img": (("display", "inline-block"),),
    "svg": (("display", "inline-block"),),
    "button": (("display", "inline-block"),),
}  # fmt: skip

_NUMBERS: Final = {"1": "decimal", "a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
_DIGITS: Final = re.compile(r"\s*\d{1,6}(\.\d{1,6})?%?\s*\Z")


def default_declarations(element: Element, other_font: bool) -> _Declarations:
    """Return the default longhands of an element.

    Lists in lists have no margins, and other bullets. Monospaced text is only smaller in the generic family: the size
    is left out if the author sets `other_font`, as in browsers.
    """
    if element.tag == "a" and "href" not in element.attributes:
        return ()
    declarations = _DEFAULTS.get(element.tag, ())
    if element.lists and element.tag in _LISTS:
        bullet = ("list-style-type", "circle" if element.lists == 1 else "square")
        declarations = (*_BLOCK, *_LIST, bullet if element.tag == "ul" else ("list-style-type", "decimal"))
    if other_font and declarations[:2] == _MONO:
        return declarations[2:]
    return declarations


def presentational(element: Element) -> Iterator[tuple[str, str]]:
    """Yield the longhands for presentational attributes, that is, those other than `style`."""
    attributes = element.attributes
    if attributes.get("dir", "").lower() in ("rtl", "ltr"):
        yield "direction", attributes["dir"].lower()
    if "hidden" in attributes:
        yield "display", "none"
    if element.tag == "ol" and (kind := _NUMBERS.get(attributes.get("type", ""))):
        yield "list-style-type", kind
    if element.tag in ("img", "svg"):
        for name in ("width", "height"):
            if _DIGITS.match(value := attributes.get(name, "")):
                yield name, value.strip() if value.strip().endswith("%") else f"{value.strip()}px"
