"""Language tags (BCP 47, RFC 5646), and the boundaries of words and sentences in every script."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from icu4py.breakers import WordBreaker

TAG: Final = re.compile(
    r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})"  # language, extended language
    r"(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?"  # script, region
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"  # variants
    r"(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?",
    re.IGNORECASE,
)
"""The syntax of a language tag (RFC 5646, section 2.1), without grandfathered tags."""

_KIN: Final = (
    frozenset({"no", "nb", "nn", "da"}),
    frozenset({"sr", "hr", "bs", "sh", "cnr", "sl"}),
    frozenset({"id", "ms", "jv"}),
    frozenset({"zh", "yue", "wuu", "cmn", "hak", "nan"}),
    frozenset({"fa", "prs", "tg"}),
    frozenset({"gl", "pt"}),
    frozenset({"cs", "sk"}),
    frozenset({"he", "iw", "hbo", "yi"}),
    frozenset({"fil", "tl"}),
    frozenset({"hi", "mr", "ne", "sa"}),
    frozenset({"ar", "arz", "ary"}),
    frozenset({"el", "grc"}),
    frozenset({"mk", "bg"}),
    frozenset({"af", "nl", "fy"}),
    frozenset({"gsw", "lb", "de"}),
)
"""Groups of languages that statistical detection confuses: similar ones, or different codes for the same."""


def primary_subtag(tag: str) -> str:
    """Return the primary subtag of a tag in lower case, such as `pt` for `pt_BR`; empty for an empty tag."""
    return tag.strip().replace("_", "-").partition("-")[0].lower()


def same_language(one: str, other: str) -> bool:
    """Return whether two primary subtags are the same language, or languages that statistical detection confuses."""
    return one == other or any(one in kin and other in kin for kin in _KIN)


_SIMPLE: Final = re.compile(
    r"[^\W_](?:[^\W_\u0300-\u036f]|[\u0300-\u036f]|['’ʼ.·\-‐‑](?=[^\W_])|(?<=\d),(?=\d))*"  # noqa: RUF001
)
"""Words in scripts with spaces between words. `well-known`, `don't`, `3.14` and `e.g` are one word each."""

_COMPLEX: Final = re.compile(
    "[\u0530-\u1cff\u2de0-\u2dff\u2e80-\ua4cf\ua8e0-\uabff\uac00-\ud7ff\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefe"
    "\uff66-\uffdc\U00010800-\U00010fff\U00020000-\U0003ffff]"
)
"""Scripts with vowel signs that are not letters, and scripts without spaces between words. ICU's rules and
dictionaries find their words (Unicode Standard Annex 29)."""

UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""A character of a script without spaces between words."""

_JOINTS: Final = re.compile(r"[-‐‑/]")  # noqa: RUF001
_MAX_WORD_LENGTH: Final = 100
"""Maximum length of a word that is split into parts."""

_APOSTROPHES: Final = str.maketrans("’ʼ", "''")  # noqa: RUF001
_DOTLESS: Final = frozenset({"tr", "az"})
"""Languages in which `I` is the capital of the i without a dot."""

_ANY_LANGUAGE: Final = "en"

_END: Final = re.compile(
    r"(?<![.!?…])[.!?…]++[)\]\"'”’»›“]*+(?=\s)"  # noqa: RUF001
    r"|[。！？｡؟۔।॥።]+[」』）”’\")]*"  # noqa: RUF001
    r"|\n+"
)
_OPENING: Final = "([{\"'“‘«‹„¿¡*"  # noqa: RUF001
_CLOSERS: Final = frozenset([
    "etc", "usw", "ecc", "enz", "p.m", "a.m", "jr", "sr", "inc", "ltd", "co", "corp", "u.s", "u.k", "n.chr", "v.chr",
    "st", "no",
])  # fmt: skip
"""Abbreviations that sometimes end a sentence: they do if the next word can start one."""

ORDINAL_LANGUAGES: Final = frozenset({"de", "da", "no", "nb", "nn", "fi", "cs", "sk", "hu", "pl", "hr", "sl"})
"""Languages that write ordinal numbers with a full stop, as German does."""


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text (Unicode Standard Annex 29), with dictionaries for scripts without spaces between them.

    Numbers are words; punctuation, symbols and emoji are not.
    """
    return (part for part in WordBreaker(text, _ANY_LANGUAGE) if part[0].isalnum() or _has_letter(part))


def count_words(text: str) -> int:
    """Return the number of words in a text."""
    return sum(1 for _ in words_of(text))


def _has_letter(part: str) -> bool:
    return len(part) > 1 and any(character.isalnum() for character in part)


def split_words(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    if text.isascii() or not _COMPLEX.search(text):
        return _SIMPLE.findall(text)
    return [piece for piece in WordBreaker(text, _ANY_LANGUAGE) if any(map(str.isalnum, piece))]


def lowered(words: list[str], language: str = "") -> list[str]:
    """Return words in lower case with straight apostrophes, as in word lists.

    The Turkish `İ` becomes a plain `i`, and in Turkish and Azerbaijani, `I` becomes an i without a dot.
    """
    if language in _DOTLESS:
        words = [word.replace("I", "\u0131") for word in words]
    return [word.replace("İ", "i").lower().translate(_APOSTROPHES) for word in words]


def is_unspaced(text: str) -> bool:
    """Return whether a text contains a script without spaces between words."""
    return not text.isascii() and UNSPACED.search(text) is not None


def word_parts(word: str, elisions: Collection[str] = ()) -> list[str]:
    """Return the parts of a lower-case word: `open-source` and `l'eau` have two, `baker's` is `baker`."""
    if word.isalpha() or len(word) > _MAX_WORD_LENGTH:
        return [word]
    parts: list[str] = []
    for part in _JOINTS.split(word):
        head, apostrophe, tail = part.partition("'")
        if not apostrophe:
            parts.append(part)
        elif head in elisions:
            parts += [head, tail]
        elif tail == "s":
            parts.append(head)
        else:
            parts.append(part)
    return [part for part in parts if part]


def split_sentences(
    text: str, abbreviations: Collection[str] = (), starters: Collection[str] = (), *, ordinals: bool = False
) -> list[str]:
    """Return the sentences of a text.

    `abbreviations` are in lower case without their last full stop. `starters` are words that start a sentence if they
    are capitalised. `ordinals` means that numbers with a full stop are ordinals, as in German.
    """
    sentences: list[str] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if match[0][0] == "." and _continues(text, start, match, abbreviations, starters, ordinals=ordinals):
            continue
        if match[0][0] in "!?…" and _next_character(text, end).islower():
            continue
        sentences.append(text[start:end].strip())
        start = end
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _continues(
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
