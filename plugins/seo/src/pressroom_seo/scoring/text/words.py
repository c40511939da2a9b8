"""Where words begin and end, in every script."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

_SIMPLE: Final = re.compile(
    r"[^\W_](?:[^\W_\u0300-\u036f]|[\u0300-\u036f]|['’ʼ.·\-‐‑](?=[^\W_])|(?<=\d),(?=\d))*"  # noqa: RUF001
)
"""Scripts that put blanks between words. `well-known`, `don't`, `3.14` and `e.g` are one word each."""

_COMPLEX: Final = re.compile(
    "[\u0530-\u1cff\u2de0-\u2dff\u2e80-\ua4cf\ua8e0-\uabff\uac00-\ud7ff\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefe"
    "\uff66-\uffdc\U00010800-\U00010fff\U00020000-\U0003ffff]"
)
"""Scripts with vowel signs that are no letters, and those that write words without blanks: ICU's rules and dictionaries
find their words (Unicode Standard Annex 29)."""

_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_JOINTS: Final = re.compile(r"[-‐‑/]")  # noqa: RUF001
_MAX_WORD_LENGTH: Final = 100
"""What is longer is no word, and is not taken apart."""

_APOSTROPHES: Final = str.maketrans("’ʼ", "''")  # noqa: RUF001


def split_words(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    if text.isascii() or not _COMPLEX.search(text):
        return _SIMPLE.findall(text)
    from icu4py.breakers import WordBreaker  # noqa: PLC0415

    return [piece for piece in WordBreaker(text, "en") if any(map(str.isalnum, piece))]


def lowered(words: list[str]) -> list[str]:
    """Return the words in lower case with plain apostrophes, as word lists have them."""
    return [word.lower().translate(_APOSTROPHES) for word in words]


def is_unspaced(text: str) -> bool:
    """Tell whether a text has a script that puts no blanks between words."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def word_parts(word: str, elisions: Collection[str] = ()) -> list[str]:
    """Return what a lower-case word is put together from: `open-source`, `l'eau` are two, `baker's` is `baker`."""
    if word.isalpha() or len(word) > _MAX_WORD_LENGTH:
        return [word]
    found: list[str] = []
    for part in _JOINTS.split(word):
        head, apostrophe, tail = part.partition("'")
        if not apostrophe:
            found.append(part)
        elif head in elisions:
            found += [head, tail]
        elif tail == "s":
            found.append(head)
        else:
            found.append(part)
    return [part for part in found if part]
