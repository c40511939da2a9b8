"""Breaking text into lines (Unicode Standard Annex 14), and cutting what is too long."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from pressroom.graphics.segments import grapheme_clusters, line_units
from pressroom.graphics.text.fonts import FontLibrary
from pressroom.graphics.text.shaping import TextStyle, shape

ELLIPSIS = "…"


def break_lines(text: str, style: TextStyle, library: FontLibrary, width: float) -> list[str]:
    """Return the lines of a text, each at most `width` pixels wide where a break is allowed in time.

    A word that is wider than a line is broken between grapheme clusters. White space at the end of a line is dropped;
    line feeds always break.
    """
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        lines += _broken(paragraph, style, library, width)
    return lines


def clamp_lines(lines: Sequence[str], most: int, style: TextStyle, library: FontLibrary, width: float) -> list[str]:
    """Return at most this many lines; where some are left out, the last one ends in an ellipsis."""
    if len(lines) <= most:
        return list(lines)
    kept = list(lines[:most])
    kept[-1] = ellipsized(f"{kept[-1]} {lines[most]}", style, library, width)
    return kept


def ellipsized(text: str, style: TextStyle, library: FontLibrary, width: float) -> str:
    """Return a text, cut between grapheme clusters so that it fits with an ellipsis where it is too wide."""
    if shape(text, style, library).width <= width:
        return text
    room = width - shape(ELLIPSIS, style, library).width
    measured = _Measured(text, style, library)
    end = measured.fitting(0, len(text), room)
    return text[:end].rstrip() + ELLIPSIS


class _Measured:
    """The widths of all parts of a paragraph, from shaping it once.

    A line that is shaped by itself may differ by the kerning across its ends, which is a fraction of a pixel.
    """

    def __init__(self, text: str, style: TextStyle, library: FontLibrary) -> None:
        self._text = text
        advances = [0.0] * len(text)
        for glyph in shape(text, style, library).glyphs:
            advances[glyph.cluster] += glyph.advance + (style.letter_spacing if glyph.advance else 0.0)
        self._until = [0.0, *accumulate(advances)]

    def width(self, start: int, end: int) -> float:
        """Return the width of a part without the white space at its end."""
        while end > start and self._text[end - 1].isspace():
            end -= 1
        return self._until[end] - self._until[start]

    def fitting(self, start: int, end: int, width: float) -> int:
        """Return the end of the longest part from `start` that fits, between grapheme clusters."""
        place = start
        for cluster in grapheme_clusters(self._text[start:end]):
            if self.width(start, place + len(cluster)) > width:
                break
            place += len(cluster)
        return place


def _broken(text: str, style: TextStyle, library: FontLibrary, width: float) -> list[str]:
    measured = _Measured(text, style, library)
    if measured.width(0, len(text)) <= width:
        return [text.rstrip()]
    lines: list[str] = []
    start = place = 0
    for unit in line_units(text, style.language):
        end = place + len(unit)
        if measured.width(start, end) > width and text[start:place].strip():
            lines.append(text[start:place].rstrip())
            start = place
        while measured.width(start, end) > width:
            cut = max(measured.fitting(start, end, width), start + _first_cluster(text, start))
            if cut >= end:
                break
            lines.append(text[start:cut])
            start = cut
        place = end
    lines.append(text[start:].rstrip())
    return lines


def _first_cluster(text: str, start: int) -> int:
    return len(next(iter(grapheme_clusters(text[start:]))))
