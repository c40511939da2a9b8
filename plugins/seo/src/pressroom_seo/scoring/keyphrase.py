"""Keyphrase matching in sentences: words in any order and inflection, and as compounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pressroom_content.language import (
    LanguagePack,
    fold,
    infinitive_forms,
    is_unspaced,
    lowered,
    split_words,
    stem,
    stem_keeps_first_letter,
    word_parts,
)

from pressroom_seo.document import clean_text

_MAX_LENGTH: Final = 300
"""Maximum number of characters of a keyphrase to use."""

_MAX_WORD_LENGTH: Final = 60

_LINKS: Final = ("", "e", "en", "ens", "er", "es", "n", "s")
"""Linking elements between the stems of a compound: German `Wärmepumpe` and `Kosten` form `Wärmepumpenkosten`."""

_QUOTES: Final = {'"': '"', "“": "”", "„": "“", "«": "»", "»": "«", "”": "”"}


@dataclass(frozen=True, slots=True)
class Uses:
    """How often a sentence contains a keyphrase, in any form and in the exact form."""

    all: int
    exact: int


class Keyphrase:
    """A matcher for a phrase.

    `words` are its words, `content` those that are not function words, or all words if there are no others. A phrase
    in quotation marks only matches exactly. Scripts without spaces are matched as substrings. Compounds of its words
    (`Rasenmähertest`) and hyphenated spellings (`e-commerce` for `ecommerce`) count as inflected forms.
    """

    def __init__(self, phrase: str, pack: LanguagePack | None, language: str) -> None:
        text = " ".join(clean_text(phrase[:_MAX_LENGTH]).split())
        self.quoted = len(text) > 2 and _QUOTES.get(text[0]) == text[-1]
        self.text = text[1:-1].strip() if self.quoted else text
        self._language = language
        self._elisions = pack.elisions if pack else frozenset()
        self._function_words = pack.function_words if pack else frozenset()
        self._forms: Mapping[str, str] = pack.forms if pack else {}
        self.words = self.parts(lowered(split_words(self.text), language))
        content = [word for word in self.words if word not in self._function_words]
        self.only_function_words = bool(self.words) and not content
        self.content = content or self.words
        self._needed = Counter(self._key(word) for word in self.content)
        self._first_letters = {key[:1] for key in self._needed} if stem_keeps_first_letter(language) else None
        self._verbs = {form: self._key(word) for word in self.content for form in infinitive_forms(word, language)}
        self._exact_words = set(self.content)
        self._keys: dict[str, list[tuple[str, str]]] = {}
        self._letters = fold("".join(self.text.split())) if is_unspaced(self.text) else ""

    @property
    def length_factor(self) -> float:
        """Factor for the density: longer phrases take up more of a text. The formula is that of Yoast SEO."""
        return 1.0 if self._letters else 0.7 + len(self.content) / 3

    def __bool__(self) -> bool:
        return bool(self.words)

    def parts(self, words: Iterable[str]) -> list[str]:
        """Split words into comparable parts, removing hyphens, elisions and the English 's."""
        return [part for word in words for part in word_parts(word, self._elisions)]

    def uses(self, words: Sequence[str]) -> Uses:
        """Count how often a sentence, given as lower-case words, contains all content words of the keyphrase."""
        if self._letters:
            number = fold("".join(words)).count(self._letters)
            return Uses(number, number)
        if self.quoted:
            number = len(self.exact_positions(words))
            return Uses(number, number)
        counts: Counter[str] = Counter()
        exact: Counter[str] = Counter()
        for word in words:
            for part, key in self._keys_of(word):
                counts[key] += 1
                if part in self._exact_words:
                    exact[key] += 1
        number = self._min_count(counts)
        return Uses(number, self._min_count(exact) if number else 0)

    def share(self, words: Sequence[str]) -> float:
        """Return the share of the keyphrase's content words that occur in `words`, 0 to 1."""
        if self._letters or self.quoted:
            return float(self.uses(words).all > 0)
        matched = {key for word in words for _, key in self._keys_of(word)}
        return len(matched) / len(self._needed) if self._needed else 0.0

    def mentioned(self, words: Sequence[str]) -> bool:
        """Return whether a sentence mentions the keyphrase: all of up to two content words, or two thirds of more."""
        share = self.share(words)
        return share >= (1 if len(self._needed) <= 2 else 2 / 3)

    def exact_positions(self, words: Sequence[str]) -> list[int]:
        """Return the positions of exact matches: indexes of parts, or a character offset for unspaced scripts."""
        parts, phrase = self.parts(words), self.words
        if self._letters:
            position = fold("".join(parts)).find(self._letters)
            return [position] if position >= 0 else []
        return [index for index in range(len(parts) - len(phrase) + 1) if parts[index : index + len(phrase)] == phrase]

    def starts(self, words: Sequence[str]) -> bool:
        """Return whether `words` start with an exact match, ignoring leading function words."""
        positions = self.exact_positions(words)
        if not positions:
            return False
        if self._letters:
            return positions[0] == 0
        return all(part in self._function_words for part in self.parts(words)[: positions[0]])

    def same_as(self, phrase: str) -> bool:
        """Return whether another phrase has exactly the same content words, in any form and order."""
        parts = self.parts(lowered(split_words(clean_text(phrase[:_MAX_LENGTH])), self._language))
        content = [part for part in parts if part not in self._function_words] or parts
        return bool(content) and Counter(map(self._key, content)) == self._needed

    def _min_count(self, counts: Counter[str]) -> int:
        return min((counts[key] // needed for key, needed in self._needed.items()), default=0)

    def _key(self, word: str) -> str:
        return fold(stem(self._forms.get(word, word), self._language))

    def _keys_of(self, word: str) -> list[tuple[str, str]]:
        """Return the parts of a word that belong to the keyphrase, each with its stem key."""
        pairs = self._keys.get(word)
        if pairs is None:
            parts = word_parts(word, self._elisions)
            pairs = [pair for part in parts for pair in self._keys_in(part)]
            if not pairs and len(parts) > 1:
                pairs = self._keys_in("".join(parts))
            self._keys[word] = pairs
        return pairs

    def _keys_in(self, part: str) -> list[tuple[str, str]]:
        key = self._key_of(part)
        return [(part, key)] if key else self._compound_keys(part)

    def _key_of(self, part: str) -> str:
        verb = self._verbs.get(part)
        if verb is not None:
            return verb
        # Stemming is slow, so skip words that start with another letter.
        starts = self._first_letters
        if starts is not None and part not in self._forms and fold(part)[:1] not in starts:
            return ""
        key = self._key(part)
        return key if key in self._needed else ""

    def _compound_keys(self, part: str) -> list[tuple[str, str]]:
        """Return the keys of the two keyphrase words that form a compound; empty if it is not one."""
        if len(self._needed) < 2 or len(part) > _MAX_WORD_LENGTH:
            return []
        letters = fold(part)
        for first in self._needed:
            if not letters.startswith(first):
                continue
            remainder = letters[len(first) :]
            for link in _LINKS:
                second = self._key(remainder.removeprefix(link)) if remainder.startswith(link) else ""
                if second in self._needed and second != first:
                    return [("", first), ("", second)]
        return []
