"""Layout of one line: horizontal positions, height and baseline."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass

from pressroom.graphics.css import Length
from pressroom.graphics.segments import grapheme_clusters
from pressroom.graphics.text import ShapedText
from pressroom.graphics.text.bidi import Direction, visual_order

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.fragments import Fragment, InlineArea, LayoutContext, Space, TextPiece
from pressroom_image_generator.engine.layout.inline_text import (
    HYPHEN,
    InlineText,
    TextRun,
    font_metrics,
    hyphenated,
    shaped_text,
    spread,
    text_style,
    visible_end,
)
from pressroom_image_generator.engine.layout.sizing import border_edges, margin_edges, padding_edges, placed
from pressroom_image_generator.engine.notes import quoted
from pressroom_image_generator.engine.properties import Style

_ELLIPSIS = "…"


def line_height(style: Style, ascent: float, descent: float) -> float:
    """Return the line height of a style in pixels."""
    value = style.line_height
    if isinstance(value, str):
        return ascent + descent
    return value.pixels if isinstance(value, Length) else value * style.font_size


def inline_edge(style: Style, *, opens: bool) -> float:
    """Return the width of the start or end edge of an inline box: margin, border and padding."""
    left = opens == (style.direction == "ltr")
    margins, border, padding = margin_edges(style, 0.0), border_edges(style), padding_edges(style, 0.0)
    if left:
        return margins.left + border.left + padding.left
    return margins.right + border.right + padding.right


@dataclass(slots=True, eq=False)
class _Piece:
    """A segment of the line, text or a box, with its extent above and below the baseline, and its vertical shift."""

    run: TextRun
    start: int
    end: int
    level: int
    width: float
    above: float
    below: float
    shift: float = 0.0
    text: ShapedText | None = None
    fragment: Fragment | None = None
    x: float = 0.0
    before: float = 0.0


class LineBuilder:
    """Adds the lines of a paragraph to its fragment."""

    def __init__(
        self, layout: LayoutContext, paragraph: InlineText, fragment: Fragment, width: float, height: float | None
    ) -> None:
        self._layout = layout
        self._paragraph = paragraph
        self._fragment = fragment
        self._width = width
        self._height = height
        self._open: OrderedDict[int, Style] = OrderedDict()
        self._mark = 0

    def add(
        self,
        start: int,
        end: int,
        left: float,
        top: float,
        available: float,
        *,
        justify: bool,
        ellipsis: bool,
        more: bool,
    ) -> float:
        """Place one line, and return its height. `more` means that lines after it are cut off."""
        paragraph = self._paragraph
        text_end = visible_end(paragraph, start, end)
        tail: ShapedText | None = None
        if ellipsis and (more or paragraph.width(start, text_end) > available + 0.01):
            tail = shaped_text(_ELLIPSIS, paragraph.style, paragraph.library, "ltr")
            text_end = self._fitting(start, text_end, available - tail.width)
        pieces = [self._piece(*segment) for segment in paragraph.segments(start, text_end)]
        if tail is None and text_end > start and hyphenated(paragraph, end):
            self._hyphenate(pieces[-1])
        edges = self._edges(start, text_end, end)
        used = (
            sum(piece.width for piece in pieces) + sum(extra for _, extra, _ in edges) + (tail.width if tail else 0.0)
        )
        slack = available - used
        if justify and slack > 0 and tail is None:
            slack -= _justified(pieces, paragraph, slack)
        ascent, descent = self._extents(pieces)
        baseline = top + ascent
        x = left + self._offset(slack)
        x = self._walk(pieces, edges, x, baseline)
        if tail is not None:
            self._fragment.texts.append(TextPiece(tail, x, baseline, paragraph.style, (), 0.0))
        if self._fragment.baseline is None:
            self._fragment.baseline = baseline
        self._fragment.last_baseline = baseline
        return ascent + descent

    def _offset(self, slack: float) -> float:
        style = self._paragraph.style
        rtl = style.direction == "rtl"
        align = style.text_align
        if slack < 0 and align in ("center", "justify", "start", "end", "match-parent", "left", "right"):
            # Content that is too wide overflows at the end of the line.
            return slack if rtl else 0.0
        if align == "center":
            return slack / 2
        at_right = align == "right" or (align == "end") != rtl if align in ("right", "end") else rtl and align != "left"
        return slack if at_right else 0.0

    def _piece(self, run: TextRun, start: int, end: int, level: int) -> _Piece:
        if run.box is not None:
            return self._box_piece(run, run.box, start, end, level)
        text = self._paragraph.shaped(run, start, end, level)
        style = run.style
        for character in text.missing:
            self._layout.notes.warn(f"no font has the character {quoted(character)} (U+{ord(character):04X})")
        ascent, descent = font_metrics(text_style(style), self._paragraph.library)
        above, below = _leading(style, ascent, descent)
        return _Piece(run, start, end, level, text.width, above, below, self._shift(style), text)

    def _hyphenate(self, piece: _Piece) -> None:
        """Show the soft hyphen at the end of a piece."""
        text = self._paragraph.text[piece.start : piece.end - 1] + HYPHEN
        direction: Direction = "rtl" if piece.level % 2 else "ltr"
        piece.text = shaped_text(text, piece.run.style, self._paragraph.library, direction)
        piece.width = piece.text.width

    def _box_piece(self, run: TextRun, box: Box, start: int, end: int, level: int) -> _Piece:
        style = box.style
        margins = margin_edges(style, self._width)
        part = self._layout.fragment(box, Space(self._width, self._height, shrink=True))
        outer_height = part.height + margins.down
        baseline = part.last_baseline if part.last_baseline is not None else part.baseline
        hides = style.overflow_x not in ("visible", "clip")
        above = outer_height if baseline is None or box.kind == "image" or hides else margins.top + baseline
        piece = _Piece(run, start, end, level, part.width + margins.across, above, outer_height - above, fragment=part)
        ascent, descent = font_metrics(text_style(self._paragraph.style), self._paragraph.library)
        match style.vertical_align:
            case "middle":
                piece.shift = above - outer_height / 2 - self._paragraph.style.font_size * 0.2727
            case "text-top":
                piece.shift = above - ascent
            case "text-bottom":
                piece.shift = descent - piece.below
            case "sub" | "super":
                piece.shift = self._shift(style)
        piece.before = margins.left
        return piece

    def _shift(self, style: Style) -> float:
        """Return the distance of text below the paragraph's baseline; negative for above."""
        parent = self._paragraph.style.font_size
        return {"sub": parent / 5 + 1, "super": -parent / 3 - 1}.get(style.vertical_align, 0.0)

    def _extents(self, pieces: list[_Piece]) -> tuple[float, float]:
        """Return the height of the line above and below its baseline, including the strut."""
        style = self._paragraph.style
        above, below = _leading(style, *font_metrics(text_style(style), self._paragraph.library))
        for piece in pieces:
            if piece.fragment is not None and piece.run.style.vertical_align in ("top", "bottom"):
                continue
            above = max(above, piece.above - piece.shift)
            below = max(below, piece.below + piece.shift)
        for piece in pieces:
            if piece.fragment is not None and piece.run.style.vertical_align in ("top", "bottom"):
                height = piece.above + piece.below
                if piece.run.style.vertical_align == "top":
                    below = max(below, height - above)
                    piece.shift = piece.above - above
                else:
                    above = max(above, height - below)
                    piece.shift = below - piece.below
        return above, below

    def _edges(self, start: int, end: int, line_end: int) -> list[tuple[int, float, bool]]:
        """Return the edges of inline boxes on the line: index of the mark, width, and whether it opens."""
        edges = []
        marks = self._paragraph.marks
        index = self._mark
        last = len(self._paragraph.text)
        while index < len(marks):
            at = marks[index].at
            if at > line_end or (at == line_end and marks[index].opens and line_end < last):
                break
            edges.append((index, inline_edge(marks[index].style, opens=marks[index].opens), marks[index].opens))
            index += 1
        return edges

    def _walk(self, pieces: list[_Piece], edges: list[tuple[int, float, bool]], x: float, baseline: float) -> float:
        """Place the pieces from left to right, then the areas of the inline boxes around them."""
        order = visual_order([piece.level for piece in pieces])
        marks = self._paragraph.marks
        before: dict[int, float] = {}
        after: dict[int, float] = {}
        for index, width, opens in edges:
            at = marks[index].at
            near = (
                next((piece for piece in pieces if piece.start <= at < piece.end), None)
                if opens
                else next((piece for piece in reversed(pieces) if piece.start < at <= piece.end), None)
            )
            if near is None and pieces:
                near = pieces[0] if opens else pieces[-1]
            if near is not None:
                into = before if opens == (near.level % 2 == 0) else after
                into[near.start] = into.get(near.start, 0.0) + width
        for position in order:
            piece = pieces[position]
            x += before.get(piece.start, 0.0)
            piece.x = x
            x += piece.width + after.get(piece.start, 0.0)
        self._areas(pieces, edges, baseline)
        for piece in pieces:
            self._put(piece, baseline)
        return x

    def _put(self, piece: _Piece, baseline: float) -> None:
        fragment = self._fragment
        if piece.text is not None:
            style = piece.run.style
            ascent, _ = font_metrics(text_style(style), self._paragraph.library)
            fragment.texts.append(
                TextPiece(piece.text, piece.x, baseline + piece.shift, style, piece.run.decorations, ascent)
            )
        elif piece.fragment is not None:
            margins = margin_edges(piece.fragment.box.style, self._width)
            x, y = piece.x + piece.before, baseline + piece.shift - piece.above + margins.top
            fragment.children.append(placed(x, y, piece.fragment, self._width, self._height))
            fragment.pending += [pending.moved(x, y) for pending in piece.fragment.pending]

    def _areas(self, pieces: list[_Piece], edges: list[tuple[int, float, bool]], baseline: float) -> None:
        """Record the areas of the inline boxes on this line, outermost first."""
        marks = self._paragraph.marks
        opened = {index: marks[index].style for index, _, opens in edges if opens}
        closed = {id(marks[index].style) for index, _, opens in edges if not opens}
        continued = dict(self._open)
        for index, style in {**continued, **opened}.items():
            if _paints(style):
                inside = [piece for piece in pieces if self._inside(piece, index, style)]
                if inside:
                    first, last = index in opened, id(style) in closed
                    self._area(style, inside, baseline, first=first, last=last)
        for index, style in {**continued, **opened}.items():
            if id(style) in closed:
                self._open.pop(index, None)
            else:
                self._open[index] = style
        self._mark += len(edges)

    def _inside(self, piece: _Piece, index: int, style: Style) -> bool:
        marks = self._paragraph.marks
        end = next((mark.at for mark in marks[index:] if not mark.opens and mark.style is style), math.inf)
        return marks[index].at <= piece.start and piece.end <= end

    def _area(self, style: Style, pieces: list[_Piece], baseline: float, *, first: bool, last: bool) -> None:
        ascent, descent = font_metrics(text_style(style), self._paragraph.library)
        border, padding = border_edges(style), padding_edges(style, self._width)
        left = min(piece.x for piece in pieces)
        right = max(piece.x + piece.width for piece in pieces)
        if first:
            left -= border.left + padding.left
        if last:
            right += border.right + padding.right
        top = baseline + self._shift(style) - ascent - border.top - padding.top
        height = ascent + descent + border.down + padding.down
        self._fragment.areas.append(InlineArea(style, left, top, right - left, height, first, last))

    def _fitting(self, start: int, end: int, available: float) -> int:
        position = start
        for cluster in grapheme_clusters(self._paragraph.text[start:end]):
            if self._paragraph.width(start, position + len(cluster)) > available:
                break
            position += len(cluster)
        while position > start and self._paragraph.text[position - 1].isspace():
            position -= 1
        return position


def _leading(style: Style, ascent: float, descent: float) -> tuple[float, float]:
    """Return the extent of a line of text above and below its baseline. Browsers round the upper half-leading down."""
    height = line_height(style, ascent, descent)
    above = ascent + math.floor((height - ascent - descent) / 2)
    return above, height - above


def _paints(style: Style) -> bool:
    values = vars(style)
    return any(
        name in values
        for name in ("background_color", "background_image", "border_top_style", "border_bottom_style",
                     "border_left_style", "border_right_style", "box_shadow", "outline_style")
    )  # fmt: skip


def _justified(pieces: list[_Piece], paragraph: InlineText, slack: float) -> float:
    """Widen the spaces of a line to fill it, and return the space used."""
    spaces = [
        (piece, index) for piece in pieces if piece.text is not None
        for index in range(piece.start, piece.end) if paragraph.text[index] in " \u00a0"
    ]  # fmt: skip
    if not spaces:
        return 0.0
    share = slack / len(spaces)
    for piece in pieces:
        extra = {index - piece.start: share for owner, index in spaces if owner is piece}
        if extra and piece.text is not None:
            piece.text = spread(piece.text, extra)
            piece.width = piece.text.width
    return slack
