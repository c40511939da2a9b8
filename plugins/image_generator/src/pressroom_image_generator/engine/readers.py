"""Parsers of property values: each takes component values and units, and returns `None` for an invalid value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeVar

from pressroom.graphics.color import Color, color_or_none
from pressroom.graphics.css import Length, bounded, keyword, number, split_commas
from tinycss2.ast import Node

from pressroom_image_generator.engine.values import AnyLength, Size, Units, any_length

T = TypeVar("T")
Reader = Callable[[Sequence[Node], Units], T | None]

MAX_FONT_SIZE: Final = 2000.0
_WEIGHTS: Final = {"normal": 400.0, "bold": 700.0, "lighter": 300.0, "bolder": 700.0}
_FONT_SIZES: Final = {
    "xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0, "xx-large": 32.0,
    "xxx-large": 48.0,
}  # fmt: skip
_FEATURE_TAG: Final = re.compile(r"[ -~]{4}\Z")
_FEATURE_WORDS: Final = {"on": 1, "off": 0}
_MAX_FEATURE_VALUE: Final = 65_535
_THICKNESSES: Final = {"thin": 1.0, "medium": 3.0, "thick": 5.0}


@dataclass(frozen=True, slots=True)
class ShadowStyle:
    """A box or text shadow. A colour of `None` means the text colour."""

    x: float
    y: float
    blur: float = 0.0
    spread: float = 0.0
    color: Color | None = None
    inset: bool = False


def keywords(*allowed: str) -> Reader[str]:
    """Return a parser for one of these keywords."""

    def read(nodes: Sequence[Node], units: Units) -> str | None:
        word = keyword(nodes[0]) if len(nodes) == 1 else " ".join(keyword(node) for node in nodes)
        return word if word in allowed else None

    return read


def size(*allowed: str, negative: bool = False) -> Reader[Size]:
    """Return a parser for a length, a percentage or one of these keywords."""

    def read(nodes: Sequence[Node], units: Units) -> Size | None:
        if len(nodes) != 1:
            return None
        if (word := keyword(nodes[0])) in allowed and word:
            return word
        value = any_length(nodes[0])
        if isinstance(value, Length) and not negative and (value.pixels < 0 or value.part < 0):
            return None if not (value.pixels and value.part) else value
        return value

    return read


def pixels(words: Mapping[str, float] = MappingProxyType({}), *, negative: bool = False) -> Reader[float]:
    """Return a parser for a length without percentages, or a keyword for one."""

    def read(nodes: Sequence[Node], units: Units) -> float | None:
        if len(nodes) != 1:
            return None
        if (word := keyword(nodes[0])) in words:
            return words[word] * units.density
        value = any_length(nodes[0])
        if not isinstance(value, Length) or value.part or (value.pixels < 0 and not negative):
            return None
        return value.pixels

    return read


thickness: Final[Reader[float]] = pixels(_THICKNESSES)


def numeric(low: float, high: float, *, percent: bool = False) -> Reader[float]:
    """Return a parser for a number, clamped to a range; with `percent`, percentages are allowed."""

    def read(nodes: Sequence[Node], units: Units) -> float | None:
        if len(nodes) != 1:
            return None
        value = number(nodes[0])
        if value is None and percent and nodes[0].type == "percentage":
            value = bounded(nodes[0].value / 100)
        return None if value is None else min(max(value, low), high)

    return read


def non_negative(nodes: Sequence[Node], units: Units) -> float | None:
    """Parse a number of 0 or more."""
    value = number(nodes[0]) if len(nodes) == 1 else None
    return value if value is not None and value >= 0 else None


def whole_number(nodes: Sequence[Node], units: Units) -> int | None:
    """Parse an integer."""
    value = number(nodes[0]) if len(nodes) == 1 else None
    return int(value) if value is not None and value.is_integer() else None


def color(nodes: Sequence[Node], units: Units) -> Color | None:
    """Parse a colour."""
    return color_or_none(nodes[0], units.color) if len(nodes) == 1 else None


def z_index(nodes: Sequence[Node], units: Units) -> int | str | None:
    """Parse `auto` or an integer."""
    return "auto" if len(nodes) == 1 and keyword(nodes[0]) == "auto" else whole_number(nodes, units)


def families(nodes: Sequence[Node], units: Units) -> tuple[str, ...] | None:
    """Parse a list of font families."""
    names: list[str] = []
    for part in split_commas(nodes):
        if len(part) == 1 and part[0].type == "string":
            names.append(part[0].value)
        elif part and all(node.type == "ident" for node in part):
            names.append(" ".join(node.value for node in part))
        else:
            return None
    return tuple(names[:16])


def font_size(nodes: Sequence[Node], units: Units) -> float | None:
    """Parse a font size; `em` and percentages refer to the parent's."""
    if len(nodes) != 1:
        return None
    word = keyword(nodes[0])
    if word in _FONT_SIZES:
        return _FONT_SIZES[word] * units.density
    max_size = MAX_FONT_SIZE * units.density
    if word in ("smaller", "larger"):
        return min(max_size, units.em * (1.2 if word == "larger" else 1 / 1.2))
    value = any_length(nodes[0])
    if value is None or (size := value.of(units.em)) < 0:
        return None
    return min(size, max_size)


