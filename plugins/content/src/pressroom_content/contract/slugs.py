"""Slugs: the part of an article's URL that names it, in any script."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

MAX_SLUG_LENGTH: Final = 200
MAX_GENERATED_LENGTH: Final = 80
"""How long a slug is that is made from a title."""

_LATIN: Final = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "\u0131": "i",
    "ĳ": "ij", "ŋ": "n",
}  # fmt: skip
_QUOTES: Final = frozenset("'\u2019\u02bc")


def slug_of(title: str, longest: int = MAX_GENERATED_LENGTH) -> str:
    """Return a slug for a title: lower case, hyphens between the words, Latin letters without accents.

    Letters of other scripts stay as they are. It is empty where the title has neither letters nor digits.
    """
    return cut(as_slug("".join(_plain(character) for character in unicodedata.normalize("NFC", title))), longest)


def as_slug(text: str) -> str:
    """Return a text with everything but letters, their marks and digits replaced by single hyphens, in lower case."""
    parts: list[str] = []
    for character in unicodedata.normalize("NFC", text.lower()):
        if character in _QUOTES:
            continue
        kind = unicodedata.category(character)[0]
        if kind in "LN" or (kind == "M" and parts and parts[-1] != "-"):
            parts.append(character)
        elif parts and parts[-1] != "-":
            parts.append("-")
    return "".join(parts).strip("-")


def cut(slug: str, longest: int) -> str:
    """Return a slug of at most this many characters, cut between words where it can be."""
    if len(slug) <= longest:
        return slug
    head, hyphen, _ = slug[: longest + 1].rpartition("-")
    return (head if hyphen and len(head) > longest // 2 else slug[:longest]).rstrip("-")


def free_slugs(slug: str) -> Iterator[str]:
    """Yield a slug, then the same with numbers at its end."""
    slug = slug or "article"
    yield slug
    number = 2
    while True:
        ending = f"-{number}"
        yield cut(slug, MAX_SLUG_LENGTH - len(ending)) + ending
        number += 1


def _plain(character: str) -> str:
    """Return a Latin letter without its accents, and any other character as it is."""
    lower = character.lower()
    if lower in _LATIN:
        return _LATIN[lower]
    base = unicodedata.normalize("NFD", lower)[:1]
    return base if base.isascii() else lower
