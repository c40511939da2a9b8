"""Layout of flex containers (CSS Flexible Box Layout 1, section 9)."""

from __future__ import annotations

from dataclasses import dataclass, field

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.flexible_lengths import FlexItem, resolve_lengths
from pressroom_image_generator.engine.layout.fragments import Fragment, LayoutContext, PendingBox, Space
from pressroom_image_generator.engine.layout.sizing import (
    Sizing,
    aligned_offset,
    bounded,
    content_distribution,
    item_alignment,
    known,
    margin_edges,
    placed,
    static_alignment,
)


@dataclass(slots=True, eq=False)
class _Line:
    items: list[FlexItem]
    cross: float = 0.0
    ascent: float = 0.0
    at: float = 0.0
    shares: list[float] = field(default_factory=list)


def flex_widths(layout: LayoutContext, box: Box) -> tuple[float, float]:
    """Return the min-content and max-content width of a flex container (section 9.9)."""
    widths = [layout.outer_widths(child) for child in box.children if not child.out_of_flow]
    if not widths:
        return 0.0, 0.0
    style = box.style
    if style.flex_direction.startswith("column"):
        return max(minimum for minimum, _ in widths), max(maximum for _, maximum in widths)
    gaps = (known(style.column_gap, None) or 0.0) * (len(widths) - 1)
    maximum = sum(maximum for _, maximum in widths) + gaps
    if style.flex_wrap == "nowrap":
        return sum(minimum for minimum, _ in widths) + gaps, maximum
    return max(minimum for minimum, _ in widths), maximum


def layout_flex(layout: LayoutContext, box: Box, space: Space) -> Fragment:
    """Lay out a flex container."""
    return _Flex(layout, box, space).run()


