"""Renders badges as SVG."""

from __future__ import annotations

import math
import unicodedata
from xml.sax.saxutils import escape

from pressroom.sdk import Artifact

from {{ cookiecutter.package }}.params import BadgeParams, BadgeSize, TextParams

HEIGHT = 20
PADDING = 6
RADIUS = 3
FONT_SIZE = 11
FONTS = "Verdana, DejaVu Sans, sans-serif"

NARROW = frozenset("!'(),-./:;I[]`fijlrt{|}")
WIDE = frozenset("%@MW_mw")


def render(params: BadgeParams, label_color: str) -> Artifact:
    """Return a badge. Colours are `#rrggbb` or `#rrggbbaa`."""
    left, right = box_width(params.label), box_width(params.value)
    size = badge_size(params)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size.width}" height="{size.height}" role="img">'
        f"<title>{escape(params.label)}: {escape(params.value)}</title>"
        f'<path d="M{left} 0H{RADIUS}{_arc(-1, 1)}v{HEIGHT - 2 * RADIUS}{_arc(1, 1)}H{left}z" {_fill(label_color)}/>'
        f'<path d="M{left} {HEIGHT}h{right - RADIUS}{_arc(1, -1)}v{2 * RADIUS - HEIGHT}{_arc(-1, -1)}H{left}z" '
        f"{_fill(params.color)}/>"
        f'<g font-family="{FONTS}" font-size="{FONT_SIZE}">'
        f"{_text(params.label, PADDING, label_color)}{_text(params.value, left + PADDING, params.color)}"
        "</g></svg>\n"
    )
    return Artifact(svg.encode(), "image/svg+xml", size)


def badge_size(params: TextParams) -> BadgeSize:
    """Return the size of a badge with these texts."""
    return BadgeSize(width=box_width(params.label) + box_width(params.value), height=HEIGHT)


def box_width(text: str) -> int:
    """Return the width of the half that holds a text, in pixels."""
    return text_width(text) + 2 * PADDING


def text_width(text: str) -> int:
    """Return the estimated width of a text, in pixels. `textLength` stretches it to exactly this width in any font."""
    return max(FONT_SIZE, math.ceil(sum(_em(character) for character in text) * FONT_SIZE))


def _em(character: str) -> float:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    if unicodedata.east_asian_width(character) in ("F", "W"):
        return 1
    if character in NARROW:
        return 0.42
    return 0.95 if character in WIDE else 0.66


def _text(text: str, x: int, background: str) -> str:
    return (
        f'<text x="{x}" y="14" textLength="{text_width(text)}" lengthAdjust="spacingAndGlyphs" '
        f'fill="{_ink(background)}">{escape(text)}</text>'
    )


def _ink(background: str) -> str:
    """Return black or white as the text colour on a background over a white page: the one with the higher contrast."""
    channels = [int(background[index : index + 2], 16) for index in (1, 3, 5)]
    opacity = int(background[7:] or "ff", 16) / 255
    red, green, blue = (_linear(1 + (channel / 255 - 1) * opacity) for channel in channels)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    # The contrast ratios of WCAG 2.2. They are the same at a luminance of 0.18.
    with_black, with_white = (luminance + 0.05) / 0.05, 1.05 / (luminance + 0.05)
    return "#000000" if with_black > with_white else "#ffffff"


def _linear(channel: float) -> float:
    """Return an sRGB channel without its gamma."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _fill(color: str) -> str:
    opacity = f' fill-opacity="{int(color[7:], 16) / 255:.3g}"' if len(color) == 9 else ""
    return f'fill="{color[:7]}"{opacity}'


def _arc(right: int, down: int) -> str:
    """Return a quarter of a circle, drawn anticlockwise, that ends this many radii to the right and down."""
    return f"a{RADIUS} {RADIUS} 0 0 0 {right * RADIUS} {down * RADIUS}"
