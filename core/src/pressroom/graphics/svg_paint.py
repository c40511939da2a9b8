"""Colours and gradients as SVG (SVG 2, section 14)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pressroom.graphics.color import Color
from pressroom.graphics.gradient import LinearGradient, RadialGradient, Ramp, resolve_stops
from pressroom.graphics.painting import direction_of, radii_of, ramp_colors

_STEPS: Final = 16
"""Number of steps that approximate a transition which SVG would interpolate differently from CSS."""

_TINY: Final = 1e-6

_Stops = list[tuple[float, Color]]


@dataclass(frozen=True, slots=True)
class SvgPaint:
    """`attributes` fill a shape; `definition` is the element that they refer to, empty for a colour."""

    attributes: str
    definition: str = ""


def svg_paint(paint: Color | LinearGradient | RadialGradient, width: float, height: float, name: str) -> SvgPaint:
    """Return the SVG fill of a box of `width` by `height` pixels with its corner at the origin.

    `name` is the `id` of the definition, if one is needed. SVG has no conic gradients.
    """
    if isinstance(paint, Color):
        return SvgPaint(svg_color("fill", paint))
    if isinstance(paint, LinearGradient):
        definition = _linear(paint, width, height, name)
    else:
        definition = _radial(paint, width, height, name)
    return SvgPaint(f'fill="url(#{name})"', definition)


def svg_color(attribute: str, color: Color) -> str:
    """Return the attributes of a colour: `attribute` and, if it is not opaque, its opacity.

    `attribute` is `fill`, `stroke` or `stop-color`.
    """
    red, green, blue, _ = color.rgba8
    text = f'{attribute}="#{red:02x}{green:02x}{blue:02x}"'
    if color.opaque:
        return text
    return f'{text} {attribute.removesuffix("-color")}-opacity="{svg_number(max(color.alpha, 0))}"'


def svg_number(value: float) -> str:
    """Format a number with at most three decimal offsets."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _linear(gradient: LinearGradient, width: float, height: float, name: str) -> str:
    across, down = direction_of(gradient, width, height)
    line = abs(width * across) + abs(height * down)
    ramp = resolve_stops(gradient.stops, line)
    first, last, stops = _between_ends(ramp)
    x, y = width / 2, height / 2
    ends = [(x + across * line * (position - 0.5), y + down * line * (position - 0.5)) for position in (first, last)]
    (x1, y1), (x2, y2) = [tuple(map(svg_number, end)) for end in ends]
    return (
        f'<linearGradient id="{name}" gradientUnits="userSpaceOnUse" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
        f"{_spread(repeating=gradient.repeating)}>{_stop_elements(stops)}</linearGradient>"
    )


def _radial(gradient: RadialGradient, width: float, height: float, name: str) -> str:
    x, y = gradient.centre[0].of(width), gradient.centre[1].of(height)
    radius_x, radius_y = radii_of(gradient, x, y, width, height)
    ramp = resolve_stops(gradient.stops, radius_x)
    if gradient.repeating and ramp.offsets[-1] - ramp.offsets[0] > _TINY:
        reach, stops = _period(ramp)
    else:
        reach, stops = _from_centre(ramp)
    matrix = f"translate({svg_number(x)} {svg_number(y)}) scale({_scale(radius_x * reach)} {_scale(radius_y * reach)})"
    return (
        f'<radialGradient id="{name}" gradientUnits="userSpaceOnUse" cx="0" cy="0" r="1"'
        f' gradientTransform="{matrix}"{_spread(repeating=gradient.repeating)}>{_stop_elements(stops)}</radialGradient>'
    )


def _scale(radius: float) -> str:
    return f"{max(radius, 1e-3):.7g}"


def _spread(*, repeating: bool) -> str:
    return ' spreadMethod="repeat"' if repeating else ""


def _between_ends(ramp: Ramp) -> tuple[float, float, _Stops]:
    """Return the first and last positions of a ramp, and its stops as fractions of the distance between them."""
    first, last = ramp.offsets[0], ramp.offsets[-1]
    span = last - first
    if span <= _TINY:
        # Everything before the position has the first colour, everything after it the last.
        return first - 0.5, first + 0.5, [(0.5, ramp.colors[0]), (0.5, ramp.colors[-1])]
    return first, last, [((position - first) / span, color) for position, color in _refined(ramp)]


def _from_centre(ramp: Ramp) -> tuple[float, _Stops]:
    """Return the last position of a ramp, and its stops from 0 as fractions of that distance."""
    reach = max(ramp.offsets[-1], _TINY)
    start = ramp_colors(ramp, [0.0])[0]
    scaled = [(position / reach, color) for position, color in _refined(ramp) if position > 0]
    return reach, [(0.0, start), *scaled]


def _period(ramp: Ramp) -> tuple[float, _Stops]:
    """Return the period of a repeating ramp, and the stops of the period that begins at 0 as fractions of it."""
    first, period = ramp.offsets[0], ramp.offsets[-1] - ramp.offsets[0]
    cut = -first % period
    refined = [(position - first, color) for position, color in _refined(ramp)]
    at_cut = ramp_colors(ramp, [first + cut])[0]
    # Stops at the cut belong to both ends, since their colours may differ before and after it.
    late = [(position - cut, color) for position, color in refined if position >= cut - _TINY]
    early = [(position - cut + period, color) for position, color in refined if position <= cut + _TINY]
    return period, [(position / period, color) for position, color in [(0.0, at_cut), *late, *early, (period, at_cut)]]


def _refined(ramp: Ramp) -> _Stops:
    """Return the stops of a ramp, with extra ones if SVG, which interpolates in sRGB, would differ from CSS."""
    legacy = all(color.legacy for color in ramp.colors)
    stops: _Stops = []
    for (start, before), (end, after) in pairwise(zip(ramp.offsets, ramp.colors, strict=True)):
        stops.append((start, before))
        is_exact = legacy and math.isclose(before.alpha, after.alpha)
        if not is_exact and end - start > _TINY:
            positions = [start + (end - start) * step / _STEPS for step in range(1, _STEPS)]
            stops += zip(positions, ramp_colors(ramp, positions), strict=True)
    return [*stops, (ramp.offsets[-1], ramp.colors[-1])]


def _stop_elements(stops: _Stops) -> str:
    return "".join(
        f'<stop offset="{min(max(position, 0.0), 1.0):.5g}" {svg_color("stop-color", color)}/>'
        for position, color in stops
    )
