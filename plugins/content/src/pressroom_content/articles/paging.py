"""Parts of a long text, cut where a reader would."""

from __future__ import annotations

import unicodedata
from typing import Final

_PLACES: Final = ("\n\n", "\n", ". ", "。", " ")
_MIN_FILLED: Final = 0.5
"""Which part of a page is filled before a better place to cut counts more than a full page."""

_JOINERS: Final = frozenset("\u200c\u200d\ufe0e\ufe0f")


def part(text: str, offset: int, most: int) -> tuple[str, int | None]:
    """Return a part of a text from an offset, at most this many characters, and the offset of the next part, if any."""
    rest = text[offset : offset + most + 1]
    if len(rest) <= most:
        return rest, None
    end = _end(rest, most)
    return rest[:end], offset + end


def _end(text: str, most: int) -> int:
    least = int(most * _MIN_FILLED)
    for place in _PLACES:
        found = text.rfind(place, least, most - len(place) + 1)
        if found >= 0:
            return found + len(place)
    end = most
    while end > least and _continues(text[end]):
        end -= 1
    return end if end > least else most


def _continues(character: str) -> bool:
    """Tell whether a character belongs to the one before it."""
    return character in _JOINERS or unicodedata.category(character).startswith("M")
