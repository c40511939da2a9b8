"""Finding transitions: the words that tie a sentence to the one before, where they do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pressroom_content.language.packs import LanguagePack, TransitionRules
from pressroom_content.language.segmentation import lowered, split_words

_CLAUSE: Final = re.compile(r"[,;:()–—]|\s-\s")  # noqa: RUF001
_HIDDEN: Final = "·"
"""Takes the place of words that do not count as transitions here."""


def find_transition(text: str, words: Sequence[str], pack: LanguagePack) -> str | None:
    """Return the transition in a sentence, such as `on the other hand`, or None.

    `words` are the sentence's words in lower case. Whether a word is a transition depends on its place in the sentence
    and on its neighbours: "Next, add salt" has one, "the next street" and "Next week it rains" do not.
    """
    rules = pack.transitions
    seen = _without_exceptions(words, rules)
    found = rules.anywhere.find(seen) or rules.opening.begins(seen)
    if found or (rules.beginning.words | rules.closing.words).isdisjoint(seen):
        return found
    for clause in _CLAUSE.split(text):
        part = _without_exceptions(lowered(split_words(clause)), rules)
        found = rules.beginning.begins(part) or rules.closing.ends(part)
        if found:
            return found
    return None


def _without_exceptions(words: Sequence[str], rules: TransitionRules) -> Sequence[str]:
    if rules.exceptions is None:
        return words
    joined = " ".join(words)
    hidden = rules.exceptions.sub(lambda found: " ".join(_HIDDEN for _ in found[0].split(" ")), joined)
    return words if hidden == joined else hidden.split(" ")
