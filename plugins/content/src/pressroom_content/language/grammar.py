"""Stemming, and the detection of passives and transitions.

A passive is a form of an auxiliary and a participle in the same clause. A transition connects a sentence to the
previous one; whether a word is one depends on its position.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import Any, Final

from pressroom_content.language.contributed import clear_with, contributed, contributed_stem
from pressroom_content.language.packs import LanguagePack, PassiveRules, TransitionRules
from pressroom_content.language.segmentation import lowered, split_words

_CLAUSE: Final = re.compile(r"[,;:()–—]|\s-\s")  # noqa: RUF001
_REFLEXIVE_ELISIONS: Final = frozenset(["s", "m", "t"])

_HIDDEN: Final = "·"
"""Replaces words that match an exception and therefore are not transitions."""


def find_passive(text: str, words: Collection[str], pack: LanguagePack) -> str | None:
    """Return the passive in a sentence, such as `was … eaten`, or None.

    `words` are the sentence's words in lower case; they rule most sentences out quickly.
    """
    rules = pack.passive
    auxiliaries = rules.auxiliaries | rules.agent_auxiliaries if rules.agent in words else rules.auxiliaries
    if auxiliaries.isdisjoint(words) and not any("'" in word for word in words):
        return None
    for clause in _CLAUSE.split(text):
        passive = _in_clause(split_words(clause), pack)
        if passive:
            return passive
    return None


def _in_clause(written: list[str], pack: LanguagePack) -> str | None:
    rules, plain = pack.passive, lowered(written, pack.code)
    if rules.blocked_with and rules.blocked_with in plain:
        return None
    words, forms = _without_elisions(plain, written, pack.elisions)
    auxiliaries = rules.auxiliaries | rules.agent_auxiliaries if rules.agent in words else rules.auxiliaries
    for at, word in enumerate(words):
        if word not in auxiliaries or (at and words[at - 1] in rules.blocked_before):
            continue
        participle = _participle_near(words, forms, at, rules)
        if participle is not None:
            first, last = sorted((at, participle))
            between = " " if last == first + 1 else " … "
            return f"{words[first]}{between}{words[last]}"
    return None


def _without_elisions(words: list[str], written: list[str], elisions: Collection[str]) -> tuple[list[str], list[str]]:
    plain, forms = [], []
    for word, form in zip(words, written, strict=True):
        head, apostrophe, tail = word.partition("'")
        if not apostrophe or head not in elisions or not tail:
            plain.append(word)
            forms.append(form)
            continue
        if head in _REFLEXIVE_ELISIONS:
            plain.append(head)
            forms.append(head)
        plain.append(tail)
        forms.append(tail)
    return plain, forms


def _participle_near(words: Sequence[str], forms: Sequence[str], at: int, rules: PassiveRules) -> int | None:
    for further in range(at + 1, min(len(words), at + rules.max_between + 2)):
        if _is_participle(words[further], forms[further], rules):
            return further
        if rules.between is not None and not rules.between.fullmatch(words[further]):
            break
    if rules.direction == "both":
        for before in range(at - 1, max(-1, at - 3), -1):
            if _is_participle(words[before], forms[before], rules):
                return before
    return None


def _is_participle(word: str, form: str, rules: PassiveRules) -> bool:
    if rules.lower_case_only and form[:1].isupper():
        return False
    return word not in rules.not_participles and rules.participle.fullmatch(word) is not None


def find_transition(text: str, words: Sequence[str], pack: LanguagePack) -> str | None:
    """Return the transition in a sentence, such as `on the other hand`, or None.

    `words` are the sentence's words in lower case. Whether a word is a transition depends on its place in the sentence
    and on its neighbours: "Next, add salt" has one, "the next street" and "Next week it rains" do not.
    """
    rules = pack.transitions
    visible = _without_exceptions(words, rules)
    transition = rules.anywhere.find(visible) or rules.opening.begins(visible)
    if transition or (rules.beginning.words | rules.closing.words).isdisjoint(visible):
        return transition
    for clause in _CLAUSE.split(text):
        part = _without_exceptions(lowered(split_words(clause), pack.code), rules)
        transition = rules.beginning.begins(part) or rules.closing.ends(part)
        if transition:
            return transition
    return None


def _without_exceptions(words: Sequence[str], rules: TransitionRules) -> Sequence[str]:
    if rules.exceptions is None:
        return words
    joined = " ".join(words)
    hidden = rules.exceptions.sub(lambda match: " ".join(_HIDDEN for _ in match[0].split(" ")), joined)
    return words if hidden == joined else hidden.split(" ")


_STEMMERS: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_CHANGED_BEGINNINGS: Final = frozenset({"ar", "ga", "id", "nl", "sr", "ta", "yi"})
"""Languages whose stemmers remove prefixes as well, such as Dutch `ge-` and the Arabic article, or transliterate."""

_LETTERS: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "\u0131": "i", "\u2019": "'"}
)

_FIRST_ACCENT: Final = "\u0300"
_LAST_ACCENT: Final = "\u036f"
_LAST_GREEK: Final = "\u03ff"

_PORTUGUESE_PLURALS: Final = (("ais", "al"), ("éis", "el"), ("óis", "ol"), ("uis", "ul"))
_SEPARABLE: Final = (
    "zurück", "zusammen", "nach", "fest", "frei", "los", "auf", "aus", "ein", "her", "hin", "mit", "vor", "weg", "ab",
    "an", "um", "zu",
)  # fmt: skip
_local = threading.local()


@lru_cache(maxsize=16384)
def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case word; the word itself without a stemmer, or outside of 3 to 60 characters."""
    if len(word) < 3 or len(word) > 60:
        return word
    if language == "pt" and len(word) > 4:
        word = _singular(word)
    stemmed = contributed_stem(word, language)
    return snowball(word, language) if stemmed is None else stemmed


