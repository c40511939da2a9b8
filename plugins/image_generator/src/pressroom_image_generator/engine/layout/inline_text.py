"""The text of a paragraph: white space, direction, advances and line breaks (CSS Text 3, Unicode Annex 14)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Final

from pressroom.graphics.segments import grapheme_clusters, line_units
from pressroom.graphics.text import FontLibrary, ShapedText, TextStyle, shape
from pressroom.graphics.text.bidi import Direction, levels
from pressroom.graphics.text.shaping import vertical_metrics

from pressroom_image_generator.engine.boxes import Box, Decoration, Inline
from pressroom_image_generator.engine.properties import Style

OBJECT: Final = "\ufffc"
"""Placeholder character for an inline box."""

HYPHEN: Final = "-"
SOFT_HYPHEN: Final = "\u00ad"

_SPACES: Final = re.compile(r"[ \t\n\r\f]+")
_SPACES_BUT_BREAKS: Final = re.compile(r"[ \t\r\f]+")
_SPACES_AT_BREAKS: Final = re.compile(r" ?\n ?")
_WORD_START: Final = re.compile(r"(?<![\w'\u2019])\w")
_NUMERIC: Final = {
    "tabular-nums": "tnum", "lining-nums": "lnum", "oldstyle-nums": "onum", "proportional-nums": "pnum",
    "slashed-zero": "zero",
}  # fmt: skip


_CAPS: Final = {
    "small-caps": ("smcp",), "all-small-caps": ("smcp", "c2sc"), "petite-caps": ("pcap",),
    "all-petite-caps": ("pcap", "c2pc"), "unicase": ("unic",), "titling-caps": ("titl",),
}  # fmt: skip


@dataclass(slots=True, eq=False)
class TextRun:
    """A part of the text with one style; `box` is set if it is the placeholder of a box."""

    start: int
    end: int
    style: Style
    decorations: tuple[Decoration, ...] = ()
    box: Box | None = None


def _start(run: TextRun) -> int:
    return run.start


@dataclass(slots=True, eq=False)
class Mark:
    """The start or end of an inline box, before the character at `at`."""

    at: int
    style: Style
    opens: bool


@dataclass(slots=True, eq=False)
class InlineText:
    """A paragraph as one string. `until` holds the width of each prefix."""

    text: str
    runs: list[TextRun]
    marks: list[Mark]
    style: Style
    library: FontLibrary
    levels: list[int] = field(default_factory=list)
    until: list[float] = field(default_factory=list)

    def width(self, start: int, end: int) -> float:
        """Return the width of the text from `start` to `end`."""
        return self.until[end] - self.until[start]

    def run_at(self, index: int) -> TextRun:
        """Return the run that contains a character."""
        return self.runs[bisect_right(self.runs, index, key=_start) - 1]

    def segments(self, start: int, end: int) -> list[tuple[TextRun, int, int, int]]:
        """Split a part into segments of one style and direction: run, start, end (exclusive) and bidi level."""
        segments: list[tuple[TextRun, int, int, int]] = []
        for position in range(max(0, bisect_right(self.runs, start, key=_start) - 1), len(self.runs)):
            run = self.runs[position]
            if run.start >= end:
                break
            first, last = max(run.start, start), min(run.end, end)
            while first < last:
                level = self.levels[first]
                stop = first + 1
                while stop < last and self.levels[stop] == level:
                    stop += 1
                segments.append((run, first, stop, level))
                first = stop
        return segments

    def shaped(self, run: TextRun, start: int, end: int, level: int) -> ShapedText:
        """Return a segment as glyphs, with word spacing and tabs applied."""
        direction: Direction = "rtl" if level % 2 else "ltr"
        return shaped_text(self.text[start:end], run.style, self.library, direction)


def text_style(style: Style) -> TextStyle:
    """Convert a computed style to the text style of the graphics toolkit."""
    features = tuple((tag, 1) for tag in _CAPS.get(style.font_variant_caps, ()))
    if (numeric := _NUMERIC.get(style.font_variant_numeric)) is not None:
        features += ((numeric, 1),)
    features += style.font_feature_settings
    return TextStyle(
        max(style.font_size, 0.01), style.font_family, style.font_weight, style.font_style != "normal",
        style.letter_spacing, style.font_kerning != "none", style.font_variant_ligatures != "none", features,
    )  # fmt: skip


def shaped_text(text: str, style: Style, library: FontLibrary, direction: Direction) -> ShapedText:
    """Shape a text of one style and direction."""
    shaped = shape(text.replace("\n", " "), text_style(style), library, direction)
    if not (style.word_spacing or "\t" in text):
        return shaped
    extra: dict[int, float] = {}
    tab = shape(" ", text_style(style), library).width * max(0.0, style.tab_size)
    advances = {glyph.cluster: glyph.advance for glyph in shaped.glyphs}
    for index, character in enumerate(text):
        if character == "\t":
            extra[index] = tab - advances.get(index, 0.0)
        elif character in " \u00a0":
            extra[index] = style.word_spacing
    return spread(shaped, extra)


def spread(shaped: ShapedText, extra: dict[int, float]) -> ShapedText:
    """Return a text with extra space after some of its characters."""
    glyphs = []
    moved = 0.0
    for glyph in shaped.glyphs:
        more = extra.get(glyph.cluster, 0.0)
        glyphs.append(replace(glyph, x=glyph.x + moved, advance=glyph.advance + more) if moved or more else glyph)
        moved += more
    return replace(shaped, glyphs=tuple(glyphs), width=shaped.width + moved)


@lru_cache(maxsize=512)
def font_metrics(style: TextStyle, library: FontLibrary) -> tuple[float, float]:
    """Return the ascent and descent of the first font in whole pixels, as browsers round them."""
    face = library.candidates(style.families, weight=style.weight, italic=style.italic)[0]
    ascent, descent = vertical_metrics(face, style)
    return float(int(ascent + 0.5)), float(int(descent + 0.5))


def collected(inlines: Sequence[Inline], style: Style, library: FontLibrary) -> InlineText:
    """Return the inline content of a paragraph as one text, with white space processed (CSS Text 3, section 4.1)."""
    pieces: list[str] = []
    runs: list[TextRun] = []
    marks: list[Mark] = []
    length = 0
    collapse = True
    for part in inlines:
        if part.kind in ("open", "close"):
            marks.append(Mark(length, part.style, part.kind == "open"))
            continue
        if part.kind == "text":
            text, collapse = _processed(part.text, part.style, collapse=collapse)
        else:
            text, collapse = ("\n", True) if part.kind == "break" else (OBJECT, False)
        if text:
            pieces.append(text)
            runs.append(TextRun(length, length + len(text), part.style, part.decorations, part.box))
            length += len(text)
    paragraph = InlineText("".join(pieces), runs, marks, style, library)
    base: Direction = "rtl" if style.direction == "rtl" else "ltr"
    for line in paragraph.text.split("\n"):
        _, line_levels = levels(line, base)
        paragraph.levels += [*line_levels, 0]
    _measure(paragraph)
    return paragraph


def _processed(text: str, style: Style, *, collapse: bool) -> tuple[str, bool]:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    space = style.white_space
    if space in ("normal", "nowrap"):
        text = _SPACES.sub(" ", text)
    elif space == "pre-line":
        text = _SPACES_AT_BREAKS.sub("\n", _SPACES_BUT_BREAKS.sub(" ", text))
    if space in ("normal", "nowrap", "pre-line"):
        if collapse and text.startswith(" "):
            text = text[1:]
        if text:
            collapse = text[-1] in " \n"
    else:
        collapse = False
    return _transformed(text, style.text_transform), collapse


def _transformed(text: str, transform: str) -> str:
    match transform:
        case "uppercase":
            return text.upper()
        case "lowercase":
            return text.lower()
        case "capitalize":
            return _WORD_START.sub(lambda match: match[0].title(), text)
    return text


def _measure(paragraph: InlineText) -> None:
    advances = [0.0] * len(paragraph.text)
    for run, start, end, level in paragraph.segments(0, len(paragraph.text)):
        if run.box is not None:
            continue
        spacing = run.style.letter_spacing
        for glyph in paragraph.shaped(run, start, end, level).glyphs:
            advances[start + glyph.cluster] += glyph.advance + (spacing if glyph.advance else 0.0)
        for index in range(start, end):
            if paragraph.text[index] == "\n":
                advances[index] = 0.0
    paragraph.until = [0.0, *accumulate(advances)]


_HANGING = " \t\n"


def opportunities(paragraph: InlineText) -> list[int]:
    """Return the positions where a line may or must break, including the end of the text, in order."""
    text = paragraph.text
    wraps = [_wraps(run.style) for run in paragraph.runs]
    positions: list[int] = []
    if any(wraps) and text:
        position = 0
        for unit in line_units(text):
            position += len(unit)
            positions.append(position)
    loose = [run for run in paragraph.runs if run.style.word_break == "break-all"]
    if loose:
        extra = {position for run in loose for position in _clusters(text, run.start, run.end)}
        positions = sorted(extra.union(positions))
    forbidden = [run for run in paragraph.runs if not _wraps(run.style) or run.style.word_break == "keep-all"]
    if forbidden:
        positions = [position for position in positions if _allowed(paragraph, position)]
    forced = [position + 1 for position, character in enumerate(text) if character == "\n"]
    return sorted({*positions, *forced, len(text)} - {0})


def _wraps(style: Style) -> bool:
    return style.white_space not in ("nowrap", "pre") and style.text_wrap != "nowrap"


def _allowed(paragraph: InlineText, position: int) -> bool:
    if position >= len(paragraph.text):
        return True
    before = paragraph.text[position - 1]
    style = paragraph.run_at(position - 1).style
    if not _wraps(style):
        # Between two texts, the one that contains the space decides.
        return before not in _HANGING and _wraps(paragraph.run_at(position).style)
    return style.word_break != "keep-all" or not before.isalpha()


def _clusters(text: str, start: int, end: int) -> Iterator[int]:
    position = start
    for cluster in grapheme_clusters(text[start:end]):
        position += len(cluster)
        yield position


def visible_end(paragraph: InlineText, start: int, end: int) -> int:
    """Return the end of a line without hanging white space."""
    while end > start and paragraph.text[end - 1] in _HANGING:
        if paragraph.text[end - 1] != "\n" and paragraph.run_at(end - 1).style.white_space in ("pre", "break-spaces"):
            break
        end -= 1
    return end


def hyphenated(paragraph: InlineText, end: int) -> bool:
    """Return whether a line that ends there breaks a word at a soft hyphen, which is only visible in this case."""
    return 0 < end < len(paragraph.text) and paragraph.text[end - 1] == SOFT_HYPHEN


def line_width(paragraph: InlineText, start: int, end: int) -> float:
    """Return the width of a line without hanging white space, and with its hyphen."""
    width = paragraph.width(start, visible_end(paragraph, start, end))
    if start < end and hyphenated(paragraph, end):
        width += shaped_text(HYPHEN, paragraph.run_at(end - 1).style, paragraph.library, "ltr").width
    return width


def broken(paragraph: InlineText, breaks: list[int], width: float, indent: float = 0.0) -> list[tuple[int, int]]:
    """Break a paragraph greedily into lines, and return their starts and ends."""
    text = paragraph.text
    lines: list[tuple[int, int]] = []
    start = last = 0
    for position in breaks:
        available = width - (0.0 if lines else indent)
        if line_width(paragraph, start, position) > available + 0.005:
            if last > start:
                lines.append((start, last))
                start = last
                available = width
            start = _emergency(paragraph, start, position, available, lines)
        last = position
        if text[position - 1] == "\n":
            lines.append((start, position))
            start = position
    if start < len(text) or (text.endswith("\n") and not lines):
        lines.append((start, len(text)))
    return lines


def _emergency(paragraph: InlineText, start: int, end: int, available: float, lines: list[tuple[int, int]]) -> int:
    """Break a word that is wider than a line, if its style allows it, and return the start of the rest."""
    while line_width(paragraph, start, end) > available + 0.005:
        if not breaks_words(paragraph.run_at(start).style):
            break
        cut = start
        for position in _clusters(paragraph.text, start, end):
            if cut > start and paragraph.width(start, position) > available + 0.005:
                break
            cut = position
        if cut >= end:
            break
        lines.append((start, cut))
        start = cut
    return start


def breaks_words(style: Style) -> bool:
    """Return whether words can be broken if they do not fit on a line."""
    return _wraps(style) and (style.overflow_wrap != "normal" or style.word_break == "break-word")


def balanced(paragraph: InlineText, breaks: list[int], width: float, indent: float) -> list[tuple[int, int]]:
    """Break a paragraph into the usual number of lines, but of roughly equal width."""
    lines = broken(paragraph, breaks, width, indent)
    if not 2 <= len(lines) <= 10:
        return lines
    narrow, wide = 0.0, width
    for _ in range(12):
        middle = (narrow + wide) / 2
        attempt = broken(paragraph, breaks, middle, indent)
        fits = all(line_width(paragraph, start, end) <= middle + 0.01 for start, end in attempt)
        if len(attempt) <= len(lines) and fits:
            wide = middle
        else:
            narrow = middle
    return broken(paragraph, breaks, wide, indent)
