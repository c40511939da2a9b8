"""Finding passives: a form of an auxiliary and a participle in the same clause."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from pressroom_content.language.packs import LanguagePack, PassiveRules
from pressroom_content.language.segmentation import lowered, split_words

_CLAUSE: Final = re.compile(r"[,;:()–—]|\s-\s")  # noqa: RUF001
_REFLEXIVE_ELISIONS: Final = frozenset(["s", "m", "t"])


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
