"""Placement of grid items, and sizes of columns and rows (CSS Grid 2, sections 8 and 12)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.sizing import bounded, known
from pressroom_image_generator.engine.tracks import FARTHEST_LINE, GridLine, Track

MAX_ROWS: Final = 1000


@dataclass(slots=True, eq=False)
class Cell:
    """An item and its cells: the first column and row, from 0, and its spans."""

    box: Box
    column: int
    row: int
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class GridLines:
    """The lines of one axis: the number of explicit tracks, and the positions of named lines, from 0."""

    count: int
    named: Mapping[str, Sequence[int]]

    def place(self, line: GridLine, side: str) -> int | None:
        """Return the position of a line, from 0, or `None` for an automatic one. `side` is `start` or `end`."""
        if line.span or not (line.line or line.name):
            return None
        if not line.name:
            return line.line - 1 if line.line > 0 else self.count + 1 + line.line
        if not line.line:
            # The name of an area refers to its edge.
            lines = self.named.get(f"{line.name}-{side}") or self.named.get(line.name)
            return lines[0] if lines else self.count + 1
        lines = self.named.get(line.name, ())
        number = abs(line.line)
        if line.line > 0:
            return lines[number - 1] if number <= len(lines) else self.count + number - len(lines)
        return lines[-number] if number <= len(lines) else len(lines) - number

    def from_start(self, start: int, line: GridLine) -> int:
        """Return the number of tracks that an item spans from its start line."""
        if not line.name or not line.span:
            return max(1, line.span)
        lines = [position for position in self.named.get(line.name, ()) if position > start]
        end = lines[line.span - 1] if line.span <= len(lines) else max(self.count, start) + line.span - len(lines)
        return max(1, end - start)

    def from_end(self, end: int, line: GridLine) -> int:
        """Return the number of tracks that an item spans up to its end line."""
        if not line.name or not line.span:
            return max(1, line.span)
        lines = [position for position in self.named.get(line.name, ()) if position < end]
        return max(1, end - (lines[-line.span] if line.span <= len(lines) else 0))


def named_lines(tracks: Sequence[Track], areas: Sequence[Sequence[str]]) -> GridLines:
    """Return the lines of an axis, including those that named areas imply."""
    lines: dict[str, list[int]] = {}
    for index, track in enumerate(tracks):
        for name in track.names:
            lines.setdefault(name, []).append(index)
        for name in track.after:
            lines.setdefault(name, []).append(index + 1)
    for name in {name for row in areas for name in row if name}:
        positions = [index for row in areas for index, area in enumerate(row) if area == name]
        lines.setdefault(f"{name}-start", []).append(min(positions))
        lines.setdefault(f"{name}-end", []).append(max(positions) + 1)
    return GridLines(len(tracks), {name: sorted(set(positions)) for name, positions in lines.items()})


def _range(start: GridLine, end: GridLine, lines: GridLines) -> tuple[int | None, int]:
    """Return an item's first track, or `None` for automatic placement, and its span."""
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


def placed_cells(
    boxes: Sequence[Box], columns: GridLines, rows: GridLines, *, by_column: bool, dense: bool
) -> list[Cell]:
    """Return the cells of the items, in the given order."""
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
    for cell, column, row in sorted(waiting, key=lambda entry: (entry[2] if not by_column else entry[1]) is None):
        major, minor = (column, row) if by_column else (row, column)
        if dense:
            cursor = (0, 0)
        position = minor_rows.place(cell, major, minor, cursor)
        if major is None:
            cursor = position
        _take(taken, cell)
    return cells


class _Finder:
    def __init__(self, taken: set[tuple[int, int]], across: int, *, by_column: bool) -> None:
        self._taken = taken
        self._across = across
        self._by_column = by_column

    def place(self, cell: Cell, major: int | None, minor: int | None, cursor: tuple[int, int]) -> tuple[int, int]:
        """Move an item to the first free position from the cursor on, and return it."""
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


@dataclass(frozen=True, slots=True)
class TrackContribution:
    """An item's size contribution to the tracks that it spans."""

    first: int
    span: int
    least: float
    most: float


