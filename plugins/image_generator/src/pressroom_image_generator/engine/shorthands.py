"""Expanders of shorthand properties. They work on component values, without computing them."""

from __future__ import annotations

from typing import Final

from pressroom.graphics.color import color_or_none
from pressroom.graphics.css import keyword, number, split_commas
from tinycss2.ast import FunctionBlock, IdentToken, LiteralToken, Node

from pressroom_image_generator.engine.css_images import url_of
from pressroom_image_generator.engine.tracks import grid_area, grid_lines, grid_template
from pressroom_image_generator.engine.values import Expanded, Expander, Nodes, slash, split_slash, tokens

WIDE_KEYWORDS: Final = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})
_SIDES: Final = ("top", "right", "bottom", "left")
_CORNERS: Final = ("top-left", "top-right", "bottom-right", "bottom-left")
_BORDER_STYLES: Final = frozenset(
    {"none", "hidden", "solid", "dashed", "dotted", "double", "groove", "ridge", "inset", "outset"}
)
_DECORATIONS: Final = frozenset({"underline", "overline", "line-through"})


def _four(nodes: Nodes) -> tuple[Node, Node, Node, Node] | None:
    match nodes:
        case [a]:
            return a, a, a, a
        case [a, b]:
            return a, b, a, b
        case [a, b, c]:
            return a, b, c, b
        case [a, b, c, d]:
            return a, b, c, d
    return None


def _sides(pattern: str) -> Expander:
    def expand(nodes: Nodes) -> Expanded | None:
        values = _four(nodes)
        if values is None:
            return None
        return {pattern.format(side): [value] for side, value in zip(_SIDES, values, strict=True)}

    return expand


def _pair(first: str, second: str) -> Expander:
    def expand(nodes: Nodes) -> Expanded | None:
        return {first: nodes[:1], second: nodes[-1:]} if 1 <= len(nodes) <= 2 else None

    return expand


def _line(*patterns: str) -> Expander:
    """Return an expander for a width, a style and a colour in any order, for one side or all."""

    def expand(nodes: Nodes) -> Expanded | None:
        parts: dict[str, Nodes] = {"width": tokens("medium"), "style": tokens("none"), "color": tokens("currentcolor")}
        assigned: set[str] = set()
        for node in nodes:
            part = (
                "style" if keyword(node) in _BORDER_STYLES else "color" if color_or_none(node) is not None else "width"
            )
            if part in assigned:
                return None
            assigned.add(part)
            parts[part] = [node]
        return {f"{pattern}-{part}": value for pattern in patterns for part, value in parts.items()}

    return expand


def _radius(nodes: Nodes) -> Expanded | None:
    parts = split_slash(nodes)
    across = _four(parts[0])
    down = _four(parts[-1])
    if len(parts) > 2 or across is None or down is None:
        return None
    return {
        f"border-{corner}-radius": [horizontal, vertical]
        for corner, horizontal, vertical in zip(_CORNERS, across, down, strict=True)
    }


def _flex(nodes: Nodes) -> Expanded | None:
    if len(nodes) == 1 and (word := keyword(nodes[0])) in ("none", "auto", "initial"):
        grow, shrink = {"none": ("0", "0"), "auto": ("1", "1"), "initial": ("0", "1")}[word]
        return {"flex-grow": tokens(grow), "flex-shrink": tokens(shrink), "flex-basis": tokens("auto")}
    numbers: list[Node] = []
    basis: list[Node] = []
    for node in nodes:
        if number(node) is not None and len(numbers) < 2:
            numbers.append(node)
        elif not basis:
            basis.append(node)
        else:
            return None
    return {
        "flex-grow": numbers[:1] or tokens("1"),
        "flex-shrink": numbers[1:2] or tokens("1"),
        "flex-basis": basis or tokens("0%"),
    }


def _flex_flow(nodes: Nodes) -> Expanded | None:
    wraps = [node for node in nodes if "wrap" in keyword(node)]
    directions = [node for node in nodes if "wrap" not in keyword(node)]
    if len(wraps) > 1 or len(directions) > 1:
        return None
    return {"flex-direction": directions or tokens("row"), "flex-wrap": wraps or tokens("nowrap")}


def _font(nodes: Nodes) -> Expanded | None:
    longhands: Expanded = {
        "font-style": tokens("normal"),
        "font-weight": tokens("normal"),
        "line-height": tokens("normal"),
    }
    remaining = list(nodes)
    while remaining:
        node = remaining[0]
        word = keyword(node)
        if word in ("italic", "oblique"):
            longhands["font-style"] = [node]
        elif word in ("bold", "bolder", "lighter") or (number(node) is not None and number(node) != 0):
            longhands["font-weight"] = [node]
        elif word not in ("normal", "small-caps"):
            break
        remaining.pop(0)
    if not remaining:
        return None
    longhands["font-size"] = [remaining.pop(0)]
    if len(remaining) >= 2 and slash(remaining[0]):
        longhands["line-height"] = [remaining[1]]
        remaining = remaining[2:]
    if not remaining:
        return None
    longhands["font-family"] = remaining
    return longhands


