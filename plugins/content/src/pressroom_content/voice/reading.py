"""How easy a text is to read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

_VOWELS = re.compile(r"[aeiouyäöüáéíóúàèìòùâêîôûœæ]+")
_SILENT_E = re.compile(r"[^aeiouyl]e$|[^aeiouy](?:es|ed)$")
_SPOKEN_ED = re.compile(r"[td]ed$|[sxz]es$|[cs]hes$")
_MAX_WORDS: Final = 100_000


def reading_ease(words: Sequence[str], sentences: int, language: str) -> float | None:
    """Return the reading ease of a text, from 0 (hard) to 100 (easy); `None` for languages without a formula.

    English: Flesch, "A New Readability Yardstick" (1948). German: Amstad, "Wie verständlich sind unsere Zeitungen?"
    (1978).
    """
    if language not in ("en", "de") or not words or not sentences:
        return None
    sample = list(islice(words, _MAX_WORDS))
    length = len(words) / sentences
    syllables = sum(syllables_of(word, language) for word in sample) / len(sample)
    ease = 206.835 - 1.015 * length - 84.6 * syllables if language == "en" else 180 - length - 58.5 * syllables
    return max(0.0, min(100.0, ease))


def syllables_of(word: str, language: str) -> int:
    """Return about how many syllables a word has: its groups of vowels, without an `e` that English does not speak."""
    word = word.lower()
    count = len(_VOWELS.findall(word))
    if language == "en" and count > 1 and _SILENT_E.search(word) and not _SPOKEN_ED.search(word):
        count -= 1
    return max(1, count)