clear_with(stem.cache_clear)


def stem_keeps_first_letter(language: str) -> bool:
    """Return whether stems in this language start with the first letter of their word, apart from accents."""
    return language not in _CHANGED_BEGINNINGS and contributed(language) is None


def snowball(word: str, language: str) -> str:
    """Return the Snowball stem of a lower-case word, or the word itself if Snowball does not support the language."""
    algorithm = _STEMMERS.get(language, "")
    return str(_stemmer(algorithm).stemWord(word)) if algorithm in _algorithms() else word


@cache
def _algorithms() -> frozenset[str]:
    import snowballstemmer  # noqa: PLC0415 - dozens of modules, which no start of the server should wait for

    return frozenset(snowballstemmer.algorithms())


def _stemmer(algorithm: str) -> Any:
    """Return a stemmer for this thread: stemmers are not thread-safe, since they store the current word."""
    import snowballstemmer  # noqa: PLC0415

    stemmers: dict[str, Any] = _local.__dict__.setdefault("stemmers", {})
    if algorithm not in stemmers:
        stemmers[algorithm] = snowballstemmer.stemmer(algorithm)
    return stemmers[algorithm]


def _singular(word: str) -> str:
    """Return the singular of a Portuguese plural with a changed ending, such as `animais`, which the stemmer keeps."""
    return next((word.removesuffix(end) + single for end, single in _PORTUGUESE_PLURALS if word.endswith(end)), word)


def infinitive_forms(word: str, language: str) -> frozenset[str]:
    """Return the forms of a regular German verb that its stemmer does not unite: `kaufen` gives `kauft`, `gekauft`, ...

    A verb with a separable prefix, such as `einkaufen`, gives `eingekauft` and `einzukaufen`. Other words have none.
    """
    if language != "de" or not word.endswith("en") or len(word) < 5:
        return frozenset()
    prefix = next(
        (candidate for candidate in _SEPARABLE if word.startswith(candidate) and len(word) > len(candidate) + 4), ""
    )
    root = word.removeprefix(prefix).removesuffix("en")
    conjugated = [word.removesuffix("en") + end for end in ("t", "et", "te", "ete", "ten", "eten")]
    past = [f"{prefix}ge{root}{end}" for end in ("t", "et", "en")]
    inserted = [f"{prefix}zu{root}en"] if prefix else []
    return frozenset([*conjugated, *past, *inserted])


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """Return a text without case and accents, for comparison with URLs: `Größe` gives `grosse`."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def searchable(text: str) -> str:
    """Return a text without case, and without accents in Latin and Greek script, for comparison with a search.

    Marks of other scripts distinguish letters: Japanese `が` and `か`, Russian `й` and `и`.
    """
    if text.isascii():
        return text.lower()
    plain: list[str] = []
    base = ""
    for letter in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)):
        if not _FIRST_ACCENT <= letter <= _LAST_ACCENT:
            base = letter
        elif base <= _LAST_GREEK:
            continue
        plain.append(letter)
    return unicodedata.normalize("NFC", "".join(plain))
