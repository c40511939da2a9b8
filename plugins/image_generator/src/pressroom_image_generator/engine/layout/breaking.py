"""Breaking a paragraph into lines (CSS Text 3, section 5; Unicode Standard Annex 14)."""

from __future__ import annotations

from collections.abc import Iterator

from pressroom.graphics.segments import grapheme_clusters, line_units

from pressroom_image_generator.engine.layout.inline_text import InlineText
from pressroom_image_generator.engine.properties import Style

_HANGING = " \t\n"


def opportunities(paragraph: InlineText) -> list[int]:
    """Return the places before which a line may break, the ends of forced lines included, in order."""
    text = paragraph.text
    wraps = [_wraps(run.style) for run in paragraph.runs]
    found: list[int] = []
    if any(wraps) and text:
        place = 0
        for unit in line_units(text):
            place += len(unit)
            found.append(place)
    loose = [run for run in paragraph.runs if run.style.word_break == "break-all"]
    if loose:
        extra = {place for run in loose for place in _clusters(text, run.start, run.end)}
        found = sorted(extra.union(found))
    forbidden = [run for run in paragraph.runs if not _wraps(run.style) or run.style.word_break == "keep-all"]
    if forbidden:
        found = [place for place in found if _allowed(paragraph, place)]
    forced = [place + 1 for place, character in enumerate(text) if character == "\n"]
    return sorted({*found, *forced, len(text)} - {0})


def _wraps(style: Style) -> bool:
    return style.white_space not in ("nowrap", "pre") and style.text_wrap != "nowrap"


def _allowed(paragraph: InlineText, place: int) -> bool:
    if place >= len(paragraph.text):
        return True
    before = paragraph.text[place - 1]
    style = paragraph.run_at(place - 1).style
    if not _wraps(style):
        # Between two texts, the one that holds the space decides.
        return before not in _HANGING and _wraps(paragraph.run_at(place).style)
    return style.word_break != "keep-all" or not before.isalpha()


def _clusters(text: str, start: int, end: int) -> Iterator[int]:
    place = start
    for cluster in grapheme_clusters(text[start:end]):
        place += len(cluster)
        yield place


def visible_end(paragraph: InlineText, start: int, end: int) -> int:
    """Return the end of a line without the white space that hangs."""
    while end > start and paragraph.text[end - 1] in _HANGING:
        if paragraph.text[end - 1] != "\n" and paragraph.run_at(end - 1).style.white_space in ("pre", "break-spaces"):
            break
        end -= 1
    return end


def broken(paragraph: InlineText, places: list[int], width: float, indent: float = 0.0) -> list[tuple[int, int]]:
    """Return the lines of a paragraph as starts and ends, each as long as the width allows."""
    text = paragraph.text
    lines: list[tuple[int, int]] = []
    start = last = 0
    for place in places:
        room = width - (0.0 if lines else indent)
        if paragraph.width(start, visible_end(paragraph, start, place)) > room + 0.005:
            if last > start:
                lines.append((start, last))
                start = last
                room = width
            start = _emergency(paragraph, start, place, room, lines)
        last = place
        if text[place - 1] == "\n":
            lines.append((start, place))
            start = place
    if start < len(text) or (text.endswith("\n") and not lines):
        lines.append((start, len(text)))
    return lines


def _emergency(paragraph: InlineText, start: int, end: int, room: float, lines: list[tuple[int, int]]) -> int:
    """Cut a word that is wider than a line, where its style allows it, and return where the rest starts."""
    while paragraph.width(start, visible_end(paragraph, start, end)) > room + 0.005:
        if not breaks_words(paragraph.run_at(start).style):
            break
        cut = start
        for place in _clusters(paragraph.text, start, end):
            if cut > start and paragraph.width(start, place) > room + 0.005:
                break
            cut = place
        if cut >= end:
            break
        lines.append((start, cut))
        start = cut
    return start


def breaks_words(style: Style) -> bool:
    """Tell whether a word may be cut where nothing else helps."""
    return _wraps(style) and (style.overflow_wrap != "normal" or style.word_break == "break-word")


def balanced(paragraph: InlineText, places: list[int], width: float, indent: float) -> list[tuple[int, int]]:
    """Return lines of even width: as many as the width asks for, broken as early as that allows."""
    lines = broken(paragraph, places, width, indent)
    if not 2 <= len(lines) <= 10:
        return lines
    narrow, wide = 0.0, width
    for _ in range(12):
        middle = (narrow + wide) / 2
        tried = broken(paragraph, places, middle, indent)
        fits = all(paragraph.width(start, visible_end(paragraph, start, end)) <= middle + 0.01 for start, end in tried)
        if len(tried) <= len(lines) and fits:
            wide = middle
        else:
            narrow = middle
    return broken(paragraph, places, wide, indent)
