"""Grid tracks and lines: parsers and shorthands (CSS Grid 2, sections 7 and 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pressroom.graphics.css import bounded, keyword, number, significant, split_commas
from tinycss2.ast import DimensionToken, FunctionBlock, IdentToken, Node

from pressroom_image_generator.engine.values import (
    Expanded,
    Expander,
    Nodes,
    Size,
    Units,
    any_length,
    split_slash,
    tokens,
)

MAX_TRACKS: Final = 200
FARTHEST_LINE: Final = 200


@dataclass(frozen=True, slots=True)
class Track:
    """The minimum and maximum size of a row or column; `fraction` is its `fr` value, 0 for none.

    `fill` marks tracks that repeat as often as they fit. `names` are the names of the line before the track; `after`
    holds names of the line after it, unless they are in `names` of the next track.
    """

    least: Size = "auto"
    most: Size = "auto"
    fraction: float = 0.0
    fill: str = ""
    names: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GridLine:
    """The start or end of an item: a line (from 1, or from -1 backwards), a span, or 0 for `auto`.

    With a `name`, only lines with that name count; a name alone can also refer to an area.
    """

    line: int = 0
    span: int = 0
    name: str = ""


def track_list(nodes: Sequence[Node], units: Units) -> tuple[Track, ...] | None:
    """Parse a list of tracks, with `repeat()` expanded."""
    if len(nodes) == 1 and keyword(nodes[0]) in ("none", "auto"):
        return (Track(),) if keyword(nodes[0]) == "auto" else ()
    tracks = _tracks(nodes, units)
    return None if tracks is None else tuple(tracks[:MAX_TRACKS])


def _tracks(nodes: Sequence[Node], units: Units) -> list[Track] | None:
    tracks: list[Track] = []
    names: tuple[str, ...] = ()
    for node in nodes:
        if node.type == "[] block":
            names += tuple(ident.value for ident in node.content if ident.type == "ident")
            continue
        if isinstance(node, FunctionBlock) and node.lower_name == "repeat":
            node_tracks = _repeated(node, units)
        else:
            node_tracks = None if (track := _track(node)) is None else [track]
        if not node_tracks:
            return None
        tracks += [replace(node_tracks[0], names=(*names, *node_tracks[0].names)), *node_tracks[1:]]
        names = ()
    if names and tracks:
        tracks[-1] = replace(tracks[-1], after=(*tracks[-1].after, *names))
    return tracks


def _repeated(block: FunctionBlock, units: Units) -> list[Track] | None:
    parts = split_commas(block.arguments)
    if len(parts) != 2 or len(parts[0]) != 1 or any(getattr(node, "lower_name", "") == "repeat" for node in parts[1]):
        return None
    tracks = _tracks(parts[1], units)
    if not tracks:
        return None
    if (fill := keyword(parts[0][0])) in ("auto-fill", "auto-fit"):
        return [replace(track, fill=fill) for track in tracks]
    times = number(parts[0][0])
    if times is None or not times.is_integer() or times < 1:
        return None
    return (tracks * int(min(times, MAX_TRACKS)))[:MAX_TRACKS]


def areas(nodes: Sequence[Node], units: Units) -> tuple[tuple[str, ...], ...] | None:
    """Parse rows of named areas; an empty string is an unnamed cell. Areas must be rectangles (section 7.3)."""
    if len(nodes) == 1 and keyword(nodes[0]) == "none":
        return ()
    if not nodes or any(node.type != "string" for node in nodes):
        return None
    rows = [
        tuple("" if not cell.strip(".") else cell for cell in node.value.split())[:MAX_TRACKS]
        for node in nodes[:MAX_TRACKS]
    ]
    if not rows[0] or len({len(row) for row in rows}) != 1:
        return None
    for name in {name for row in rows for name in row if name}:
        cells = [(column, row) for row, names in enumerate(rows) for column, area in enumerate(names) if area == name]
        wide = len({column for column, _ in cells})
        high = len({row for _, row in cells})
        across = max(column for column, _ in cells) - min(column for column, _ in cells) + 1
        down = max(row for _, row in cells) - min(row for _, row in cells) + 1
        if (wide, high) != (across, down) or wide * high != len(cells):
            return None
    return tuple(rows)


def _track(node: Node) -> Track | None:
    if isinstance(node, DimensionToken) and node.lower_unit == "fr":
        return Track("auto", "auto", max(0.0, bounded(node.value))) if node.value >= 0 else None
    if isinstance(node, FunctionBlock) and node.lower_name == "minmax":
        parts = split_commas(node.arguments)
        if len(parts) != 2 or any(len(part) != 1 for part in parts):
            return None
        minimum, maximum = _track(parts[0][0]), _track(parts[1][0])
        if minimum is None or maximum is None or minimum.fraction:
            return None
        return Track(minimum.least, maximum.most, maximum.fraction)
    if isinstance(node, FunctionBlock) and node.lower_name == "fit-content":
        arguments = significant(node.arguments)
        limit = any_length(arguments[0]) if len(arguments) == 1 else None
        return None if limit is None else Track("auto", limit)
    if (word := keyword(node)) in ("auto", "min-content", "max-content"):
        return Track(word, word)
    value = any_length(node)
    return None if value is None else Track(value, value)


def grid_line(nodes: Sequence[Node], units: Units) -> GridLine | None:
    """Parse `auto`, a line number, a name or a span."""
    if [keyword(node) for node in nodes] == ["auto"]:
        return GridLine()
    spans = [node for node in nodes if keyword(node) == "span"]
    names = [str(node.value) for node in nodes if node.type == "ident" and keyword(node) not in ("span", "auto")]
    numbers = [number(node) for node in nodes if node.type == "number"]
    if len(spans) > 1 or len(names) > 1 or len(numbers) > 1 or len(spans) + len(names) + len(numbers) != len(nodes):
        return None
    name = names[0] if names else ""
    integer = 0
    if numbers:
        if numbers[0] is None or not numbers[0].is_integer() or not numbers[0]:
            return None
        integer = int(min(max(numbers[0], -FARTHEST_LINE), FARTHEST_LINE))
    if not spans:
        return GridLine(line=integer, name=name) if integer or name else None
    return GridLine(span=integer or 1, name=name) if integer >= 0 and (integer or name) else None


def grid_lines(start: str, end: str) -> Expander:
    """Return an expander for the start and end line of an item."""

    def expand(nodes: Nodes) -> Expanded | None:
        parts = split_slash(nodes)
        if len(parts) > 2 or not all(parts):
            return None
        return {start: parts[0], end: parts[1] if len(parts) == 2 else _opposite(parts[0])}

    return expand


def grid_area(nodes: Nodes) -> Expanded | None:
    """Return the four lines of `grid-area`."""
    parts = split_slash(nodes)
    if not 1 <= len(parts) <= 4 or not all(parts):
        return None
    row = parts[0]
    column = parts[1] if len(parts) > 1 else _opposite(row)
    return {
        "grid-row-start": row,
        "grid-column-start": column,
        "grid-row-end": parts[2] if len(parts) > 2 else _opposite(row),
        "grid-column-end": parts[3] if len(parts) > 3 else _opposite(column),
    }


def _opposite(line: Nodes) -> Nodes:
    """Return the default for the opposite line: a name applies to both."""
    is_name = len(line) == 1 and isinstance(line[0], IdentToken) and keyword(line[0]) != "auto"
    return line if is_name else tokens("auto")


def grid_template(nodes: Nodes) -> Expanded | None:
    """Return rows, columns and areas of `grid-template`, or of a `grid` without automatic tracks."""
    if len(nodes) == 1 and keyword(nodes[0]) == "none":
        parts: list[list[Node]] = [[*nodes], [*nodes]]
    else:
        parts = split_slash(nodes)
    if not 1 <= len(parts) <= 2 or not all(parts) or any(keyword(node) == "auto-flow" for node in nodes):
        return None
    areas = [node for node in parts[0] if node.type == "string"]
    if len(parts) == 1 and not areas:
        return None
    return {
        "grid-template-rows": _rows(parts[0]) if areas else parts[0],
        "grid-template-columns": parts[1] if len(parts) == 2 else tokens("none"),
        "grid-template-areas": areas or tokens("none"),
    }


def _rows(nodes: Nodes) -> Nodes:
    """Return the row sizes that follow the area strings; a missing size is `auto`."""
    rows: list[Node] = []
    waiting = False
    for node in nodes:
        if node.type == "string":
            if waiting:
                rows += tokens("auto")
            waiting = True
            continue
        if waiting and node.type == "[] block":
            rows += tokens("auto")
        waiting = False
        rows.append(node)
    return [*rows, *tokens("auto")] if waiting else rows
