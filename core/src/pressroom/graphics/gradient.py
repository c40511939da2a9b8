"""CSS gradients (CSS Images 4, section 3), resolved for a box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from tinycss2.ast import FunctionBlock, Node

from pressroom.errors import InvalidStyle
from pressroom.graphics.color import BLACK, Color, color_of, color_or_none
from pressroom.graphics.css import (
    Length,
    angle,
    function,
    keyword,
    length,
    one_value,
    position,
    position_of,
    quoted_node,
    split_commas,
)

__all__ = [
    "ConicGradient",
    "Gradient",
    "LinearGradient",
    "Paint",
    "RadialGradient",
    "Stop",
    "parse_paint",
]

MAX_STOPS: Final = 256
"""Maximum number of stops of a gradient."""

Shape = Literal["circle", "ellipse"]
Extent = Literal["closest-side", "farthest-side", "closest-corner", "farthest-corner"]

_CENTRE: Final = (Length(part=0.5), Length(part=0.5))


@dataclass(frozen=True, slots=True)
class Stop:
    """A colour at a position on the gradient line. If `at` is `None`, the position follows from neighbouring stops.

    A stop without a colour is a hint: the midpoint of the transition between its neighbours.
    """

    color: Color | None
    at: Length | None


@dataclass(frozen=True, slots=True)
class LinearGradient:
    """`degrees` is the direction, 0 upwards and clockwise. `corner` overrides it with the signs of x and y."""

    stops: tuple[Stop, ...]
    degrees: float = 180.0
    corner: tuple[int, int] | None = None
    repeating: bool = False


@dataclass(frozen=True, slots=True)
class RadialGradient:
    """`radii`, if set, override `extent`."""

    stops: tuple[Stop, ...]
    shape: Shape = "ellipse"
    extent: Extent = "farthest-corner"
    radii: tuple[Length, Length] | None = None
    centre: tuple[Length, Length] = _CENTRE
    repeating: bool = False


@dataclass(frozen=True, slots=True)
class ConicGradient:
    """`start` is in degrees, 0 upwards and clockwise. Stop positions are fractions of a full turn."""

    stops: tuple[Stop, ...]
    start: float = 0.0
    centre: tuple[Length, Length] = _CENTRE
    repeating: bool = False


Gradient = LinearGradient | RadialGradient | ConicGradient
Paint = Color | LinearGradient | RadialGradient | ConicGradient


def parse_paint(text: str, current: Color = BLACK) -> Paint:
    """Parse a CSS colour or gradient.

    Raises:
        InvalidStyle: the text is neither; the message describes the error and its position.
    """
    node = one_value(text, "a colour or a gradient")
    color = color_or_none(node, current)
    if color is not None:
        return color
    block = function(node)
    if block is None or not block.lower_name.endswith("gradient"):
        raise InvalidStyle(f"{quoted_node(node)} is neither a colour nor a gradient", position_of(node))
    return gradient_of(block, current)


def gradient_of(block: FunctionBlock, current: Color = BLACK) -> Gradient:
    """Return the gradient of a parsed function. Raises `InvalidStyle` if it is not one."""
    name = block.lower_name.removeprefix("repeating-")
    repeating = name != block.lower_name
    parts = split_commas(block.arguments)
    gradient: Gradient
    match name:
        case "linear-gradient":
            gradient, parts = _linear(parts)
        case "radial-gradient":
            gradient, parts = _radial(parts)
        case "conic-gradient":
            gradient, parts = _conic(parts)
        case _:
            raise InvalidStyle(
                f"{quoted_name(block)} is not a gradient; use linear-, radial- or conic-gradient", position_of(block)
            )
    stops = _stops(block, parts, current, turning=name == "conic-gradient")
    return replace(gradient, stops=stops, repeating=repeating)


def quoted_name(block: FunctionBlock) -> str:
    """Return the name of a function as quoted in messages."""
    return f'"{block.lower_name[:40]}"' if block.lower_name.isascii() else "the function"


def _linear(parts: list[list[Node]]) -> tuple[LinearGradient, list[list[Node]]]:
    first = parts[0]
    if len(first) == 1 and (degrees := angle(first[0])) is not None:
        return LinearGradient((), degrees=degrees), parts[1:]
    if not first or keyword(first[0]) != "to":
        return LinearGradient(()), parts
    sides = [keyword(node) for node in first[1:]]
    horizontal = [side for side in sides if side in ("left", "right")]
    vertical = [side for side in sides if side in ("top", "bottom")]
    if not 1 <= len(sides) <= 2 or len(horizontal) > 1 or len(vertical) > 1 or len(horizontal + vertical) != len(sides):
        raise InvalidStyle(
            '"to" must be followed by left, right, top, bottom or a corner such as "top right"', position_of(first[0])
        )
    across = {"left": -1, "right": 1}.get(horizontal[0], 0) if horizontal else 0
    down = {"top": -1, "bottom": 1}.get(vertical[0], 0) if vertical else 0
    if across and down:
        return LinearGradient((), corner=(across, down)), parts[1:]
    return LinearGradient((), degrees={(0, -1): 0.0, (1, 0): 90.0, (0, 1): 180.0, (-1, 0): 270.0}[across, down]), parts[
        1:
    ]


_EXTENTS: Final[dict[str, Extent]] = {
    "closest-side": "closest-side",
    "farthest-side": "farthest-side",
    "closest-corner": "closest-corner",
    "farthest-corner": "farthest-corner",
}


def _radial(parts: list[list[Node]]) -> tuple[RadialGradient, list[list[Node]]]:
    first = parts[0]
    if not first or color_or_none(first[0]) is not None:
        return RadialGradient(()), parts
    shape_nodes, centre = _at(first)
    shape: Shape | None = None
    extent: Extent | None = None
    sizes: list[Length] = []
    for node in shape_nodes:
        name = keyword(node)
        size = length(node)
        if name in ("circle", "ellipse") and shape is None:
            shape = "circle" if name == "circle" else "ellipse"
        elif name in _EXTENTS and extent is None and not sizes:
            extent = _EXTENTS[name]
        elif size is not None and len(sizes) < 2 and extent is None:
            sizes.append(size)
        else:
            raise InvalidStyle(f"{quoted_node(node)} is not a shape or size of a radial gradient", position_of(node))
    if len(sizes) == 1 and (shape == "ellipse" or sizes[0].part):
        raise InvalidStyle("a circle takes one length in pixels, an ellipse takes two", position_of(first[0]))
    if len(sizes) == 2 and shape == "circle":
        raise InvalidStyle("a circle takes one length in pixels, an ellipse takes two", position_of(first[0]))
    if any(size.pixels < 0 or size.part < 0 for size in sizes):
        raise InvalidStyle("a radius must not be negative", position_of(first[0]))
    radii = (sizes[0], sizes[-1]) if sizes else None
    return (
        RadialGradient(
            (),
            shape=shape or ("circle" if len(sizes) == 1 else "ellipse"),
            extent=extent or "farthest-corner",
            radii=radii,
            centre=centre,
        ),
        parts[1:],
    )


def _conic(parts: list[list[Node]]) -> tuple[ConicGradient, list[list[Node]]]:
    first = parts[0]
    if not first or keyword(first[0]) not in ("from", "at"):
        return ConicGradient(()), parts
    before, centre = _at(first)
    start: float | None = 0.0
    if before:
        start = angle(before[1]) if len(before) == 2 and keyword(before[0]) == "from" else None
    if start is None:
        raise InvalidStyle('"from" must be followed by an angle such as 45deg', position_of(first[0]))
    return ConicGradient((), start=start, centre=centre), parts[1:]


def _at(nodes: Sequence[Node]) -> tuple[Sequence[Node], tuple[Length, Length]]:
    """Split nodes into those before `at`, and the position after it (the centre by default)."""
    for index, node in enumerate(nodes):
        if keyword(node) == "at":
            centre = position(nodes[index + 1 :])
            if centre is None:
                raise InvalidStyle(
                    '"at" must be followed by a position such as "top left" or "30% 40px"', position_of(node)
                )
            return nodes[:index], centre
    return nodes, _CENTRE


def _stops(block: FunctionBlock, parts: list[list[Node]], current: Color, *, turning: bool) -> tuple[Stop, ...]:
    stops: list[Stop] = []
    for part in parts:
        if not part:
            raise InvalidStyle("a colour is missing between two commas", position_of(block))
        parsed = [_stop_position(node, turning=turning) for node in part]
        if len(part) == 1 and parsed[0] is not None:
            stops.append(Stop(None, parsed[0]))
            continue
        coloured = [node for node, position in zip(part, parsed, strict=True) if position is None]
        positions = [position for position in parsed if position is not None]
        if len(coloured) != 1 or len(positions) > 2:
            odd = coloured[1] if len(coloured) > 1 else part[-1]
            raise InvalidStyle(
                f"{quoted_node(odd)} does not belong here: a stop is a colour with at most two positions",
                position_of(odd),
            )
        color = color_of(coloured[0], current)
        stops += [Stop(color, position) for position in positions] or [Stop(color, None)]
    colors = [stop for stop in stops if stop.color is not None]
    hints = [index for index, stop in enumerate(stops) if stop.color is None]
    if len(colors) < 2:
        raise InvalidStyle("a gradient needs two colours at least", position_of(block))
    if len(stops) > MAX_STOPS:
        raise InvalidStyle(f"a gradient may have {MAX_STOPS} stops, this one has {len(stops)}", position_of(block))
    if any(index in (0, len(stops) - 1) or stops[index - 1].color is None for index in hints):
        raise InvalidStyle("a position without a colour must be between two colours", position_of(block))
    return tuple(stops)


def _stop_position(node: Node, *, turning: bool) -> Length | None:
    if turning:
        degrees = angle(node)
        if degrees is not None:
            return Length(part=degrees / 360)
        parsed = length(node)
        return parsed if parsed is not None and not parsed.pixels else None
    return length(node)


@dataclass(frozen=True, slots=True)
class Ramp:
    """The colours along a gradient line, with ascending positions.

    `offsets` are fractions of the line: 0 and 1 are its ends, and positions can be outside them.
    """

    offsets: tuple[float, ...]
    colors: tuple[Color, ...]


def resolve_stops(stops: Sequence[Stop], line: float) -> Ramp:
    """Return the ramp of a gradient line of `line` pixels (CSS Images 4, section 3.5.3).

    Hints are replaced by stops with interpolated colours.
    """
    positions = _filled([_part(stop.at, line) for stop in stops])
    ramp: list[tuple[float, Color]] = []
    for index, stop in enumerate(stops):
        if stop.color is not None:
            ramp.append((positions[index], stop.color))
            continue
        before, after = stops[index - 1].color, stops[index + 1].color
        if before is not None and after is not None:
            ramp += _hinted(positions[index - 1], positions[index], positions[index + 1], before, after)
    return Ramp(tuple(position for position, _ in ramp), tuple(color for _, color in ramp))


def _part(at: Length | None, line: float) -> float | None:
    if at is None:
        return None
    return at.part + (at.pixels / line if line else math.copysign(1e9, at.pixels) if at.pixels else 0.0)


def _filled(positions: Sequence[float | None]) -> list[float]:
    ascending = list(positions)
    if ascending[0] is None:
        ascending[0] = 0.0
    if ascending[-1] is None:
        ascending[-1] = 1.0
    highest = -math.inf
    for index, offset in enumerate(ascending):
        if offset is not None:
            highest = max(highest, offset)
            ascending[index] = highest
    filled: list[float] = []
    index = 0
    while index < len(ascending):
        offset = ascending[index]
        if offset is not None:
            filled.append(offset)
            index += 1
            continue
        end = next(later for later in range(index, len(ascending)) if ascending[later] is not None)
        start, stop = filled[-1], ascending[end] or 0.0
        gaps = end - index + 1
        filled += [start + (stop - start) * step / gaps for step in range(1, gaps)]
        index = end
    return filled


_HINT_STEPS: Final = 9


def _hinted(start: float, hint: float, end: float, before: Color, after: Color) -> list[tuple[float, Color]]:
    """Return stops that approximate the curve of a hint."""
    if hint <= start:
        return [(start, after)]
    if hint >= end:
        return [(end, before)]
    middle = (hint - start) / (end - start)
    exponent = math.log(0.5) / math.log(middle)
    steps = [(step + 1) / (_HINT_STEPS + 1) for step in range(_HINT_STEPS)]
    return [(start + (end - start) * part, mixed(before, after, part**exponent)) for part in steps]


def mixed(start: Color, end: Color, part: float) -> Color:
    """Interpolate two colours in sRGB with premultiplied alpha. `part` ranges from 0 (`start`) to 1 (`end`)."""
    alpha = start.alpha + (end.alpha - start.alpha) * part
    if alpha == 0:
        return Color(0, 0, 0, 0)

    def channel(first: float, second: float) -> float:
        return (first * start.alpha * (1 - part) + second * end.alpha * part) / alpha

    return Color(channel(start.red, end.red), channel(start.green, end.green), channel(start.blue, end.blue), alpha)
