"""Layout of grids: rows and columns with gaps and spans (CSS Grid 2, without subgrids)."""

from __future__ import annotations

import math
from itertools import accumulate

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.fragments import Fragment, LayoutContext, PendingBox, Space
from pressroom_image_generator.engine.layout.grid_items import (
    Cell,
    TrackContribution,
    named_lines,
    placed_cells,
    track_sizes,
)
from pressroom_image_generator.engine.layout.sizing import (
    Sizing,
    aligned_offset,
    content_distribution,
    item_alignment,
    known,
    margin_edges,
    placed,
)
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.tracks import MAX_TRACKS, Track

_AUTO = Track()


def grid_widths(layout: LayoutContext, box: Box) -> tuple[float, float]:
    """Return the content widths of a grid: its columns at min-content and at max-content."""
    gap = known(box.style.column_gap, None) or 0.0
    sizing = Sizing(layout, box, Space(0.0, None))
    height = sizing.specified_height()
    grid = _Grid(layout, box, None, None if height is None else max(0.0, height - sizing.frame.down))
    contributions = grid.column_contributions()
    narrow = [
        TrackContribution(contribution.first, contribution.span, contribution.least, contribution.least)
        for contribution in contributions
    ]
    gaps = gap * max(0, len(grid.columns) - 1)
    minimum = sum(track_sizes(grid.columns, narrow, None, gap, stretch=False)) + gaps
    return minimum, max(minimum, sum(track_sizes(grid.columns, contributions, None, gap, stretch=False)) + gaps)


def layout_grid(layout: LayoutContext, box: Box, space: Space) -> Fragment:
    """Lay out a grid container."""
    sizing = Sizing(layout, box, space)
    style, frame = box.style, sizing.frame
    width, height = sizing.width(), sizing.specified_height()
    if height is None and sizing.ratio:
        height = sizing.limited_height(sizing.height_for(width))
    inner_width = max(0.0, width - frame.across)
    inner_height = None if height is None else max(0.0, height - frame.down)
    grid = _Grid(layout, box, inner_width, inner_height)
    column_gap = known(style.column_gap, inner_width) or 0.0
    row_gap = known(style.row_gap, inner_height) or 0.0
    justify, align = style.justify_content, style.align_content
    columns = track_sizes(
        grid.columns, grid.column_contributions(), inner_width, column_gap, stretch=justify in ("normal", "stretch")
    )
    rows = track_sizes(
        grid.rows, grid.row_contributions(columns, column_gap), inner_height, row_gap,
        stretch=align in ("normal", "stretch"),
    )  # fmt: skip
    content = sum(rows) + row_gap * max(0, len(rows) - 1)
    if height is None:
        height = sizing.limited_height(content + frame.down)
        limited = max(0.0, height - frame.down)
        if limited > content + 0.01:
            # A minimum height leaves free space to distribute, just like a fixed one.
            rows = track_sizes(
                grid.rows, grid.row_contributions(columns, column_gap), limited, row_gap,
                stretch=align in ("normal", "stretch"),
            )  # fmt: skip
        inner_height = limited
    fragment = Fragment(box, width, height, sizing.border, sizing.padding)
    x = _edges(columns, column_gap, inner_width, justify)
    y = _edges(rows, row_gap, inner_height or 0.0, align)
    for cell in grid.cells:
        _place(layout, fragment, cell, (x, columns), (y, rows), inner_width)
    for child in box.children:
        if child.out_of_flow:
            fragment.pending.append(PendingBox(child, frame.left, frame.top, inner_width, inner_height or 0.0))
    return fragment


def _edges(sizes: list[float], gap: float, available: float, mode: str) -> list[float]:
    """Return the start of each track."""
    slack = available - sum(sizes) - gap * max(0, len(sizes) - 1)
    before, between, _ = content_distribution(
        "start" if mode in ("normal", "stretch") else mode, slack, len(sizes), "start"
    )
    return [
        before + end - size + index * (gap + between)
        for index, (end, size) in enumerate(zip(accumulate(sizes), sizes, strict=True))
    ]


def _place(
    layout: LayoutContext, fragment: Fragment, cell: Cell, across: tuple[list[float], list[float]],
    down: tuple[list[float], list[float]], width: float,
) -> None:  # fmt: skip
    container, style = fragment.box.style, cell.box.style
    left, area_width = _area(across, cell.column, cell.columns)
    top, area_height = _area(down, cell.row, cell.rows)
    if container.direction == "rtl":
        left = width - left - area_width
    margins = margin_edges(style, area_width)
    justify = item_alignment(style.justify_self, container.justify_items)
    align = item_alignment(style.align_self, container.align_items)
    stretch_x = _stretches_across(cell.box, container)
    stretch_y = (
        align == "stretch"
        and style.height == "auto"
        and cell.box.kind != "image"
        and "auto" not in (style.margin_top, style.margin_bottom)
    )
    sizing = Sizing(layout, cell.box, Space(area_width, area_height))
    if sizing.ratio:
        stretch_y = stretch_y and not stretch_x
    fixed_width = sizing.limited_width(area_width - margins.across) if stretch_x else None
    fixed_height = sizing.limited_height(area_height - margins.down) if stretch_y else None
    child = layout.fragment(cell.box, Space(area_width, area_height, fixed_width, fixed_height, shrink=True))
    slack_x = area_width - child.width - margins.across
    slack_y = area_height - child.height - margins.down
    x = left + margins.left + _offset(justify, slack_x, (style.margin_left == "auto", style.margin_right == "auto"))
    y = top + margins.top + _offset(align, slack_y, (style.margin_top == "auto", style.margin_bottom == "auto"))
    frame = fragment.border.plus(fragment.padding)
    fragment.children.append(placed(frame.left + x, frame.top + y, child, area_width, area_height))
    fragment.pending += [pending.moved(frame.left + x, frame.top + y) for pending in child.pending]
    if child.baseline is not None and fragment.baseline is None:
        fragment.baseline = frame.top + y + child.baseline


