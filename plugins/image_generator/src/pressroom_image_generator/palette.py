"""The colours of a theme, chosen so that all texts are legible (WCAG 2.2, success criterion 1.4.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from pressroom.graphics.color import BLACK, WHITE, Color, contrast, parse_color

MIN_CONTRAST: Final = 4.5
"""Minimum contrast of level AA for text of any size."""

_ON_GRADIENT: Final = 5.5
"""Contrast at the stops of a gradient, with a margin because colours in between can be closer to the text."""

_ON_PHOTO: Final = 9.0
"""Contrast of text with the shade over a photo, which shows through."""

_MIN_DECORATION_CONTRAST: Final = 1.08
"""Minimum contrast of a decoration with its background."""

_STEPS: Final = 50
_LIGHT_ACCENT: Final = 0.76
_GREY: Final = 0.02
_INK: Final = parse_color("#17140f")
_PAPER: Final = parse_color("#faf8f4")
_NIGHT: Final = parse_color("#0e1014")
_SNOW: Final = parse_color("#f7f6f3")


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of an image, as `#rrggbb`, or any CSS background for `background`.

    `text`, `muted` and `accent_text` are legible on everything behind text except hairlines, and `on_accent` is legible
    on `accent`. `shape` is for decoration behind text, `line` for hairlines, `surface` for the area of a missing image.
    """

    background: str
    ground: str
    text: str
    muted: str
    accent: str
    accent_text: str
    on_accent: str
    shape: str
    line: str
    surface: str


def palette(theme: str, accent_color: str, background: str | None = None) -> Palette:
    """Return the palette of a theme for an accent (`#rrggbb`, or `#rrggbbaa` composited on the theme's ground).

    A `background` replaces the theme's; its alpha is composited on white.
    """
    if background is not None:
        ground = _over(parse_color(background), WHITE)
        ink = max((_INK, _SNOW), key=lambda color: contrast(color, ground))
        return _on_neutral(parse_color(accent_color), ground, _readable(ink, (ground,)), muted=0.72, glow=0.16)
    return _THEMES[theme](parse_color(accent_color))


def photo_palette(theme: str, accent_color: str, background: str | None = None) -> Palette:
    """Return the palette for text on a photo that is shaded with `ground`: dark, or the brand colour."""
    if background is None and theme not in ("gradient", "bold"):
        shade, text = _NIGHT, _SNOW
    else:
        brand = _over(parse_color(background or accent_color), WHITE)
        text = _SNOW if background is None or contrast(_SNOW, brand) >= contrast(_INK, brand) else _INK
        shade = _readable(brand, (text,), enough=_ON_PHOTO)
    return replace(_on_color((shade,), text, shade, _hex(shade)), muted=_hex(text))


def _light(accent: Color) -> Palette:
    return _on_neutral(accent, _PAPER, _INK, muted=0.66, glow=0.16)


def _dark(accent: Color) -> Palette:
    return _on_neutral(accent, _NIGHT, _SNOW, muted=0.66, glow=0.26)


def _minimal(accent: Color) -> Palette:
    return _on_neutral(accent, WHITE, parse_color("#111111"), muted=0.62, glow=0.0)


def _on_neutral(accent: Color, ground: Color, text: Color, *, muted: float, glow: float) -> Palette:
    accent = _over(accent, ground)
    shape = _mixed(ground, accent, glow)
    grounds = (ground, shape)
    background = _hex(ground)
    if glow:
        background = f"radial-gradient(circle at 92% -8%, {_hex(shape)} 0%, {_hex(ground)} 62%)"
    return Palette(
        background=background,
        ground=_hex(ground),
        text=_hex(_readable(text, grounds)),
        muted=_hex(_readable(_mixed(ground, text, muted), grounds)),
        accent=_hex(_visible(accent, ground)),
        accent_text=_hex(_readable(accent, grounds)),
        on_accent=_hex(_ink_on((_visible(accent, ground),))),
        shape=_hex(shape),
        line=_hex(_mixed(ground, text, 0.14)),
        surface=_hex(_mixed(ground, text, 0.07)),
    )


def _bold(accent: Color) -> Palette:
    ground = _over(accent, WHITE)
    text = _ink_on((ground,))
    shape = _mixed(ground, BLACK if text is WHITE else WHITE, 0.16)
    if contrast(shape, ground) < _MIN_DECORATION_CONTRAST:
        # White cannot become lighter, nor black darker.
        shape = _mixed(ground, text, 0.09)
    return _on_color((ground,), text, shape, _hex(ground))


