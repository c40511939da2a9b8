"""The measures and fonts of code, and drawing what is not plain ASCII: other scripts, emoji and hidden characters."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from PIL import Image
from pressroom.graphics.color import WHITE, Color, parse_color
from pressroom.graphics.shapes import box_mask
from pressroom.graphics.text import ShapedText, TextStyle, default_library, draw_text, shape

from pressroom_code_to_image.layout import RunKind, StyledRun

FONT_SIZE: Final = 15.0
CELL: Final = 9
"""How wide a column is: the advance of JetBrains Mono, 600 of 1000, at `FONT_SIZE`, a whole number of pixels."""

ROW: Final = 24
BASELINE: Final = 17
"""Where the base line is from the top of a row."""

_FAMILIES: Final = ("JetBrains Mono",)
_HIDDEN_SIZE: Final = 12.0
_BOX_STRENGTH: Final = 56


def text_style(size: float, *, italic: bool = False, weight: float = 400) -> TextStyle:
    """Return the style of code, without the ligatures that would join two cells."""
    return TextStyle(size, _FAMILIES, weight, italic, kerning=False, ligatures=False, features=(("calt", 0),))


@lru_cache(maxsize=256)
def rgb(color: str) -> tuple[int, int, int]:
    """Return the channels of `#rrggbb`."""
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return red, green, blue


@lru_cache(maxsize=256)
def named(color: str) -> Color:
    """Return the colour of `#rrggbb`."""
    return parse_color(color)


def draw_run(picture: Image.Image, run: StyledRun, left: int, top: int, alarm: str) -> tuple[str, ...]:
    """Draw a run that is not plain, in a row whose first column is at `left`; return the characters that no font has.

    `alarm` is the colour of what cannot be seen otherwise.
    """
    x = left + run.column * CELL
    if run.kind is RunKind.HIDDEN:
        _draw_hidden(picture, run, x, top, alarm)
        return ()
    return _draw_shaped(picture, run, x, top)


def _draw_shaped(picture: Image.Image, run: StyledRun, x: int, top: int) -> tuple[str, ...]:
    room = run.columns * CELL
    text = _shaped(run, FONT_SIZE)
    if text.width > room:
        text = _shaped(run, FONT_SIZE * room / text.width)
    draw_text(picture, text, x + (room - text.width) / 2, top + BASELINE, named(run.style.color))
    return text.missing


def _shaped(run: StyledRun, size: float) -> ShapedText:
    style = text_style(size, italic=run.style.italic, weight=run.style.weight)
    return shape(run.text, style, default_library())


def _draw_hidden(picture: Image.Image, run: StyledRun, x: int, top: int, alarm: str) -> None:
    picture.paste(rgb(alarm), (x, top), _hidden_mask(run.text, run.columns))


@lru_cache(maxsize=64)
def _hidden_mask(text: str, columns: int) -> Image.Image:
    """Return the mask of a code point in a faint box."""
    width, height = columns * CELL - 2, ROW - 6
    mask = Image.new("L", (columns * CELL, ROW), 0)
    mask.paste(_BOX_STRENGTH, (1, 3), box_mask(width, height, (4, 4, 4, 4)))
    drawn = mask.convert("RGB")
    shaped = shape(text, text_style(_HIDDEN_SIZE, weight=600), default_library())
    draw_text(drawn, shaped, round(1 + (width - shaped.width) / 2), BASELINE - 1, WHITE)
    return drawn.getchannel(0)
