"""How wide text is in a search result, in CSS pixels, at the widths of Arial."""

from __future__ import annotations

import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final

_AVERAGE: Final = 1139
"""For characters that the table does not have: the width of most lower-case letters and of all digits."""

_EMOJI: Final = range(0x1F000, 0x20000)
_JOINERS: Final = frozenset("\u200b\u200c\u200d\u2060\ufe0e\ufe0f\u00ad")


def pixel_width(text: str, size: float) -> float:
    """Return the width of the text on one line at a font size, both in CSS pixels. Kerning is not counted."""
    widths, em = _table()
    return sum(widths.get(letter) or _other(letter, em) for letter in text) * size / em


def _other(letter: str, em: int) -> int:
    if letter in _JOINERS or unicodedata.combining(letter) or unicodedata.category(letter) in {"Mn", "Me", "Cf", "Cc"}:
        return 0
    wide = unicodedata.east_asian_width(letter) in {"W", "F"} or ord(letter) in _EMOJI
    return em if wide else _AVERAGE


@cache
def _table() -> tuple[dict[str, int], int]:
    raw = tomllib.loads((files(__package__) / "arial.toml").read_text("utf-8"))
    widths: dict[str, int] = {}
    for width, ranges in raw["widths"].items():
        for entry in ranges.split():
            first, _, last = entry.partition("-")
            widths.update((chr(code), int(width)) for code in range(int(first, 16), int(last or first, 16) + 1))
    return widths, raw["units_per_em"]
