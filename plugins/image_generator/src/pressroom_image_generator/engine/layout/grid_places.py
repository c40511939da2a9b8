"""Which cells of a grid each item takes (CSS Grid 2, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.tracks import FARTHEST_LINE, GridLine, Track

MAX_ROWS: Final = 1000


@dataclass(slots=True, eq=False)
class Cell:
    """An item and its cells: the first column and row from 0, and how many it spans."""

    box: Box
    column: int
    row: int
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of one axis: how many explicit tracks lie between them, and the places of the named ones from 0."""

    count: int
    named: Mapping[str, Sequence[int]]

    def place(self, line: GridLine, side: str) -> int | None:
        """Return where a line is, from 0, or `None` for an automatic one. `side` is `start` or `end`."""
        if line.span or not (line.line or line.name):
            return None
        if not line.name:
            return line.line - 1 if line.line > 0 else self.count + 1 + line.line
        if not line.line:
            # The name of an area stands for its edge.
            known = self.named.get(f"{line.name}-{side}") or self.named.get(line.name)
            return known[0] if known else self.count + 1
        known = self.named.get(line.name, ())
        wanted = abs(line.line)
        if line.line > 0:
            return known[wanted - 1] if wanted <= len(known) else self.count + wanted - len(known)
        return known[-wanted] if wanted <= len(known) else len(known) - wanted

    def from_start(self, start: int, line: GridLine) -> int:
        """Return how many tracks an item spans from a line on."""
        if not line.name or not line.span:
            return max(1, line.span)
        known = [place for place in self.named.get(line.name, ()) if place > start]
        end = known[line.span - 1] if line.span <= len(known) else max(self.count, start) + line.span - len(known)
        return max(1, end - start)

    def from_end(self, end: int, line: GridLine) -> int:
        """Return how many tracks an item spans up to a line."""
        if not line.name or not line.span:
            return max(1, line.span)
        known = [place for place in self.named.get(line.name, ()) if place < end]
        return max(1, end - (known[-line.span] if line.span <= len(known) else 0))


def named_lines(tracks: Sequence[Track], areas: Sequence[Sequence[str]]) -> Lines:
    """Return the lines of tracks, and of areas as they follow each other along them."""
    named: dict[str, list[int]] = {}
    for index, track in enumerate(tracks):
        for name in track.names:
            named.setdefault(name, []).append(index)
        for name in track.after:
            named.setdefault(name, []).append(index + 1)
    for name in {name for row in areas for name in row if name}:
        places = [index for row in areas for index, one in enumerate(row) if one == name]
        named.setdefault(f"{name}-start", []).append(min(places))
        named.setdefault(f"{name}-end", []).append(max(places) + 1)
    return Lines(len(tracks), {name: sorted(set(places)) for name, places in named.items()})


def _range(start: GridLine, end: GridLine, lines: Lines) -> tuple[int | None, int]:
    """Return the first track of an item, `None` for an automatic one, and its span."""
    first, last = lines.place(start, "start"), lines.place(end, "end")
    if first is not None and last is not None:
        low, high = sorted((first, last))
        return max(0, low), max(1, high - max(0, low))
    if first is not None:
        return max(0, first), lines.from_start(max(0, first), end)
    if last is not None:
        span = lines.from_end(last, start)
        return max(0, last - span), span
    spans = [line.span for line in (start, end) if line.span and not line.name]
    return None, max(1, spans[0] if spans else 1)


def placed_cells(boxes: Sequence[Box], columns: Lines, rows: Lines, *, by_column: bool, dense: bool) -> list[Cell]:
    """Return where the items stand, in the order given."""
    cells: list[Cell] = []
    waiting: list[tuple[Cell, int | None, int | None]] = []
    taken: set[tuple[int, int]] = set()
    for box in boxes:
        style = box.style
        column, wide = _range(style.grid_column_start, style.grid_column_end, columns)
        row, high = _range(style.grid_row_start, style.grid_row_end, rows)
        cell = Cell(box, column or 0, row or 0, min(wide, FARTHEST_LINE), min(high, FARTHEST_LINE))
        cells.append(cell)
        if column is not None and row is not None:
            _take(taken, cell)
        else:
            waiting.append((cell, column, row))
    across = max((rows if by_column else columns).count, 1)
    for cell, column, row in waiting:
        fixed, span = (row, cell.rows) if by_column else (column, cell.columns)
        across = max(across, (fixed or 0) + span)
    minor_rows = _Finder(taken, across, by_column=by_column)
    cursor = (0, 0)
    for cell, column, row in sorted(waiting, key=lambda one: (one[2] if not by_column else one[1]) is None):
        major, minor = (column, row) if by_column else (row, column)
        if dense:
            cursor = (0, 0)
        found = minor_rows.place(cell, major, minor, cursor)
        if major is None:
            cursor = found
        _take(taken, cell)
    return cells


class _Finder:
    def __init__(self, taken: set[tuple[int, int]], across: int, *, by_column: bool) -> None:
        self._taken = taken
        self._across = across
        self._by_column = by_column

    def place(self, cell: Cell, major: int | None, minor: int | None, cursor: tuple[int, int]) -> tuple[int, int]:
        """Set the first free place of an item from the cursor on, and return it."""
        span = cell.rows if self._by_column else cell.columns
        at_major, at_minor = (major, 0) if major is not None else cursor
        if minor is not None:
            if minor < at_minor and major is None:
                at_major += 1
            at_minor = minor
        while at_major < MAX_ROWS:
            while at_minor + span <= self._across:
                cell.column, cell.row = (at_major, at_minor) if self._by_column else (at_minor, at_major)
                if self._free(cell):
                    return at_major, at_minor
                if minor is not None:
                    break
                at_minor += 1
            if major is not None:
                break
            at_major, at_minor = at_major + 1, minor or 0
        return at_major, at_minor

    def _free(self, cell: Cell) -> bool:
        return not any((column, row) in self._taken for column, row in _area(cell))


def _area(cell: Cell) -> list[tuple[int, int]]:
    return [
        (column, row)
        for column in range(cell.column, cell.column + cell.columns)
        for row in range(cell.row, cell.row + cell.rows)
    ]


def _take(taken: set[tuple[int, int]], cell: Cell) -> None:
    taken.update(_area(cell))