def _text_decoration(nodes: Nodes) -> Expanded | None:
    parts: dict[str, list[Node]] = {"line": [], "style": [], "color": [], "thickness": []}
    for node in nodes:
        word = keyword(node)
        if word in _DECORATIONS or word == "none":
            parts["line"].append(node)
        elif word in ("solid", "double", "dotted", "dashed", "wavy"):
            parts["style"].append(node)
        elif color_or_none(node) is not None:
            parts["color"].append(node)
        else:
            parts["thickness"].append(node)
    initial = {"line": "none", "style": "solid", "color": "currentcolor", "thickness": "auto"}
    return {f"text-decoration-{part}": value or tokens(initial[part]) for part, value in parts.items()}


_BACKGROUND_BOXES: Final = frozenset({"border-box", "padding-box", "content-box", "text"})
_REPEATS: Final = frozenset({"repeat", "no-repeat", "repeat-x", "repeat-y", "space", "round"})


def _background(nodes: Nodes) -> Expanded | None:
    lists: dict[str, list[Node]] = {part: [] for part in ("image", "position", "size", "repeat", "origin", "clip")}
    color: Nodes = tokens("transparent")
    parts = split_commas(nodes)
    for index, part in enumerate(parts):
        layer = _background_layer(part)
        if layer is None or (layer["color"] and index < len(parts) - 1):
            return None
        color = layer.pop("color") or color
        for name, value in layer.items():
            if index:
                lists[name].append(LiteralToken(1, 1, ","))
            lists[name] += value
    return {"background-color": color, **{f"background-{name}": value for name, value in lists.items()}}


def _background_layer(nodes: Nodes) -> dict[str, list[Node]] | None:
    parts: dict[str, list[Node]] = {
        part: [] for part in ("image", "position", "size", "repeat", "color", "origin", "clip")
    }
    boxes: list[Node] = []
    into = "position"
    for node in nodes:
        word = keyword(node)
        image = word == "none" or url_of(node) is not None
        if image or (isinstance(node, FunctionBlock) and node.lower_name.endswith("gradient")):
            parts["image"].append(node)
        elif word in _REPEATS:
            parts["repeat"].append(node)
        elif word in _BACKGROUND_BOXES:
            boxes.append(node)
        elif word in ("scroll", "fixed", "local"):
            continue
        elif color_or_none(node) is not None:
            parts["color"].append(node)
        elif slash(node):
            into = "size"
        else:
            parts[into].append(node)
    if len(parts["image"]) > 1 or len(parts["color"]) > 1 or len(boxes) > 2:
        return None
    parts["origin"] = [node for node in boxes[:1] if keyword(node) != "text"]
    parts["clip"] = boxes[-1:]
    initial = {
        "image": "none", "position": "0% 0%", "size": "auto", "repeat": "repeat", "origin": "padding-box",
        "clip": "border-box",
    }  # fmt: skip
    return {part: list(value or (tokens(initial[part]) if part in initial else ())) for part, value in parts.items()}


def _mask(nodes: Nodes) -> Expanded | None:
    layers = _background(nodes)
    if layers is None:
        return None
    return {f"mask-{part}": layers[f"background-{part}"] for part in ("image", "position", "size", "repeat")}


def _variant(nodes: Nodes) -> Expanded | None:
    """Return the longhands of `font-variant`, each keyword assigned to its property."""
    parts: dict[str, Nodes] = {}
    for node in nodes:
        word = keyword(node)
        part = "caps" if "caps" in word or word == "unicase" else "ligatures" if word == "none" else "numeric"
        if word != "normal":
            if part in parts:
                return None
            parts[part] = [node]
    return {f"font-variant-{part}": parts.get(part, tokens("normal")) for part in ("caps", "ligatures", "numeric")}


def _stroke(nodes: Nodes) -> Expanded | None:
    colors = [node for node in nodes if color_or_none(node) is not None]
    widths = [node for node in nodes if color_or_none(node) is None]
    if len(colors) > 1 or len(widths) > 1:
        return None
    return {
        "-webkit-text-stroke-width": widths or tokens("0px"),
        "-webkit-text-stroke-color": colors or tokens("currentcolor"),
    }


def _list_style(nodes: Nodes) -> Expanded | None:
    types = [node for node in nodes if keyword(node) not in ("inside", "outside")]
    return {"list-style-type": types or tokens("disc")} if len(types) <= 1 else None


