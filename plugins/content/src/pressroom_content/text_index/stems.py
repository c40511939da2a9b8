"""Stems: what different forms of a word have in common, so that a search finds all of them."""

from __future__ import annotations

import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, Final

from pressroom_content.rendering.words import words_of
from pressroom_content.text_index.common_words import COMMON

MAX_STEM_LENGTH: Final = 64
MAX_STEMS: Final = 5_000
MAX_WORDS: Final = 200_000
"""Bounds on what is remembered of one text: its first words, and of those the most frequent."""

DEFAULT_LANGUAGE: Final = "en"

_ALGORITHMS: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
_local = threading.local()


def language_of(tag: str) -> str:
    """Return the language of a tag such as `de-CH` (BCP 47), in lower case; English where there is none."""
    return tag.replace("_", "-").split("-", 1)[0].lower() or DEFAULT_LANGUAGE


def normalised(word: str) -> str:
    """Return a word as it is compared: one form of its characters (NFKC), no difference of case."""
    return unicodedata.normalize("NFKC", word).casefold().replace("\u2019", "'").removesuffix("'s")


@lru_cache(maxsize=200_000)
def stem_of(word: str, language: str) -> str:
    """Return the stem of a word in a language; of a language without a stemmer, the word itself in lower case."""
    plain = normalised(word)
    algorithm = _ALGORITHMS.get(language, "")
    if algorithm not in _known() or len(plain) > MAX_STEM_LENGTH:
        return plain[:MAX_STEM_LENGTH]
    stem: str = _stemmer(algorithm).stemWord(plain)
    return (stem or plain)[:MAX_STEM_LENGTH]


def stems_of(text: str, language: str) -> Iterator[str]:
    """Yield the stems of a text in their order, without words that stand in every text of the language."""
    common = COMMON.get(language, frozenset())
    return (stem_of(word, language) for word in words_of(text) if normalised(word) not in common)


def counted_stems(text: str, language: str) -> Counter[str]:
    """Return how often each stem stands in a text, within the bounds."""
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
        if any(plain in COMMON.get(language, frozenset()) for language in spoken):
            continue
        stems = frozenset(stem_of(word, language) for language in spoken)
        if stems not in found:
            found.append(stems)
    return found


@cache
def _known() -> frozenset[str]:
    import snowballstemmer  # noqa: PLC0415 - dozens of modules, which no start of the server should wait for

    return frozenset(snowballstemmer.algorithms())


def _stemmer(algorithm: str) -> Any:
    """Return a stemmer of this thread: stemmers keep the word that they work on."""
    import snowballstemmer  # noqa: PLC0415

    stemmers: dict[str, Any] = _local.__dict__.setdefault("stemmers", {})
    if algorithm not in stemmers:
        stemmers[algorithm] = snowballstemmer.stemmer(algorithm)
    return stemmers[algorithm]
