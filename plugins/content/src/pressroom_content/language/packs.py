"""Language packs: the word lists, rules and formulas of each language.

They are read from a TOML file per language in `data/`, and from languages that plugins contribute.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, Literal

from pressroom_content.language.contributed import clear_with, contributed, in_use
from pressroom_content.language.rules import read_rules
from pressroom_content.language.segmentation import primary_subtag

_DATA: Final = files(__package__) / "data"
SUPPORTED: Final = tuple(
    sorted(file.name.removesuffix(".toml") for file in _DATA.iterdir() if file.name.endswith(".toml"))
)
"""The primary subtags of the languages that have a file. `supported()` also includes those of plugins."""

_MAX_WORD_LENGTH: Final = 60
"""Maximum length of a word; the syllables of a longer text are counted without the corrections."""


class PhraseSet:
    """Phrases of one or more words, and pairs of phrases whose second follows the first in the same sentence.

    `phrases` are in lower case, with words separated by spaces; a pair is written `either ... or`.
    """

    def __init__(self, phrases: Iterable[str], pairs: Iterable[str] = ()) -> None:
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for phrase in phrases:
            words = tuple(phrase.split())
            if words:
                self._by_first.setdefault(words[0], []).append(words)
        for candidates in self._by_first.values():
            candidates.sort(key=len, reverse=True)
        split = (pair.partition("...") for pair in pairs)
        self._pairs = [(tuple(first.split()), tuple(second.split())) for first, _, second in split]
        self._pair_starts = {first[0] for first, _ in self._pairs if first}

    def find(self, words: Sequence[str]) -> str | None:
        """Return the first phrase, or else the first pair, that the words (in lower case) contain, or None."""
        return next((" ".join(phrase) for phrase, _ in self._found(words)), None) or self._find_pair(words)

    def find_all(self, words: Sequence[str]) -> list[str]:
        """Return every phrase that the words contain; of several that start at the same word, the longest."""
        return [" ".join(phrase) for phrase, _ in self._found(words)]

    def is_one(self, words: Sequence[str]) -> bool:
        """Return whether the words are exactly one of the phrases."""
        return bool(words) and tuple(words) in self._by_first.get(words[0], ())

    def begins(self, words: Sequence[str]) -> str | None:
        """Return the longest phrase that the words start with, or None."""
        candidates = self._by_first.get(words[0], ()) if words else ()
        return next((" ".join(phrase) for phrase in candidates if tuple(words[: len(phrase)]) == phrase), None)

    def ends(self, words: Sequence[str]) -> str | None:
        """Return a phrase that the words end with, or None."""
        last = ((phrase, len(words) - len(phrase)) for candidates in self._by_first.values() for phrase in candidates)
        return next((" ".join(phrase) for phrase, at in last if at >= 0 and tuple(words[at:]) == phrase), None)

    @property
    def words(self) -> frozenset[str]:
        """The first words of the phrases."""
        return frozenset(self._by_first)

    def _found(self, words: Sequence[str]) -> Iterable[tuple[tuple[str, ...], int]]:
        for at, word in enumerate(words):
            for phrase in self._by_first.get(word, ()):
                if len(phrase) == 1 or tuple(words[at : at + len(phrase)]) == phrase:
                    yield phrase, at
                    break

    def _find_pair(self, words: Sequence[str]) -> str | None:
        if self._pair_starts.isdisjoint(words):
            return None
        for first, second in self._pairs:
            at = _index(words, first, 0)
            if at >= 0 and _index(words, second, at + len(first)) >= 0:
                return f"{' '.join(first)} … {' '.join(second)}"
        return None


def _index(words: Sequence[str], phrase: tuple[str, ...], start: int) -> int:
    last = len(words) - len(phrase)
    return next((at for at in range(start, last + 1) if tuple(words[at : at + len(phrase)]) == phrase), -1)


class Syllables:
    """The syllable rules of a language.

    Each match of `nucleus` is a syllable; letters that match `mute` are silent and do not count. Each match of a
    pattern in `subtract` removes a syllable, and of one in `add` adds one; `exceptions` maps whole words to counts.
    """

    def __init__(
        self,
        nucleus: str,
        *,
        mute: Iterable[str] = (),
        subtract: Iterable[str] = (),
        add: Iterable[str] = (),
        exceptions: Mapping[str, int] | None = None,
    ) -> None:
        self._nucleus = re.compile(nucleus)
        self._mute = [re.compile(pattern) for pattern in mute]
        self._subtract = [re.compile(pattern) for pattern in subtract]
        self._add = [re.compile(pattern) for pattern in add]
        self._exceptions = dict(exceptions or {})
        self.count = lru_cache(maxsize=32768)(self._count)

    def _count(self, word: str) -> int:
        """Return the number of syllables of a lower-case word, at least 1. Parts between hyphens count separately."""
        if len(word) > _MAX_WORD_LENGTH:
            return max(1, len(self._nucleus.findall(word)))
        if "-" in word:
            return sum(self.count(part) for part in word.split("-") if part) or 1
        count = self._exceptions.get(word)
        if count is not None:
            return count
        plain = word
        for pattern in self._mute:
            plain = pattern.sub("·", plain)
        number = len(self._nucleus.findall(plain))
        number += sum(len(pattern.findall(plain)) for pattern in self._add)
        number -= sum(len(pattern.findall(plain)) for pattern in self._subtract)
        return max(1, number)


@dataclass(frozen=True, slots=True)
class ReadingEase:
    """A formula of the Flesch family: `base - sentence * words per sentence - syllable * syllables per word`.

    A text is plain from `good` upwards, and fairly hard from `ok`; `source` is where the formula was published.
    """

    name: str
    base: float
    sentence: float
    syllable: float
    good: float
    ok: float
    source: str

    def value(self, words: int, sentences: int, syllables: int) -> float:
        """Return the reading ease, usually from 0 to 100. `words` and `sentences` must be at least 1."""
        return self.base - self.sentence * words / sentences - self.syllable * syllables / words


@dataclass(frozen=True, slots=True)
class PassiveRules:
    """How a language forms the passive: a form of an auxiliary and, in the same clause, a participle.

    At most `max_between` words are between them, and only words that match `between` if it is set. A reflexive in
    `blocked_before` that precedes the auxiliary rules out a passive, and so does the word `blocked_with`, which makes
    the clause another tense. If a clause has the word `agent` (Dutch `door`, by), `agent_auxiliaries` count too; they
    otherwise form a tense.
    """

    auxiliaries: frozenset[str]
    participle: re.Pattern[str]
    not_participles: frozenset[str]
    between: re.Pattern[str] | None
    max_between: int
    direction: Literal["after", "both"]
    lower_case_only: bool = False
    blocked_before: frozenset[str] = frozenset()
    blocked_with: str = ""
    agent: str = ""
    agent_auxiliaries: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TransitionRules:
    """Words and phrases that connect sentences, by their position.

    `anywhere` counts at any position; `opening` only at the start of a sentence, `beginning` at the start of a clause,
    and `closing` at the end of one: elsewhere they are adjectives, numerals or adverbs, as in "the next street" and
    "too late". Matches of `exceptions` do not count: "next week".
    """

    anywhere: PhraseSet
    opening: PhraseSet
    beginning: PhraseSet
    closing: PhraseSet
    exceptions: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class LanguagePack:
    """Word lists and rules of one language; all words are in lower case.

    `elisions` are short words that lose their vowel before an apostrophe, such as `l` in `l'eau`.
    `forms` maps irregular forms that no stemmer unites to their base form, such as `wrote` to `write`.
    `complex_syllables` is the number of syllables that makes a word complex.
    """

    code: str
    name: str
    function_words: frozenset[str]
    articles: frozenset[str]
    question_words: frozenset[str]
    abbreviations: frozenset[str]
    elisions: frozenset[str]
    forms: Mapping[str, str]
    generic_links: PhraseSet
    transitions: TransitionRules
    syllables: Syllables
    complex_syllables: int
    reading_ease: ReadingEase
    passive: PassiveRules
    inclusive: PhraseSet | None
    inclusive_instead: dict[str, str]


def supported() -> tuple[str, ...]:
    """Return the primary subtags of the languages with rules: those with a file, and those of plugins."""
    return tuple(sorted({*SUPPORTED, *(language.code for language in in_use())}))


def language_pack(tag: str) -> LanguagePack | None:
    """Return the language pack for a tag such as `de-AT`, or None if the language has no rules."""
    code = primary_subtag(tag)
    return _load(code) if _is_known(code) else None


def _is_known(code: str) -> bool:
    return code in SUPPORTED or contributed(code) is not None


@cache
def common_words(language: str) -> frozenset[str]:
    """Return the words that nearly every text of a language contains, and that therefore do not characterise it.

    They are articles, pronouns and auxiliaries. A language (a primary subtag) without rules has none.
    """
    return _words(_read(language)["common_words"]) if _is_known(language) else frozenset()


@cache
def _load(code: str) -> LanguagePack:
    raw = _read(code)
    inclusive = raw.get("inclusive_language", {})
    return LanguagePack(
        code=code,
        name=raw["name"],
        function_words=_words(raw["function_words"]),
        articles=_words(raw["articles"]),
        question_words=_words(raw["question_words"]),
        abbreviations=_words(raw["abbreviations"]),
        elisions=_words(raw.get("elisions", "")),
        forms=_forms(raw.get("forms", "")),
        generic_links=PhraseSet(_lines(raw["generic_links"])),
        transitions=_transitions(raw),
        syllables=_syllables(raw["syllables"]),
        complex_syllables=raw["complex_syllables"],
        reading_ease=ReadingEase(**raw["reading_ease"]),
        passive=_passive(raw["passive"]),
        inclusive=PhraseSet(inclusive) if inclusive else None,
        inclusive_instead=inclusive,
    )


@cache
def _read(code: str) -> dict[str, Any]:
    if code not in SUPPORTED and (added := contributed(code)) is not None:
        return read_rules(added.rules)
    return tomllib.loads((_DATA / f"{code}.toml").read_text("utf-8"))


for _cache in (_load, _read, common_words):
    clear_with(_cache.cache_clear)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _forms(text: str) -> dict[str, str]:
    rows = (line.split() for line in text.splitlines() if line.strip())
    return {form: base for base, *forms in rows for form in forms}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _syllables(raw: dict[str, Any]) -> Syllables:
    pairs = (entry.rpartition(":") for entry in raw["exceptions"].split())
    return Syllables(
        raw["nucleus"],
        mute=raw["mute"],
        subtract=raw["subtract"],
        add=raw["add"],
        exceptions={word: int(number) for word, _, number in pairs},
    )


def _transitions(raw: dict[str, Any]) -> TransitionRules:
    exceptions = "|".join(raw.get("not_transitions", ()))
    return TransitionRules(
        anywhere=PhraseSet(_lines(raw["transitions"]), _lines(raw["transition_pairs"])),
        opening=PhraseSet(_lines(raw.get("opening_transitions", ""))),
        beginning=PhraseSet(_lines(raw.get("clause_transitions", ""))),
        closing=PhraseSet(_lines(raw.get("closing_transitions", ""))),
        # Whole words only: the pattern is matched against the words of a sentence, joined by spaces.
        exceptions=re.compile(rf"(?<!\S)(?:{exceptions})(?!\S)") if exceptions else None,
    )


def _passive(raw: dict[str, Any]) -> PassiveRules:
    between = [*map(re.escape, raw["between_words"].split()), *raw["between_patterns"]]
    participles = [*map(re.escape, raw["irregular"].split()), *raw["participles"]]
    return PassiveRules(
        auxiliaries=_words(raw["auxiliaries"]),
        participle=re.compile("|".join(participles)),
        not_participles=_words(raw["not_participles"]),
        between=re.compile("|".join(between)) if between else None,
        max_between=raw["max_between"],
        direction=raw["direction"],
        lower_case_only=raw.get("lower_case_only", False),
        blocked_before=_words(raw.get("blocked_before", "")),
        blocked_with=raw.get("blocked_with", ""),
        agent=raw.get("agent", ""),
        agent_auxiliaries=_words(raw.get("agent_auxiliaries", "")),
    )
