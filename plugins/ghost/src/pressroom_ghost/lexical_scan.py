"""Where the blocks of a Lexical document are in its JSON text, found in one pass, whatever the text is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

MAX_BLOCKS: Final = 50_000
MAX_SIGNS: Final = 4_000_000
"""Strings, brackets, commas and colons of a document. One of 5 MB that somebody wrote has a million."""

MAX_DEPTH: Final = 120
"""How deep a block may be nested to be read. A level of a list is four levels of JSON."""

_SIGN = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)
"""A string, also one without an end, or a sign."""

_ROOT, _CHILDREN, _BLOCKS = 1, 2, 3
"""The depths of the member `root`, of its member `children`, and of the blocks."""


BROKEN: Final = object()
"""The value of a text that is not JSON."""


@dataclass(frozen=True, slots=True)
class BlockSpan:
    """A block between two commas of the list that it is in. `depth` is how deep its JSON is nested."""

    start: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True)
class LexicalFrame:
    """A document without its blocks, which are between `start` and `end`."""

    start: int
    end: int
    spans: tuple[BlockSpan, ...]


def scan(raw: str) -> LexicalFrame | None:
    """Return where the blocks of a document are, `None` where it is not one."""
    found = _scan(raw)
    if found is None:
        return None
    document = parsed(raw[: found.start] + raw[found.end :])
    root = document.get("root") if isinstance(document, dict) else None
    return found if isinstance(root, dict) and root.get("children") == [] else None


def parsed(source: str) -> Any:
    """Return the value of a JSON text, `BROKEN` for what is broken or too deep."""
    try:
        return json.loads(source)
    except (ValueError, RecursionError):
        return BROKEN


def _scan(raw: str) -> LexicalFrame | None:
    signs = _signs(raw)
    start = _start(signs)
    if start is None:
        return None
    spans: list[BlockSpan] = []
    begin, deepest = start, _BLOCKS
    for sign, at, depth in signs:
        deepest = max(deepest, depth)
        if depth == _BLOCKS and sign == ",":
            spans.append(BlockSpan(begin, at, deepest - _BLOCKS))
            begin, deepest = at + 1, _BLOCKS
            if len(spans) >= MAX_BLOCKS:
                return None
        elif depth == _CHILDREN:
            if spans or raw[begin:at].strip():
                spans.append(BlockSpan(begin, at, deepest - _BLOCKS))
            return LexicalFrame(start, at, tuple(spans))
    return None


def _start(signs: Iterator[tuple[str, int, int]]) -> int | None:
    """Return where the list of blocks begins, and leave the signs in it."""
    keys: dict[int, str] = {}
    last = ""
    for sign, at, depth in signs:
        if depth > _CHILDREN:
            continue
        if sign[0] == '"':
            last = sign
        elif sign == ":":
            keys[depth] = last
        elif sign == "}":
            keys.pop(depth + 1, None)
        elif sign == "[" and depth == _CHILDREN and keys == {_ROOT: '"root"', _CHILDREN: '"children"'}:
            return at + 1
    return None


def _signs(raw: str) -> Iterator[tuple[str, int, int]]:
    """Yield strings and signs, where they are, and in how many lists and objects."""
    depth = 0
    for number, match in enumerate(_SIGN.finditer(raw)):
        if number == MAX_SIGNS:
            return
        sign = match[0]
        depth -= sign in "]}"
        yield sign, match.start(), depth
        depth += sign in "[{"
