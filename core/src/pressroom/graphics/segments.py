"""Text segmentation into grapheme clusters and line-breaking units, by ICU's rules and dictionaries."""

from __future__ import annotations

from collections.abc import Iterator

from icu4py.breakers import CharacterBreaker, LineBreaker

__all__ = [
    "grapheme_clusters",
    "line_units",
]

_ANY_LANGUAGE = "en"


def grapheme_clusters(text: str) -> Iterator[str]:
    """Yield the grapheme clusters of a text: user-perceived characters (Unicode Standard Annex 29)."""
    return iter(text) if text.isascii() and "\r\n" not in text else iter(CharacterBreaker(text, _ANY_LANGUAGE))


def line_units(text: str, language: str = "") -> Iterator[str]:
    """Yield the parts between line break opportunities, including trailing white space (Annex 14)."""
    return iter(LineBreaker(text, language or _ANY_LANGUAGE))
