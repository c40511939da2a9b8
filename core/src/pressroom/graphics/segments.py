"""Text segmentation into grapheme clusters and line-breaking units, by ICU's rules and dictionaries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from icu4py.breakers import CharacterBreaker, LineBreaker

__all__ = [
    "grapheme_clusters",
    "line_units",
]

_ANY_LANGUAGE = "en"
_AFFIXES: Final = "+$€£¥%"
_TAILORED: Final = re.compile(rf"[{_AFFIXES}]{{2}}|--")


def grapheme_clusters(text: str) -> Iterator[str]:
    """Yield the grapheme clusters of a text: user-perceived characters (Unicode Standard Annex 29)."""
    return iter(text) if text.isascii() and "\r\n" not in text else iter(CharacterBreaker(text, _ANY_LANGUAGE))


def line_units(text: str, language: str = "") -> Iterator[str]:
    """Yield the parts between line break opportunities, including trailing white space (Annex 14).

    Unlike in the default rules, there is no opportunity in C++, $$$ and --option.
    """
    units = iter(LineBreaker(text, language or _ANY_LANGUAGE))
    return _joined(units) if _TAILORED.search(text) else units


def _joined(units: Iterator[str]) -> Iterator[str]:
    before = ""
    for unit in units:
        if before and not (before[-1] in _AFFIXES and unit[0] in _AFFIXES) and before.strip("-"):
            yield before
            before = ""
        before += unit
    if before:
        yield before
