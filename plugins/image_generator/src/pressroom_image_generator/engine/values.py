"""Lengths in styles (relative units, `calc()` and similar functions, percentages resolved by layout), and edges.

Also contains helpers for the expanders of shorthands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import tinycss2
from pressroom.graphics.color import BLACK, Color
from pressroom.graphics.css import Length, bounded, length, significant
from tinycss2.ast import DimensionToken, FunctionBlock, Node, NumberToken, ParenthesesBlock, PercentageToken


class Edges(NamedTuple):
    """The widths of a frame's four sides, in pixels."""

    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    left: float = 0.0

    @property
    def across(self) -> float:
        """Sum of left and right."""
        return self.left + self.right

    @property
    def down(self) -> float:
        """Sum of top and bottom."""
        return self.top + self.bottom

    def plus(self, other: Edges) -> Edges:
        """Return the sum of both frames."""
        return Edges(self.top + other.top, self.right + other.right, self.bottom + other.bottom, self.left + other.left)


NO_EDGES: Final = Edges()


_MATH: Final = frozenset({"calc", "min", "max", "clamp"})


Operation = Literal["sum", "min", "max"]


@dataclass(frozen=True, slots=True)
class MixedLength:
    """A sum, minimum or maximum of lengths that can only be computed during layout."""

    operation: Operation
    items: tuple[Length | MixedLength, ...]

    def of(self, base: float) -> float:
        """Return the length in pixels; `base` is 100 %."""
        values = [item.of(base) for item in self.items]
        return sum(values) if self.operation == "sum" else min(values) if self.operation == "min" else max(values)


AnyLength = Length | MixedLength
Size = AnyLength | str
"""A length, or a keyword such as `auto`."""


@dataclass(frozen=True, slots=True)
class Units:
    """Values of units and `currentcolor`: device pixels in 1em, 1rem, 100vw, 100vh and 1px (`density`)."""

    em: float = 16.0
    rem: float = 16.0
    width: float = 1200.0
    height: float = 630.0
    color: Color = BLACK
    density: float = 1.0

    def pixels(self, unit: str) -> float | None:
        """Return the pixels of one relative unit, or `None` for any other unit."""
        match unit:
            case "em":
                return self.em
            case "rem":
                return self.rem
            case "ch" | "ex":
                return self.em / 2
            case "lh":
                return self.em * 1.2
            case "vw" | "dvw" | "svw" | "lvw" | "vi" | "cqw":
                return self.width / 100
            case "vh" | "dvh" | "svh" | "lvh" | "vb" | "cqh":
                return self.height / 100
            case "vmin":
                return min(self.width, self.height) / 100
            case "vmax":
                return max(self.width, self.height) / 100
        return None


def depends_on_percentage(value: object) -> bool:
    """Return whether a size depends on the base of percentages."""
    if isinstance(value, Length):
        return value.part != 0
    return isinstance(value, MixedLength) and any(depends_on_percentage(item) for item in value.items)


def absolute(nodes: Iterable[Node], units: Units) -> list[Node]:
    """Return component values with lengths in device pixels, and `calc()` evaluated as far as possible."""
    return [_absolute_node(node, units) for node in nodes]


def any_length(node: Node) -> AnyLength | None:
    """Return a length or percentage, including `calc()`, whose units are absolute."""
    if isinstance(node, FunctionBlock) and node.lower_name in _MATH:
        value = _calculated(node)
        return value if isinstance(value, (Length, MixedLength)) else None
    return length(node)


def _absolute_node(node: Node, units: Units) -> Node:
    if isinstance(node, DimensionToken):
        factor = units.pixels(node.lower_unit)
        if factor is not None:
            return _pixels(node, bounded(node.value) * factor)
        parsed = length(node) if units.density != 1 else None
        return node if parsed is None else _pixels(node, parsed.pixels * units.density)
    if isinstance(node, ParenthesesBlock):
        return ParenthesesBlock(node.source_line, node.source_column, absolute(node.content, units))
    if isinstance(node, FunctionBlock):
        block = FunctionBlock(node.source_line, node.source_column, node.name, absolute(node.arguments, units))
        return _evaluated(block) if block.lower_name in _MATH else block
    return node


def _evaluated(block: FunctionBlock) -> Node:
    value = _calculated(block)
    position = (block.source_line, block.source_column)
    if isinstance(value, float):
        return NumberToken(*position, value, int(value) if value.is_integer() else None, f"{value:g}")
    if isinstance(value, Length) and not value.part:
        return _pixels(block, value.pixels)
    if isinstance(value, Length) and not value.pixels:
        return PercentageToken(*position, value.part * 100, None, f"{value.part * 100:g}")
    return block


def _pixels(node: Node, value: float) -> Node:
    value = bounded(value)
    return DimensionToken(node.source_line, node.source_column, value, None, f"{value:g}", "px")


_Number = float | Length | MixedLength


