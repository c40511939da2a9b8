"""Colours: painting one over another, and whether a reader can tell them apart."""

from __future__ import annotations

from typing import Final, NamedTuple

MIN_CONTRAST: Final = 3.0
"""The contrast that WCAG 2.2 (1.4.11) asks of graphics; below it, cameras in poor light fail."""


class Rgba(NamedTuple):
    """A colour in sRGB, not premultiplied; every member is 0 to 255."""

    red: int
    green: int
    blue: int
    alpha: int = 255

    @classmethod
    def parse(cls, value: str) -> Rgba:
        """Return the colour of `#rrggbb` or `#rrggbbaa`."""
        return cls(*bytes.fromhex(value[1:]))

    @property
    def rgb(self) -> str:
        """The colour without its alpha, as `#rrggbb`."""
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"

    def over(self, below: Rgba) -> Rgba:
        """Return what is seen where this colour is painted over another (the `source-over` of CSS Compositing)."""
        own, shown = self.alpha * 255, below.alpha * (255 - self.alpha)
        total = own + shown
        if not total:
            return below
        red, green, blue = (
            (channel * own + channel_below * shown + total // 2) // total
            for channel, channel_below in zip(self[:3], below[:3], strict=True)
        )
        return Rgba(red, green, blue, (total + 127) // 255)

    @property
    def luminance(self) -> float:
        """The relative luminance, 0 to 1, of the opaque colour (WCAG 2.2)."""
        red, green, blue = (_linear(channel / 255) for channel in self[:3])
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue


WHITE: Final = Rgba(255, 255, 255)


def contrast(foreground: Rgba, background: Rgba) -> float:
    """Return the contrast, 1 to 21 (WCAG 2.2), of what is seen on a white page."""
    paper = background.over(WHITE)
    lighter, darker = sorted((paper.luminance, foreground.over(paper).luminance), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def contrast_warnings(foreground: Rgba, background: Rgba, name: str = "fgColor") -> tuple[str, ...]:
    """Return what may keep readers from a code in these colours, a sentence each.

    What is not opaque is judged as it looks on a white page. `name` is the parameter that the foreground comes from.
    """
    paper = background.over(WHITE)
    ink = foreground.over(paper)
    ratio = contrast(foreground, background)
    where = "" if background.alpha == 255 else " on a white page"
    found = []
    if ratio < MIN_CONTRAST:
        shown = int(ratio * 10) / 10
        found.append(
            f"The contrast of {name} and bgColor is {shown}:1{where}; below {MIN_CONTRAST:.0f}:1 many readers fail."
        )
    if ink.luminance > paper.luminance:
        found.append(f"{name} is lighter than bgColor{where}; many readers do not recognise an inverted code.")
    return tuple(found)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