def _stretches_across(box: Box, container: Style) -> bool:
    """Return whether an item is as wide as its area."""
    style = box.style
    return (
        item_alignment(style.justify_self, container.justify_items) == "stretch"
        and style.width == "auto"
        and box.kind != "image"
        and "auto" not in (style.margin_left, style.margin_right)
    )


def _offset(alignment: str, slack: float, automatic: tuple[bool, bool]) -> float:
    if any(automatic):
        return max(0.0, slack) / (2 if all(automatic) else 1) if automatic[0] else 0.0
    return aligned_offset(alignment, slack, reverse=False)


def _area(tracks: tuple[list[float], list[float]], first: int, span: int) -> tuple[float, float]:
    starts, sizes = tracks
    last = min(first + span, len(sizes)) - 1
    return starts[first], starts[last] + sizes[last] - starts[first]


class _Grid:
    """The tracks of a grid and the cells of its items; `width` and `height` are `None` if they are unknown."""

    def __init__(self, layout: LayoutContext, box: Box, width: float | None, height: float | None) -> None:
        self._layout = layout
        self._style = style = box.style
        columns = _filled(style.grid_template_columns, width, known(style.column_gap, width) or 0.0)
        rows = _filled(style.grid_template_rows, height, known(style.row_gap, height) or 0.0)
        boxes = sorted((child for child in box.children if not child.out_of_flow), key=lambda child: child.style.order)
        flow = style.grid_auto_flow
        areas = style.grid_template_areas
        if areas:
            columns = _extended(columns, style.grid_auto_columns, len(areas[0]))
            rows = _extended(rows, style.grid_auto_rows, len(areas))
        across, down = named_lines(columns, areas), named_lines(rows, tuple(zip(*areas, strict=True)))
        self.cells = placed_cells(boxes, across, down, by_column=flow.startswith("column"), dense="dense" in flow)
        used_columns = max((cell.column + cell.columns for cell in self.cells), default=0)
        used_rows = max((cell.row + cell.rows for cell in self.cells), default=0)
        self.columns = _extended(_fitted(columns, used_columns), style.grid_auto_columns, used_columns)
        self.rows = _extended(_fitted(rows, used_rows), style.grid_auto_rows, used_rows)

    def column_contributions(self) -> list[TrackContribution]:
        """Return the width contributions of the items."""
        return [TrackContribution(cell.column, cell.columns, *self._widths(cell.box)) for cell in self.cells]

    def _widths(self, box: Box) -> tuple[float, float]:
        minimum, maximum = self._layout.outer_widths(box)
        # Scroll containers have no minimum width (CSS Grid 2, section 6.6).
        return (0.0 if box.style.overflow_x not in ("visible", "clip") else minimum), maximum

    def row_contributions(self, columns: list[float], gap: float) -> list[TrackContribution]:
        """Return the height contributions of the items for these column widths."""
        contributions = []
        for cell in self.cells:
            last = min(cell.column + cell.columns, len(columns))
            width = sum(columns[cell.column : last]) + gap * max(0, last - cell.column - 1)
            margins = margin_edges(cell.box.style, width)
            stretch = _stretches_across(cell.box, self._style)
            sizing = Sizing(self._layout, cell.box, Space(width, None))
            fixed = sizing.limited_width(width - margins.across) if stretch else None
            part = self._layout.fragment(cell.box, Space(width, None, fixed, shrink=True))
            outer = part.height + margins.down
            contributions.append(TrackContribution(cell.row, cell.rows, outer, outer))
        return contributions


def _fitted(tracks: list[Track], used: int) -> list[Track]:
    """Return tracks without the unused ones at the end if they come from `auto-fit`."""
    return tracks[: max(1, used)] if any(track.fill == "auto-fit" for track in tracks) else tracks


def _filled(tracks: tuple[Track, ...], available: float | None, gap: float) -> list[Track]:
    """Return tracks with `auto-fill` and `auto-fit` expanded."""
    repeated = [track for track in tracks if track.fill]
    if not repeated:
        return list(tracks)
    single = sum(max(known(track.least, available) or known(track.most, available) or 0.0, 1.0) for track in repeated)
    single += gap * (len(repeated) - 1)
    fixed = [track for track in tracks if not track.fill]
    used = sum((known(track.most, available) or 0.0) + gap for track in fixed)
    count = 1 if available is None else math.floor((available - used + gap + 0.01) / (single + gap))
    count = min(max(1, count), MAX_TRACKS // len(repeated))
    first = next(index for index, track in enumerate(tracks) if track.fill)
    return [*tracks[:first], *repeated * count, *(track for track in tracks[first:] if not track.fill)]


def _extended(tracks: list[Track], automatic: tuple[Track, ...], count: int) -> list[Track]:
    """Return the tracks followed by the implicit ones that items need (CSS Grid 2, section 7.6)."""
    missing = max(0, count - len(tracks), 0 if tracks else 1)
    pattern = automatic or (_AUTO,)
    return [*tracks, *(pattern[index % len(pattern)] for index in range(missing))]