def _calculated(block: FunctionBlock) -> _Number | None:
    parts: list[list[Node]] = [[]]
    for node in block.arguments:
        if node.type == "literal" and node.value == ",":
            parts.append([])
        elif node.type != "comment":
            parts[-1].append(node)
    values = [_sum(part) for part in parts]
    if any(value is None for value in values):
        return None
    operands = [value for value in values if value is not None]
    match block.lower_name:
        case "calc":
            return operands[0] if len(operands) == 1 else None
        case "min":
            return _extreme("min", operands)
        case "max":
            return _extreme("max", operands)
        case "clamp" if len(operands) == 3:
            upper = _extreme("min", operands[1:])
            return None if upper is None else _extreme("max", [operands[0], upper])
    return None


def _sum(nodes: Sequence[Node]) -> _Number | None:
    """Evaluate a sum of products; signs must be surrounded by white space (CSS Values 4, section 10.1)."""
    terms: list[tuple[int, list[Node]]] = [(1, [])]
    for index, node in enumerate(nodes):
        if node.type == "literal" and node.value in "+-" and 0 < index < len(nodes) - 1:
            terms.append((1 if node.value == "+" else -1, []))
        else:
            terms[-1][1].append(node)
    total: _Number | None = None
    for sign, term in terms:
        value = _product(significant(term))
        if value is None:
            return None
        signed = _scaled(value, sign)
        total = signed if total is None else _added(total, signed)
        if total is None:
            return None
    return total


def _product(nodes: Sequence[Node]) -> _Number | None:
    if not nodes or len(nodes) % 2 == 0:
        return None
    result = _operand(nodes[0])
    for operator, operand in zip(nodes[1::2], nodes[2::2], strict=True):
        value = _operand(operand)
        if result is None or value is None or operator.type != "literal":
            return None
        if operator.value == "/" and isinstance(value, float) and value:
            result = _scaled(result, 1 / value)
        elif operator.value == "*" and isinstance(value, float):
            result = _scaled(result, value)
        elif operator.value == "*" and isinstance(result, float):
            result = _scaled(value, result)
        else:
            return None
    return result


def _operand(node: Node) -> _Number | None:
    if isinstance(node, NumberToken):
        return bounded(float(node.value))
    if node.type == "() block":
        return _sum(node.content)
    if node.type == "ident" and node.lower_value in ("pi", "e"):
        return math.pi if node.lower_value == "pi" else math.e
    if isinstance(node, FunctionBlock) and node.lower_name in _MATH:
        return _calculated(node)
    return length(node)


def _scaled(value: _Number, factor: float) -> _Number:
    if isinstance(value, float):
        return bounded(value * factor)
    if isinstance(value, Length):
        return Length(bounded(value.pixels * factor), bounded(value.part * factor))
    operation = value.operation
    if factor < 0 and operation != "sum":
        operation = "max" if operation == "min" else "min"
    scaled = (_scaled(item, factor) for item in value.items)
    return MixedLength(operation, tuple(item for item in scaled if not isinstance(item, float)))


def _added(one: _Number, other: _Number) -> _Number | None:
    if isinstance(one, float) or isinstance(other, float):
        return bounded(one + other) if isinstance(one, float) and isinstance(other, float) else None
    if isinstance(one, Length) and isinstance(other, Length):
        return Length(bounded(one.pixels + other.pixels), bounded(one.part + other.part))
    return MixedLength("sum", (one, other))


def _extreme(operation: Literal["min", "max"], values: Sequence[_Number]) -> _Number | None:
    pick = min if operation == "min" else max
    numbers = [value for value in values if isinstance(value, float)]
    if len(numbers) == len(values):
        return pick(numbers)
    lengths = [value for value in values if not isinstance(value, float)]
    if len(lengths) != len(values):
        return None
    plain = [value for value in lengths if isinstance(value, Length)]
    if len(plain) == len(lengths):
        if not any(value.part for value in plain):
            return Length(pixels=pick(value.pixels for value in plain))
        if not any(value.pixels for value in plain):
            return Length(part=pick(value.part for value in plain))
    return MixedLength(operation, tuple(lengths))


Nodes = Sequence[Node]
Expanded = dict[str, Nodes]
Expander = Callable[[Nodes], Expanded | None]


@lru_cache(maxsize=128)
def tokens(text: str) -> tuple[Node, ...]:
    """Parse trusted text into component values."""
    return tuple(significant(tinycss2.parse_component_value_list(text)))


def slash(node: Node) -> bool:
    """Return whether a component value is a slash."""
    return bool(node.type == "literal" and node.value == "/")


def split_slash(nodes: Nodes) -> list[list[Node]]:
    """Split a value at its slashes."""
    parts: list[list[Node]] = [[]]
    for node in nodes:
        if slash(node):
            parts.append([])
        else:
            parts[-1].append(node)
    return parts
