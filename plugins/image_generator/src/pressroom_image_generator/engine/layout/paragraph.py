"""Paragraphs: inline content in lines (CSS Inline Layout 3, as far as browsers have it)."""

from __future__ import annotations

from dataclasses import replace

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.fragments import Fragment, LayoutContext, PendingBox, Space
from pressroom_image_generator.engine.layout.inline_text import (
    InlineText,
    balanced,
    breaks_words,
    broken,
    collected,
    opportunities,
    visible_end,
)
from pressroom_image_generator.engine.layout.line import LineBuilder, inline_edge
from pressroom_image_generator.engine.layout.sizing import Sizing, known


def _text_of(layout: LayoutContext, box: Box) -> InlineText:
    """Return the text of a paragraph; boxes in it have their greatest width."""
    memory = layout.memory(box)
    if memory.paragraph is None:
        paragraph = collected(box.inlines, box.style, layout.library)
        extra = [0.0] * (len(paragraph.text) + 1)
        for run in paragraph.runs:
            if run.box is not None:
                extra[run.start + 1] += layout.outer_widths(run.box)[1]
        for mark in paragraph.marks:
            # An edge counts with the character that it touches.
            at = mark.at + 1 if mark.opens else mark.at
            extra[min(at, len(extra) - 1)] += inline_edge(mark.style, opens=mark.opens)
        if any(extra):
            total = 0.0
            for index, more in enumerate(extra):
                total += more
                paragraph.until[index] += total
        memory.paragraph = paragraph
        memory.places = opportunities(paragraph)
    return memory.paragraph


def paragraph_widths(layout: LayoutContext, box: Box) -> tuple[float, float]:
    """Return the content widths of a paragraph: its longest word, and its longest line without breaks."""
    paragraph = _text_of(layout, box)
    least = most = 0.0
    start = forced = 0
    for place in layout.memory(box).places:
        end = visible_end(paragraph, start, place)
        word = paragraph.width(start, end)
        if start < end and paragraph.runs and _cuts_anywhere(paragraph, start):
            word = max(paragraph.width(index, index + 1) for index in range(start, end))
        least = max(least, word)
        start = place
        if paragraph.text[place - 1] == "\n" or place == len(paragraph.text):
            most = max(most, paragraph.width(forced, visible_end(paragraph, forced, place)))
            forced = place
    indent = known(box.style.text_indent, None) or 0.0
    return max(0.0, least), max(0.0, most + indent)


def _cuts_anywhere(paragraph: InlineText, start: int) -> bool:
    style = paragraph.run_at(start).style
    return breaks_words(style) and (style.overflow_wrap == "anywhere" or style.word_break == "break-word")


def layout_paragraph(layout: LayoutContext, box: Box, space: Space) -> Fragment:
    """Lay out a block of inline content."""
    sizing = Sizing(layout, box, space)
    width, height = sizing.width(), sizing.given_height()
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
    """Place the lines into a fragment, or those of another one of the same width, and return how high they are."""
    frame = fragment.border.plus(fragment.padding)
    key = (inner, frame, base if any(part.box is not None for part in box.inlines) else None)
    lines = layout.memory(box).lines
    found = lines.get(key)
    if found is None:
        content = _Lines(layout, box, fragment, inner, base).fill(frame.left, frame.top)
        lines[key] = (content, replace(fragment, children=[*fragment.children], pending=[*fragment.pending]))
        return content
    content, other = found
    fragment.texts, fragment.areas = other.texts, other.areas
    fragment.children, fragment.pending = [*other.children], [*other.pending]
    fragment.baseline, fragment.last_baseline = other.baseline, other.last_baseline
    return content


class _Lines:
    def __init__(self, layout: LayoutContext, box: Box, fragment: Fragment, width: float, height: float | None) -> None:
        self._layout = layout
        self._box = box
        self._fragment = fragment
        self._width = width
        self._height = height

    def fill(self, left: float, top: float) -> float:
        """Place all lines into the fragment and return how high they are together."""
        style, width = self._box.style, self._width
        paragraph = _text_of(self._layout, self._box)
        indent = known(style.text_indent, width) or 0.0
        lines = (balanced if style.text_wrap == "balance" else broken)(
            paragraph, self._layout.memory(self._box).places, width, indent
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
