"""From parameters to the image."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from PIL import Image
from pressroom.graphics.gradient import mixed
from pressroom.graphics.png import encode_png
from pressroom.sdk import Artifact, InvalidInput

from pressroom_code_to_image.glyphs import CellMetrics, draw_run, lacks_glyphs, named, rgb
from pressroom_code_to_image.grid import Grid
from pressroom_code_to_image.highlight import highlighted
from pressroom_code_to_image.highlight.detection import detected
from pressroom_code_to_image.layout import RunKind, StyledRun, VisualRow, hides, laid_out, prepared
from pressroom_code_to_image.names import AUTO
from pressroom_code_to_image.params import CodeImageDetails, CodeImageParams, line_numbers
from pressroom_code_to_image.themes import THEMES, CodeTheme, TokenStyle
from pressroom_code_to_image.window import WindowCanvas, WindowFrame, draw_bar, frame_of, stage

MAX_HEIGHT: Final = 20_000
"""How high an image may be, in pixels: more than 800 rows."""

MAX_PIXELS: Final = 24_000_000
"""How many pixels an image may have. It bounds the memory; up to a width of 1200, the height is met first."""

_WIDE: Final = 1200
"""From this width on, a wider image may be less high."""

_ALARM, _ALARM_ON_LIGHT = "#ff9e64", "#c2410c"
_NUMBERS: Final = 0.62
"""How far the colour of line numbers goes from the text's to the background's."""

_MARKS: Final = {"+": "#4ade80", "-": "#f87171"}
_MARKS_ON_LIGHT: Final = {"+": "#15803d", "-": "#b91c1c"}
_MARK_BAND: Final = 0.16
_HIGHLIGHT_BAND: Final = 0.12
_DIM: Final = 0.68
"""How far the colours of lines that are not in focus go to the background's."""


def render(params: CodeImageParams) -> Artifact:
    """Return the image as PNG.

    Raises:
        InvalidInput: it would be higher than `MAX_HEIGHT`, or have more than `MAX_PIXELS`.
    """
    theme = THEMES[params.theme]
    code, marks = _unmarked(prepared(params.code)) if params.diff else (prepared(params.code), "")
    lines = code.count("\n") + 1
    frame = frame_of(params, lines)
    language = language_in(params, code)
    pieces = ((text, theme.style(role, language)) for text, role in highlighted(code, language))
    rows = list(laid_out(pieces, frame.columns, lacks_glyphs))
    if params.autoWidth:
        longest = max((run.column + run.columns for row in rows for run in row.runs), default=0)
        frame = frame_of(params, lines, longest)
    _refuse_too_large(params, frame, len(rows))
    looks = _row_looks(params, rows, marks, theme)
    missing = list(dict.fromkeys(one for row in rows for run in row.runs if (one := _missing(run))))
    image, undrawn = _image(params, frame, rows, looks)
    details = CodeImageDetails(width=image.width, height=image.height)
    return Artifact(encode_png(image), "image/png", details, _warnings([*missing, *undrawn]))


def language_in(params: CodeImageParams, code: str) -> str:
    """Return the language asked, or the one that is found where that is `auto`."""
    if params.language != AUTO:
        return params.language
    # The default title says nothing of the code.
    title = params.title if params.title != CodeImageParams.model_fields["title"].default else ""
    return detected(code, title)


