"""What readers see of the blocks of the block editor, as far as an article can say it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pressroom_wordpress.embeds import player_of
from pressroom_wordpress.markup import HtmlElement, parse, serialised
from pressroom_wordpress.sayable import said
from pressroom_wordpress.shortcodes import has_shortcodes

if TYPE_CHECKING:
    from pressroom_wordpress.blocks import Delimiter

_LANGUAGE = re.compile(r"language-[\w+#-]+", re.ASCII)
_ALIGNS: Final = ("left", "center", "right", "wide", "full")

_Known = Mapping[str, Callable[[Any], bool]]


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_pixels(value: Any) -> bool:
    return _is_number(value) and 0 < value < 100_000


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_language(value: Any) -> bool:
    return isinstance(value, str) and bool(_LANGUAGE.fullmatch(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_ATTRIBUTES: Final[Mapping[str, _Known]] = {
    "core/paragraph": {"direction": lambda value: value in ("ltr", "rtl"), "placeholder": _is_text},
    "core/heading": {"level": _is_number},
    "core/list": {"ordered": _is_flag, "start": _is_number, "reversed": _is_flag},
    "core/list-item": {},
    "core/quote": {},
    "core/code": {"className": _is_language},
    "core/preformatted": {},
    "core/table": {"hasFixedLayout": _is_flag},
    "core/image": {
        "id": _is_number,
        "sizeSlug": _is_text,
        "linkDestination": _is_text,
        "align": lambda value: value in _ALIGNS,
        "width": _is_pixels,
        "height": _is_pixels,
        "alt": _is_text,
    },
    "core/separator": {},
    "core/embed": {
        "url": _is_text,
        "type": _is_text,
        "providerNameSlug": _is_text,
        "responsive": _is_flag,
        "allowResponsive": _is_flag,
        "className": lambda value: isinstance(value, str) and all(one.startswith("wp-") for one in value.split()),
    },
    "core/details": {"showContent": _is_flag},
    "core/html": {},
}
"""The blocks that an article can say, with the attributes that change nothing else of what readers see."""

_INSIDE: Final = frozenset(
    {
        "core/paragraph", "core/heading", "core/list", "core/list-item", "core/quote", "core/code",
        "core/preformatted", "core/table", "core/image", "core/separator", "core/details", "core/html",
    }
)  # fmt: skip
_MAY_HOLD: Final[Mapping[str, frozenset[str]]] = {
    "core/list": frozenset({"core/list", "core/list-item"}),
    "core/quote": _INSIDE,
    "core/details": _INSIDE,
}
_ROOTS: Final[Mapping[str, tuple[str, ...]]] = {
    "core/paragraph": ("p",),
    "core/list": ("ul", "ol"),
    "core/quote": ("blockquote",),
    "core/code": ("pre",),
    "core/preformatted": ("pre",),
    "core/table": ("figure",),
    "core/image": ("figure", "div"),
    "core/separator": ("hr",),
    "core/details": ("details",),
}


def html_of_block(name: str, openings: Sequence[Delimiter], inner: str) -> str | None:
    """Return the HTML of a block, `None` where an article cannot say all that readers see.

    `openings` are the comments that open it and the blocks in it, `inner` all HTML between comments.
    """
    for position, one in enumerate(openings):
        known = _ATTRIBUTES.get(one.name)
        if known is None or (position and one.name not in _MAY_HOLD.get(name, ())):
            return None
        attributes = one.attributes or {}
        if not all(key in known and known[key](value) for key, value in attributes.items()):
            return None
    if name == "core/embed":
        return _player(openings[0].attributes or {}, inner)
    if has_shortcodes(inner):
        return None
    nodes = parse(inner)
    shown = said(nodes) if nodes is not None else None
    if shown is None:
        return None
    roots = [one for one in shown if isinstance(one, HtmlElement) or one.strip()]
    if name == "core/html":
        return inner.strip() and serialised(shown).strip()
    wanted = _ROOTS.get(name) or (f"h{(openings[0].attributes or {}).get('level', 2)}",)
    root = roots[0] if len(roots) == 1 else ""
    if not isinstance(root, HtmlElement) or root.name not in wanted:
        return None
    if name == "core/code":
        _name_language(root)
    return serialised([root])


def _name_language(root: HtmlElement) -> None:
    """Move the language from the block to its code, where articles have it."""
    language = root.attributes.get("class", "")
    inner = root.elements()
    if language and len(inner) == 1 and inner[0].name == "code":
        root.attributes = {key: value for key, value in root.attributes.items() if key != "class"}
        inner[0].attributes = {"class": language, **inner[0].attributes}


def _player(attributes: Mapping[str, Any], inner: str) -> str | None:
    """Return an embedded video with its caption."""
    player = player_of(str(attributes.get("url", "")))
    nodes = parse(inner)
    figure = next((one for one in nodes or () if isinstance(one, HtmlElement)), None)
    if player is None or figure is None or figure.name != "figure" or not figure.only("div", "figcaption"):
        return None
    captions = [one for one in figure.elements() if one.name == "figcaption"]
    caption = said(captions[0].children) if captions else []
    if caption is None or len(captions) > 1 or has_shortcodes(inner):
        return None
    below = f"<figcaption>{serialised(caption)}</figcaption>" if captions else ""
    return f"<figure>{player.html}{below}</figure>" if below else player.html
