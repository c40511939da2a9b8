"""A symbol as SVG (SVG 2), drawn as one path, with its layout and the contrast of its colours."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from pressroom.sdk import InvalidInput

from pressroom_qr_code_generator.encode import Rows

WHOLE_PIXELS_FROM: Final = 3
"""Pixels per module from which modules have a whole number of pixels, with the remainder in the quiet zone.

Smaller modules would waste too much of the image that way: they are as large as possible, with rounded edges.
"""

READABLE_FROM: Final = 2.5
"""Pixels per module below which readers start to fail, even on sharp images."""

_DARK_ABOVE, _DARK_BELOW = 1, 2
_ONE_SIDE_DARK: Final = re.compile(rb"\x01+|\x02+")
Point = tuple[int, int]


@dataclass(frozen=True, slots=True)
class QrLayout:
    """An image of `size` pixels per side. The symbol starts at `origin`, with modules of `module` pixels."""

    size: int
    modules: int
    origin: float
    module: float

    def edges(self) -> list[int]:
        """Return the pixel boundaries of the modules, one more than there are modules."""
        return [int(self.origin + index * self.module + 0.5) for index in range(self.modules + 1)]


def lay_out(size: int, modules: int, margin: int) -> QrLayout:
    """Place a symbol of `modules` per side with a quiet zone of `margin` modules. Those can be under a pixel."""
    total = modules + 2 * margin
    pixels = size // total
    if pixels >= WHOLE_PIXELS_FROM:
        return QrLayout(size, modules, (size - total * pixels) // 2 + margin * pixels, pixels)
    return fill(size, modules, margin)


def fill(size: int, modules: int, margin: int) -> QrLayout:
    """Place a symbol with a quiet zone of exactly `margin` modules, even if modules have fractional pixels."""
    module = size / (modules + 2 * margin)
    return QrLayout(size, modules, margin * module, module)


def check_size(size: int, modules: int, margin: int) -> None:
    """Check that a module has at least one pixel.

    Raises:
        InvalidInput: the size is too small.
    """
    min_size = modules + 2 * margin
    if size < min_size:
        raise InvalidInput(
            "size",
            f"must be at least {min_size} for this text, whose symbol has {modules} modules a side and a margin of "
            f"{margin} (got {size}); ask for a larger size or for svg, or shorten the text",
        )


def size_warnings(layout: QrLayout) -> tuple[str, ...]:
    """Return a warning if the modules have too few pixels for most readers."""
    if layout.module >= READABLE_FROM:
        return ()
    pixels = int(layout.module * 10) / 10
    enough = math.ceil(round(layout.size / layout.module) * READABLE_FROM)
    warning = (
        f"The modules are only {pixels} pixels wide, too few for many readers; "
        f"a shorter text makes them larger, or a size of at least {enough}."
    )
    return (warning,)


class Edge(NamedTuple):
    """A horizontal edge of a dark area, from left to right if the dark is below it, otherwise from right to left."""

    start: int
    end: int
    y: int


def draw_svg(rows: Rows, layout: QrLayout, foreground: Rgba, background: Rgba) -> bytes:
    """Return the image as an SVG document without a fixed size."""
    size = layout.size
    transform = f"translate({layout.origin:.7g} {layout.origin:.7g}) scale({layout.module:.7g})"
    paper = f'<rect width="{size}" height="{size}" {_fill(background)}/>' if background.alpha else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" shape-rendering="crispEdges"'
        f' role="img" aria-label="QR code">{paper}'
        f'<path {_fill(foreground)} transform="{transform}" d="{outline(rows)}"/></svg>\n'
    ).encode()


def outline(rows: Rows) -> str:
    """Return path data, in modules, around all dark areas, which are on the right of the path.

    Outlines are used instead of one box per run of dark modules, because programs that antialias in spite of
    `crispEdges` (such as PDF converters) leave hairlines between boxes.
    """
    return "".join(map(_straight, loops(rows)))


def loops(rows: Rows) -> Iterator[list[Point]]:
    """Yield the corners of each outline, in modules, starting at the left end of one of its horizontal edges."""
    edges = list(_horizontal_edges(rows))
    following = _joined(edges, len(rows))
    for first, edge in enumerate(edges):
        if first in following:
            corners = [(edge.start, edge.y), (edge.end, edge.y)]
            index = following.pop(first)
            while index != first:
                start, end, y = edges[index]
                corners += [(start, y), (end, y)]
                index = following.pop(index)
            yield corners


def _straight(corners: list[Point]) -> str:
    (x, y), *remaining = corners
    parts = [f"M{x} {y}"]
    for next_x, next_y in remaining:
        parts.append(f"h{next_x - x}" if next_y == y else f"v{next_y - y}")
        x, y = next_x, next_y
    return "".join(parts) + "z"


def _horizontal_edges(rows: Rows) -> Iterator[Edge]:
    width = len(rows)
    light = bytes(width)
    for y, (above, below) in enumerate(pairwise((light, *rows, light))):
        sides = int.from_bytes(above, "big") * _DARK_ABOVE + int.from_bytes(below, "big") * _DARK_BELOW
        for run in _ONE_SIDE_DARK.finditer(sides.to_bytes(width, "big")):
            left, right = run.span()
            yield Edge(left, right, y) if run[0][0] == _DARK_BELOW else Edge(right, left, y)


def _joined(edges: list[Edge], width: int) -> dict[int, int]:
    """Return a map from each edge to the next one, by index.

    In a column, the ends of edges come in pairs from top to bottom, connected by a vertical edge.
    """
    columns: list[list[tuple[int, bool]]] = [[] for _ in range(width + 1)]
    for index, edge in enumerate(edges):
        columns[edge.start].append((index, False))
        columns[edge.end].append((index, True))
    following: dict[int, int] = {}
    for ends in columns:
        for (upper, upper_ends), (lower, _) in zip(ends[::2], ends[1::2], strict=True):
            before, after = (upper, lower) if upper_ends else (lower, upper)
            following[before] = after
    return following


def _fill(color: Rgba) -> str:
    opacity = "" if color.alpha == 255 else f' fill-opacity="{color.alpha / 255:.4g}"'
    return f'fill="{color.rgb}"{opacity}'


MIN_CONTRAST: Final = 3.0
"""The contrast that WCAG 2.2 (1.4.11) requires for graphics; below it, cameras fail in poor light."""


class Rgba(NamedTuple):
    """A colour in sRGB, not premultiplied; every component is 0 to 255."""

    red: int
    green: int
    blue: int
    alpha: int = 255

    @classmethod
    def parse(cls, value: str) -> Rgba:
        """Parse `#rrggbb` or `#rrggbbaa`."""
        return cls(*bytes.fromhex(value[1:]))

    @property
    def rgb(self) -> str:
        """The colour without its alpha, as `#rrggbb`."""
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"

    def over(self, below: Rgba) -> Rgba:
        """Composite this colour over another one (`source-over` in CSS Compositing)."""
        weight, weight_below = self.alpha * 255, below.alpha * (255 - self.alpha)
        total = weight + weight_below
        if not total:
            return below
        red, green, blue = (
            (channel * weight + channel_below * weight_below + total // 2) // total
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
    """Return the contrast of two colours on a white page, 1 to 21 (WCAG 2.2)."""
    paper = background.over(WHITE)
    lighter, darker = sorted((paper.luminance, foreground.over(paper).luminance), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def contrast_warnings(foreground: Rgba, background: Rgba, name: str = "fgColor") -> tuple[str, ...]:
    """Return warnings for colours that can make a code unreadable.

    Translucent colours are composited on white. `name` is the parameter of the foreground colour.
    """
    paper = background.over(WHITE)
    ink = foreground.over(paper)
    ratio = contrast(foreground, background)
    suffix = "" if background.alpha == 255 else " on a white page"
    warnings = []
    if ratio < MIN_CONTRAST:
        rounded = int(ratio * 10) / 10
        warnings.append(
            f"The contrast of {name} and bgColor is {rounded}:1{suffix}; below {MIN_CONTRAST:.0f}:1 many readers fail."
        )
    if ink.luminance > paper.luminance:
        warnings.append(f"{name} is lighter than bgColor{suffix}; many readers do not recognise an inverted code.")
    return tuple(warnings)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
