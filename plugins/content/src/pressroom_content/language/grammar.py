"""Finding passives and transitions.

A passive is a form of an auxiliary and a participle in the same clause. A transition ties a sentence to the one before;
it counts where it does so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from pressroom_content.language.packs import LanguagePack, PassiveRules, TransitionRules
from pressroom_content.language.segmentation import lowered, split_words

_CLAUSE: Final = re.compile(r"[,;:()–—]|\s-\s")  # noqa: RUF001
_REFLEXIVE_ELISIONS: Final = frozenset(["s", "m", "t"])

_HIDDEN: Final = "·"
"""Takes the place of words that do not count as transitions here."""


def find_passive(text: str, words: Collection[str], pack: LanguagePack) -> str | None:
    """Return the passive in a sentence, such as `was … eaten`, or None.

    `words` are the sentence's words in lower case; they rule most sentences out quickly.
    """
    rules = pack.passive
    known = rules.auxiliaries | rules.agent_auxiliaries if rules.agent in words else rules.auxiliaries
    if known.isdisjoint(words) and not any("'" in word for word in words):
        return None
    for clause in _CLAUSE.split(text):
        found = _in_clause(split_words(clause), rules, pack.elisions)
        if found:
            return found
    return None


def _in_clause(written: list[str], rules: PassiveRules, elisions: Collection[str]) -> str | None:
    plain = lowered(written)
    if rules.blocked_with and rules.blocked_with in plain:
        return None
    words, forms = _without_elisions(plain, written, elisions)
    auxiliaries = rules.auxiliaries | rules.agent_auxiliaries if rules.agent in words else rules.auxiliaries
    for at, word in enumerate(words):
        if word not in auxiliaries or (at and words[at - 1] in rules.blocked_before):
            continue
        found = _participle_near(words, forms, at, rules)
        if found is not None:
            first, last = sorted((at, found))
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
