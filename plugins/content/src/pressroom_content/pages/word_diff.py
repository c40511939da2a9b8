"""What differs between two versions of an article, as rows of a table: lines, and the words in them that changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import filterfalse, islice
from typing import Final, Literal

from pressroom_content.articles.differences import changed_blocks, matching_work
from pressroom_content.articles.fields import FIELDS, Draft
from pressroom_content.pages.shown import plural
from pressroom_content.records import Article

MAX_ROWS: Final = 600
"""Rows of a difference that are shown."""

MAX_LINE_LENGTH: Final = 4_000
"""Characters of a line that are shown."""

_CONTEXT: Final = 2
_MAX_WORK: Final = 1_000_000
"""The work of comparing the words of two lines; beyond that they are shown as wholes."""

_MAX_TOTAL_WORK: Final = 10_000_000
"""The same for all pairs of lines of a comparison."""

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_MIN_SIMILARITY: Final = 0.3

Kind = Literal["same", "removed", "added", "gap"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line; `changed` tells that the other version has something else there."""

    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line: its number in the older and the newer version, nothing where it is in one only."""

    kind: Kind
    old: int | None
    new: int | None
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field besides the body that differs."""

    name: str
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class VersionDiff:
    """Fields and lines that differ. `cut` tells that there are more lines than are shown."""

    fields: tuple[FieldChange, ...]
    rows: tuple[DiffRow, ...]
    cut: bool

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.fields and not self.rows


def compare(before: Article, after: Article) -> VersionDiff:
    """Return what differs between two versions. It may take a second for a megabyte: call it in a worker process."""
    words = WordDiff()
    fields = tuple(_fields(before, after, words))
    rows = tuple(islice(_rows(before.body.splitlines(), after.body.splitlines(), words), MAX_ROWS + 1))
    return VersionDiff(fields, rows[:MAX_ROWS], cut=len(rows) > MAX_ROWS)


class WordDiff:
    """Compares lines by their words, until the work that it may do is done."""

    def __init__(self) -> None:
        self._left = _MAX_TOTAL_WORK

    def changes(self, before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
        """Return two lines in pieces, those marked that the other one does not have."""
        before, after = before[:MAX_LINE_LENGTH], after[:MAX_LINE_LENGTH]
        old, new = _WORDS.findall(before), _WORDS.findall(after)
        work = matching_work(filterfalse(str.isspace, old), filterfalse(str.isspace, new))
        if not before or not after or work > min(_MAX_WORK, self._left):
            return (Piece(before),), (Piece(after),)
        self._left -= work
        return _word_changes(old, new)


def _word_changes(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    matcher = SequenceMatcher(str.isspace, old, new, autojunk=False)
    if matcher.ratio() < _MIN_SIMILARITY:
        return (Piece("".join(old)),), (Piece("".join(new)),)
    left, right = [], []
    for tag, a, b, c, d in matcher.get_opcodes():
        if a < b:
            left.append(Piece("".join(old[a:b]), tag != "equal"))
        if c < d:
            right.append(Piece("".join(new[c:d]), tag != "equal"))
    return tuple(left), tuple(right)


def _fields(before: Article, after: Article, words: WordDiff) -> Iterator[FieldChange]:
    old, new = Draft.of(before), Draft.of(after)
    for name in FIELDS:
        if name != "body" and getattr(old, name) != getattr(new, name):
            yield FieldChange(name, *words.changes(_shown(getattr(old, name)), _shown(getattr(new, name))))


def _shown(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value or "")


def _rows(old: Sequence[str], new: Sequence[str], words: WordDiff) -> Iterator[DiffRow]:
    blocks = changed_blocks(old, new)
    shown = 0
    for number, (a, b, c, d) in enumerate(blocks):
        first = max(shown, a - _CONTEXT)
        if first > shown:
            yield _gap(first - shown)
        yield from (_same(old[at], at, at + c - a) for at in range(first, a))
        yield from _changed(old[a:b], new[c:d], a, c, words)
        following = blocks[number + 1][0] if number + 1 < len(blocks) else len(old)
        shown = min(b + _CONTEXT, following)
        yield from (_same(old[at], at, at + d - b) for at in range(b, shown))
    if blocks and shown < len(old):
        yield _gap(len(old) - shown)


def _changed(
    old: Sequence[str], new: Sequence[str], first_old: int, first_new: int, words: WordDiff
) -> Iterator[DiffRow]:
    """Yield the lines of a block: where as many came as went, each pair that is shown is compared by its words."""
    shown_old, shown_new = old[: MAX_ROWS + 1], new[: MAX_ROWS + 1]
    pairs = [words.changes(*pair) for pair in zip(shown_old, shown_new, strict=True)] if len(old) == len(new) else []
    removed = [left for left, _ in pairs] or [(Piece(line[:MAX_LINE_LENGTH]),) for line in shown_old]
    added = [right for _, right in pairs] or [(Piece(line[:MAX_LINE_LENGTH]),) for line in shown_new]
    for at, pieces in enumerate(removed):
        yield DiffRow("removed", first_old + at + 1, None, pieces)
    for at, pieces in enumerate(added):
        yield DiffRow("added", None, first_new + at + 1, pieces)


def _same(line: str, old: int, new: int) -> DiffRow:
    return DiffRow("same", old + 1, new + 1, (Piece(line[:MAX_LINE_LENGTH]),))


def _gap(count: int) -> DiffRow:
    return DiffRow("gap", None, None, (Piece(plural(count, "unchanged line")),))
