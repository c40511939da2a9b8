"""A symbol as SVG (SVG 2): one path around its dark areas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from pressroom_qr_code_generator.colors import Rgba
from pressroom_qr_code_generator.encode import Rows
from pressroom_qr_code_generator.layout import QrLayout

_DARK_ABOVE, _DARK_BELOW = 1, 2
_ONE_SIDE_DARK: Final = re.compile(rb"\x01+|\x02+")


Point = tuple[int, int]


class Edge(NamedTuple):
    """A horizontal edge of a dark area, from left to right where the dark is below it, otherwise from right to left."""

    start: int
    end: int
    y: int


def draw_svg(rows: Rows, layout: QrLayout, foreground: Rgba, background: Rgba) -> bytes:
    """Return the image as an SVG document that is as large as the place it is put in."""
    size = layout.size
    place = f"translate({layout.origin:.7g} {layout.origin:.7g}) scale({layout.module:.7g})"
    paper = f'<rect width="{size}" height="{size}" {_fill(background)}/>' if background.alpha else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" shape-rendering="crispEdges"'
        f' role="img" aria-label="QR code">{paper}'
        f'<path {_fill(foreground)} transform="{place}" d="{outline(rows)}"/></svg>\n'
    ).encode()


def outline(rows: Rows) -> str:
    """Return path data in modules that goes around all dark areas, the dark on its right.

    Outlines rather than a box for each run of dark modules: between boxes, programs that smooth edges in spite of
    `crispEdges` (converters to PDF do) leave hairlines.
    """
    return "".join(map(_straight, loops(rows)))


def loops(rows: Rows) -> Iterator[list[Point]]:
    """Yield the corners of each outline, in modules, from the left end of one of its horizontal edges."""
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
    (x, y), *others = corners
    parts = [f"M{x} {y}"]
    for next_x, next_y in others:
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
    """Return which edge follows which, by their places in the list.

    In a column, the ends of edges come in pairs from top to bottom, with a vertical edge between the two of a pair.
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