def _renamed(name: str) -> Expander:
    return lambda nodes: {name: nodes}


_borders = [f"border-{side}" for side in _SIDES]

SHORTHANDS: Final[dict[str, Expander]] = {
    "margin": _sides("margin-{}"),
    "padding": _sides("padding-{}"),
    "inset": _sides("{}"),
    "border": _line(*_borders),
    **{border: _line(border) for border in _borders},
    "border-width": _sides("border-{}-width"),
    "border-style": _sides("border-{}-style"),
    "border-color": _sides("border-{}-color"),
    "border-radius": _radius,
    "outline": _line("outline"),
    "overflow": _pair("overflow-x", "overflow-y"),
    "gap": _pair("row-gap", "column-gap"),
    "grid-gap": _pair("row-gap", "column-gap"),
    "grid-row-gap": _renamed("row-gap"),
    "grid-column-gap": _renamed("column-gap"),
    "flex": _flex,
    "flex-flow": _flex_flow,
    "place-items": _pair("align-items", "justify-items"),
    "place-content": _pair("align-content", "justify-content"),
    "place-self": _pair("align-self", "justify-self"),
    "grid-column": grid_lines("grid-column-start", "grid-column-end"),
    "grid-row": grid_lines("grid-row-start", "grid-row-end"),
    "grid-area": grid_area,
    "grid-template": grid_template,
    "grid": grid_template,
    "font": _font,
    "font-variant": _variant,
    "mask": _mask,
    "-webkit-mask": _mask,
    "-webkit-mask-position": _renamed("mask-position"),
    "-webkit-mask-size": _renamed("mask-size"),
    "-webkit-mask-repeat": _renamed("mask-repeat"),
    "text-decoration": _text_decoration,
    "background": _background,
    "list-style": _list_style,
    "-webkit-text-stroke": _stroke,
    # Aliases
    "word-wrap": _renamed("overflow-wrap"),
    "-webkit-line-clamp": _renamed("line-clamp"),
    "-webkit-background-clip": _renamed("background-clip"),
    "-webkit-backdrop-filter": _renamed("backdrop-filter"),
    "-webkit-mask-image": _renamed("mask-image"),
    "-webkit-clip-path": _renamed("clip-path"),
    "-webkit-transform": _renamed("transform"),
    "-webkit-filter": _renamed("filter"),
    "text-stroke": _stroke,
    # Logical sides; inline sides depend on the direction, see `physical`
    "margin-block": _pair("margin-top", "margin-bottom"),
    "margin-inline": _pair("margin-inline-start", "margin-inline-end"),
    "padding-block": _pair("padding-top", "padding-bottom"),
    "padding-inline": _pair("padding-inline-start", "padding-inline-end"),
    "inset-block": _pair("top", "bottom"),
    "inset-inline": _pair("inset-inline-start", "inset-inline-end"),
    "margin-block-start": _renamed("margin-top"),
    "margin-block-end": _renamed("margin-bottom"),
    "padding-block-start": _renamed("padding-top"),
    "padding-block-end": _renamed("padding-bottom"),
    "inset-block-start": _renamed("top"),
    "inset-block-end": _renamed("bottom"),
    "inline-size": _renamed("width"),
    "block-size": _renamed("height"),
    "min-inline-size": _renamed("min-width"),
    "max-inline-size": _renamed("max-width"),
    "min-block-size": _renamed("min-height"),
    "max-block-size": _renamed("max-height"),
    "border-inline-start": _line("border-inline-start"),
    "border-inline-end": _line("border-inline-end"),
    "border-block-start": _line("border-top"),
    "border-block-end": _line("border-bottom"),
}

_INLINE_PREFIXES: Final = ("margin-inline-", "padding-inline-", "inset-inline-", "border-inline-")


def physical(name: str, direction: str) -> str:
    """Resolve a logical inline side to left or right."""
    if "inline-" not in name:
        return name
    for prefix in _INLINE_PREFIXES:
        if name.startswith(prefix):
            edge, _, suffix = name.removeprefix(prefix).partition("-")
            if edge not in ("start", "end"):
                return name
            side = "left" if (edge == "start") == (direction == "ltr") else "right"
            stem = prefix.removesuffix("inline-")
            return (side if stem == "inset-" else stem + side) + (f"-{suffix}" if suffix else "")
    return name


def wide_keyword(nodes: Nodes) -> str:
    """Return the CSS-wide keyword if it is the whole value, or an empty string."""
    if len(nodes) == 1 and isinstance(nodes[0], IdentToken) and nodes[0].lower_value in WIDE_KEYWORDS:
        return str(nodes[0].lower_value)
    return ""
