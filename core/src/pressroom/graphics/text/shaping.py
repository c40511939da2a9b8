"""From characters to placed glyphs: fallback, direction, shaping by HarfBuzz, and breaking text into lines."""

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
"""How wide an emoji stands, in sizes of the text around it: as wide as browsers set the common emoji fonts."""

_EMOJI_SCALE: Final = 1.17
_EMOJI_DESCENT: Final = 0.215

_UNDETERMINED: Final = "und"
"""The language tag of a text whose language is not known (RFC 5646, section 4.1)."""

_CONTROLS: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How a text looks. `size` and `letter_spacing` are in pixels, `weight` is 1 to 1000.

    `families` are tried in order, generic names included; any font that has a character is in after them.
    `features` are OpenType features, such as `("tnum", 1)`. `language` is a tag of RFC 5646, such as `zh-Hans`: Han
    characters take its forms; without one they are as the font has them, which for the extra `cjk` is as in Japanese.
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
    """A glyph, its origin in pixels from the start of the line and from the base line (down is positive).

    `face` is `None` for an emoji, whose characters are `emoji`. `cluster` is the index of its first character.
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
    """A line of text. `ascent` and `descent` are of the first face, in pixels and positive."""

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
    """Return one line of text, shaped. Control characters take no room; `missing` lists what no font has.

    A character that no font has is drawn as the first face's box for missing glyphs.
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
    """Return the characters of a text that would be drawn as boxes, each once and in order of appearance.

    Emoji that have an image, and characters that take no room, are never among them.

    Args:
        text: one line or more.
        library: the fonts to look in; those of the operator and of the installed packages by default.

    Raises:
        ConfigError: a folder of the operator cannot be read, or there is no font at all.
    """
    fonts = library or default_library()
    found = (one for line in text.splitlines() for one in shape(line, TextStyle(16), fonts).missing)
    return tuple(dict.fromkeys(found))


def vertical_metrics(face: Face, style: TextStyle) -> tuple[float, float]:
    """Return how far a face reaches above and below the base line, in pixels, both positive."""
    extents = face.font(style.size, style.weight).get_font_extents("ltr")
    return extents.ascender / 64, -extents.descender / 64


def _runs(text: str, character_levels: list[int], faces: tuple[Face, ...]) -> Iterator[_Run]:
    """Cut a text where the direction or the font changes; an emoji is a run of its own."""
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
    """Return the first face with all visible characters of a cluster, else the one with the first of them."""
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
    buffer.add_str("".join(" " if unicodedata.category(one) == "Cc" else one for one in run.text))
    buffer.cluster_level = hb.BufferClusterLevel.MONOTONE_CHARACTERS
    buffer.guess_segment_properties()
    buffer.direction = "rtl" if run.level % 2 else "ltr"
    # Else it would be that of the process's locale, and hosts would draw one text differently.
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
        # CSS Text 3, section 8.2: letters that are spaced apart do not join optionally.
        features |= {"liga": False, "clig": False, "calt": style.ligatures}
    features.update(style.features)
    return features


def emoji_box(glyph: PlacedGlyph, style: TextStyle) -> tuple[float, float, float]:
    """Return left, top and edge length of an emoji's image, in pixels from the line's start and base line."""
    edge = style.size * _EMOJI_SCALE
    left = glyph.x + (glyph.advance - edge) / 2
    return left, glyph.y + style.size * _EMOJI_DESCENT - edge, edge


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
