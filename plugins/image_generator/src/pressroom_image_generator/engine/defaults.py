"""What elements look like before they are styled (HTML Standard, section 15), as far as images need it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pressroom_image_generator.engine.parse import Element

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
         "fieldset", "details", "summary", "hgroup", "search", "dt", "figcaption", "legend", "center"),
        _BLOCK,
    ),
    **dict.fromkeys(("b", "strong"), _BOLD),
    **dict.fromkeys(("i", "em", "cite", "dfn", "var"), _ITALIC),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), _MONO),
    **dict.fromkeys(("u", "ins"), _UNDERLINE),
    **dict.fromkeys(("s", "del", "strike"), _STRUCK),
    **dict.fromkeys(("datalist", "dialog", "canvas", "select", "textarea", "input"), _HIDDEN),
    "p": _margins("1em"),
    "h1": _heading("2em", "0.67em"),
    "h2": _heading("1.5em", "0.83em"),
    "h3": _heading("1.17em", "1em"),
    "h4": _heading("1em", "1.33em"),
    "h5": _heading("0.83em", "1.67em"),
    "h6": _heading("0.67em", "2.33em"),
    "blockquote": _margins("1em", _INDENTED),
    "figure": _margins("1em", _INDENTED),
    "ul": _margins("1em", (*_LIST, ("list-style-type", "disc"))),
    "ol": _margins("1em", (*_LIST, ("list-style-type", "decimal"))),
    "dl": _margins("1em"),
    "dd": (*_BLOCK, ("margin-left", "40px")),
    "pre": (*_MONO, *_margins("1em", (("white-space", "pre"),))),
    "hr": (
        *_margins("0.5em"), ("margin-left", "auto"), ("margin-right", "auto"),
        *((f"border-{side}-{part}", value) for side in ("top", "right", "bottom", "left")
          for part, value in (("width", "1px"), ("style", "solid"), ("color", "gray"))),
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

_DIGITS: Final = re.compile(r"\s*\d{1,6}(\.\d{1,6})?%?\s*\Z")


def default_declarations(tag: str, other_font: bool) -> _Declarations:
    """Return the longhands that an element starts with.

    The smaller size of monospaced text is the generic family's alone: it is left out where the author names
    `other_font`s, as browsers do.
    """
    declarations = _DEFAULTS.get(tag, ())
    if other_font and declarations[:2] == _MONO:
        return declarations[2:]
    return declarations


def presentational(element: Element) -> Iterator[tuple[str, str]]:
    """Yield the longhands that attributes other than `style` stand for."""
    attributes = element.attributes
    if attributes.get("dir", "").lower() in ("rtl", "ltr"):
        yield "direction", attributes["dir"].lower()
    if "hidden" in attributes:
        yield "display", "none"
    if element.tag in ("img", "svg"):
        for name in ("width", "height"):
            if _DIGITS.match(value := attributes.get(name, "")):
                yield name, value.strip() if value.strip().endswith("%") else f"{value.strip()}px"