def _refuse_too_large(params: CodeImageParams, frame: WindowFrame, rows: int) -> None:
    height, most = frame.height(rows), min(MAX_HEIGHT, MAX_PIXELS // frame.width)
    if height <= most:
        return
    if params.scale > 1:
        raise InvalidInput(
            "scale",
            f"makes an image of {frame.width} x {height} pixels; at most {MAX_PIXELS:,} pixels, and {MAX_HEIGHT:,} in "
            "height, are allowed; ask for a smaller scale, or cut the code",
        )
    advice = "cut the code" if params.width >= _WIDE else "cut the code, or raise width so that fewer lines wrap"
    raise InvalidInput(
        "code",
        f"makes an image of {height} pixels in height, at most {most} are allowed at a width of {frame.width}: "
        f"it takes {rows} rows of {frame.columns} columns; {advice}",
    )


def _unmarked(code: str) -> tuple[str, str]:
    """Return code without the first column of a diff, and that column: a character for each line."""
    marks, lines = [], []
    for line in code.split("\n"):
        mark = line[:1] if line[:1] in ("+", "-", " ") else ""
        marks.append(mark or " ")
        lines.append(line[len(mark) :])
    return "\n".join(lines), "".join(marks)


@dataclass(frozen=True, slots=True)
class _RowLook:
    """How a row differs from others: the colour behind it, its mark with its colour, and whether it is dimmed."""

    band: str = ""
    mark: str = ""
    mark_color: str = ""
    dimmed: bool = False


def _row_looks(params: CodeImageParams, rows: list[VisualRow], marks: str, theme: CodeTheme) -> list[_RowLook]:
    highlight, focus = line_numbers(params.highlightLines), line_numbers(params.focusLines)
    colors = _MARKS if theme.dark else _MARKS_ON_LIGHT
    looks: list[_RowLook] = []
    line = 0
    for row in rows:
        line = row.number or line
        mark = marks[line - 1] if marks else " "
        if mark in colors:
            band = _mix(theme.background, colors[mark], _MARK_BAND)
        else:
            band = _mix(theme.background, theme.foreground, _HIGHLIGHT_BAND) if line in highlight else ""
        shown = mark if row.number and mark in colors else ""
        looks.append(_RowLook(band, shown, colors.get(mark, ""), bool(focus) and line not in focus))
    return looks


@lru_cache(maxsize=256)
def _mix(one: str, other: str, part: float) -> str:
    red, green, blue, _ = mixed(named(one), named(other), part).rgba8
    return f"#{red:02x}{green:02x}{blue:02x}"


def _missing(run: StyledRun) -> str:
    """Return the character of a run that shows a code point only because no font has it, else an empty text."""
    if run.kind is not RunKind.HIDDEN:
        return ""
    character = chr(int(run.text.removeprefix("U+"), 16))
    return "" if hides(character) else character


def _image(
    params: CodeImageParams, frame: WindowFrame, rows: list[VisualRow], looks: list[_RowLook]
) -> tuple[Image.Image, list[str]]:
    """Return the image, and the characters that no font has."""
    theme, metrics = THEMES[params.theme], frame.metrics
    place = stage(frame, theme, len(rows), params.background)
    if frame.bar:
        draw_bar(place, frame, theme, _visible(params.title.strip()), controls=params.windowControls)
    left, top = place.left + frame.code, place.top + frame.top
    _draw_bands(place, frame, looks)
    if params.lineNumbers:
        digits = len(str(max(row.number for row in rows)))
        numbers = _numbers(rows, digits, theme, metrics)
        numbers.draw(place.canvas, place.left + frame.numbers - digits * metrics.cell, top)
    grid = Grid(frame.columns, len(rows), metrics)
    alarm = _ALARM if theme.dark else _ALARM_ON_LIGHT
    missing: dict[str, None] = {}
    for index, (row, look) in enumerate(zip(rows, looks, strict=True)):
        for one in row.runs:
            run = replace(one, style=_dimmed(one.style, theme)) if look.dimmed else one
            if run.kind is RunKind.PLAIN:
                grid.put(run.text, index, run.column, run.style)
            else:
                missing |= dict.fromkeys(draw_run(place.canvas, run, left, top + index * metrics.row, alarm, metrics))
    grid.draw(place.canvas, left, top)
    return place.finished(frame), list(missing)


def _draw_bands(place: WindowCanvas, frame: WindowFrame, looks: list[_RowLook]) -> None:
    line, high = frame.metrics.scale, frame.metrics.row
    marks = Grid(1, len(looks), frame.metrics)
    for index, look in enumerate(looks):
        if look.band:
            top = place.top + frame.top + index * high
            across = (place.left + line, top, place.left + frame.window_width - line, top + high)
            place.canvas.paste(rgb(look.band), across)
        if look.mark:
            marks.put(look.mark, index, 0, TokenStyle(look.mark_color, weight=700))
    marks.draw(place.canvas, place.left + frame.code - round(1.2 * frame.metrics.cell), place.top + frame.top)


def _dimmed(style: TokenStyle, theme: CodeTheme) -> TokenStyle:
    return replace(style, color=_mix(style.color, theme.background, _DIM))


def _numbers(rows: list[VisualRow], digits: int, theme: CodeTheme, metrics: CellMetrics) -> Grid:
    """Return the line numbers, which have this many digits at most."""
    style = TokenStyle(_mix(theme.foreground, theme.background, _NUMBERS))
    grid = Grid(digits, len(rows), metrics)
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
    return (f"No font of this server has {named}{more}: their code points are shown.",)
