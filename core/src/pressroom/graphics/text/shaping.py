"""Turn characters into positioned glyphs: font fallback, direction, HarfBuzz shaping, and line breaking."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby
from typing import Final

import uharfbuzz as hb

from pressroom.graphics.emoji import emoji_path, is_emoji
from pressroom.graphics.segments import grapheme_clusters, line_units
from pressroom.graphics.text.bidi import Direction, levels, visual_order
from pressroom.graphics.text.fonts import SANS, Face, FontLibrary, default_library

EMOJI_ADVANCE: Final = 1.275
"""Advance width of an emoji relative to the font size, the same as for common emoji fonts in browsers."""

_EMOJI_SCALE: Final = 1.17
_EMOJI_DESCENT: Final = 0.215

_UNDETERMINED: Final = "und"
"""The language tag of a text of unknown language (RFC 5646, section 4.1)."""

_CONTROLS: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class TextStyle:
    """The style of a text. `size` and `letter_spacing` are in pixels, `weight` is 1 to 1000.

    `families`, which can be generic names, are tried in order, followed by all other fonts. `features` are OpenType
    features, such as `("tnum", 1)`. `language` is a tag of RFC 5646, such as `zh-Hans`, and selects regional forms of
    Han characters. Without it the font's default applies, which is Japanese for the extra `cjk`.
    """

    size: float
    families: tuple[str, ...] = (SANS,)
    weight: float = 400
    italic: bool = False
    letter_spacing: float = 0.0
    kerning: bool = True
    ligatures: bool = True
    features: tuple[tuple[str, int], ...] = ()
    language: str = ""


@dataclass(frozen=True, slots=True)
class PlacedGlyph:
    """A glyph, with its origin in pixels from the start of the line and the baseline (y pointing down).

    `face` is `None` for an emoji, whose characters are in `emoji`. `cluster` is the index of its first character.
    """

    face: Face | None
    glyph: int
    x: float
    y: float
    advance: float
    cluster: int
    emoji: str = ""


@dataclass(frozen=True, slots=True)
class ShapedText:
    """A line of text. `ascent` and `descent` are those of the first face, in pixels and positive."""

    glyphs: tuple[PlacedGlyph, ...]
    width: float
    ascent: float
    descent: float
    style: TextStyle
    right_to_left: bool
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Run:
    text: str
    start: int
    level: int
    face: Face | None


@lru_cache(maxsize=4096)
def shape(text: str, style: TextStyle, library: FontLibrary, direction: Direction = "auto") -> ShapedText:
    """Shape a line of text. Control characters have no width. `missing` lists characters that no font supports.

    Each of them is drawn as the first face's box for missing glyphs.
    """
    faces = library.candidates(style.families, weight=style.weight, italic=style.italic)
    base, character_levels = levels(text, direction)
    runs = list(_runs(text, character_levels, faces))
    glyphs: list[PlacedGlyph] = []
    missing: list[str] = []
    x = 0.0
    for index in visual_order([run.level for run in runs]):
        run = runs[index]
        placed, x = _shape_run(run, style, x)
        glyphs += placed
        missing += [text[glyph.cluster] for glyph in placed if glyph.face is not None and glyph.glyph == 0]
    ascent, descent = vertical_metrics(faces[0], style)
    return ShapedText(tuple(glyphs), x, ascent, descent, style, base == 1, tuple(dict.fromkeys(missing)))


def missing_characters(text: str, library: FontLibrary | None = None) -> tuple[str, ...]:
    """Return the distinct characters of a text that would be drawn as boxes, in order of appearance.

    Emoji with an image and characters without a width are never included.

    Args:
        text: one or more lines.
        library: the fonts to search; by default those of the operator and of installed packages.

    Raises:
        ConfigError: a folder of the operator cannot be read, or no font is available.
    """
    fonts = library or default_library()
    missing = (character for line in text.splitlines() for character in shape(line, TextStyle(16), fonts).missing)
    return tuple(dict.fromkeys(missing))


def vertical_metrics(face: Face, style: TextStyle) -> tuple[float, float]:
    """Return the ascent and descent of a face in pixels, both positive."""
    extents = face.font(style.size, style.weight).get_font_extents("ltr")
    return extents.ascender / 64, -extents.descender / 64


def _runs(text: str, character_levels: list[int], faces: tuple[Face, ...]) -> Iterator[_Run]:
    """Split a text where its direction or font changes; each emoji is a separate run."""
    clusters: list[tuple[int, str, Face | None, bool]] = []
    start = 0
    for cluster in grapheme_clusters(text):
        as_emoji = is_emoji(cluster) and emoji_path(cluster) is not None
        clusters.append((start, cluster, None if as_emoji else _face_for(cluster, faces), as_emoji))
        start += len(cluster)

    def key(item: tuple[int, str, Face | None, bool]) -> tuple[int, int, int]:
        begin, _, face, as_emoji = item
        return character_levels[begin], id(face), begin if as_emoji else -1

    for (level, _, _), group in groupby(clusters, key):
        members = list(group)
        yield _Run("".join(cluster for _, cluster, _, _ in members), members[0][0], level, members[0][2])


def _face_for(cluster: str, faces: tuple[Face, ...]) -> Face:
    """Return the first face that supports all visible characters of a cluster, or else the first visible one."""
    first = faces[0]
    if all(ord(character) in first.coverage for character in cluster):
        return first
    visible = [ord(character) for character in cluster if not _ignorable(character)]
    for face in faces:
        if all(code in face.coverage for code in visible):
            return face
    return next((face for face in faces if visible and visible[0] in face.coverage), first)


def _ignorable(character: str) -> bool:
    return unicodedata.category(character) in _CONTROLS or "\ufe00" <= character <= "\ufe0f"


def _shape_run(run: _Run, style: TextStyle, x: float) -> tuple[list[PlacedGlyph], float]:
    if run.face is None:
        advance = style.size * EMOJI_ADVANCE
        glyph = PlacedGlyph(None, 0, x, 0.0, advance, run.start, run.text)
        return [glyph], x + advance + style.letter_spacing
    buffer = hb.Buffer()
    buffer.add_str("".join(" " if unicodedata.category(character) == "Cc" else character for character in run.text))
    buffer.cluster_level = hb.BufferClusterLevel.MONOTONE_CHARACTERS
    buffer.guess_segment_properties()
    buffer.direction = "rtl" if run.level % 2 else "ltr"
    # Otherwise the language of the process's locale would apply, and drawings would differ between hosts.
    buffer.language = style.language or _UNDETERMINED
    hb.shape(run.face.font(style.size, style.weight), buffer, _features(style))
    glyphs: list[PlacedGlyph] = []
    for info, position in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
        advance = position.x_advance / 64
        cluster = run.start + info.cluster
        glyphs.append(
            PlacedGlyph(run.face, info.codepoint, x + position.x_offset / 64, -position.y_offset / 64, advance, cluster)
        )
        x += advance + (style.letter_spacing if advance else 0.0)
    return glyphs, x


def _features(style: TextStyle) -> dict[str, bool | int]:
    features: dict[str, bool | int] = {}
    if not style.kerning:
        features["kern"] = False
    if not style.ligatures or style.letter_spacing:
        # CSS Text 3, section 8.2: letter spacing disables optional ligatures.
        features |= {"liga": False, "clig": False, "calt": style.ligatures}
    features.update(style.features)
    return features


def emoji_box(glyph: PlacedGlyph, style: TextStyle) -> tuple[float, float, float]:
    """Return left, top and edge length of an emoji's image, in pixels from the line's start and the baseline."""
    edge = style.size * _EMOJI_SCALE
    left = glyph.x + (glyph.advance - edge) / 2
    return left, glyph.y + style.size * _EMOJI_DESCENT - edge, edge


_SOFT_HYPHEN: Final = "\u00ad"
_HYPHEN: Final = "-"
ELLIPSIS = "…"


def break_lines(text: str, style: TextStyle, library: FontLibrary, width: float) -> list[str]:
    """Break a text into lines of at most `width` pixels, as far as break opportunities permit.

    A word wider than a line is broken between grapheme clusters. Trailing white space is dropped, and line feeds always
    break.
    """
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        lines += _broken(paragraph, style, library, width)
    return lines


def clamp_lines(
    lines: Sequence[str], max_lines: int, style: TextStyle, library: FontLibrary, width: float
) -> list[str]:
    """Return at most `max_lines` lines. If some are cut off, the last one ends in an ellipsis."""
    if len(lines) <= max_lines:
        return list(lines)
    clamped = list(lines[:max_lines])
    clamped[-1] = ellipsized(f"{clamped[-1]} {lines[max_lines]}", style, library, width)
    return clamped


def _hyphenated(line: str) -> str:
    """Return a line that other lines follow, with a visible hyphen if it ends with a soft one."""
    return line[:-1] + _HYPHEN if line.endswith(_SOFT_HYPHEN) else line


def ellipsized(text: str, style: TextStyle, library: FontLibrary, width: float) -> str:
    """Return a text that fits the width. If it is too wide, truncate it at a grapheme cluster and add an ellipsis."""
    if shape(text, style, library).width <= width:
        return text
    available = width - shape(ELLIPSIS, style, library).width
    measured = _PartWidths(text, style, library)
    end = measured.fitting(0, len(text), available)
    return text[:end].rstrip() + ELLIPSIS


class _PartWidths:
    """The widths of all parts of a paragraph, measured by shaping it once.

    A line shaped separately can differ by the kerning at its ends, a fraction of a pixel.
    """

    def __init__(self, text: str, style: TextStyle, library: FontLibrary) -> None:
        self._text = text
        self._hyphen = shape(_HYPHEN, style, library).width if _SOFT_HYPHEN in text else 0.0
        advances = [0.0] * len(text)
        for glyph in shape(text, style, library).glyphs:
            advances[glyph.cluster] += glyph.advance + (style.letter_spacing if glyph.advance else 0.0)
        self._until = [0.0, *accumulate(advances)]

    def width(self, start: int, end: int) -> float:
        """Return the width of a part as a line: without its trailing white space, and with its hyphen."""
        hyphen = self._hyphen if self._text[start:end].endswith(_SOFT_HYPHEN) and end < len(self._text) else 0.0
        while end > start and self._text[end - 1].isspace():
            end -= 1
        return self._until[end] - self._until[start] + hyphen

    def fitting(self, start: int, end: int, width: float) -> int:
        """Return the end of the longest part from `start` that fits, at a grapheme cluster boundary."""
        position = start
        for cluster in grapheme_clusters(self._text[start:end]):
            if self.width(start, position + len(cluster)) > width:
                break
            position += len(cluster)
        return position


def _broken(text: str, style: TextStyle, library: FontLibrary, width: float) -> list[str]:
    measured = _PartWidths(text, style, library)
    if measured.width(0, len(text)) <= width:
        return [text.rstrip()]
    lines: list[str] = []
    start = position = 0
    for unit in line_units(text, style.language):
        end = position + len(unit)
        if measured.width(start, end) > width and text[start:position].strip():
            lines.append(_hyphenated(text[start:position].rstrip()))
            start = position
        while measured.width(start, end) > width:
            cut = max(measured.fitting(start, end, width), start + _first_cluster(text, start))
            if cut >= end:
                break
            lines.append(_hyphenated(text[start:cut]))
            start = cut
        position = end
    lines.append(text[start:].rstrip())
    return lines


def _first_cluster(text: str, start: int) -> int:
    return len(next(iter(grapheme_clusters(text[start:]))))
