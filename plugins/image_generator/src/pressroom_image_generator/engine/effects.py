"""Parsers for transforms, filters and clip paths."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pressroom.graphics.css import Length, angle, bounded, keyword, number, significant, split_commas
from tinycss2.ast import FunctionBlock, Node

from pressroom_image_generator.engine.css_images import Position, position
from pressroom_image_generator.engine.readers import ShadowStyle, shadows
from pressroom_image_generator.engine.values import AnyLength, Units, any_length

MAX_FUNCTIONS: Final = 16
MAX_BLUR: Final = 200.0
MAX_POINTS: Final = 500

_COMMANDS: Final = re.compile(r"\s*[Mm][MmLlHhVvCcSsQqTtAaZz0-9eE+\-.,\s]*\Z")
"""Characters allowed in path commands (SVG 1.1, section 8.3)."""

Matrix = tuple[float, float, float, float, float, float]


_ZERO: Final = Length()
_MIDDLE: Final[Position] = (Length(part=0.5), Length(part=0.5))


@dataclass(frozen=True, slots=True)
class Transform:
    """A matrix applied after a translation that can depend on the box's size."""

    matrix: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    x: AnyLength = _ZERO
    y: AnyLength = _ZERO


@dataclass(frozen=True, slots=True)
class FilterFunction:
    """A filter function and its amount; a drop shadow has a `shadow` instead."""

    name: str
    amount: float = 0.0
    shadow: ShadowStyle | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """A basic shape: its lengths in CSS order, points for a polygon, commands for a path."""

    name: str
    lengths: tuple[AnyLength | str, ...] = ()
    centre: Position = _MIDDLE
    points: tuple[Position, ...] = ()
    radii: tuple[AnyLength, ...] = ()
    even_odd: bool = False
    commands: str = ""


def transform(nodes: Sequence[Node], units: Units) -> tuple[Transform, ...] | None:
    """Parse a list of 2D transforms."""
    if len(nodes) == 1 and keyword(nodes[0]) == "none":
        return ()
    results = [_transform(node, units) if isinstance(node, FunctionBlock) else None for node in nodes[:MAX_FUNCTIONS]]
    transforms = tuple(result for result in results if result is not None)
    return transforms if len(transforms) == len(results) else None


def translation(nodes: Sequence[Node], units: Units) -> tuple[Transform, ...] | None:
    """Parse the `translate` property (CSS Transforms 2, section 5)."""
    if len(nodes) == 1 and keyword(nodes[0]) == "none":
        return ()
    lengths = [any_length(node) for node in nodes]
    result = _translation("translate" if len(lengths) < 3 else "translate3d", lengths)
    return None if result is None else (result,)


def rotation(nodes: Sequence[Node], units: Units) -> tuple[Transform, ...] | None:
    """Parse the `rotate` property, about the z axis only."""
    words = [keyword(node) for node in nodes]
    if words == ["none"]:
        return ()
    angle_nodes = [node for node in nodes if keyword(node) != "z"]
    turn = angle(angle_nodes[0]) if len(angle_nodes) == 1 and len(nodes) <= 2 else None
    return None if turn is None else (_turned(turn),)


def scaling(nodes: Sequence[Node], units: Units) -> tuple[Transform, ...] | None:
    """Parse the `scale` property."""
    if len(nodes) == 1 and keyword(nodes[0]) == "none":
        return ()
    result = _numbers("scale" if len(nodes) < 3 else "scale3d", [_factor(node) for node in nodes])
    return None if result is None else (result,)


def _turned(degrees: float) -> Transform:
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    return Transform((cosine, sine, -sine, cosine, 0, 0))


def _transform(block: FunctionBlock, units: Units) -> Transform | None:
    parts = split_commas(block.arguments)
    if any(len(part) != 1 for part in parts):
        return None
    arguments = [part[0] for part in parts]
    name = block.lower_name
    if name.startswith("translate"):
        return _translation(name, [any_length(node) for node in arguments])
    if name.startswith("rotate"):
        turn = angle(arguments[-1])
        if turn is None or name not in ("rotate", "rotatez") or len(arguments) != 1:
            return None
        return _turned(turn)
    if name.startswith("skew"):
        return _skew(name, [angle(node) for node in arguments])
    result = _numbers(name, [_factor(node) for node in arguments])
    if name != "matrix" or result is None:
        return result
    a, b, c, d, e, f = result.matrix
    return Transform((a, b, c, d, e * units.density, f * units.density))


def _factor(node: Node) -> float | None:
    return bounded(node.value / 100) if node.type == "percentage" else number(node)


def _translation(name: str, lengths: list[AnyLength | None]) -> Transform | None:
    if any(value is None for value in lengths):
        return None
    valid = [value for value in lengths if value is not None]
    match name, len(valid):
        case (("translate" | "translatex"), 1):
            return Transform(x=valid[0])
        case "translatey", 1:
            return Transform(y=valid[0])
        case ("translate", 2) | ("translate3d", 3):
            return Transform(x=valid[0], y=valid[1])
    return None


def _skew(name: str, angles: list[float | None]) -> Transform | None:
    if any(value is None for value in angles):
        return None
    tangents = [math.tan(math.radians(value)) for value in angles if value is not None]
    match name, len(tangents):
        case (("skew" | "skewx"), 1):
            return Transform((1, 0, tangents[0], 1, 0, 0))
        case "skewy", 1:
            return Transform((1, tangents[0], 0, 1, 0, 0))
        case "skew", 2:
            return Transform((1, tangents[1], tangents[0], 1, 0, 0))
    return None


