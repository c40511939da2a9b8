"""From parameters to the image; ASCII code is drawn in one go, in the fixed grid of its cells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pressroom.graphics.gradient import mixed
from pressroom.graphics.png import encode_png
from pressroom.graphics.text import default_library, shape
from pressroom.graphics.text.drawing import placed_mask
from pressroom.sdk import Artifact, InvalidInput

from pressroom_code_to_image.glyphs import BASELINE, CELL, FONT_SIZE, ROW, draw_run, named, rgb, text_style
from pressroom_code_to_image.highlight import highlighted
from pressroom_code_to_image.layout import RunKind, VisualRow, hides, laid_out, prepared
from pressroom_code_to_image.params import CodeImageDetails, CodeImageParams
from pressroom_code_to_image.themes import THEMES, CodeTheme, TokenStyle
from pressroom_code_to_image.window import WindowFrame, draw_bar, frame_of, stage

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

    def __init__(self, columns: int, rows: int) -> None:
        self._mask = np.zeros((rows * ROW, columns * CELL), np.uint8)
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
            word = _word(match[0], style.weight, style.italic)
            if word is None:
                continue
            left, top = (column + match.start()) * CELL + word.left, row * ROW + word.top
            if word.overhangs:
                self._overhanging.append((word, left, top, color))
            else:
                height, width = word.mask.shape
                self._mask[top : top + height, left : left + width] = word.mask

    def draw(self, picture: Image.Image, left: int, top: int) -> None:
        """Draw what was put into the grid; its first cell's corner is at `left` and `top`."""
        for row in range(0, len(self._colors), _BAND):
            end = max(self._ends[row : row + _BAND])
            if not end:
                continue
            mask = Image.fromarray(self._mask[row * ROW : (row + _BAND) * ROW, : end * CELL])
            cells = Image.fromarray(self._colors[row : row + _BAND, :end])
            colors = cells.resize(mask.size, Image.Resampling.NEAREST)
            picture.paste(colors, (left, top + row * ROW), mask)
        # A letter that leans into the next cell keeps its own colour there.
        for word, x, y, color in self._overhanging:
            picture.paste(color, (left + x, top + y), Image.fromarray(word.mask))


@lru_cache(maxsize=8192)
def _word(text: str, weight: int, italic: bool) -> _Word | None:
    """Return a word as it is drawn, or `None` for one without ink."""
    width = len(text) * CELL
    drawn = Image.new("L", (width + 2 * _OVERHANG, ROW), 0)
    for index, character in enumerate(text):
        if found := _character(character, weight, italic):
            mask, left, top = found
            drawn.paste(255, (_OVERHANG + index * CELL + left, top), mask)
    ink = drawn.getbbox()
    if ink is None:
        return None
    left, right = ink[0] - _OVERHANG, ink[2] - _OVERHANG
    return _Word(np.array(drawn.crop(ink)), left, ink[1], left < 0 or right > width)


@lru_cache(maxsize=512)
def _character(character: str, weight: int, italic: bool) -> tuple[Image.Image, int, int] | None:
    """Return the mask of an ASCII character, with its left and top pixel from its cell's corner."""
    text = shape(character, text_style(FONT_SIZE, italic=italic, weight=weight), default_library())
    image, left, top = placed_mask(text.glyphs[0], text.style, 0, BASELINE)
    return None if image is None else (image, left, top)


MAX_HEIGHT: Final = 20_000
"""How high an image may be, in pixels: more than 800 rows."""

MAX_PIXELS: Final = 24_000_000
"""How many pixels an image may have. It bounds the memory; up to a width of 1200, the height is met first."""

_WIDE: Final = 1200
"""From this width on, a wider image may be less high."""

_ALARM, _ALARM_ON_LIGHT = "#ff9e64", "#c2410c"
_NUMBERS: Final = 0.62
"""How far the colour of line numbers goes from the text's to the background's."""


def render(params: CodeImageParams) -> Artifact:
    """Return the image as PNG.

    Raises:
        InvalidInput: it would be higher than `MAX_HEIGHT`, or have more than `MAX_PIXELS`.
    """
    theme = THEMES[params.theme]
    code = prepared(params.code)
    frame = frame_of(params, code.count("\n") + 1)
    pieces = ((text, theme.style(role, params.language)) for text, role in highlighted(code, params.language))
    rows = list(laid_out(pieces, frame.columns))
    _refuse_too_tall(params, frame, len(rows))
    picture, missing = _picture(params, frame, rows)
    details = CodeImageDetails(width=picture.width, height=picture.height)
    return Artifact(encode_png(picture), "image/png", details, _warnings(missing))


def _refuse_too_tall(params: CodeImageParams, frame: WindowFrame, rows: int) -> None:
    height, most = frame.height(rows), min(MAX_HEIGHT, MAX_PIXELS // params.width)
    if height > most:
        advice = "cut the code" if params.width >= _WIDE else "cut the code, or raise width so that fewer lines wrap"
        raise InvalidInput(
            "code",
            f"makes an image of {height} pixels in height, at most {most} are allowed at a width of {params.width}: "
            f"it takes {rows} rows of {frame.columns} columns; {advice}",
        )


def _picture(params: CodeImageParams, frame: WindowFrame, rows: list[VisualRow]) -> tuple[Image.Image, list[str]]:
    """Return the image, and the characters that no font has."""
    theme = THEMES[params.theme]
    place = stage(frame, theme, len(rows), params.background)
    if frame.bar:
        draw_bar(place, frame, theme, _visible(params.title.strip()), controls=params.windowControls)
    left, top = place.left + frame.code, place.top + frame.top
    if params.lineNumbers:
        digits = len(str(max(row.number for row in rows)))
        _numbers(rows, digits, theme).draw(place.canvas, place.left + frame.numbers - digits * CELL, top)
    grid = Grid(frame.columns, len(rows))
    alarm = _ALARM if theme.dark else _ALARM_ON_LIGHT
    missing: dict[str, None] = {}
    for index, row in enumerate(rows):
        for run in row.runs:
            if run.kind is RunKind.PLAIN:
                grid.put(run.text, index, run.column, run.style)
            else:
                missing |= dict.fromkeys(draw_run(place.canvas, run, left, top + index * ROW, alarm))
    grid.draw(place.canvas, left, top)
    return place.finished(frame), list(missing)


def _numbers(rows: list[VisualRow], digits: int, theme: CodeTheme) -> Grid:
    """Return the line numbers, which have this many digits at most."""
    red, green, blue, _ = mixed(named(theme.foreground), named(theme.background), _NUMBERS).rgba8
    style = TokenStyle(f"#{red:02x}{green:02x}{blue:02x}")
    grid = Grid(digits, len(rows))
    for index, row in enumerate(rows):
        if row.number:
            grid.put(f"{row.number:>{digits}}", index, 0, style)
    return grid


def _visible(title: str) -> str:
    """Return a title whose hidden characters show as their code points."""
    return "".join(f"[U+{ord(character):04X}]" if hides(character) else character for character in title)


def _warnings(missing: list[str]) -> tuple[str, ...]:
    if not missing:
        return ()
    named = ", ".join(f"U+{ord(character):04X}" for character in missing[:5])
    more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    return (f"No font of this server has {named}{more}: they are drawn as boxes.",)
