"""Parsers for backgrounds: images, gradients, positions and sizes, each as a list of layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pressroom.errors import InvalidStyle
from pressroom.graphics.css import Length, keyword, split_commas
from pressroom.graphics.gradient import Gradient, gradient_of
from tinycss2.ast import FunctionBlock, Node, URLToken

from pressroom_image_generator.engine.readers import Reader, T
from pressroom_image_generator.engine.values import AnyLength, MixedLength, Operation, Size, Units, any_length

MAX_LAYERS: Final = 16
_REPEATS: Final = {
    "repeat": ("repeat", "repeat"), "no-repeat": ("no-repeat", "no-repeat"), "repeat-x": ("repeat", "no-repeat"),
    "repeat-y": ("no-repeat", "repeat"), "space": ("space", "space"), "round": ("round", "round"),
}  # fmt: skip
_PLACES: Final = {"left": 0.0, "top": 0.0, "center": 0.5, "right": 1.0, "bottom": 1.0}
_OPPOSITES: Final[Mapping[Operation, Operation]] = {"sum": "sum", "min": "max", "max": "min"}
_HORIZONTAL, _VERTICAL = ("left", "right"), ("top", "bottom")


@dataclass(frozen=True, slots=True)
class UrlImage:
    """An image in a `data:` URL."""

    address: str


CssImage = Gradient | UrlImage
Position = tuple[AnyLength, AnyLength]
BackgroundSize = str | tuple[Size, Size]

MIDDLE: Final[Position] = (Length(part=0.5), Length(part=0.5))


def layers(read_layer: Reader[T]) -> Reader[tuple[T, ...]]:
    """Return a parser for a comma-separated list of layers."""

    def read(nodes: Sequence[Node], units: Units) -> tuple[T, ...] | None:
        results = [read_layer(part, units) if part else None for part in split_commas(nodes)[:MAX_LAYERS]]
        values = tuple(result for result in results if result is not None)
        return values if len(values) == len(results) else None

    return read


def url_of(node: Node) -> str | None:
    """Return the URL of a `url()` token or function, or `None`."""
    if isinstance(node, URLToken):
        return str(node.value)
    if isinstance(node, FunctionBlock) and node.lower_name == "url":
        strings = [argument for argument in node.arguments if argument.type == "string"]
        return str(strings[0].value) if len(strings) == 1 else None
    return None


def css_image(nodes: Sequence[Node], units: Units) -> CssImage | str | None:
    """Parse `none`, a gradient or a `url()`."""
    if len(nodes) != 1:
        return None
    node = nodes[0]
    if keyword(node) == "none":
        return "none"
    if (url := url_of(node)) is not None:
        return UrlImage(url)
    if isinstance(node, FunctionBlock) and node.lower_name.endswith("gradient"):
        try:
            return gradient_of(node, units.color)
        except InvalidStyle:
            return None
    return None


def background_position(nodes: Sequence[Node], units: Units) -> Position | None:
    """Parse a position of one to four values (CSS Backgrounds 3, section 2.6)."""
    return _from_edges(nodes) if len(nodes) == 3 else position(nodes, units)


def position(nodes: Sequence[Node], units: Units) -> Position | None:
    """Parse a position of one, two or four values (CSS Values 4, section 9)."""
    if len(nodes) == 4:
        return _from_edges(nodes)
    if not 1 <= len(nodes) <= 2:
        return None
    axes: dict[str, AnyLength] = {}
    unclear: list[AnyLength] = []
    for node in nodes:
        word = keyword(node)
        if word in _HORIZONTAL or word in _VERTICAL:
            axis = "x" if word in _HORIZONTAL else "y"
            if axis in axes:
                return None
            axes[axis] = Length(part=_PLACES[word])
        else:
            value = Length(part=0.5) if word == "center" else any_length(node)
            if value is None:
                return None
            unclear.append(value)
    for value in unclear:
        axes.setdefault("y" if "x" in axes else "x", value)
    return axes.get("x", MIDDLE[0]), axes.get("y", MIDDLE[1])


def origin(nodes: Sequence[Node], units: Units) -> Position | None:
    """Parse a transform origin (CSS Transforms 1, section 6). A third value is its depth, which has no effect in 2D."""
    if len(nodes) == 3 and any_length(nodes[2]) is not None:
        nodes = nodes[:2]
    return position(nodes, units) if len(nodes) <= 2 else None


def _from_edges(nodes: Sequence[Node]) -> Position | None:
    axes: dict[str, AnyLength] = {}
    centred = index = 0
    while index < len(nodes):
        word = keyword(nodes[index])
        index += 1
        if word == "center":
            centred += 1
            continue
        axis = "x" if word in _HORIZONTAL else "y"
        if word not in _PLACES or axis in axes:
            return None
        value: AnyLength = Length(part=_PLACES[word])
        if index < len(nodes) and (offset := any_length(nodes[index])) is not None:
            index += 1
            value = _inward(offset) if _PLACES[word] else offset
        axes[axis] = value
    if len(axes) + centred != 2:
        return None
    return axes.get("x", MIDDLE[0]), axes.get("y", MIDDLE[1])


def _inward(offset: AnyLength) -> AnyLength:
    if isinstance(offset, Length):
        return Length(-offset.pixels, 1 - offset.part)
    return MixedLength("sum", (Length(part=1.0), _negated(offset)))


def _negated(length: AnyLength) -> AnyLength:
    if isinstance(length, Length):
        return Length(-length.pixels, -length.part)
    operation = _OPPOSITES[length.operation]
    return MixedLength(operation, tuple(_negated(item) for item in length.items))


def background_size(nodes: Sequence[Node], units: Units) -> BackgroundSize | None:
    """Parse `cover`, `contain`, or a width and a height."""
    if len(nodes) == 1 and keyword(nodes[0]) in ("cover", "contain"):
        return keyword(nodes[0])
    values: list[Size | None] = ["auto" if keyword(node) == "auto" else any_length(node) for node in nodes]
    if not 1 <= len(values) <= 2 or values[0] is None or values[-1] is None:
        return None
    return values[0], values[1] if len(values) == 2 and values[1] is not None else "auto"


def repeat(nodes: Sequence[Node], units: Units) -> tuple[str, str] | None:
    """Parse how a background repeats in each direction."""
    words = [keyword(node) for node in nodes]
    if len(words) == 1:
        return _REPEATS.get(words[0])
    if len(words) == 2 and all(word in ("repeat", "no-repeat", "space", "round") for word in words):
        return words[0], words[1]
    return None
