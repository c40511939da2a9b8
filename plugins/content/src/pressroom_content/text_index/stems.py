"""Stems: what different forms of a word have in common, so that a search finds all of them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from pressroom_content.language import common_words, primary_subtag, snowball, words_of

MAX_STEM_LENGTH: Final = 64
MAX_STEMS: Final = 5_000
MAX_WORDS: Final = 200_000
"""Bounds on what is remembered of one text: its first words, and of those the most frequent."""

DEFAULT_LANGUAGE: Final = "en"

_AS_WRITTEN: Final = frozenset({"eo", "fa"})
"""Languages whose words are in the index as they are written, though they have a stemmer."""


def language_of(tag: str) -> str:
    """Return the language of a tag such as `de-CH` (BCP 47), in lower case; English where the tag is empty."""
    return primary_subtag(tag) or DEFAULT_LANGUAGE


def normalised(word: str) -> str:
    """Return a word as it is compared: one form of its characters (NFKC), no difference of case."""
    return unicodedata.normalize("NFKC", word).casefold().replace("\u2019", "'").removesuffix("'s")


@lru_cache(maxsize=200_000)
def stem_of(word: str, language: str) -> str:
    """Return the stem of a word in a language; of a language without a stemmer, the word itself in lower case."""
    plain = normalised(word)
    if language in _AS_WRITTEN or len(plain) > MAX_STEM_LENGTH:
        return plain[:MAX_STEM_LENGTH]
    return (snowball(plain, language) or plain)[:MAX_STEM_LENGTH]


def stems_of(text: str, language: str) -> Iterator[str]:
    """Yield the stems of a text in their order, without words that are in every text of the language."""
    common = common_words(language)
    return (stem_of(word, language) for word in words_of(text) if normalised(word) not in common)


def counted_stems(text: str, language: str) -> Counter[str]:
    """Return how often each stem is in a text, within the bounds."""
    found: Counter[str] = Counter()
    for number, stem in enumerate(stems_of(text, language)):
        if number == MAX_WORDS:
            break
        found[stem] += 1
    return found if len(found) <= MAX_STEMS else Counter(dict(found.most_common(MAX_STEMS)))


def variants_of(query: str, languages: Iterable[str]) -> list[frozenset[str]]:
    """Return, for each word of a query that is common in none of these languages, its stems in all of them."""
    spoken = {language_of(tag) for tag in languages} or {DEFAULT_LANGUAGE}
    found: list[frozenset[str]] = []
    for word in words_of(query):
        plain = normalised(word)
        if any(plain in common_words(language) for language in spoken):
            continue
        stems = frozenset(stem_of(word, language) for language in spoken)
        if stems not in found:
            found.append(stems)
    return found
