"""Finding any of many phrases in a sentence, word by word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class PhraseSet:
    """Phrases of one word or more, and pairs of which the second follows the first in the same sentence.

    `phrases` are in lower case, words separated by blanks; a pair is written `either ... or`.
    """

    def __init__(self, phrases: Iterable[str], pairs: Iterable[str] = ()) -> None:
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for phrase in phrases:
            words = tuple(phrase.split())
            if words:
                self._by_first.setdefault(words[0], []).append(words)
        for known in self._by_first.values():
            known.sort(key=len, reverse=True)
        split = (pair.partition("...") for pair in pairs)
        self._pairs = [(tuple(first.split()), tuple(second.split())) for first, _, second in split]
        self._pair_starts = {first[0] for first, _ in self._pairs if first}

    def find(self, words: Sequence[str]) -> str | None:
        """Return the first phrase that the words (in lower case) hold, or None."""
        return next((" ".join(phrase) for phrase, _ in self._found(words)), None) or self._find_pair(words)

    def find_all(self, words: Sequence[str]) -> list[str]:
        """Return every phrase that the words hold, without those inside a longer one at the same place."""
        return [" ".join(phrase) for phrase, _ in self._found(words)]

    def is_one(self, words: Sequence[str]) -> bool:
        """Tell whether the words are exactly one of the phrases."""
        return bool(words) and tuple(words) in self._by_first.get(words[0], ())

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
