"""Where sentences end."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

_END: Final = re.compile(
    r"(?<![.!?…])[.!?…]++[)\]\"'”’»›“]*+(?=\s)"  # noqa: RUF001
    r"|[。！？｡؟۔।॥።]+[」』）”’\")]*"  # noqa: RUF001
    r"|\n+"
)
_OPENING: Final = "([{\"'“‘«‹„¿¡*"  # noqa: RUF001
_CLOSERS: Final = frozenset(
    [
        "etc",
        "usw",
        "ecc",
        "enz",
        "p.m",
        "a.m",
        "jr",
        "sr",
        "inc",
        "ltd",
        "co",
        "corp",
        "u.s",
        "u.k",
        "n.chr",
        "v.chr",
        "st",
        "no",
    ]
)
"""Abbreviations that end a sentence now and then: they do when a word follows that begins one."""


def split_sentences(
    text: str, abbreviations: Collection[str] = (), starters: Collection[str] = (), *, ordinals: bool = False
) -> list[str]:
    """Return the sentences of a text.

    `abbreviations` are in lower case without their last full stop; `starters` are words that begin a sentence when they
    have a capital letter; `ordinals` tells that numbers with a full stop are ordinals, as in German.
    """
    sentences: list[str] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if match[0][0] == "." and _goes_on(text, start, match, abbreviations, starters, ordinals=ordinals):
            continue
        if match[0][0] in "!?…" and _next_character(text, end).islower():
            continue
        sentences.append(text[start:end].strip())
        start = end
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _goes_on(
    text: str,
    start: int,
    match: re.Match[str],
    abbreviations: Collection[str],
    starters: Collection[str],
    *,
    ordinals: bool,
) -> bool:
    if _next_character(text, match.end()).islower():
        return True
    if match[0].startswith(".."):
        return False
    word = _word_before(text, start, match.start())
    if not word:
        return False
    if word.isdigit():
        alone = text[start : match.start()].strip() == word
        return len(word) <= 2 and (alone or ordinals)
    plain = word.lower()
    if plain in _CLOSERS or (len(word) == 1 and word.isalpha()):
        return _next_word(text, match.end()) not in starters
    return plain in abbreviations


def _next_character(text: str, at: int) -> str:
    tail = text[at : at + 40].lstrip().lstrip(_OPENING)
    return tail[:1]


def _next_word(text: str, at: int) -> str:
    following = re.match(r"\s*([^\W\d_]+)", text[at : at + 60])
    if not following or not following[1][0].isupper():
        return ""
    return following[1].lower()


def _word_before(text: str, start: int, end: int) -> str:
    begin = max(start, end - 40)
    head = text[begin:end]
    return head[max(head.rfind(" "), head.rfind("\n"), head.rfind("\xa0")) + 1 :].lstrip(_OPENING)
