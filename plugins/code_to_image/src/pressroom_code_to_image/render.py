"""From parameters to the image."""

from __future__ import annotations

from typing import Final

from PIL import Image
from pressroom.graphics.gradient import mixed
from pressroom.graphics.png import encode_png
from pressroom.sdk import Artifact, InvalidInput

from pressroom_code_to_image.glyphs import CELL, ROW, draw_run, named
from pressroom_code_to_image.grid import Grid
from pressroom_code_to_image.highlight import highlighted
from pressroom_code_to_image.layout import RunKind, VisualRow, hides, laid_out, prepared
from pressroom_code_to_image.params import CodeImageDetails, CodeImageParams
from pressroom_code_to_image.themes import THEMES, CodeTheme, TokenStyle
from pressroom_code_to_image.window import WindowFrame, draw_bar, frame_of, stage

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