def font_weight(nodes: Sequence[Node], units: Units) -> float | None:
    """Parse a font weight."""
    if len(nodes) != 1:
        return None
    if (word := keyword(nodes[0])) in _WEIGHTS:
        return _WEIGHTS[word]
    value = number(nodes[0])
    return value if value is not None and 1 <= value <= 1000 else None


def line_height(nodes: Sequence[Node], units: Units) -> float | Length | str | None:
    """Parse a line height: a factor for each element's own font size, pixels, or `normal`."""
    if len(nodes) != 1:
        return None
    if keyword(nodes[0]) == "normal":
        return "normal"
    factor = number(nodes[0])
    if factor is not None:
        return factor if factor >= 0 else None
    value = any_length(nodes[0])
    return None if value is None or value.of(units.em) < 0 else Length(value.of(units.em))


def spacing(nodes: Sequence[Node], units: Units) -> float | None:
    """Parse letter or word spacing."""
    if len(nodes) != 1:
        return None
    if keyword(nodes[0]) == "normal":
        return 0.0
    value = any_length(nodes[0])
    max_spacing = MAX_FONT_SIZE * units.density
    return None if value is None else min(max(value.of(units.em), -max_spacing), max_spacing)


def aspect_ratio(nodes: Sequence[Node], units: Units) -> float | str | None:
    """Parse a ratio of width to height; `auto` becomes 0."""
    ratio_nodes = [node for node in nodes if keyword(node) != "auto"]
    if not ratio_nodes:
        return 0.0
    numbers = [number(node) for node in ratio_nodes if node.type == "number"]
    divided = len(ratio_nodes) == 3 and ratio_nodes[1].type == "literal" and ratio_nodes[1].value == "/"
    if len(numbers) == 1 and len(ratio_nodes) == 1 and numbers[0] is not None:
        return numbers[0] if numbers[0] > 0 else None
    if len(numbers) == 2 and divided and numbers[0] and numbers[1] and min(numbers[0], numbers[1]) > 0:
        return numbers[0] / numbers[1]
    return None


def radius(nodes: Sequence[Node], units: Units) -> tuple[AnyLength, AnyLength] | None:
    """Parse the two radii of one corner."""
    values = [any_length(node) for node in nodes]
    if not 1 <= len(values) <= 2 or values[0] is None or values[-1] is None:
        return None
    return values[0], values[-1]


def shadows(*, spread: bool) -> Reader[tuple[ShadowStyle, ...]]:
    """Return a parser for box shadows (with `spread`, which also allows `inset`) or text shadows."""

    def read(nodes: Sequence[Node], units: Units) -> tuple[ShadowStyle, ...] | None:
        if len(nodes) == 1 and keyword(nodes[0]) == "none":
            return ()
        results = [_shadow(part, units, spread=spread) for part in split_commas(nodes)]
        return (
            None
            if any(shadow is None for shadow in results)
            else tuple(shadow for shadow in results[:32] if shadow is not None)
        )

    return read


def _shadow(nodes: Sequence[Node], units: Units, *, spread: bool) -> ShadowStyle | None:
    lengths: list[float] = []
    tint: Color | None = None
    inset = False
    for node in nodes:
        value = any_length(node)
        if isinstance(value, Length) and not value.part:
            lengths.append(value.pixels)
        elif keyword(node) == "inset" and spread and not inset:
            inset = True
        elif tint is None and (node_color := color_or_none(node, units.color)) is not None:
            tint = node_color
        else:
            return None
    if not 2 <= len(lengths) <= (4 if spread else 3) or (len(lengths) > 2 and lengths[2] < 0):
        return None
    x, y, blur, grown = (*lengths, 0.0, 0.0)[:4]
    return ShadowStyle(x, y, blur, grown, tint, inset)


def text_lines(nodes: Sequence[Node], units: Units) -> tuple[str, ...] | None:
    """Parse the lines of a text decoration."""
    words = tuple(keyword(node) for node in nodes)
    if words == ("none",):
        return ()
    return words if words and all(word in ("underline", "overline", "line-through") for word in words) else None


def line_clamp(nodes: Sequence[Node], units: Units) -> int | None:
    """Parse the maximum number of lines; `none` becomes 0."""
    if len(nodes) == 1 and keyword(nodes[0]) == "none":
        return 0
    # Satori allows a block ellipsis after the number; it is ignored.
    value = whole_number(nodes[:1], units)
    return value if value is not None and value >= 1 else None


def font_features(nodes: Sequence[Node], units: Units) -> tuple[tuple[str, int], ...] | None:
    """Parse OpenType features and their values (CSS Fonts 4, section 6.12)."""
    if len(nodes) == 1 and keyword(nodes[0]) == "normal":
        return ()
    features: list[tuple[str, int]] = []
    for part in split_commas(nodes)[:16]:
        if not 1 <= len(part) <= 2 or part[0].type != "string" or not _FEATURE_TAG.match(part[0].value):
            return None
        value = _FEATURE_WORDS.get(keyword(part[1]), whole_number(part[1:], units)) if len(part) == 2 else 1
        if value is None or not 0 <= value <= _MAX_FEATURE_VALUE:
            return None
        features.append((str(part[0].value), value))
    return tuple(features)
