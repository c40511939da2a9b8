"""Words, in every script."""

from __future__ import annotations

from collections.abc import Iterator

from icu4py.breakers import WordBreaker

_ANY_LANGUAGE = "en"


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text (Unicode Standard Annex 29), with dictionaries where words have no spaces between.

    Numbers are words; punctuation, symbols and emoji are not.
    """
    return (part for part in WordBreaker(text, _ANY_LANGUAGE) if part[0].isalnum() or _has_letter(part))


def count_words(text: str) -> int:
    """Return how many words a text has."""
    return sum(1 for _ in words_of(text))


def _has_letter(part: str) -> bool:
    return len(part) > 1 and any(character.isalnum() for character in part)
