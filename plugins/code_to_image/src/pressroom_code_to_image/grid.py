"""Plain code, drawn in one go, in the fixed grid of its cells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pressroom.graphics.text import default_library, shape
from pressroom.graphics.text.drawing import placed_mask

from pressroom_code_to_image.glyphs import CELL, CellMetrics, rgb, text_style
from pressroom_code_to_image.themes import TokenStyle

_OVERHANG: Final = 4
"""How far a slanted letter may reach out of its cell."""

_WORDS: Final = re.compile("[^ ]{1,16}")
"""What is drawn, and cached, in one piece: words come again and again, in one code and in the next."""

_BAND: Final = 8
"""How many rows are coloured at a time, as wide as the longest of them."""

_Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Word:
    """The coverage of a word's ink, and its left and top pixel from the corner of the word's first cell."""

    mask: _Bytes
    left: int
    top: int
    overhangs: bool


class Grid:
    """Rows of cells. Text is put into it, and then drawn with all its colours."""

    def __init__(self, columns: int, rows: int, metrics: CellMetrics) -> None:
        self._metrics = metrics
        self._mask = np.zeros((rows * metrics.row, columns * metrics.cell), np.uint8)
        self._colors = np.zeros((rows, columns, 3), np.uint8)
        self._ends = [0] * rows
        self._overhanging: list[tuple[_Word, int, int, tuple[int, int, int]]] = []

    def put(self, text: str, row: int, column: int, style: TokenStyle) -> None:
        """Put ASCII text into a row that has room for it, a cell a character."""
        color = rgb(style.color)
        end = column + len(text)
        self._colors[row, column:end] = color
        self._ends[row] = max(self._ends[row], end)
        for match in _WORDS.finditer(text):
            word = _word(match[0], style.weight, style.italic, self._metrics)
            if word is None:
                continue
            left = (column + match.start()) * self._metrics.cell + word.left
            top = row * self._metrics.row + word.top
            if word.overhangs:
                self._overhanging.append((word, left, top, color))
            else:
                height, width = word.mask.shape
                self._mask[top : top + height, left : left + width] = word.mask

    def draw(self, image: Image.Image, left: int, top: int) -> None:
        """Draw what was put into the grid; its first cell's corner is at `left` and `top`."""
        high, wide = self._metrics.row, self._metrics.cell
        for row in range(0, len(self._colors), _BAND):
            end = max(self._ends[row : row + _BAND])
            if not end:
                continue
            mask = Image.fromarray(self._mask[row * high : (row + _BAND) * high, : end * wide])
            cells = Image.fromarray(self._colors[row : row + _BAND, :end])
            colors = cells.resize(mask.size, Image.Resampling.NEAREST)
            image.paste(colors, (left, top + row * high), mask)
        # A letter that leans into the next cell keeps its own colour there.
        for word, x, y, color in self._overhanging:
            image.paste(color, (left + x, top + y), Image.fromarray(word.mask))


@lru_cache(maxsize=8192)
def _word(text: str, weight: int, italic: bool, metrics: CellMetrics) -> _Word | None:
    """Return a word as it is drawn, or `None` for one without ink."""
    width, overhang = len(text) * metrics.cell, _OVERHANG * metrics.cell // CELL
    drawn = Image.new("L", (width + 2 * overhang, metrics.row), 0)
    for index, character in enumerate(text):
        if found := _character(character, weight, italic, metrics):
            mask, left, top = found
            drawn.paste(255, (overhang + index * metrics.cell + left, top), mask)
    ink = drawn.getbbox()
    if ink is None:
        return None
    left, right = ink[0] - overhang, ink[2] - overhang
    return _Word(np.array(drawn.crop(ink)), left, ink[1], left < 0 or right > width)


@lru_cache(maxsize=512)
def _character(character: str, weight: int, italic: bool, metrics: CellMetrics) -> tuple[Image.Image, int, int] | None:
    """Return the mask of an ASCII character, with its left and top pixel from its cell's corner."""
    text = shape(character, text_style(metrics.size, italic=italic, weight=weight), default_library())
    image, left, top = placed_mask(text.glyphs[0], text.style, 0, metrics.baseline)
    return None if image is None else (image, left, top)
