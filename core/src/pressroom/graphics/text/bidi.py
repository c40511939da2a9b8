"""Embedding levels of bidirectional text, including paired brackets (Unicode Standard Annex 9)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, MutableMapping, Sequence
from itertools import takewhile
from typing import Any, Final, Literal

from bidi import algorithm

_Character = MutableMapping[str, Any]

_APART: Final = {
    "[": "]",
    "{": "}",
    "\uff3b": "\uff3d",
    "\uff5b": "\uff5d",
    "\u298d": "\u2990",
    "\u298f": "\u298e",
}
"""Brackets whose partner is not the next code point (`BidiBrackets.txt` of the Unicode Character Database)."""

_MAX_OPEN_BRACKETS: Final = 63
_STRONG: Final = {"L": "L", "R": "R", "AL": "R", "EN": "R", "AN": "R"}

Direction = Literal["auto", "ltr", "rtl"]
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_ISOLATES: Final = {ord(character): "\u200b" for character in "\u2066\u2067\u2068\u2069"}


def resolve_brackets(runs: Sequence[Mapping[str, Any]], characters: Sequence[_Character]) -> None:
    """Set the direction of paired brackets in each level run from the enclosed or preceding text.

    Args:
        runs: level runs with `start`, `length` and `sor` (the direction before the first character).
        characters: characters with `ch`, `type` (after weak types were resolved) and `level`; types are changed in
            place.
    """
    for run in runs:
        part = characters[run["start"] : run["start"] + run["length"]]
        for opening, closing in _pairs(part):
            direction = _direction(part, opening, closing, run["sor"])
            if direction is not None:
                _set_direction(part, opening, direction)
                _set_direction(part, closing, direction)


def _set_direction(characters: Sequence[_Character], position: int, direction: str) -> None:
    """Set the direction of a bracket and of the combining marks on it."""
    characters[position]["type"] = direction
    for mark in takewhile(lambda character: character["orig"] == "NSM", characters[position + 1 :]):
        mark["type"] = direction


def _pairs(characters: Sequence[_Character]) -> list[tuple[int, int]]:
    """Return the positions of paired brackets, in the order of the opening ones."""
    open_brackets: list[tuple[str, int]] = []
    pairs: list[tuple[int, int]] = []
    for position, character in enumerate(characters):
        if character["type"] != "ON":
            continue
        # Angle brackets are pairs of canonically equivalent characters, which pair with each other's partners (BD16).
        bracket = unicodedata.normalize("NFC", character["ch"])
        if (closing := _closing(bracket)) is not None:
            if len(open_brackets) == _MAX_OPEN_BRACKETS:
                break
            open_brackets.append((closing, position))
            continue
        index = next(
            (candidate for candidate in reversed(range(len(open_brackets))) if open_brackets[candidate][0] == bracket),
            None,
        )
        if index is not None:
            pairs.append((open_brackets[index][1], position))
            del open_brackets[index:]
    return sorted(pairs)


def _closing(bracket: str) -> str | None:
    """Return the matching closing bracket, or `None` if the character is not an opening bracket."""
    if unicodedata.category(bracket) != "Ps" or not unicodedata.mirrored(bracket):
        return None
    closing = _APART.get(bracket, chr(ord(bracket) + 1))
    return closing if unicodedata.category(closing) == "Pe" else None


def _direction(characters: Sequence[_Character], opening: int, closing: int, before: str) -> str | None:
    """Return the direction of a bracket pair, or `None` if it encloses no text with a strong direction."""
    embedding = ("L", "R")[characters[opening]["level"] % 2]
    enclosed = {_STRONG.get(character["type"]) for character in characters[opening + 1 : closing]} - {None}
    if embedding in enclosed or not enclosed:
        return embedding if enclosed else None
    # The pair encloses only text of the opposite direction, and takes that direction if it also follows such text.
    preceding = (_STRONG.get(characters[position]["type"]) for position in range(opening - 1, -1, -1))
    return next((strong for strong in preceding if strong is not None), before)


def levels(text: str, direction: Direction = "auto") -> tuple[int, list[int]]:
    """Return the base level (0 left to right, 1 right to left) and the level of each character of a paragraph.

    Formatting characters have the level of the preceding character. Isolates are treated as neutral boundaries, and
    unassigned characters as letters.
    """
    if direction != "rtl" and not _RIGHT_TO_LEFT.search(text):
        return 0, [0] * len(text)
    plain = "".join(
        character if unicodedata.bidirectional(character) else "a" for character in text.translate(_ISOLATES)
    )
    base = {"ltr": 0, "rtl": 1}.get(direction, -1)
    if base < 0:
        base = int(algorithm.get_base_level(plain))
    storage: dict[str, Any] = algorithm.get_empty_storage()
    storage["base_level"] = base
    storage["base_dir"] = ("L", "R")[base]
    algorithm.get_embedding_levels(plain, storage)
    characters = list(storage["chars"])
    algorithm.explicit_embed_and_overrides(storage)
    algorithm.resolve_weak_types(storage)
    resolve_brackets(storage["runs"], storage["chars"])
    algorithm.resolve_neutral_types(storage, debug=False)
    algorithm.resolve_implicit_levels(storage, debug=False)
    remaining_ids = {id(character) for character in storage["chars"]}
    levels: list[int] = []
    for character in characters:
        previous = levels[-1] if levels else base
        levels.append(int(character["level"]) if id(character) in remaining_ids else previous)
    return base, levels


def visual_order(run_levels: list[int]) -> list[int]:
    """Return the indices of runs in visual order, from left to right (rule L2)."""
    order = list(range(len(run_levels)))
    if not order:
        return order
    highest = max(run_levels)
    lowest_odd = min((level for level in run_levels if level % 2), default=highest + 1)
    for level in range(highest, lowest_odd - 1, -1):
        start = 0
        while start < len(order):
            if run_levels[order[start]] < level:
                start += 1
                continue
            end = start
            while end < len(order) and run_levels[order[end]] >= level:
                end += 1
            order[start:end] = reversed(order[start:end])
            start = end
    return order
