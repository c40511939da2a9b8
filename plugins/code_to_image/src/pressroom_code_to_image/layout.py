"""From highlighted code to rows of cells: tabs, wide characters, wrapping and hidden characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from pressroom.graphics.emoji import is_emoji
from pressroom.graphics.segments import grapheme_clusters

from pressroom_code_to_image.themes import TokenStyle

TAB: Final = 4
"""Columns between tab stops."""

_MAX_CLUSTER_LENGTH: Final = 16
"""Maximum code points of a cluster. Longer ones are split, which reveals what they hide."""

_PRINTABLE: Final = re.compile(r"[\x20-\x7e]*")
_RTL: Final = "\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
"""Hebrew, Arabic and other right-to-left scripts, without the invisible U+061C."""

_RIGHT_TO_LEFT: Final = re.compile(f"[{_RTL}](?:[{_RTL}\u0300-\u036f]|[ \u200c\u200d](?=[{_RTL}]))*")
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})
_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5\u180b\u180c\u180d")
_JOINERS: Final = frozenset("\u200c\u200d")
_BREAK_AFTER: Final = (frozenset(" "), frozenset(",;([/&?"))
"""Characters to break a row after: preferably a space, else one of these marks."""


class RunKind(Enum):
    """How a run is drawn."""

    PLAIN = auto()
    """ASCII, one column per character."""
    SHAPED = auto()
    """Other visible characters."""
    HIDDEN = auto()
    """The code point of an invisible character, such as `U+202E`."""


@dataclass(frozen=True, slots=True)
class StyledRun:
    """A piece of a row in one style, with its first column and its width in columns."""

    column: int
    columns: int
    text: str
    style: TokenStyle
    kind: RunKind


@dataclass(frozen=True, slots=True)
class VisualRow:
    """A visual row. `number` is the line number on the first row of a line, and 0 on wrapped ones."""

    number: int
    runs: tuple[StyledRun, ...]


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    columns: int
    style: TokenStyle
    kind: RunKind


def prepared(code: str) -> str:
    """Normalise line ends to line feeds, and remove blank lines at the end."""
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while len(lines) > 1 and not lines[-1].strip(" \t"):
        lines.pop()
    return "\n".join(lines)


def laid_out(
    pieces: Iterable[tuple[str, TokenStyle]], columns: int, lacks: Callable[[str], bool] = lambda text: False
) -> Iterator[VisualRow]:
    """Yield the rows of code, at most this many columns wide.

    Args:
        pieces: the code in order, with the style of each piece.
        columns: maximum width, at least 2, so that the widest character fits.
        lacks: returns whether no font has a character; its code point is shown then.
    """
    for number, line in enumerate(_lines(pieces), 1):
        if _simple(line, columns):
            yield VisualRow(number, tuple(_runs(line)))
        else:
            for index, cells in enumerate(_wrapped(_cells(line, columns, lacks), columns)):
                yield VisualRow(0 if index else number, tuple(_placed(*cells)))


def _lines(pieces: Iterable[tuple[str, TokenStyle]]) -> Iterator[list[tuple[str, TokenStyle]]]:
    line: list[tuple[str, TokenStyle]] = []
    for text, style in pieces:
        first, *others = text.split("\n")
        if first:
            if line and (style == line[-1][1] or first.isspace()):
                line[-1] = (line[-1][0] + first, line[-1][1])
            else:
                line.append((first, style))
        for other in others:
            yield line
            line = [(other, style)] if other else []
    yield line


def _simple(line: list[tuple[str, TokenStyle]], columns: int) -> bool:
    return sum(len(text) for text, _ in line) <= columns and all(_PRINTABLE.fullmatch(text) for text, _ in line)


def _runs(line: list[tuple[str, TokenStyle]]) -> Iterator[StyledRun]:
    column = 0
    for text, style in line:
        yield StyledRun(column, len(text), text, style, RunKind.PLAIN)
        column += len(text)


def _cells(line: list[tuple[str, TokenStyle]], max_columns: int, lacks: Callable[[str], bool]) -> Iterator[_Cell]:
    column = 0
    for text, style in line:
        for cell in _piece(text, style, column, max_columns, lacks):
            yield cell
            column += cell.columns


def _piece(
    text: str, style: TokenStyle, column: int, max_columns: int, lacks: Callable[[str], bool]
) -> Iterator[_Cell]:
    start = 0
    for match in _RIGHT_TO_LEFT.finditer(text):
        for cell in _clusters(text[start : match.start()], style, column, max_columns, lacks):
            yield cell
            column += cell.columns
        for word in _words(match[0], max_columns):
            columns = max(1, sum(1 for character in word if not unicodedata.combining(character)))
            yield _Cell(word, columns, style, RunKind.SHAPED)
            column += columns
        start = match.end()
    yield from _clusters(text[start:], style, column, max_columns, lacks)


def _words(text: str, max_columns: int) -> Iterator[str]:
    """Yield a right-to-left phrase whole if it fits into half a row, else its words, split if necessary."""
    if len(text) <= max_columns // 2:
        yield text
        return
    for word in re.findall(r" +|[^ ]+", text):
        for start in range(0, len(word), max_columns):
            yield word[start : start + max_columns]


def _clusters(
    text: str, style: TokenStyle, column: int, max_columns: int, lacks: Callable[[str], bool]
) -> Iterator[_Cell]:
    for cluster in _cut(text):
        if cluster == "\t":
            columns = min(TAB - column % TAB, max_columns)
            yield _Cell(" " * columns, columns, style, RunKind.PLAIN)
        elif " " <= cluster <= "~" and len(cluster) == 1:
            columns = 1
            yield _Cell(cluster, columns, style, RunKind.PLAIN)
        elif hides(cluster) or lacks(cluster):
            columns = 0
            for character in cluster:
                hidden = hides(character) or lacks(character)
                mark = f"U+{ord(character):04X}" if hidden else character
                kind = RunKind.HIDDEN if hidden else RunKind.PLAIN if character.isascii() else RunKind.SHAPED
                width = min(len(mark) + 1, max_columns) if kind is RunKind.HIDDEN else _columns(character)
                yield _Cell(mark, width, style, kind)
                columns += width
        else:
            columns = _columns(cluster)
            yield _Cell(cluster, columns, style, RunKind.SHAPED)
        column += columns


def _cut(text: str) -> Iterator[str]:
    if text.isascii():
        yield from text
        return
    for cluster in grapheme_clusters(text):
        if len(cluster) <= _MAX_CLUSTER_LENGTH:
            yield cluster
        else:
            yield from (cluster[at : at + _MAX_CLUSTER_LENGTH] for at in range(0, len(cluster), _MAX_CLUSTER_LENGTH))


def hides(cluster: str) -> bool:
    """Return whether a grapheme cluster contains a character that is invisible or changes the direction of text.

    Joiners count in Latin text only: in other scripts and in emoji they affect the visible shape.
    """
    if cluster.isascii():
        return not cluster.isprintable()
    if is_emoji(cluster):
        return False
    for character in cluster:
        if character in _JOINERS:
            if cluster[0].isascii() or len(cluster) == 1:
                return True
        elif character in _BLANK_LETTERS or unicodedata.category(character) in _HIDDEN_CATEGORIES:
            return True
    return False


def _columns(cluster: str) -> int:
    if is_emoji(cluster) or any(unicodedata.east_asian_width(character) in "WF" for character in cluster):
        return 2
    return 1


def _wrapped(cells: Iterable[_Cell], columns: int) -> Iterator[tuple[int, list[_Cell]]]:
    """Yield the cells of each row, with the column where the row starts."""
    row: list[_Cell] = []
    indent = start = width = 0
    leading, wrapped = True, False
    for cell in cells:
        if leading:
            leading = cell.text.isspace()
            indent += cell.columns if leading else 0
        while start + width + cell.columns > columns and row:
            count = _break(row, fresh=not start and width <= indent)
            yield start, row[:count]
            row = row[count:]
            start = min(indent + 2, columns // 4)
            width = sum(row_cell.columns for row_cell in row)
            wrapped = not row
        if not row and start + cell.columns > columns:
            start = 0
        if wrapped and cell.text == " ":
            continue
        wrapped = False
        row.append(cell)
        width += cell.columns
    yield start, row


def _break(row: list[_Cell], *, fresh: bool) -> int:
    """Return the number of cells to keep on a row: up to the last break in its second half, else all."""
    if fresh:
        return len(row)
    for marks in _BREAK_AFTER:
        for count in range(len(row), len(row) // 2, -1):
            if row[count - 1].text in marks:
                return count
    return len(row)


def _placed(start: int, cells: list[_Cell]) -> Iterator[StyledRun]:
    column = start
    for cell in cells:
        yield StyledRun(column, cell.columns, cell.text, cell.style, cell.kind)
        column += cell.columns
