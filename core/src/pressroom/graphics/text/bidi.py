"""Embedding levels of bidirectional text (Unicode Standard Annex 9)."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final, Literal

from bidi import algorithm

from pressroom.graphics.text.brackets import resolve_brackets

Direction = Literal["auto", "ltr", "rtl"]

_MAY_RUN_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_ISOLATES: Final = {ord(character): "\u200b" for character in "\u2066\u2067\u2068\u2069"}


def levels(text: str, direction: Direction = "auto") -> tuple[int, list[int]]:
    """Return the base level (0 left to right, 1 right to left) and the level of each character of a paragraph.

    Characters that only steer the order have the level of the one before them. Isolates are treated as boundaries
    without a direction of their own, and characters that Unicode does not know like letters.
    """
    if direction != "rtl" and not _MAY_RUN_RIGHT_TO_LEFT.search(text):
        return 0, [0] * len(text)
    plain = "".join(one if unicodedata.bidirectional(one) else "a" for one in text.translate(_ISOLATES))
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
    kept = {id(character) for character in storage["chars"]}
    found: list[int] = []
    for character in characters:
        previous = found[-1] if found else base
        found.append(int(character["level"]) if id(character) in kept else previous)
    return base, found


def visual_order(run_levels: list[int]) -> list[int]:
    """Return the indices of runs in the order in which they stand from left to right (rule L2)."""
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
