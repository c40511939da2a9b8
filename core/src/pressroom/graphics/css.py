"""Shared parts of the CSS value parsers: component values, lengths, angles, positions, and error positions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import tinycss2
from tinycss2.ast import DimensionToken, FunctionBlock, Node, NumberToken, PercentageToken

from pressroom.errors import InvalidStyle
from pressroom.validation.echo import quoted

MAX_VALUE_LENGTH: Final = 20_000
"""Maximum number of characters of a value."""

MAX_NESTING: Final = 32
"""Maximum nesting depth of brackets."""

MAX_NUMBER: Final = 1e6
"""Limit of pixels and degrees. Larger values cannot be seen, and would overflow later."""

_DEGREES: Final = {"deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0}
_PIXELS: Final = {"px": 1.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54, "pt": 96 / 72, "pc": 16.0}


@dataclass(frozen=True, slots=True)
class Length:
    """A number of pixels plus a fraction of a length that is resolved later: 1 is 100 %."""

    pixels: float = 0.0
    part: float = 0.0

    def of(self, total: float) -> float:
        """Return the length in pixels if 100 % is `total` pixels."""
        return self.pixels + self.part * total


def component_values(text: str) -> list[Node]:
    """Parse a text into component values without comments. Raises `InvalidStyle` if it is malformed."""
    if len(text) > MAX_VALUE_LENGTH:
        raise InvalidStyle(f"the value has {len(text)} characters, at most {MAX_VALUE_LENGTH} are allowed", 1)
    depth = 0
    for position, character in enumerate(text, 1):
        depth += (character in "([{") - (character in ")]}")
        if depth > MAX_NESTING:
            raise InvalidStyle(f"more than {MAX_NESTING} brackets are nested", position)
    nodes: list[Node] = tinycss2.parse_component_value_list(text, skip_comments=True)
    _refuse_broken(nodes)
    return nodes


def _refuse_broken(nodes: Iterable[Node]) -> None:
    for node in nodes:
        if node.type == "error":
            raise InvalidStyle(str(node.message), position_of(node))
        if node.type == "url" or (node.type == "function" and node.lower_name in ("url", "src", "image-set", "image")):
            raise InvalidStyle("images are not allowed here", position_of(node))
        _refuse_broken(getattr(node, "arguments", None) or getattr(node, "content", None) or ())


def one_value(text: str, description: str) -> Node:
    """Return the only component value of a text. Raises `InvalidStyle` unless there is exactly one."""
    nodes = significant(component_values(text))
    if len(nodes) == 1:
        return nodes[0]
    if not nodes:
        raise InvalidStyle(f"must be {description}, it is empty", 1)
    raise InvalidStyle(f"must be {description} alone; {quoted_node(nodes[1])} is too much", position_of(nodes[1]))


def significant(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes without white space and comments."""
    return [node for node in nodes if node.type not in ("whitespace", "comment")]


def split_commas(nodes: Iterable[Node]) -> list[list[Node]]:
    """Split a list of nodes at its commas, and drop white space."""
    parts: list[list[Node]] = [[]]
    for node in significant(nodes):
        if node.type == "literal" and node.value == ",":
            parts.append([])
        else:
            parts[-1].append(node)
    return parts


def position_of(node: Node) -> int:
    """Return the position of a node's first character, counted from 1; always 1 after the first line."""
    return int(node.source_column) if node.source_line == 1 else 1


def quoted_node(node: Node) -> str:
    """Return a node as quoted in messages."""
    return quoted(tinycss2.serialize([node]))


def keyword(node: Node) -> str:
    """Return an identifier in lower case, or an empty string for other nodes."""
    return str(node.lower_value) if node.type == "ident" else ""


def function(node: Node) -> FunctionBlock | None:
    """Return the node if it is a function, otherwise `None`."""
    return node if isinstance(node, FunctionBlock) else None


def number(node: Node) -> float | None:
    """Return a plain number, limited to `MAX_NUMBER`, or `None` for other nodes."""
    return bounded(float(node.value)) if isinstance(node, NumberToken) else None


def length(node: Node) -> Length | None:
    """Return a length in absolute units or percent, or `None` for other nodes. A plain 0 is a length."""
    match node:
        case PercentageToken():
            return Length(part=bounded(node.value / 100))
        case NumberToken() if node.value == 0:
            return Length()
        case DimensionToken() if node.lower_unit in _PIXELS:
            return Length(pixels=bounded(node.value * _PIXELS[node.lower_unit]))
    return None


def angle(node: Node) -> float | None:
    """Return an angle in degrees, or `None` for other nodes. A plain 0 is an angle."""
    match node:
        case NumberToken() if node.value == 0:
            return 0.0
        case DimensionToken() if node.lower_unit in _DEGREES:
            return bounded(node.value * _DEGREES[node.lower_unit])
    return None


def bounded(value: float) -> float:
    """Return a number that is safe for later arithmetic: finite, and within ± `MAX_NUMBER`."""
    return min(MAX_NUMBER, max(-MAX_NUMBER, value)) if math.isfinite(value) else math.copysign(MAX_NUMBER, value)


_EDGES: Final = {"left": ("x", 0.0), "right": ("x", 1.0), "top": ("y", 0.0), "bottom": ("y", 1.0)}


def position(nodes: Sequence[Node]) -> tuple[Length, Length] | None:
    """Return a `<position>` of one, two or four values (CSS Values 4, section 9), or `None` if it is invalid."""
    if len(nodes) == 4:
        return _from_edges(nodes)
    if not 1 <= len(nodes) <= 2:
        return None
    axes: list[tuple[Literal["x", "y", ""], Length]] = []
    for node in nodes:
        if (name := keyword(node)) in _EDGES:
            axis, part = _EDGES[name]
            axes.append(("x" if axis == "x" else "y", Length(part=part)))
        elif name == "center":
            axes.append(("", Length(part=0.5)))
        elif (parsed := length(node)) is not None:
            axes.append(("", parsed))
        else:
            return None
    if len(axes) == 1:
        axes.append(("", Length(part=0.5)))
    (first, first_length), (second, second_length) = axes
    swapped = first == "y" or second == "x"
    if swapped and (first == "x" or second == "y" or any(keyword(node) == "" for node in nodes[1:])):
        return None
    if first and first == second:
        return None
    return (second_length, first_length) if swapped else (first_length, second_length)


def _from_edges(nodes: Sequence[Node]) -> tuple[Length, Length] | None:
    lengths: dict[str, Length] = {}
    for edge, offset in (nodes[:2], nodes[2:]):
        parsed = length(offset)
        if keyword(edge) not in _EDGES or parsed is None:
            return None
        axis, part = _EDGES[keyword(edge)]
        lengths[axis] = Length(-parsed.pixels, 1 - parsed.part) if part else parsed
    return (lengths["x"], lengths["y"]) if len(lengths) == 2 else None
