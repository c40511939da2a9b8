"""The looks of rows: bands and marks of diffs, highlighted lines, and lines out of focus."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from pressroom.graphics.gradient import mixed

from pressroom_code_to_image.glyphs import named
from pressroom_code_to_image.layout import VisualRow, hides
from pressroom_code_to_image.params import CodeImageParams, line_numbers
from pressroom_code_to_image.themes import CodeTheme, TokenStyle

_ALARM, _ALARM_ON_LIGHT = "#ff9e64", "#c2410c"
_NUMBERS: Final = 0.62
"""Mix ratio for line numbers, from the text colour to the background."""

_MARKS: Final = {"+": "#4ade80", "-": "#f87171"}
_MARKS_ON_LIGHT: Final = {"+": "#15803d", "-": "#b91c1c"}
_MARK_BAND: Final = 0.16
_HIGHLIGHT_BAND: Final = 0.12
_MAX_WORDS_LENGTH: Final = 1_200
"""Maximum length of the word colours as JSON: they are sent in a header, and proxies allow 4 KiB for all headers."""

_WORDS: Final = re.compile(r"[A-Za-z_$][\w$]{0,30}|\d+|[^\w\s]", re.ASCII)
_DIM: Final = 0.68
"""Mix ratio for lines out of focus, from their colour to the background."""


@dataclass(frozen=True, slots=True)
class RowLook:
    """The look of a row: the colour behind it, its mark and the mark's colour, and whether it is dimmed."""

    band: str = ""
    mark: str = ""
    mark_color: str = ""
    dimmed: bool = False


def row_looks(params: CodeImageParams, rows: Sequence[VisualRow], marks: str, theme: CodeTheme) -> list[RowLook]:
    """Return the look of each row. `marks` has one character per line of a diff, and is empty for other code."""
    highlight, focus = line_numbers(params.highlightLines), line_numbers(params.focusLines)
    colors = _MARKS if theme.dark else _MARKS_ON_LIGHT
    looks: list[RowLook] = []
    line = 0
    for row in rows:
        line = row.number or line
        mark = marks[line - 1] if marks else " "
        if mark in colors:
            band = _mix(theme.background, colors[mark], _MARK_BAND)
        else:
            band = _mix(theme.background, theme.foreground, _HIGHLIGHT_BAND) if line in highlight else ""
        sign = mark if row.number and mark in colors else ""
        looks.append(RowLook(band, sign, colors.get(mark, ""), bool(focus) and line not in focus))
    return looks


def dimmed(style: TokenStyle, theme: CodeTheme) -> TokenStyle:
    """Return the style of a piece of code out of focus."""
    return replace(style, color=_mix(style.color, theme.background, _DIM))


def number_style(theme: CodeTheme) -> TokenStyle:
    """Return the style of line numbers."""
    return TokenStyle(_mix(theme.foreground, theme.background, _NUMBERS))


def alarm_color(theme: CodeTheme) -> str:
    """Return the colour of hidden characters, as `#rrggbb`."""
    return _ALARM if theme.dark else _ALARM_ON_LIGHT


def visible(title: str) -> str:
    """Replace hidden characters in a title with their code points."""
    return "".join(f"[U+{ord(character):04X}]" if hides(character) else character for character in title)


def word_colors(pieces: Iterable[tuple[str, TokenStyle]], foreground: str) -> dict[str, str]:
    """Return the colours of the most frequent words and signs that are not in the `foreground` colour."""
    counters: dict[str, Counter[str]] = {}
    for text, style in pieces:
        for word in _WORDS.findall(text):
            counters.setdefault(word, Counter())[style.color] += 1
    words: dict[str, str] = {}
    remaining = _MAX_WORDS_LENGTH
    for word, colors in sorted(counters.items(), key=lambda entry: -entry[1].total()):
        color = colors.most_common(1)[0][0]
        remaining -= len(word) + len(color) + len('"":"",')
        if remaining < 0:
            break
        if color != foreground:
            words[word] = color
    return words


@lru_cache(maxsize=256)
def _mix(one: str, other: str, part: float) -> str:
    red, green, blue, _ = mixed(named(one), named(other), part).rgba8
    return f"#{red:02x}{green:02x}{blue:02x}"
