"""From parameters to the image. Plain code is drawn at once, in the fixed grid of its cells."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pressroom.graphics.png import encode_png
from pressroom.graphics.text import default_library, shape
from pressroom.graphics.text.drawing import placed_mask
from pressroom.sdk import Artifact, EditableText, InvalidInput

from pressroom_code_to_image.glyphs import CELL, CellMetrics, draw_run, lacks_glyphs, rgb, text_style
from pressroom_code_to_image.highlight import highlighted
from pressroom_code_to_image.highlight.detection import detected
from pressroom_code_to_image.layout import RunKind, StyledRun, VisualRow, hides, laid_out, prepared
from pressroom_code_to_image.looks import RowLook, alarm_color, dimmed, number_style, row_looks, visible, word_colors
from pressroom_code_to_image.names import AUTO, FONT_FAMILIES
from pressroom_code_to_image.params import CodeImageDetails, CodeImageParams, lines_beyond
from pressroom_code_to_image.themes import THEMES, CodeTheme, TokenStyle
from pressroom_code_to_image.vector import vector_image
from pressroom_code_to_image.window import WindowCanvas, WindowFrame, draw_bar, frame_of, stage

_OVERHANG: Final = 4
"""Pixels by which an italic letter can extend beyond its cell."""

_WORDS: Final = re.compile("[^ ]{1,16}")
"""The unit of drawing and caching: words repeat, within one piece of code and across calls."""

_BAND: Final = 8
"""Number of rows that are coloured at a time, up to the longest of them."""

_Bytes = NDArray[np.uint8]

MAX_HEIGHT: Final = 20_000
"""Maximum height of an image in pixels: more than 800 rows."""

MAX_PIXELS: Final = 24_000_000
"""Maximum number of pixels. It bounds memory use; up to a width of 1200, `MAX_HEIGHT` is reached first."""

_WIDE: Final = 1200
"""Wider images than this are limited in height."""


@dataclass(frozen=True, slots=True)
class _Word:
    """The coverage of a word's ink, and its left and top pixel relative to the word's first cell."""

    mask: _Bytes
    left: int
    top: int
    overhangs: bool


class Grid:
    """Rows of cells. Collects text, then draws it with all its colours."""

    def __init__(self, columns: int, rows: int, metrics: CellMetrics) -> None:
        self._metrics = metrics
        self._mask = np.zeros((rows * metrics.row, columns * metrics.cell), np.uint8)
        self._colors = np.zeros((rows, columns, 3), np.uint8)
        self._ends = [0] * rows
        self._overhanging: list[tuple[_Word, int, int, tuple[int, int, int]]] = []

    def put(self, text: str, row: int, column: int, style: TokenStyle) -> None:
        """Add ASCII text to a row that has enough room, one character per cell."""
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
        """Draw the collected text, with the corner of the first cell at `left` and `top`."""
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
    """Return the ink of a word, or `None` if it has none."""
    width, overhang = len(text) * metrics.cell, _OVERHANG * metrics.cell // CELL
    image = Image.new("L", (width + 2 * overhang, metrics.row), 0)
    for index, character in enumerate(text):
        if glyph := _character(character, weight, italic, metrics):
            mask, left, top = glyph
            image.paste(255, (overhang + index * metrics.cell + left, top), mask)
    ink = image.getbbox()
    if ink is None:
        return None
    left, right = ink[0] - overhang, ink[2] - overhang
    return _Word(np.array(image.crop(ink)), left, ink[1], left < 0 or right > width)


@lru_cache(maxsize=512)
def _character(character: str, weight: int, italic: bool, metrics: CellMetrics) -> tuple[Image.Image, int, int] | None:
    """Return the mask of an ASCII character, with its left and top pixel relative to its cell."""
    text = shape(
        character, text_style(metrics.size, italic=italic, weight=weight, font=metrics.font), default_library()
    )
    image, left, top = placed_mask(text.glyphs[0], text.style, 0, metrics.baseline)
    return None if image is None else (image, left, top)


def render(params: CodeImageParams) -> Artifact:
    """Render the image in the requested format.

    Raises:
        InvalidInput: the image would be higher than `MAX_HEIGHT` or have more than `MAX_PIXELS`, the SVG would be too
            large, or SVG does not support the background.
    """
    theme = THEMES[params.theme]
    code, marks = _unmarked(prepared(params.code)) if params.diff else (prepared(params.code), "")
    lines = code.count("\n") + 1
    frame = frame_of(params, lines)
    language = language_in(params, code)
    pieces = [(text, theme.style(role, language)) for text, role in highlighted(code, language)]
    rows = list(laid_out(pieces, frame.columns, lacks_glyphs))
    editable = _editable(params, frame, len(rows), theme)
    if editable is not None:
        editable = replace(editable, words=word_colors(pieces, theme.foreground))
    if params.autoWidth:
        needed_columns = max((run.column + run.columns for row in rows for run in row.runs), default=0)
        frame = frame_of(params, lines, needed_columns)
    _refuse_too_large(params, frame, len(rows), lines)
    looks = row_looks(params, rows, marks, theme)
    missing = list(dict.fromkeys(character for row in rows for run in row.runs if (character := _missing(run))))
    if editable is not None:
        editable = replace(editable, image_width=frame.width)
    height = frame.height(len(rows))
    size = CodeImageDetails(width=frame.width, height=height, format=params.format, language=language)
    if params.format == "svg":
        svg, undrawn = vector_image(params, frame, rows, looks)
        warnings = _warnings(params, lines, [*missing, *undrawn])
        return Artifact(svg, "image/svg+xml", size, warnings, editable=editable)
    image, undrawn = _image(params, frame, rows, looks)
    warnings = _warnings(params, lines, [*missing, *undrawn])
    return Artifact(encode_png(image), "image/png", size, warnings, editable=editable)


def _editable(params: CodeImageParams, frame: WindowFrame, rows: int, theme: CodeTheme) -> EditableText | None:
    """Return the position of the code, or `None` for a diff with unmarked lines, which start one column later.

    `frame` is the widest possible one: with `autoWidth` it is wider than the image.
    """
    if params.diff and any(line[:1] not in ("+", "-", " ", "") for line in params.code.splitlines()):
        return None
    metrics, mark = frame.metrics, int(params.diff)
    return EditableText(
        "code",
        frame.width,
        left=frame.padding + frame.code - mark * metrics.cell,
        top=frame.padding + frame.top,
        columns=frame.columns + mark,
        rows=rows,
        column_width=metrics.cell,
        row_height=metrics.row,
        font_size=metrics.size,
        color=theme.foreground,
        background=theme.background,
        font=FONT_FAMILIES[params.font],
    )


def language_in(params: CodeImageParams, code: str) -> str:
    """Return the requested language, or the detected one for `auto`."""
    if params.language != AUTO:
        return params.language
    # The default title says nothing about the code.
    title = params.title if params.title != CodeImageParams.model_fields["title"].default else ""
    return detected(code, title)


def _refuse_too_large(params: CodeImageParams, frame: WindowFrame, rows: int, lines: int) -> None:
    height, max_height = frame.height(rows), min(MAX_HEIGHT, MAX_PIXELS // frame.width)
    if height <= max_height:
        return
    if params.scale > 1:
        raise InvalidInput(
            "scale",
            f"makes an image of {frame.width} x {height} pixels; at most {MAX_PIXELS:,} pixels, and {MAX_HEIGHT:,} in "
            "height, are allowed; ask for a smaller scale, or cut the code",
        )
    fitting = rows - math.ceil((height - max_height) / frame.metrics.row)
    wider = params.width < _WIDE and rows > lines
    advice = "cut the code, or raise width so that fewer lines wrap" if wider else "cut the code"
    raise InvalidInput(
        "code",
        f"makes an image of {height} pixels in height, at most {max_height} are allowed at a width of {frame.width}: "
        f"it takes {rows} rows of {frame.columns} columns, and {fitting} fit; {advice}",
    )


def _unmarked(code: str) -> tuple[str, str]:
    """Split a diff into the code without its first column, and the marks, one character per line."""
    marks, lines = [], []
    for line in code.split("\n"):
        mark = line[:1] if line[:1] in ("+", "-", " ") else ""
        marks.append(mark or " ")
        lines.append(line[len(mark) :])
    return "\n".join(lines), "".join(marks)


def _missing(run: StyledRun) -> str:
    """Return the character of a run that is shown as a code point only because no font has it, or an empty string."""
    if run.kind is not RunKind.HIDDEN:
        return ""
    character = chr(int(run.text.removeprefix("U+"), 16))
    return "" if hides(character) else character


def _image(
    params: CodeImageParams, frame: WindowFrame, rows: list[VisualRow], looks: list[RowLook]
) -> tuple[Image.Image, list[str]]:
    """Return the image, and the characters that no font has."""
    theme, metrics = THEMES[params.theme], frame.metrics
    window = stage(frame, theme, len(rows), params.background)
    if frame.bar:
        draw_bar(window, frame, theme, visible(params.title.strip()), controls=params.windowControls)
    left, top = window.left + frame.code, window.top + frame.top
    _draw_bands(window, frame, looks)
    if params.lineNumbers:
        digits = len(str(max(row.number for row in rows)))
        numbers = _numbers(rows, digits, theme, metrics)
        numbers.draw(window.canvas, window.left + frame.numbers - digits * metrics.cell, top)
    grid = Grid(frame.columns, len(rows), metrics)
    alarm = alarm_color(theme)
    missing: dict[str, None] = {}
    for index, (row, look) in enumerate(zip(rows, looks, strict=True)):
        for original in row.runs:
            run = replace(original, style=dimmed(original.style, theme)) if look.dimmed else original
            if run.kind is RunKind.PLAIN:
                grid.put(run.text, index, run.column, run.style)
            else:
                missing |= dict.fromkeys(draw_run(window.canvas, run, left, top + index * metrics.row, alarm, metrics))
    grid.draw(window.canvas, left, top)
    return window.finished(frame), list(missing)


def _draw_bands(window: WindowCanvas, frame: WindowFrame, looks: list[RowLook]) -> None:
    line, high = frame.metrics.scale, frame.metrics.row
    marks = Grid(1, len(looks), frame.metrics)
    for index, look in enumerate(looks):
        if look.band:
            top = window.top + frame.top + index * high
            across = (window.left + line, top, window.left + frame.window_width - line, top + high)
            window.canvas.paste(rgb(look.band), across)
        if look.mark:
            marks.put(look.mark, index, 0, TokenStyle(look.mark_color, weight=700))
    marks.draw(window.canvas, window.left + frame.code - round(1.2 * frame.metrics.cell), window.top + frame.top)


def _numbers(rows: list[VisualRow], digits: int, theme: CodeTheme, metrics: CellMetrics) -> Grid:
    """Return a grid with the line numbers, right-aligned to this many digits."""
    style = number_style(theme)
    grid = Grid(digits, len(rows), metrics)
    for index, row in enumerate(rows):
        if row.number:
            grid.put(f"{row.number:>{digits}}", index, 0, style)
    return grid


def _warnings(params: CodeImageParams, lines: int, missing: list[str]) -> tuple[str, ...]:
    chosen = {"highlightLines": params.highlightLines, "focusLines": params.focusLines}
    warnings = [
        f"{name}: the code has no line {', '.join(beyond)}; its last line is {lines}."
        for name, value in chosen.items()
        if (beyond := lines_beyond(value, lines))
    ]
    if missing:
        code_points = ", ".join(f"U+{ord(character):04X}" for character in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        warnings.append(f"No font of this server has {code_points}{more}: their code points are shown.")
    return tuple(warnings)
