"""The colours of borders that look raised or sunken (CSS Backgrounds 3, section 3.2), as browsers shade them."""

from __future__ import annotations

from typing import Final

from pressroom.graphics.color import Color

RELIEFS: Final = frozenset({"inset", "outset"})
FURROWS: Final = frozenset({"groove", "ridge"})

_STEP: Final = 0.33
_DARKENED_WHITE, _LIGHTENED_BLACK = 171 / 255, 84 / 255
_DARKEST: Final = Color(32 / 255, 32 / 255, 32 / 255).luminance
_LIGHTEST: Final = Color(235 / 255, 235 / 255, 235 / 255).luminance


def shaded(color: Color, side: int, kind: str) -> Color:
    """Return the colour of a side (clockwise from the top) of an `inset` or `outset` border."""
    sunken = (side in (0, 3)) == (kind == "inset")
    if color.luminance < _DARKEST:
        # Nothing is darker than what is nearly black: both are lighter.
        return _lighter(color) if sunken else _lighter(_lighter(color))
    if sunken:
        return _darker(color)
    return color if color.luminance >= _LIGHTEST else _lighter(color)


def furrow(color: Color, side: int, kind: str) -> tuple[Color, Color]:
    """Return the colours of the outer and the inner half of a side of a `groove` or `ridge`."""
    halves = ("inset", "outset") if kind == "groove" else ("outset", "inset")
    return shaded(color, side, halves[0]), shaded(color, side, halves[1])


def _darker(color: Color) -> Color:
    brightest = max(color.red, color.green, color.blue)
    if color.red == color.green == color.blue == 1:
        return Color(_DARKENED_WHITE, _DARKENED_WHITE, _DARKENED_WHITE, color.alpha)
    return _times(color, max(0.0, (brightest - _STEP) / brightest) if brightest > 0 else 0.0)


def _lighter(color: Color) -> Color:
    brightest = max(color.red, color.green, color.blue)
    if brightest <= 0:
        return Color(_LIGHTENED_BLACK, _LIGHTENED_BLACK, _LIGHTENED_BLACK, color.alpha)
    return _times(color, min(1.0, brightest + _STEP) / brightest)


def _times(color: Color, factor: float) -> Color:
    red, green, blue = (min(1.0, channel * factor) for channel in (color.red, color.green, color.blue))
    return Color(red, green, blue, color.alpha)