def track_sizes(
    tracks: Sequence[Track],
    contributions: Sequence[TrackContribution],
    available: float | None,
    gap: float,
    *,
    stretch: bool,
) -> list[float]:
    """Return the sizes of tracks. `available` is the space for tracks and gaps, or `None` if it is unlimited."""
    base = [known(track.least, available) or 0.0 for track in tracks]
    limit = [_limit(track, available) for track in tracks]
    limit = [max(maximum, minimum) for maximum, minimum in zip(limit, base, strict=True)]
    _grow_to_content(tracks, contributions, base, limit, gap)
    flexible = [index for index, track in enumerate(tracks) if track.fraction > 0]
    gaps = gap * max(0, len(tracks) - 1)
    if available is not None:
        _maximise(base, limit, available - gaps, set(flexible))
    else:
        base = [maximum if math.isfinite(maximum) and index not in flexible else size
                for index, (size, maximum) in enumerate(zip(base, limit, strict=True))]  # fmt: skip
    if flexible:
        share = _fraction(tracks, base, flexible, available, gaps)
        for index in flexible:
            base[index] = max(base[index], share * tracks[index].fraction)
    elif stretch and available is not None:
        automatic = [index for index, track in enumerate(tracks) if track.most == "auto"]
        free = available - gaps - sum(base)
        for index in automatic:
            base[index] += max(0.0, free) / len(automatic)
    return [bounded(size) for size in base]


def _limit(track: Track, available: float | None) -> float:
    if track.fraction > 0:
        return math.inf
    size = known(track.most, available)
    return 0.0 if size is None else size


def _grow_to_content(
    tracks: Sequence[Track],
    contributions: Sequence[TrackContribution],
    base: list[float],
    limit: list[float],
    gap: float,
) -> None:
    """Grow tracks of automatic size to fit their items, starting with the smallest spans (section 12.5)."""
    for item in sorted(contributions, key=lambda contribution: contribution.span):
        spanned = range(item.first, min(item.first + item.span, len(tracks)))
        if not spanned:
            continue
        gaps = gap * (len(spanned) - 1)
        if item.span > 1 and any(tracks[index].fraction for index in spanned):
            continue
        growing = [index for index in spanned if _intrinsic(tracks[index].least)]
        max_content = [index for index in growing if tracks[index].least == "max-content"]
        _spread(base, growing, item.least - gaps - sum(base[index] for index in spanned))
        if max_content:
            _spread(base, max_content, item.most - gaps - sum(base[index] for index in spanned))
        soft = [index for index in spanned if _intrinsic(tracks[index].most) and not tracks[index].fraction]
        target = item.least if soft and all(tracks[index].most == "min-content" for index in soft) else item.most
        _spread(limit, soft, target - gaps - sum(_finite(limit[index], base[index]) for index in spanned))
    for index, size in enumerate(base):
        limit[index] = max(limit[index], size)


def _finite(value: float, otherwise: float) -> float:
    return value if math.isfinite(value) else otherwise


def _intrinsic(size: object) -> bool:
    return isinstance(size, str)


def _spread(sizes: list[float], indices: Sequence[int], more: float) -> None:
    if more > 0 and indices:
        for index in indices:
            sizes[index] += more / len(indices)


def _maximise(base: list[float], limit: list[float], available: float, flexible: set[int]) -> None:
    """Distribute free space equally, up to each track's limit (section 12.6)."""
    growing = [index for index in range(len(base)) if index not in flexible and limit[index] > base[index]]
    free = available - sum(base)
    while growing and free > 1e-6:
        step = min(free / len(growing), *(limit[index] - base[index] for index in growing))
        for index in growing:
            base[index] += step
        free -= step * len(growing)
        growing = [index for index in growing if limit[index] - base[index] > 1e-6]


def _fraction(
    tracks: Sequence[Track], base: list[float], flexible: list[int], available: float | None, gaps: float
) -> float:
    """Return the size of 1fr. Tracks whose content exceeds their share keep their size (section 12.7.1)."""
    if available is None:
        return max(base[index] / max(tracks[index].fraction, 1.0) for index in flexible)
    sharing = list(flexible)
    while sharing:
        fixed = sum(size for index, size in enumerate(base) if index not in sharing)
        total = sum(tracks[index].fraction for index in sharing)
        share = max(0.0, available - gaps - fixed) / max(total, 1.0)
        over = [index for index in sharing if base[index] > share * tracks[index].fraction + 1e-6]
        if not over:
            return share
        sharing = [index for index in sharing if index not in over]
    return 0.0
