"""CSS colours (CSS Color Module Level 4), converted to sRGB."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import tinycss2.color4
from tinycss2.ast import Node

from pressroom.errors import InvalidStyle
from pressroom.graphics.css import one_value, position_of, quoted_node

__all__ = [
    "BLACK",
    "TRANSPARENT",
    "WHITE",
    "Color",
    "contrast",
    "parse_color",
]

_D50_TO_D65: Final = (
    (0.955473421488075, -0.02309845494876471, 0.06325924320057072),
    (-0.0283697093338637, 1.0099953980813041, 0.021041441191917323),
    (0.012314014864481998, -0.020507649298898964, 1.330365926242124),
)
"""Bradford adaptation of XYZ (CSS Color 4, section 18)."""

_XYZ_TO_LINEAR_SRGB: Final = (
    (12831 / 3959, -329 / 214, -1974 / 3959),
    (-851781 / 878810, 1648619 / 878810, 36519 / 878810),
    (705 / 12673, -2585 / 12673, 705 / 667),
)
"""XYZ under D65 to linear sRGB (CSS Color 4, section 18)."""

_P3_TO_XYZ: Final = (
    (608311 / 1250200, 189793 / 714400, 198249 / 1000160),
    (35783 / 156275, 247089 / 357200, 198249 / 2500400),
    (0.0, 32229 / 714400, 5220557 / 5000800),
)
"""Linear Display P3 to XYZ under D65 (CSS Color 4, section 18)."""

_LINEAR_SRGB_TO_LMS: Final = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_LMS_TO_OKLAB: Final = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
"""From linear sRGB to Oklab, with a cube root between the two (Ottosson, A perceptual color space, 2020)."""

_LEGACY_SPACES: Final = frozenset({"srgb", "hsl", "hwb"})

_Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Color:
    """A colour in sRGB. Channels range from 0 to 1, and `alpha` is not premultiplied.

    `legacy` is whether it was written in a legacy syntax: gradients between legacy colours are interpolated in sRGB,
    all others in Oklab (CSS Color 4, section 12.2).
    """

    red: float
    green: float
    blue: float
    alpha: float = 1.0
    legacy: bool = True

    @property
    def rgba8(self) -> tuple[int, int, int, int]:
        """The channels as integers from 0 to 255, rounded half up as in browsers."""
        return _byte(self.red), _byte(self.green), _byte(self.blue), _byte(self.alpha)

    @property
    def opaque(self) -> bool:
        """Whether the colour is fully opaque."""
        return self.alpha >= 1

    def with_alpha(self, factor: float) -> Color:
        """Return the colour with its alpha multiplied by a factor from 0 to 1."""
        return replace(self, alpha=self.alpha * factor)

    @property
    def oklab(self) -> tuple[float, float, float]:
        """The Oklab lightness from 0 to 1, and the axes a and b."""
        linear = (_linear(self.red), _linear(self.green), _linear(self.blue))
        return _multiplied(_LMS_TO_OKLAB, tuple(math.cbrt(cone) for cone in _multiplied(_LINEAR_SRGB_TO_LMS, linear)))

    @property
    def luminance(self) -> float:
        """The relative luminance from 0 to 1, ignoring alpha (WCAG 2.2)."""
        red, green, blue = (_linear(channel) for channel in (self.red, self.green, self.blue))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue


BLACK: Final = Color(0, 0, 0)
WHITE: Final = Color(1, 1, 1)
TRANSPARENT: Final = Color(0, 0, 0, 0)


def contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio of two opaque colours, from 1 to 21 (WCAG 2.2)."""
    lighter, darker = sorted((one.luminance, other.luminance), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def parse_color(text: str, current: Color = BLACK) -> Color:
    """Parse a CSS colour.

    Accepts names, hex digits, `rgb()`, `hsl()`, `hwb()`, `lab()`, `lch()`, `oklab()`, `oklch()` and `color()`. Colours
    outside sRGB are clipped, as browsers do on an sRGB screen.

    Args:
        text: the CSS value.
        current: the value of `currentcolor`.

    Raises:
        InvalidStyle: the text is not a colour; the message describes the error and its position.
    """
    return color_of(one_value(text, "a colour"), current)


def color_of(node: Node, current: Color = BLACK) -> Color:
    """Return the colour of a parsed CSS component value. Raises `InvalidStyle` if it is not a colour."""
    color = color_or_none(node, current)
    if color is None:
        raise InvalidStyle(f"{quoted_node(node)} is not a colour", position_of(node))
    return color


def color_or_none(node: Node, current: Color = BLACK) -> Color | None:
    """Return the colour of a parsed CSS component value, or `None` if it is not a colour."""
    try:
        parsed: Any = tinycss2.color4.parse_color(node)
    except (ValueError, TypeError, AttributeError, IndexError, ArithmeticError):
        # The parser raises these for functions with too few or unexpected arguments.
        return None
    if parsed is None:
        return None
    if isinstance(parsed, str):
        return current
    try:
        red, green, blue = _to_srgb(parsed)
    except (NotImplementedError, OverflowError, ValueError):
        return None
    legacy = parsed.space in _LEGACY_SPACES
    return Color(_clipped(red), _clipped(green), _clipped(blue), _clipped(parsed.alpha), legacy)


def _to_srgb(color: Any) -> _Vector:
    match color.space:
        case "srgb" | "hsl" | "hwb":
            red, green, blue = color.to("srgb").coordinates
            return red, green, blue
        case "srgb-linear":
            red, green, blue = color.to("srgb-linear").coordinates
            return _encoded(red), _encoded(green), _encoded(blue)
        case "lab" | "lch" | "xyz-d50":
            xyz = _multiplied(_D50_TO_D65, color.to("xyz-d50").coordinates)
        case "display-p3":
            red, green, blue = color.to("display-p3").coordinates
            xyz = _multiplied(_P3_TO_XYZ, (_linear(red), _linear(green), _linear(blue)))
        case "oklab" | "oklch" | "xyz-d65" | "xyz":
            xyz = color.to("xyz-d65").coordinates
        case _:
            raise ValueError(f"colours of the space {color.space} are not known")
    red, green, blue = _multiplied(_XYZ_TO_LINEAR_SRGB, xyz)
    return _encoded(red), _encoded(green), _encoded(blue)


def _multiplied(matrix: tuple[_Vector, _Vector, _Vector], vector: Any) -> _Vector:
    x, y, z = vector
    first, second, third = (row[0] * x + row[1] * y + row[2] * z for row in matrix)
    return first, second, third


def _encoded(linear: float) -> float:
    """Encode a linear channel with the transfer function of sRGB."""
    if linear <= 0.0031308:
        return 12.92 * linear
    return float(1.055 * linear ** (1 / 2.4) - 0.055)


def _linear(encoded: float) -> float:
    if encoded <= 0.04045:
        return encoded / 12.92
    return float(((encoded + 0.055) / 1.055) ** 2.4)


def _clipped(value: float) -> float:
    # NaN compares false with everything, so it becomes 0.
    return min(1.0, value) if value > 0 else 0.0


def _byte(value: float) -> int:
    return int(value * 255 + 0.5)
