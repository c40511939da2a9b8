"""Counting syllables by spelling: vowel groups, corrected by the rules and exceptions of the language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

_MAX_WORD_LENGTH: Final = 60
"""A word with more letters is no word; it is counted without the corrections."""


class Syllables:
    """The rules of one language.

    `nucleus` is a pattern of which each match is one syllable, where letters that match `mute` are not read; each match
    of a pattern of `subtract` counts one less and of `add` one more; `exceptions` are whole words.
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
        """Return how many syllables a lower-case word has; a part after a hyphen counts for itself. At least 1."""
        if len(word) > _MAX_WORD_LENGTH:
            return max(1, len(self._nucleus.findall(word)))
        if "-" in word:
            return sum(self.count(part) for part in word.split("-") if part) or 1
        known = self._exceptions.get(word)
        if known is not None:
            return known
        plain = word
        for pattern in self._mute:
            plain = pattern.sub("·", plain)
        number = len(self._nucleus.findall(plain))
        number += sum(len(pattern.findall(plain)) for pattern in self._add)
        number -= sum(len(pattern.findall(plain)) for pattern in self._subtract)
        return max(1, number)