class _Flex:
    def __init__(self, layout: LayoutContext, box: Box, space: Space) -> None:
        self.layout, self.box, self.space = layout, box, space
        self.style = style = box.style
        self.sizing = sizing = Sizing(layout, box, space)
        self.frame = sizing.frame
        self.width = sizing.width()
        self.height = sizing.specified_height()
        if self.height is None and sizing.ratio:
            self.height = sizing.limited_height(sizing.height_for(self.width))
        self.inner_width = max(0.0, self.width - self.frame.across)
        self.inner_height = None if self.height is None else max(0.0, self.height - self.frame.down)
        self.base_height = None if space.indefinite else self.inner_height
        self.row = style.flex_direction.startswith("row")
        self.reverse = style.flex_direction.endswith("reverse") != (self.row and style.direction == "rtl")
        self.wraps = style.flex_wrap != "nowrap"
        across, down = known(style.column_gap, self.inner_width) or 0.0, known(style.row_gap, self.inner_height) or 0.0
        self.main_gap, self.cross_gap = (across, down) if self.row else (down, across)

    def run(self) -> Fragment:
        children = sorted(
            (child for child in self.box.children if not child.out_of_flow), key=lambda child: child.style.order
        )
        items = [self.item(child) for child in children]
        main = self.inner_width if self.row else self.inner_height
        lines = self.lines(items, main)
        if main is None:
            # A column without a height is as high as its content, subject to its limits.
            content_height = max((self.taken(line.items) for line in lines), default=0.0)
            main = max(0.0, self.sizing.limited_height(content_height + self.frame.down) - self.frame.down)
        for line in lines:
            resolve_lengths(line.items, main - self.main_gap * (len(line.items) - 1))
            for item in line.items:
                self.measure(item)
        cross = self.cross_sizes(lines)
        height = (cross if self.row else main) + self.frame.down
        fragment = Fragment(
            self.box, self.width, self.height if self.height is not None else self.sizing.limited_height(height),
            self.sizing.border, self.sizing.padding,
        )  # fmt: skip
        for line in lines:
            self.stretch(line)
            self.place(line, main, cross, fragment)
        self.absolute(fragment)
        return fragment

    def item(self, box: Box) -> FlexItem:
        """Return a child with its flex base size and limits (section 9.2)."""
        style = box.style
        margins = margin_edges(style, self.inner_width)
        main_margin, cross_margin = (margins.across, margins.down) if self.row else (margins.down, margins.across)
        sizing = Sizing(self.layout, box, Space(self.inner_width, self.base_height))
        minimum, maximum = self.limits(box, sizing, cross_margin)
        frame = sizing.frame.across if self.row else sizing.frame.down
        item = FlexItem(box, margins, 0.0, minimum, maximum, main_margin, cross_margin, frame)
        basis = style.flex_basis
        if basis == "auto":
            basis = style.width if self.row else style.height
        main = self.inner_width if self.row else self.base_height
        size = known(basis, main)
        if size is not None:
            outer = sizing.outer_width if self.row else sizing.outer_height
            item.base = outer(max(0.0, size))
        else:
            item.base = self.content_size(box, sizing, cross_margin, str(basis))
        item.base = bounded(item.base)
        return item

    def content_size(self, box: Box, sizing: Sizing, cross_margin: float, keyword: str) -> float:
        """Return the content-based main size of a child."""
        cross = self.definite_cross(box, sizing, cross_margin)
        if sizing.ratio and cross is not None:
            return sizing.width_for(cross) if self.row else sizing.height_for(cross)
        if not self.row:
            return self.layout.fragment(
                box, self.child_space(box, None, self.stretched_width(box, cross_margin))
            ).height
        minimum, maximum = self.layout.content_widths(box)
        return (minimum if keyword == "min-content" else maximum) + sizing.frame.across

    def definite_cross(self, box: Box, sizing: Sizing, cross_margin: float) -> float | None:
        """Return the cross size of a child, or `None` if it is not known before layout."""
        if self.row:
            height = sizing.specified_height()
            if height is not None:
                return height
            if self.base_height is not None and not self.wraps and self.stretches(box):
                return sizing.limited_height(self.base_height - cross_margin)
            return None
        width = known(box.style.width, self.inner_width)
        if width is not None:
            return sizing.limited_width(sizing.outer_width(width))
        return self.stretched_width(box, cross_margin)

    def stretched_width(self, box: Box, cross_margin: float) -> float | None:
        """Return the width of a stretched child of a column, or `None` if it is not stretched."""
        if self.wraps or not self.stretches(box):
            return None
        sizing = Sizing(self.layout, box, Space(self.inner_width, self.base_height))
        return sizing.limited_width(self.inner_width - cross_margin)

    def stretches(self, box: Box) -> bool:
        """Return whether a child is stretched to its line."""
        style = box.style
        size = style.height if self.row else style.width
        before, after = (style.margin_top, style.margin_bottom) if self.row else (style.margin_left, style.margin_right)
        stretch = item_alignment(style.align_self, self.style.align_items) == "stretch"
        return stretch and size == "auto" and "auto" not in (before, after)

    def limits(self, box: Box, sizing: Sizing, cross_margin: float) -> tuple[float, float]:
        """Return the minimum and maximum main size of a child (section 4.5 for automatic minimums)."""
        style = box.style
        if self.row:
            greatest = sizing.width_of(style.max_width)
            minimum = sizing.width_of(style.min_width)
            frame = sizing.frame.across
        else:
            max_height, min_height = (
                known(style.max_height, self.base_height),
                known(style.min_height, self.base_height),
            )
            greatest = None if max_height is None else sizing.outer_height(max_height)
            minimum = None if min_height is None else sizing.outer_height(min_height)
            frame = sizing.frame.down
        maximum = float("inf") if greatest is None else max(greatest, frame)
        if minimum is None:
            minimum = frame
            if style.overflow_x in ("visible", "clip"):
                minimum = min(self.automatic_minimum(box, sizing, cross_margin), maximum)
        return max(minimum, frame), maximum

    def automatic_minimum(self, box: Box, sizing: Sizing, cross_margin: float) -> float:
        style = box.style
        size = known(style.width, self.inner_width) if self.row else known(style.height, self.base_height)
        outer = sizing.outer_width if self.row else sizing.outer_height
        cross = self.definite_cross(box, sizing, cross_margin) if sizing.ratio else None
        if sizing.ratio and cross is not None:
            content = sizing.width_for(cross) if self.row else sizing.height_for(cross)
        elif self.row:
            content = self.layout.content_widths(box)[0] + sizing.frame.across
        else:
            space = self.child_space(box, None, self.stretched_width(box, cross_margin))
            content = self.layout.fragment(box, space._replace(natural=size is not None)).height
        return content if size is None else min(content, outer(max(0.0, size)))

    def lines(self, items: list[FlexItem], main: float | None) -> list[_Line]:
        """Return the items grouped into lines (section 9.3)."""
        if not self.wraps or main is None:
            return [_Line(items)] if items else []
        lines: list[_Line] = []
        used = 0.0
        for item in items:
            size = item.hypothetical + item.main_margin
            # Tolerate rounding errors, for instance from thirds.
            if not lines or used + self.main_gap + size > main + 0.01:
                lines.append(_Line([item]))
                used = size
            else:
                lines[-1].items.append(item)
                used += self.main_gap + size
        return lines

    def taken(self, items: list[FlexItem]) -> float:
        return sum(item.hypothetical + item.main_margin for item in items) + self.main_gap * (len(items) - 1)

    def child_space(self, box: Box, main: float | None, cross: float | None) -> Space:
        """Return the space for a child with these border-box sizes; `None` means sized by content."""
        if self.row:
            return Space(self.inner_width, self.base_height, main, cross, shrink=True)
        # A flexed height is definite for percentages only if the container's height is definite (section 9.8).
        indefinite = main is not None and self.base_height is None and known(box.style.height, None) is None
        return Space(self.inner_width, self.base_height, cross, main, shrink=True, indefinite=indefinite)

    def measure(self, item: FlexItem) -> None:
        """Lay out an item at its main size to determine its cross size (section 9.4)."""
        width = None if self.row else self.stretched_width(item.box, item.cross_margin)
        item.fragment = self.layout.fragment(item.box, self.child_space(item.box, item.main, width))
        item.cross = item.fragment.height if self.row else item.fragment.width

    def cross_sizes(self, lines: list[_Line]) -> float:
        """Set the cross sizes and positions of lines, and return the container's cross size (sections 9.4 and 9.6)."""
        inner = self.inner_height if self.row else self.inner_width
        for line in lines:
            line.cross = max((item.cross + item.cross_margin for item in line.items), default=0.0)
            if self.row:
                self.align_baselines(line)
        total = sum(line.cross for line in lines) + self.cross_gap * max(0, len(lines) - 1)
        if inner is None:
            inner = max(0.0, self.sizing.limited_height(total + self.frame.down) - self.frame.down)
        if not self.wraps:
            for line in lines:
                line.cross = inner
            return inner
        before, between, grow = content_distribution(self.style.align_content, inner - total, len(lines), "stretch")
        at = before
        for line in lines:
            line.cross += grow
            line.at = at
            at += line.cross + between + self.cross_gap
        return inner

    def align_baselines(self, line: _Line) -> None:
        items = [item for item in line.items if self.alignment(item) == "baseline"]
        if not items:
            return
        line.ascent = max(self.baseline(item) for item in items)
        below = max(item.cross + item.cross_margin - self.baseline(item) for item in items)
        line.cross = max(line.cross, line.ascent + below)

    def baseline(self, item: FlexItem) -> float:
        """Return the distance from the outer edge of an item to its baseline."""
        baseline = item.fragment.baseline if item.fragment is not None else None
        return item.margins.top + (item.cross if baseline is None else baseline)

    def alignment(self, item: FlexItem) -> str:
        alignment = item_alignment(item.box.style.align_self, self.style.align_items)
        return "start" if alignment == "baseline" and not self.row else alignment

    def stretch(self, line: _Line) -> None:
        """Repeat the layout of stretched items at their final cross size."""
        for item in line.items:
            if not self.stretches(item.box):
                continue
            sizing = Sizing(self.layout, item.box, Space(self.inner_width, self.base_height))
            available = line.cross - item.cross_margin
            cross = sizing.limited_height(available) if self.row else sizing.limited_width(available)
            if item.fragment is None or cross != item.cross or self.row:
                item.fragment = self.layout.fragment(item.box, self.child_space(item.box, item.main, cross))
                item.cross = cross

    def place(self, line: _Line, main: float, cross: float, fragment: Fragment) -> None:
        """Place the items of a line (sections 9.5 and 9.6)."""
        used = sum(item.main + item.main_margin for item in line.items) + self.main_gap * (len(line.items) - 1)
        slack = main - used
        automatic = [margin for item in line.items for margin in self.main_autos(item) if margin]
        share = slack / len(automatic) if automatic and slack > 0 else 0.0
        mode = self.style.justify_content
        if self.row and self.style.direction == "rtl" and mode in ("left", "right"):
            mode = "end" if mode == "left" else "start"
        if mode in ("start", "end", "left", "right") and self.style.flex_direction.endswith("reverse"):
            mode = {"start": "flex-end", "left": "flex-end"}.get(mode, "flex-start")
        before, between, _ = content_distribution(mode, 0.0 if share else slack, len(line.items), "start")
        at = before
        for item in line.items:
            first, last = self.main_autos(item)
            start = (
                (item.margins.left if self.row else item.margins.top)
                if not self.reverse
                else (item.margins.right if self.row else item.margins.bottom)
            )
            at += share if (last if self.reverse else first) else 0.0
            position = at + start
            if self.reverse:
                position = main - position - item.main
            over = self.cross_place(item, line, cross)
            x, y = (position, over) if self.row else (over, position)
            self.put(item, x + self.frame.left, y + self.frame.top, fragment)
            at += item.main + item.main_margin + between + self.main_gap
            at += share if (first if self.reverse else last) else 0.0

    def main_autos(self, item: FlexItem) -> tuple[bool, bool]:
        style = item.box.style
        before, after = (style.margin_left, style.margin_right) if self.row else (style.margin_top, style.margin_bottom)
        return before == "auto", after == "auto"

    def cross_place(self, item: FlexItem, line: _Line, cross: float) -> float:
        style = item.box.style
        reverse = self.style.flex_wrap == "wrap-reverse"
        at = cross - line.at - line.cross if reverse else line.at
        slack = line.cross - item.cross - item.cross_margin
        before, after = (style.margin_top, style.margin_bottom) if self.row else (style.margin_left, style.margin_right)
        start = item.margins.top if self.row else item.margins.left
        if "auto" in (before, after):
            if before == "auto" and slack > 0:
                return at + start + (slack / 2 if after == "auto" else slack)
            return at + start
        alignment = self.alignment(item)
        if alignment == "baseline":
            return at + start + line.ascent - self.baseline(item)
        rtl = not self.row and self.style.direction == "rtl"
        return at + start + aligned_offset(alignment, slack, reverse=reverse != rtl)

    def put(self, item: FlexItem, x: float, y: float, fragment: Fragment) -> None:
        child = item.fragment
        if child is None:
            return
        fragment.children.append(placed(x, y, child, self.inner_width, self.base_height))
        fragment.pending += [pending.moved(x, y) for pending in child.pending]
        if child.baseline is not None and fragment.baseline is None:
            fragment.baseline = y + child.baseline

    def absolute(self, fragment: Fragment) -> None:
        """Queue the absolute children with their static positions, as if each were the only item (section 4.1)."""
        width, height = self.inner_width, max(0.0, fragment.height - self.frame.down)
        for child in self.box.children:
            if child.out_of_flow:
                main, over = static_alignment(
                    self.style.justify_content, item_alignment(child.style.align_self, self.style.align_items)
                )
                if self.reverse:
                    main = {"start": "end", "end": "start"}.get(main, main)
                across, down = (main, over) if self.row else (over, main)
                fragment.pending.append(PendingBox(child, self.frame.left, self.frame.top, width, height, across, down))
