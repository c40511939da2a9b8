"""Block flow with collapsing margins (CSS 2.2, sections 8.3.1 and 9.4), paragraphs and images."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.fragments import Fragment, LayoutContext, PendingBox, Space
from pressroom_image_generator.engine.layout.inline_text import (
    InlineText,
    balanced,
    breaks_words,
    broken,
    collected,
    line_width,
    opportunities,
    visible_end,
)
from pressroom_image_generator.engine.layout.line import LineBuilder, inline_edge
from pressroom_image_generator.engine.layout.sizing import (
    Sizing,
    border_edges,
    known,
    margin_edges,
    padding_edges,
    placed,
)
from pressroom_image_generator.engine.values import Edges


def flow_widths(layout: LayoutContext, box: Box) -> tuple[float, float]:
    """Return the min-content and max-content width of a block: those of its widest child."""
    widths = [layout.outer_widths(child) for child in box.children if not child.out_of_flow]
    return max((minimum for minimum, _ in widths), default=0.0), max((maximum for _, maximum in widths), default=0.0)


def layout_flow(layout: LayoutContext, box: Box, space: Space) -> Fragment:
    """Lay out a block with block-level children."""
    sizing = Sizing(layout, box, space)
    width, height = sizing.width(), sizing.specified_height()
    frame = sizing.frame
    fragment = Fragment(box, width, 0.0, sizing.border, sizing.padding)
    inner = max(0.0, width - frame.across)
    # Percentages of the children need a height that does not depend on them.
    base = None if height is None or space.indefinite else max(0.0, height - frame.down)
    closed_top = space.root or _contained(box) or frame.top > 0
    closed_bottom = space.root or _contained(box) or frame.bottom > 0 or height is not None
    y = frame.top
    margin = 0.0
    first = True
    for child in box.children:
        if child.out_of_flow:
            child_y = y + (margin if not first or closed_top else 0.0)
            align = "end" if box.style.direction == "rtl" else "start"
            fragment.pending.append(PendingBox(child, frame.left, child_y, inner, align_x=align))
            continue
        margins = margin_edges(child.style, inner)
        top = collapsed(margins.top, _first_margin(child, inner))
        if not first or closed_top:
            y += collapsed(margin, top)
        part = layout.fragment(child, _child_space(child, inner, base))
        x = frame.left + _horizontal(child, part, inner, margins, rtl=box.style.direction == "rtl")
        fragment.children.append(placed(x, y, part, inner, base))
        fragment.pending += [pending.moved(x, y) for pending in part.pending]
        if part.baseline is not None:
            fragment.last_baseline = y + (part.last_baseline if part.last_baseline is not None else part.baseline)
            if fragment.baseline is None:
                fragment.baseline = y + part.baseline
        y += part.height
        margin = collapsed(margins.bottom, part.margin_bottom)
        first = False
    if not first and closed_bottom:
        y += margin
    elif not first:
        fragment.margin_bottom = margin
    content = y + frame.bottom
    fragment.height = _final_height(sizing, width, height, content)
    return fragment


def _final_height(sizing: Sizing, width: float, height: float | None, content: float) -> float:
    if height is not None:
        return height
    if sizing.ratio:
        return sizing.limited_height(max(sizing.height_for(width), content))
    return sizing.limited_height(content)


def _child_space(child: Box, width: float, height: float | None) -> Space:
    return Space(width, height, root=_contained(child))


def _contained(box: Box) -> bool:
    """Return whether a box contains the margins of its children."""
    style = box.style
    return (
        box.kind in ("flex", "grid", "image")
        or style.display in ("flow-root", "inline-block", "table-cell")
        or style.overflow_x not in ("visible", "clip")
        or box.out_of_flow
    )


def _first_margin(box: Box, width: float) -> float:
    """Return the collapsed margin of the first descendants that sticks out of the top of a box."""
    margin = 0.0
    while box.kind == "block" and not _contained(box):
        if border_edges(box.style).top or padding_edges(box.style, width).top:
            break
        inner = next((child for child in box.children if not child.out_of_flow), None)
        if inner is None:
            break
        margin = collapsed(margin, margin_edges(inner.style, width).top)
        box = inner
    return margin


def collapsed(first: float, second: float) -> float:
    """Return the result of collapsing two adjoining margins."""
    if first >= 0 and second >= 0:
        return max(first, second)
    return min(first, second) if first < 0 and second < 0 else first + second


def _horizontal(box: Box, fragment: Fragment, width: float, margins: Edges, *, rtl: bool) -> float:
    style = box.style
    slack = width - fragment.width - margins.across
    left, right = style.margin_left == "auto", style.margin_right == "auto"
    if left and right:
        return margins.left + max(0.0, slack) / 2
    if left or (rtl and not right and known(style.width, width) is not None):
        return margins.left + (slack if rtl else max(0.0, slack))
    return margins.left


_DEFAULT_WIDTH, _DEFAULT_HEIGHT = 300.0, 150.0
"""Size of an image without a natural size (CSS Images 3, section 5.3)."""

_MISSING_EDGE: Final = 24.0


def natural_size(box: Box) -> tuple[float, float]:
    """Return the size of an image if nothing else determines it."""
    source, density = box.source, box.style.density
    if source is None:
        return _MISSING_EDGE * density, _MISSING_EDGE * density
    if source.width and source.height:
        return source.width, source.height
    if source.ratio:
        width = source.width or (source.height * source.ratio if source.height else _DEFAULT_WIDTH * density)
        return width, width / source.ratio
    return source.width or _DEFAULT_WIDTH * density, source.height or _DEFAULT_HEIGHT * density


def image_widths(box: Box) -> tuple[float, float]:
    """Return the content widths of an image: both are its natural width, reduced by `max-height` if necessary."""
    width, height = natural_size(box)
    style = box.style
    ratio = width / height if height else 0.0
    max_height = known(style.max_height, None)
    if max_height is not None and height > max_height and ratio and style.height == "auto":
        width = max_height * ratio
    return width, width


def layout_image(layout: LayoutContext, box: Box, space: Space) -> Fragment:
    """Lay out an image."""
    sizing = Sizing(layout, box, space)
    width = sizing.width()
    height = sizing.specified_height()
    if height is None:
        height = sizing.height_for(width) if sizing.ratio else natural_size(box)[1] + sizing.frame.down
        limited = sizing.limited_height(height)
        automatic = space.fixed_width is None and box.style.width == "auto"
        if limited != height and sizing.ratio and automatic:
            width = sizing.limited_width(sizing.width_for(limited))
        height = limited
    return Fragment(box, width, height, sizing.border, sizing.padding)


def _text_of(layout: LayoutContext, box: Box) -> InlineText:
    """Return the text of a paragraph. Boxes in it count with their max-content width."""
    memory = layout.memory(box)
    if memory.paragraph is None:
        paragraph = collected(box.inlines, box.style, layout.library)
        extra = [0.0] * (len(paragraph.text) + 1)
        for run in paragraph.runs:
            if run.box is not None:
                extra[run.start + 1] += layout.outer_widths(run.box)[1]
        for mark in paragraph.marks:
            # An edge counts with its adjacent character.
            at = mark.at + 1 if mark.opens else mark.at
            extra[min(at, len(extra) - 1)] += inline_edge(mark.style, opens=mark.opens)
        if any(extra):
            total = 0.0
            for index, more in enumerate(extra):
                total += more
                paragraph.until[index] += total
        memory.paragraph = paragraph
        memory.break_positions = opportunities(paragraph)
    return memory.paragraph


def paragraph_widths(layout: LayoutContext, box: Box) -> tuple[float, float]:
    """Return the content widths of a paragraph: its longest word, and its longest line without soft breaks."""
    paragraph = _text_of(layout, box)
    minimum = maximum = 0.0
    start = forced = 0
    for position in layout.memory(box).break_positions:
        end = visible_end(paragraph, start, position)
        word = line_width(paragraph, start, position)
        if start < end and paragraph.runs and _cuts_anywhere(paragraph, start):
            word = max(paragraph.width(index, index + 1) for index in range(start, end))
        minimum = max(minimum, word)
        start = position
        if paragraph.text[position - 1] == "\n" or position == len(paragraph.text):
            maximum = max(maximum, paragraph.width(forced, visible_end(paragraph, forced, position)))
            forced = position
    indent = known(box.style.text_indent, None) or 0.0
    return max(0.0, minimum), max(0.0, maximum + indent)


def _cuts_anywhere(paragraph: InlineText, start: int) -> bool:
    style = paragraph.run_at(start).style
    return breaks_words(style) and (style.overflow_wrap == "anywhere" or style.word_break == "break-word")


def layout_paragraph(layout: LayoutContext, box: Box, space: Space) -> Fragment:
    """Lay out a block of inline content."""
    sizing = Sizing(layout, box, space)
    width, height = sizing.width(), sizing.specified_height()
    frame = sizing.frame
    fragment = Fragment(box, width, 0.0, sizing.border, sizing.padding)
    inner = max(0.0, width - frame.across)
    base = None if height is None or space.indefinite else max(0.0, height - frame.down)
    content = _filled(layout, box, fragment, inner, base)
    for child in box.children:
        align = "end" if box.style.direction == "rtl" else "start"
        fragment.pending.append(PendingBox(child, frame.left, frame.top, inner, align_x=align))
    natural = content + frame.down
    if height is None:
        if sizing.ratio:
            natural = max(natural, sizing.height_for(width))
        height = sizing.limited_height(natural)
    fragment.height = height
    return fragment


def _filled(layout: LayoutContext, box: Box, fragment: Fragment, inner: float, base: float | None) -> float:
    """Place the lines in a fragment, reusing cached ones of the same width, and return their total height."""
    frame = fragment.border.plus(fragment.padding)
    key = (inner, frame, base if any(part.box is not None for part in box.inlines) else None)
    lines = layout.memory(box).lines
    cached = lines.get(key)
    if cached is None:
        content = _Lines(layout, box, fragment, inner, base).fill(frame.left, frame.top)
        lines[key] = (content, replace(fragment, children=[*fragment.children], pending=[*fragment.pending]))
        return content
    content, filled = cached
    fragment.texts, fragment.areas = filled.texts, filled.areas
    fragment.children, fragment.pending = [*filled.children], [*filled.pending]
    fragment.baseline, fragment.last_baseline = filled.baseline, filled.last_baseline
    return content


class _Lines:
    def __init__(self, layout: LayoutContext, box: Box, fragment: Fragment, width: float, height: float | None) -> None:
        self._layout = layout
        self._box = box
        self._fragment = fragment
        self._width = width
        self._height = height

    def fill(self, left: float, top: float) -> float:
        """Place all lines in the fragment, and return their total height."""
        style, width = self._box.style, self._width
        paragraph = _text_of(self._layout, self._box)
        indent = known(style.text_indent, width) or 0.0
        lines = (balanced if style.text_wrap == "balance" else broken)(
            paragraph, self._layout.memory(self._box).break_positions, width, indent
        )
        clamped = bool(style.line_clamp) and len(lines) > style.line_clamp
        if clamped:
            lines = lines[: style.line_clamp]
        builder = LineBuilder(self._layout, paragraph, self._fragment, width, self._height)
        y = top
        for index, (start, end) in enumerate(lines):
            first, last = index == 0, index == len(lines) - 1
            cut = (clamped and last) or (style.text_overflow == "ellipsis" and style.overflow_x != "visible")
            justify = style.text_align == "justify" and not last and paragraph.text[end - 1] != "\n"
            less = indent if first else 0.0
            x = left + (less if style.direction == "ltr" else 0.0)
            y += builder.add(start, end, x, y, width - less, justify=justify, ellipsis=cut, more=clamped and last)
        return y - top
