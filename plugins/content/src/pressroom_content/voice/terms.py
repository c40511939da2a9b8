"""Finding any of many terms in a text, in one pass over its words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

_TOKEN = re.compile(r"\w+|[^\w\s]")
_MAX_TOKENS: Final = 100
"""Tokens that a term has at most: the work for each word of a text is bounded by it."""


@dataclass(slots=True)
class _Node:
    """Where a walk along a term has come to. `value` is what the term stands for that ends here."""

    following: dict[tuple[str, bool], _Node] = field(default_factory=dict)
    value: str | None = None


class Terms:
    """Terms as whole words, in any case, with any white space where they have some.

    `values` maps each term to what it stands for. Terms of more than 100 words and marks are never found.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._root = _Node()
        for term, value in values.items():
            tokens = list(_tokens(term))
            if not 0 < len(tokens) <= _MAX_TOKENS:
                continue
            node = self._root
            for number, (word, _, _, spaced) in enumerate(tokens):
                node = node.following.setdefault((word, spaced and number > 0), _Node())
            node.value = value

    def found_in(self, text: str) -> Iterator[tuple[int, str, str]]:
        """Yield where a term stands, counted in characters from 0, the term as it is there, and what it stands for.

        Where several begin at a place, it is the longest; none overlaps the one before.
        """
        tokens = list(_tokens(text))
        done = 0
        for number, (_, start, _, _) in enumerate(tokens):
            if start < done or (start and _is_of_word(text[start - 1])):
                continue
            node, end, value = self._root, 0, ""
            for at in range(number, min(number + _MAX_TOKENS, len(tokens))):
                word, _, stop, gap = tokens[at]
                following = node.following.get((word, gap and at > number))
                if following is None:
                    break
                node = following
                if node.value is not None and not _is_of_word(text[stop : stop + 1]):
                    end, value = stop, node.value
            if end:
                yield start, text[start:end], value
                done = end


def _tokens(text: str) -> Iterator[tuple[str, int, int, bool]]:
    """Yield the words and marks of a text, with their ends, and whether white space comes before them."""
    end = 0
    for match in _TOKEN.finditer(text):
        yield match[0].lower(), match.start(), match.end(), match.start() > end
        end = match.end()


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"
