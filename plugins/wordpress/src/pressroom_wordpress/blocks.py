"""Parsing bodies of WordPress posts: the block editor's comments, the HTML between them, and what readers see of both.

The grammar is that of the block editor's handbook (developer.wordpress.org/block-editor, "Markup representation"):
`<!-- wp:name {"key":"value"} -->`, then HTML and nested blocks, then `<!-- /wp:name -->`, or a single comment that ends
in `/-->`. Everything is read once from left to right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Final

from pressroom_content.contract import BodyBlock

from pressroom_wordpress.classic import classic_blocks, has_shortcodes
from pressroom_wordpress.markup import HtmlElement, after_space, parse, player_of, serialised, without_internals

_LANGUAGE = re.compile(r"language-[\w+#-]+", re.ASCII)
_ALIGNS: Final = ("left", "center", "right", "wide", "full")

_KnownBlocks = Mapping[str, Callable[[Any], bool]]

_INSIDE: Final = frozenset(
    {
        "core/paragraph", "core/heading", "core/list", "core/list-item", "core/quote", "core/code",
        "core/preformatted", "core/table", "core/image", "core/separator", "core/details", "core/html",
    }
)  # fmt: skip
_ALLOWED_CHILDREN: Final[Mapping[str, frozenset[str]]] = {
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
OPENING: Final = "<!-- wp:"
"""The text by which WordPress recognises a body of the block editor. Other bodies are classic."""

MAX_BLOCKS: Final = 20_000
_DELIMITER = re.compile(
    r"<!--\s++(/)?wp:([a-z][a-z0-9_-]*+/)?([a-z][a-z0-9_-]*+)\s++(?:(\{.*\})\s++)?(/)?-->", re.DOTALL
)
_BEGINNING = re.compile(r"<!--\s++/?wp:")


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


_ATTRIBUTES: Final[Mapping[str, _KnownBlocks]] = {
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
        "className": lambda value: (
            isinstance(value, str) and all(class_name.startswith("wp-") for class_name in value.split())
        ),
    },
    "core/details": {"showContent": _is_flag},
    "core/html": {},
}
"""The blocks that an article can express, with the attributes that do not affect anything else that readers see."""


def html_of_block(name: str, openings: Sequence[Delimiter], inner: str) -> str | None:
    """Return the HTML of a block; `None` if an article cannot express everything that readers see.

    `openings` are the opening comments of the block and its nested blocks, `inner` is all HTML between comments.
    """
    for position, opening in enumerate(openings):
        allowed = _ATTRIBUTES.get(opening.name)
        if allowed is None or (position and opening.name not in _ALLOWED_CHILDREN.get(name, ())):
            return None
        attributes = opening.attributes or {}
        if not all(key in allowed and allowed[key](value) for key, value in attributes.items()):
            return None
    if name == "core/embed":
        return _player(openings[0].attributes or {}, inner)
    if has_shortcodes(inner):
        return None
    nodes = parse(inner)
    visible = without_internals(nodes) if nodes is not None else None
    if visible is None:
        return None
    roots = [node for node in visible if isinstance(node, HtmlElement) or node.strip()]
    if name == "core/html":
        return inner.strip() and serialised(visible).strip()
    root_names = _ROOTS.get(name) or (f"h{(openings[0].attributes or {}).get('level', 2)}",)
    root = roots[0] if len(roots) == 1 else ""
    if not isinstance(root, HtmlElement) or root.name not in root_names:
        return None
    if name == "core/code":
        _name_language(root)
    return serialised([root])


def _name_language(root: HtmlElement) -> None:
    """Move the language class from the block to its code element, where articles have it."""
    language = root.attributes.get("class", "")
    inner = root.elements()
    if language and len(inner) == 1 and inner[0].name == "code":
        root.attributes = {key: value for key, value in root.attributes.items() if key != "class"}
        inner[0].attributes = {"class": language, **inner[0].attributes}


def _player(attributes: Mapping[str, Any], inner: str) -> str | None:
    """Return an embedded video with its caption as HTML."""
    player = player_of(str(attributes.get("url", "")))
    nodes = parse(inner)
    figure = next((node for node in nodes or () if isinstance(node, HtmlElement)), None)
    if player is None or figure is None or figure.name != "figure" or not figure.only("div", "figcaption"):
        return None
    captions = [element for element in figure.elements() if element.name == "figcaption"]
    caption = without_internals(captions[0].children) if captions else []
    if caption is None or len(captions) > 1 or has_shortcodes(inner):
        return None
    below = f"<figcaption>{serialised(caption)}</figcaption>" if captions else ""
    return f"<figure>{player.html}{below}</figure>" if below else player.html


@dataclass(frozen=True, slots=True)
class Delimiter:
    """A comment that opens or closes a block, or is a whole block. `attributes` is `None` if they are invalid JSON."""

    start: int
    end: int
    name: str
    attributes: Mapping[str, Any] | None
    closes: bool
    is_whole: bool


def is_classic(raw: str) -> bool:
    """Check whether a body was written without the block editor, so that WordPress adds paragraphs itself."""
    return OPENING not in raw


def split(raw: str) -> Sequence[BodyBlock]:
    """Return the blocks of a body. Concatenated, their sources are the body.

    Everything after `MAX_BLOCKS` becomes one block that is kept unchanged.
    """
    blocks = classic_blocks(raw, paragraphs=True) if is_classic(raw) else _mixed_blocks(raw)
    result = list(islice(blocks, MAX_BLOCKS))
    if len(result) == MAX_BLOCKS and (rest := raw[sum(len(block.source) for block in result) :]):
        result.append(BodyBlock(rest, "rest of a very long text"))
    return result


def _mixed_blocks(raw: str) -> Iterator[BodyBlock]:
    at = 0
    for start, end, inside in _top_level(raw):
        yield from classic_blocks(raw[at:start], paragraphs=False)
        at = after_space(raw, end)
        yield _block(raw, start, end, raw[start:at], inside)
    yield from classic_blocks(raw[at:], paragraphs=False)


def without_delimiters(source: str) -> str:
    """Return the HTML of blocks without the comments of the block editor."""
    parts, at = [], 0
    for delimiter in delimiters(source):
        parts.append(source[at : delimiter.start])
        at = after_space(source, delimiter.end)
    return "".join([*parts, source[at:]])


def visible_html(raw: str) -> str:
    """Return a body without the comments of the block editor, with players for embedded videos."""
    parts, at = [], 0
    for delimiter in delimiters(raw):
        parts.append(raw[at : delimiter.start])
        at = after_space(raw, delimiter.end)
        player = player_of(str((delimiter.attributes or {}).get("url", ""))) if delimiter.name == "core/embed" else None
        parts.append(player.html if player and not delimiter.closes else "")
    parts.append(raw[at:])
    return "".join(parts).rstrip() if at else raw


def delimiters(raw: str) -> Iterator[Delimiter]:
    """Yield the comments of the block editor. Unterminated comments are ignored."""
    at = 0
    while (start := raw.find("<!--", at)) >= 0:
        end = raw.find("-->", start + 4)
        if end < 0:
            return
        at = end + 3
        if not _BEGINNING.match(raw, start):
            continue
        match = _DELIMITER.fullmatch(raw, start, at)
        if match is None:
            yield Delimiter(start, at, "", None, closes=False, is_whole=True)
            continue
        closes, space, name, json_text, is_whole = match.groups()
        name = f"{space or 'core/'}{name}"
        yield Delimiter(start, at, name, _attributes(json_text), closes=bool(closes), is_whole=bool(is_whole))


def _attributes(json_text: str | None) -> Mapping[str, Any] | None:
    if json_text is None:
        return {}
    try:
        attributes = json.loads(json_text)
    except (ValueError, RecursionError):
        return None
    return attributes if isinstance(attributes, dict) else None


def _top_level(raw: str) -> Iterator[tuple[int, int, Sequence[Delimiter]]]:
    """Yield start and end of each top-level block, and the comments in it, including its own.

    An unclosed block extends to the end of the body, as in WordPress.
    """
    inside: list[Delimiter] = []
    depth = 0
    for delimiter in delimiters(raw):
        if delimiter.closes and not inside:
            yield delimiter.start, delimiter.end, [delimiter]
            continue
        inside.append(delimiter)
        if not delimiter.is_whole:
            depth += -1 if delimiter.closes else 1
        if depth == 0:
            yield inside[0].start, delimiter.end, inside
            inside = []
    if inside:
        yield inside[0].start, len(raw), inside


def _block(raw: str, start: int, end: int, source: str, inside: Sequence[Delimiter]) -> BodyBlock:
    first = inside[0]
    name = readable_name(first)
    if not _is_whole(inside):
        return BodyBlock(source, f"{name} that is not well formed" if name else "something that is not well formed")
    gaps = [(delimiter.end, following.start) for delimiter, following in pairwise(inside)]
    inner = "".join(raw[gap:until] for gap, until in gaps)
    html = html_of_block(first.name, [delimiter for delimiter in inside if not delimiter.closes], inner)
    return BodyBlock(source, name, html)


def _is_whole(inside: Sequence[Delimiter]) -> bool:
    """Check that all nested blocks are closed by a comment of the same name, and all attributes can be parsed."""
    stack: list[str] = []
    for delimiter in inside:
        if delimiter.attributes is None:
            return False
        if delimiter.is_whole:
            continue
        if not delimiter.closes:
            stack.append(delimiter.name)
        elif not stack or stack.pop() != delimiter.name:
            return False
    return not stack


def readable_name(block: Delimiter) -> str:
    """Return the display name of a block, such as `media text` or `tiled gallery (jetpack)`."""
    space, _, name = block.name.partition("/")
    attributes = block.attributes or {}
    if block.name == "core/embed" and (provider := attributes.get("providerNameSlug")):
        return f"embed of {str(provider)[:40]}"
    words = name.replace("-", " ").replace("_", " ").strip()[:60]
    return words if space in ("core", "") else f"{words} ({space[:40]})"
