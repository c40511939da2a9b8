"""Shorthands of grids (CSS Grid 2, sections 7.4, 7.8 and 8.4)."""

from __future__ import annotations

from pressroom.graphics.css import keyword
from tinycss2.ast import IdentToken, Node

from pressroom_image_generator.engine.shorthand_values import Expanded, Expander, Nodes, split_slash, tokens


def grid_lines(start: str, end: str) -> Expander:
    """Return the expander of the two lines between which an item stands."""

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
    """Return the other line where only one is given: a name is that of both."""
    named = len(line) == 1 and isinstance(line[0], IdentToken) and keyword(line[0]) != "auto"
    return line if named else tokens("auto")


def grid_template(nodes: Nodes) -> Expanded | None:
    """Return rows, columns and areas of `grid-template`, and of a `grid` that names no automatic tracks."""
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
    """Return the tracks of rows that stand after their areas; one without a size is automatic."""
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
