"""Words reduced to what their inflected forms have in common, by the Snowball stemmers (BSD) or those of plugins."""

from __future__ import annotations

import threading
import unicodedata
from functools import cache, lru_cache
from typing import Any, Final

from pressroom_content.language.contributed import clear_with, contributed_stem

_STEMMERS: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_LETTERS: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "\u0131": "i", "\u2019": "'"}
)

_PORTUGUESE_PLURALS: Final = (("ais", "al"), ("éis", "el"), ("óis", "ol"), ("uis", "ul"))
_SEPARABLE: Final = (
    "zurück", "zusammen", "nach", "fest", "frei", "los", "auf", "aus", "ein", "her", "hin", "mit", "vor", "weg", "ab",
    "an", "um", "zu",
)  # fmt: skip
_local = threading.local()


@lru_cache(maxsize=16384)
def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case word; the word itself where the language has no stemmer."""
    if len(word) < 3 or len(word) > 60:
        return word
    if language == "pt" and len(word) > 4:
        word = _singular(word)
    found = contributed_stem(word, language)
    return snowball(word, language) if found is None else found


clear_with(stem.cache_clear)


def snowball(word: str, language: str) -> str:
    """Return what Snowball leaves of a lower-case word; the word itself where the language has no stemmer."""
    algorithm = _STEMMERS.get(language, "")
    return str(_stemmer(algorithm).stemWord(word)) if algorithm in _algorithms() else word


@cache
def _algorithms() -> frozenset[str]:
    import snowballstemmer  # noqa: PLC0415 - dozens of modules, which no start of the server should wait for

    return frozenset(snowballstemmer.algorithms())


def _stemmer(algorithm: str) -> Any:
    """Return a stemmer of this thread: stemmers keep the word that they work on."""
    import snowballstemmer  # noqa: PLC0415

    stemmers: dict[str, Any] = _local.__dict__.setdefault("stemmers", {})
    if algorithm not in stemmers:
        stemmers[algorithm] = snowballstemmer.stemmer(algorithm)
    return stemmers[algorithm]


def _singular(word: str) -> str:
    """Return the singular of a Portuguese plural that changes its ending, such as `animais`: the stemmer leaves it."""
    return next((word.removesuffix(end) + single for end, single in _PORTUGUESE_PLURALS if word.endswith(end)), word)


def infinitive_forms(word: str, language: str) -> frozenset[str]:
    """Return the forms of a regular German verb that its stemmer keeps apart: `kaufen` gives `kauft`, `gekauft`, ...

    A verb with a separable prefix has `einkaufen`, `eingekauft`, `einzukaufen`. Other words have none.
    """
    if language != "de" or not word.endswith("en") or len(word) < 5:
        return frozenset()
    prefix = next((one for one in _SEPARABLE if word.startswith(one) and len(word) > len(one) + 4), "")
    root = word.removeprefix(prefix).removesuffix("en")
    spoken = [word.removesuffix("en") + end for end in ("t", "et", "te", "ete", "ten", "eten")]
    past = [f"{prefix}ge{root}{end}" for end in ("t", "et", "en")]
    inserted = [f"{prefix}zu{root}en"] if prefix else []
    return frozenset([*spoken, *past, *inserted])


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """Return the text without case and accents, as it is compared in URLs: `Größe` gives `grosse`."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))
