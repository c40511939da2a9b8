"""Colours that people can read: contrast as WCAG 2.2 defines it, and mixtures that reach it."""

from __future__ import annotations

AA_TEXT = 4.5
"""The contrast that text needs at least (WCAG 2.2, success criterion 1.4.3)."""

_WHITE = "#ffffff"
_BLACK = "#000000"


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour `#rrggbb`, from 0 (black) to 1 (white)."""
    shares = (channel / 255 for channel in _channels(colour))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours `#rrggbb`, from 1 (equal) to 21 (black on white)."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mix(one: str, other: str, share: float) -> str:
    """Return the colour `#rrggbb` that holds `share` (0 to 1) of the other and the rest of the one."""
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def text_on(background: str, preferred: str) -> str:
    """Return a colour that is readable on the background: the preferred one, else white or black.

    White or black always reaches 4.5, since their contrasts with one colour multiply to 21.
    """
    return max((preferred, _WHITE, _BLACK), key=lambda colour: min(contrast(colour, background), AA_TEXT))


def readable(colour: str, backgrounds: tuple[str, ...], towards: str) -> str:
    """Return the colour, moved towards another one only as far as text in it needs on all the backgrounds."""
    steps = (mix(colour, towards, step / 20) for step in range(21))
    return next(
        (mixed for mixed in steps if all(contrast(mixed, ground) >= AA_TEXT for ground in backgrounds)), towards
    )
