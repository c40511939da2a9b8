"""What one language knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pressroom_seo.language.phrases import PhraseSet
from pressroom_seo.language.syllables import Syllables


@dataclass(frozen=True, slots=True)
class ReadingEase:
    """A formula of the Flesch family: `base - sentence * words per sentence - syllable * syllables per word`.

    From `good` on a text is plain, from `ok` on fairly hard; `source` is where the formula was published.
    """

    name: str
    base: float
    sentence: float
    syllable: float
    good: float
    ok: float
    source: str

    def value(self, words: int, sentences: int, syllables: int) -> float:
        """Return the reading ease, mostly 0 to 100. `words` and `sentences` are at least 1."""
        return self.base - self.sentence * words / sentences - self.syllable * syllables / words


@dataclass(frozen=True, slots=True)
class PassiveRules:
    """How a passive is put together: a form of an auxiliary and, in the same clause, a participle.

    Between them stand at most `max_between` words; where `between` is set, only words that it matches.
    `blocked_before` are reflexives before the auxiliary, `blocked_with` a word that makes the clause another tense.
    Where a clause has the word `agent` (Dutch `door`, by), `agent_auxiliaries` count too, which else make a tense.
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
class LanguagePack:
    """Word lists and rules of one language; all words are in lower case.

    `elisions` are short words that lose their vowel before an apostrophe, such as `l` in `l'eau`.
    `forms` are irregular forms that no stemmer brings together, each with its base form, such as `wrote` with `write`.
    `complex_syllables` is how many syllables make a word complex.
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
    transitions: PhraseSet
    syllables: Syllables
    complex_syllables: int
    reading_ease: ReadingEase
    passive: PassiveRules
    inclusive: PhraseSet | None
    inclusive_instead: dict[str, str]