def _numbers(name: str, values: list[float | None]) -> Transform | None:
    if any(value is None for value in values):
        return None
    valid = [value for value in values if value is not None]
    match name, len(valid):
        case "scale", 1:
            return Transform((valid[0], 0, 0, valid[0], 0, 0))
        case ("scale", 2) | ("scale3d", 3):
            return Transform((valid[0], 0, 0, valid[1], 0, 0))
        case "scalex", 1:
            return Transform((valid[0], 0, 0, 1, 0, 0))
        case "scaley", 1:
            return Transform((1, 0, 0, valid[0], 0, 0))
        case "matrix", 6:
            a, b, c, d, e, f = valid
            return Transform((a, b, c, d, e, f))
    return None


_AMOUNTS: Final = frozenset(
    {"brightness", "contrast", "grayscale", "saturate", "sepia", "invert", "opacity", "blur", "hue-rotate"}
)


def filters(nodes: Sequence[Node], units: Units) -> tuple[FilterFunction, ...] | None:
    """Parse a list of filters."""
    if len(nodes) == 1 and keyword(nodes[0]) == "none":
        return ()
    results = [_filter(node, units) if isinstance(node, FunctionBlock) else None for node in nodes[:MAX_FUNCTIONS]]
    functions = tuple(result for result in results if result is not None)
    return functions if len(functions) == len(results) else None


def _filter(block: FunctionBlock, units: Units) -> FilterFunction | None:
    arguments = significant(block.arguments)
    name = block.lower_name
    if name == "drop-shadow":
        parsed = shadows(spread=False)(arguments, units) if arguments else None
        return FilterFunction(name, shadow=parsed[0]) if parsed else None
    if name not in _AMOUNTS or len(arguments) > 1:
        return None
    if name == "blur":
        length = any_length(arguments[0]) if arguments else Length()
        if not isinstance(length, Length) or length.part or length.pixels < 0:
            return None
        return FilterFunction(name, min(length.pixels, MAX_BLUR * units.density))
    if name == "hue-rotate":
        turn = angle(arguments[0]) if arguments else 0.0
        return None if turn is None else FilterFunction(name, turn)
    if not arguments:
        return FilterFunction(name, 1.0)
    amount = _factor(arguments[0])
    if amount is None or not amount >= 0:
        return None
    maximum = 1.0 if name in ("grayscale", "sepia", "invert", "opacity") else 100.0
    return FilterFunction(name, min(amount, maximum))


def clip_path(nodes: Sequence[Node], units: Units) -> Shape | None:
    """Parse a basic shape; `none` is a shape with an empty name."""
    if len(nodes) == 1 and keyword(nodes[0]) == "none":
        return Shape("")
    if len(nodes) != 1 or not isinstance(nodes[0], FunctionBlock):
        return None
    block = nodes[0]
    match block.lower_name:
        case "circle" | "ellipse":
            return _round_shape(block, units)
        case "inset":
            return _inset(block)
        case "polygon":
            return _polygon(block)
        case "path":
            return _path(block)
    return None


def _path(block: FunctionBlock) -> Shape | None:
    parts = split_commas(block.arguments)
    rule = keyword(parts[0][0]) if len(parts) == 2 and len(parts[0]) == 1 else "nonzero"
    commands = parts[-1][0].value if len(parts[-1]) == 1 and parts[-1][0].type == "string" else ""
    if len(parts) > 2 or rule not in ("evenodd", "nonzero") or not _COMMANDS.match(commands):
        return None
    return Shape("path", even_odd=rule == "evenodd", commands=commands)


def _round_shape(block: FunctionBlock, units: Units) -> Shape | None:
    arguments = significant(block.arguments)
    at = next((index for index, node in enumerate(arguments) if keyword(node) == "at"), len(arguments))
    centre = position(arguments[at + 1 :], units) if at < len(arguments) else (Length(part=0.5), Length(part=0.5))
    radii = [keyword(node) or any_length(node) for node in arguments[:at]]
    expected = 1 if block.lower_name == "circle" else 2
    if centre is None or len(radii) not in (0, expected):
        return None
    valid = [value for value in radii if value is not None and (not isinstance(value, str) or value.endswith("-side"))]
    if len(valid) != len(radii):
        return None
    return Shape(block.lower_name, tuple(valid) or ("closest-side",) * expected, centre)


def _inset(block: FunctionBlock) -> Shape | None:
    arguments = significant(block.arguments)
    rounded = next((index for index, node in enumerate(arguments) if keyword(node) == "round"), len(arguments))
    sides = four([any_length(node) for node in arguments[:rounded]])
    radii = four([any_length(node) for node in arguments[rounded + 1 :]]) if rounded < len(arguments) else ()
    return None if sides is None or radii is None else Shape("inset", sides, radii=radii)


def four(values: Sequence[AnyLength | None]) -> tuple[AnyLength, ...] | None:
    """Expand one to four values to the four sides; `None` if one is invalid."""
    valid = [value for value in values if value is not None]
    if not 1 <= len(valid) <= 4 or len(valid) != len(values):
        return None
    top, right, bottom, left = {
        1: valid * 4,
        2: valid * 2,
        3: [*valid, *valid[1:2]],
        4: valid,
    }[len(valid)]
    return top, right, bottom, left


def _polygon(block: FunctionBlock) -> Shape | None:
    parts = split_commas(block.arguments)
    even_odd = False
    if parts and len(parts[0]) == 1 and keyword(parts[0][0]) in ("evenodd", "nonzero"):
        even_odd = keyword(parts[0][0]) == "evenodd"
        parts = parts[1:]
    points: list[Position] = []
    for part in parts[:MAX_POINTS]:
        if len(part) != 2:
            return None
        x, y = any_length(part[0]), any_length(part[1])
        if x is None or y is None:
            return None
        points.append((x, y))
    return Shape("polygon", points=tuple(points), even_odd=even_odd) if len(points) >= 3 else None
