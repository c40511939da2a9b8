"""Metrics and fonts of code, and drawing of non-ASCII text: other scripts, emoji and hidden characters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from PIL import Image
from pressroom.graphics.color import WHITE, Color, parse_color
from pressroom.graphics.shapes import box_mask
from pressroom.graphics.text import ShapedText, TextStyle, default_library, draw_text, shape

from pressroom_code_to_image.layout import RunKind, StyledRun
from pressroom_code_to_image.names import DEFAULT_FONT, FONT_FAMILIES, FontName

FONT_SIZE: Final = 15.0
CELL: Final = 9
"""Column width at `FONT_SIZE`, in whole pixels: the advance of all fonts is 600 of 1000 units."""

ROW: Final = 24
BASELINE: Final = 17
"""Distance of the baseline from the top of a row."""


@dataclass(frozen=True, slots=True)
class CellMetrics:
    """The measures of the grid in pixels; `scale` is the number of device pixels per pixel of the parameters.

    `font` is the font of the code.
    """

    scale: int = 1
    cell: int = CELL
    font: FontName = DEFAULT_FONT

    @property
    def row(self) -> int:
        """Height of a row."""
        return round(self.cell * ROW / CELL)

    @property
    def baseline(self) -> int:
        """Distance of the baseline from the top of a row."""
        return round(self.cell * BASELINE / CELL)

    @property
    def size(self) -> float:
        """Font size at which the advance equals a cell."""
        return self.cell * FONT_SIZE / CELL


def metrics_of(font_size: int, scale: int, font: FontName = DEFAULT_FONT) -> CellMetrics:
    """Return the grid for a font and size, rounded so that a column is a whole number of pixels."""
    return CellMetrics(scale, round(font_size * scale * CELL / FONT_SIZE), font)


_HIDDEN_SIZE: Final = 12.0
HIDDEN_STRENGTH: Final = 56
"""Opacity of the box around a code point, from 0 to 255."""


def text_style(size: float, *, italic: bool = False, weight: float = 400, font: FontName = DEFAULT_FONT) -> TextStyle:
    """Return the text style of code, without ligatures, which would join cells."""
    families = tuple(dict.fromkeys((FONT_FAMILIES[font], FONT_FAMILIES[DEFAULT_FONT])))
    return TextStyle(size, families, weight, italic, kerning=False, ligatures=False, features=(("calt", 0),))


@lru_cache(maxsize=256)
def rgb(color: str) -> tuple[int, int, int]:
    """Return the channels of `#rrggbb`."""
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return red, green, blue


@lru_cache(maxsize=256)
def named(color: str) -> Color:
    """Return the colour of `#rrggbb`."""
    return parse_color(color)


@lru_cache(maxsize=8192)
def lacks_glyphs(text: str) -> bool:
    """Return whether a grapheme cluster contains a character that no font has."""
    return bool(shape(text, text_style(FONT_SIZE), default_library()).missing)


def draw_run(
    image: Image.Image, run: StyledRun, left: int, top: int, alarm: str, metrics: CellMetrics
) -> tuple[str, ...]:
    """Draw a run that is not plain, in a row that starts at `left`; return the characters that no font has.

    `alarm` is the colour of hidden characters.
    """
    x = left + run.column * metrics.cell
    if run.kind is RunKind.HIDDEN:
        image.paste(rgb(alarm), (x, top), _hidden_mask(run.text, run.columns, metrics))
        return ()
    return _draw_shaped(image, run, x, top, metrics)


def _draw_shaped(image: Image.Image, run: StyledRun, x: int, top: int, metrics: CellMetrics) -> tuple[str, ...]:
    text, start = shaped_run(run, metrics)
    draw_text(image, text, x + start, top + metrics.baseline, named(run.style.color))
    return text.missing


def shaped_run(run: StyledRun, metrics: CellMetrics) -> tuple[ShapedText, float]:
    """Shape the text of a run, scaled down if its columns are too narrow, and return it with its offset."""
    available = run.columns * metrics.cell
    text = _shaped(run, metrics.size, metrics.font)
    if text.width > available:
        text = _shaped(run, metrics.size * available / text.width, metrics.font)
    return text, (available - text.width) / 2


def _shaped(run: StyledRun, size: float, font: FontName) -> ShapedText:
    style = text_style(size, italic=run.style.italic, weight=run.style.weight, font=font)
    return shape(run.text, style, default_library())


@lru_cache(maxsize=64)
def _hidden_mask(text: str, columns: int, metrics: CellMetrics) -> Image.Image:
    """Return the mask of a code point in a faint box."""
    point = code_point(text, columns, metrics)
    left, top, width, height = point.box
    mask = Image.new("L", (columns * metrics.cell, metrics.row), 0)
    mask.paste(HIDDEN_STRENGTH, (left, top), box_mask(width, height, (point.radius,) * 4))
    canvas = mask.convert("RGB")
    draw_text(canvas, point.text, point.x, point.baseline, WHITE)
    return canvas.getchannel(0)


@dataclass(frozen=True, slots=True)
class CodePoint:
    """A code point shown for a hidden character: its box as left, top, width and height, and its text, in pixels.

    All positions are relative to the corner of its first cell.
    """

    box: tuple[int, int, int, int]
    radius: float
    text: ShapedText
    x: int
    baseline: int


def code_point(text: str, columns: int, metrics: CellMetrics) -> CodePoint:
    """Return the layout of a code point that spans this many columns."""
    part = metrics.cell / CELL
    width, height = columns * metrics.cell - 2 * metrics.scale, metrics.row - round(6 * part)
    shaped = shape(text, text_style(_HIDDEN_SIZE * part, weight=600, font=metrics.font), default_library())
    x = round(metrics.scale + (width - shaped.width) / 2)
    box = (metrics.scale, round(3 * part), width, height)
    return CodePoint(box, 4 * part, shaped, x, metrics.baseline - metrics.scale)