def _gradient(accent: Color) -> Palette:
    lightness, chroma, hue = _oklch(_over(accent, WHITE))
    text, base = (_INK, max(lightness, 0.78)) if lightness > _LIGHT_ACCENT else (WHITE, min(max(lightness, 0.36), 0.54))
    if chroma > _GREY:
        chroma = max(chroma, 0.11)
    # Analogous hues, turned away from the olive between yellow and green.
    turn = -52.0 if hue < 125 or hue > 330 else 52.0
    stops = [
        _readable(_from_oklch(base + lift, chroma, hue + turn * part), (text,), enough=_ON_GRADIENT)
        for lift, part in ((0.03, -0.2), (0.0, 0.3), (-0.05, 1.0))
    ]
    between = [_mixed(start, end, part / 8) for start, end in pairwise(stops) for part in range(9)]
    shape = _mixed(stops[1], BLACK if text is WHITE else WHITE, 0.2)
    first, middle, last = map(_hex, stops)
    background = f"linear-gradient(125deg, {first} 0%, {middle} 50%, {last} 100%)"
    return _on_color((*between, shape), text, shape, background)


def _on_color(grounds: Sequence[Color], text: Color, shape: Color, background: str) -> Palette:
    ground = grounds[len(grounds) // 2]
    grounds = (*grounds, shape)
    return Palette(
        background=background,
        ground=_hex(ground),
        text=_hex(text),
        muted=_hex(_readable(_mixed(ground, text, 0.80), grounds, towards=text)),
        accent=_hex(text),
        accent_text=_hex(text),
        on_accent=_hex(_readable(ground, (text,))),
        shape=_hex(shape),
        line=_hex(_mixed(ground, text, 0.28)),
        surface=_hex(shape),
    )


_THEMES: Final[dict[str, Callable[[Color], Palette]]] = {
    "light": _light,
    "dark": _dark,
    "gradient": _gradient,
    "minimal": _minimal,
    "bold": _bold,
}


def _ink_on(grounds: Sequence[Color]) -> Color:
    """Return white if it is legible on all backgrounds, else black or white, whichever has more contrast."""
    if min(contrast(WHITE, ground) for ground in grounds) >= MIN_CONTRAST:
        return WHITE
    return max((BLACK, WHITE), key=lambda ink: min(contrast(ink, ground) for ground in grounds))


def _readable(
    color: Color, grounds: Sequence[Color], *, towards: Color | None = None, enough: float = MIN_CONTRAST
) -> Color:
    """Return the colour, moved towards black or white just enough to be legible on all backgrounds."""
    goal = towards or max((BLACK, WHITE), key=lambda ink: min(contrast(ink, ground) for ground in grounds))
    moved = color
    for step in range(_STEPS + 1):
        moved = _mixed(color, goal, step / _STEPS)
        if min(contrast(moved, ground) for ground in grounds) >= enough:
            return moved
    return moved


def _visible(accent: Color, ground: Color) -> Color:
    """Return the accent with a contrast of at least 2:1, enough for decorative shapes.

    WCAG 2.2, success criterion 1.4.11, requires 3:1 of graphics that carry meaning.
    """
    return _readable(accent, (ground,), enough=2.0)


def _over(color: Color, ground: Color) -> Color:
    return _mixed(ground, Color(color.red, color.green, color.blue), color.alpha)


def _mixed(one: Color, other: Color, part: float) -> Color:
    """Mix two colours in sRGB, like CSS gradients of legacy colours, rounded to eight bits per channel."""
    mixed = Color(
        one.red + (other.red - one.red) * part,
        one.green + (other.green - one.green) * part,
        one.blue + (other.blue - one.blue) * part,
    )
    return parse_color(_hex(mixed))


def _oklch(color: Color) -> tuple[float, float, float]:
    lightness, a, b = color.oklab
    return lightness, math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360


def _from_oklch(lightness: float, chroma: float, hue: float) -> Color:
    return parse_color(f"oklch({lightness:.4f} {chroma:.4f} {hue:.2f})")


def _hex(color: Color) -> str:
    red, green, blue, _ = color.rgba8
    return f"#{red:02x}{green:02x}{blue:02x}"
