"""Builds boxes from styled elements: blocks, flex containers, paragraphs of inline content, and images."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from pressroom.graphics.color import Color
from pressroom.graphics.css import Length

from pressroom_image_generator.engine.cascade import Cascade
from pressroom_image_generator.engine.notes import Notes
from pressroom_image_generator.engine.parse import Element
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.sources import Source, Sources
from pressroom_image_generator.engine.values import Size

Kind = Literal["block", "flex", "grid", "paragraph", "image"]


@dataclass(frozen=True, slots=True)
class Decoration:
    """A line that an ancestor draws through, under or over text."""

    lines: tuple[str, ...]
    style: str
    color: Color
    thickness: Size
    offset: Size
    font_size: float


@dataclass(frozen=True, slots=True, eq=False)
class Inline:
    """A part of a paragraph: text, a forced break, the start or end of an inline box, or an atomic inline box."""

    kind: Literal["text", "break", "open", "close", "box"]
    style: Style
    text: str = ""
    box: Box | None = None
    decorations: tuple[Decoration, ...] = ()


@dataclass(slots=True, eq=False)
class Box:
    """A box. `sequence` is its number in document order."""

    style: Style
    kind: Kind
    children: list[Box] = field(default_factory=list)
    inlines: list[Inline] = field(default_factory=list)
    source: Source | None = None
    alternative: str = ""
    anonymous: bool = False
    sequence: int = 0

    @property
    def out_of_flow(self) -> bool:
        """Whether the box is absolutely positioned."""
        return self.style.position in ("absolute", "fixed")

    @property
    def positioned(self) -> bool:
        """Whether the box is the containing block of absolutely positioned descendants."""
        style = self.style
        return bool(style.position != "static" or style.transforms or style.filter or style.backdrop_filter)


_MARKERS = {"disc": "\u2022 ", "circle": "\u25e6 ", "square": "\u25aa "}
_MARKER_WIDTH = 12
"""Space for the longest bullet or number, in its font size: Roman numerals have up to fifteen letters."""

_WHOLE = re.compile(r"\s*[+-]?\d{1,9}\s*\Z", re.ASCII)
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_FLEX = ("flex", "inline-flex")
_GRID = ("grid", "inline-grid")
_INLINE_LEVEL = ("inline", "inline-block", "inline-flex", "inline-grid")
_TABLES = ("table", "table-row", "table-cell")


class BoxBuilder:
    """Builds the box tree of a document."""

    def __init__(self, cascade: Cascade, sources: Sources, notes: Notes) -> None:
        self._cascade = cascade
        self._sources = sources
        self._notes = notes
        self._count = 0

    def build(self, root: Element) -> Box:
        """Return the box of the canvas."""
        return self._container(root, self._cascade.root(), ())

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _container(self, element: Element, style: Style, decorations: tuple[Decoration, ...]) -> Box:
        if style.display in _TABLES:
            self._notes.warn(f"display: {style.display} is laid out as a block; use flex or grid")
        kind: Kind = "flex" if style.display in _FLEX else "grid" if style.display in _GRID else "block"
        decorations = _decorations(style, decorations)
        box = Box(style, kind, sequence=self._next())
        parts = self._parts(element, style, decorations)
        if kind == "block":
            self._fill_block(box, parts)
        else:
            for part in _runs(parts):
                box.children.append(part if isinstance(part, Box) else _anonymous(style, part))
            _hand_down_ellipsis(box)
        return box

    def _fill_block(self, box: Box, parts: list[Box | Inline]) -> None:
        if not any(isinstance(part, Box) and not part.out_of_flow for part in parts):
            inlines = [part for part in parts if isinstance(part, Inline)]
            box.children = [part for part in parts if isinstance(part, Box)]
            if _visible(inlines):
                box.kind = "paragraph"
                box.inlines = inlines
            return
        for part in _runs(parts):
            box.children.append(part if isinstance(part, Box) else _anonymous(box.style, part))

    def _parts(self, element: Element, style: Style, decorations: tuple[Decoration, ...]) -> list[Box | Inline]:
        """Return the block-level boxes and the inline content of an element, in order."""
        blockify = style.display in _FLEX + _GRID
        parts: list[Box | Inline] = []
        number, step = _numbering(element)
        for child in element.children:
            if isinstance(child, Element) and child.tag == "li":
                number = _whole(child.attributes.get("value"), number)
                parts += self._element(child, style, decorations, blockify=blockify, number=number)
                number += step
            elif isinstance(child, str):
                parts.append(Inline("text", style, child, decorations=decorations))
            else:
                parts += self._element(child, style, decorations, blockify=blockify)
        return parts

    def _element(
        self, element: Element, parent: Style, decorations: tuple[Decoration, ...], *, blockify: bool, number: int = 1
    ) -> list[Box | Inline]:
        style = self._cascade.style(element, parent)
        if style.display == "none":
            return []
        if element.tag in ("br", "wbr"):
            return [Inline("break", style) if element.tag == "br" else Inline("text", style, "\u200b")]
        if style.display == "contents":
            inner = Style(style)
            inner.set("display", parent.display)
            return self._parts(element, inner, _decorations(style, decorations))
        self._warn_of_table(element, style)
        absolute = style.position in ("absolute", "fixed")
        if element.tag in ("img", "svg"):
            box = self._image(element, style)
            return [
                box if blockify or absolute or style.display not in _INLINE_LEVEL else Inline("box", style, box=box)
            ]
        if blockify or absolute or style.display not in _INLINE_LEVEL:
            if style.display == "inline":
                style.set("display", "block")
            box = self._container(element, style, () if absolute else decorations)
            if style.display == "list-item" and style.list_style_type != "none":
                box.children.insert(0, self._marker(style, number))
            return [box]
        if style.display != "inline":
            return [Inline("box", style, box=self._container(element, style, ()))]
        return self._inline(element, style, decorations)

    def _inline(self, element: Element, style: Style, decorations: tuple[Decoration, ...]) -> list[Box | Inline]:
        inner_decorations = _decorations(style, decorations)
        parts = self._parts(element, style, inner_decorations)
        if element.tag == "q":
            opening, closing = (Inline("text", style, mark, decorations=inner_decorations) for mark in "\u201c\u201d")
            parts = [opening, *parts, closing]
        if any(isinstance(part, Box) and not part.out_of_flow for part in parts):
            # Browsers split the inline box around a block; making it a block looks nearly the same.
            style.set("display", "block")
            return [self._container(element, style, decorations)]
        return [Inline("open", style), *parts, Inline("close", style)]

    def _warn_of_table(self, element: Element, style: Style) -> None:
        if element.tag == "tr" and element.children and style.display not in (*_FLEX, *_GRID, *_TABLES):
            self._notes.warn(
                "<table>: rows and columns are not laid out, cells follow each other as text; use flex or grid"
            )

    def _marker(self, style: Style, number: int) -> Box:
        """Return the bullet or number of a list item."""
        marker = Style(style)
        marker.set("display", "block")
        marker.set("position", "absolute")
        width = _MARKER_WIDTH * style.font_size
        marker.set("width", Length(width))
        marker.set("white-space", "pre")
        marker.set("text-align", "end")
        marker.set("text-indent", Length())
        marker.set("margin-right" if style.direction == "rtl" else "margin-left", Length(-width))
        text = _MARKERS.get(style.list_style_type) or f"{_numbered(number, style.list_style_type)}. "
        return Box(marker, "paragraph", inlines=[Inline("text", marker, text)], anonymous=True, sequence=self._next())

    def _image(self, element: Element, style: Style) -> Box:
        if element.tag == "svg":
            source = self._sources.inline_svg(element.markup, style.color)
        else:
            source = self._sources.named(element.attributes.get("src", ""))
        return Box(style, "image", source=source, alternative=element.attributes.get("alt", ""), sequence=self._next())


def _decorations(style: Style, outer: tuple[Decoration, ...]) -> tuple[Decoration, ...]:
    if not style.text_decoration_line:
        return outer
    color = style.text_decoration_color or style.color
    return (
        *outer,
        Decoration(
            style.text_decoration_line, style.text_decoration_style, color, style.text_decoration_thickness,
            style.text_underline_offset, style.font_size,
        ),
    )  # fmt: skip


def _numbering(element: Element) -> tuple[int, int]:
    """Return the number of the first item of a list, and the step to the next one (HTML Standard, section 4.4.5)."""
    if "reversed" not in element.attributes:
        return _whole(element.attributes.get("start"), 1), 1
    items = sum(isinstance(child, Element) and child.tag == "li" for child in element.children)
    return _whole(element.attributes.get("start"), items), -1


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text and _WHOLE.match(text) else otherwise


def _numbered(number: int, kind: str) -> str:
    if kind.endswith("-alpha") and number > 0:
        letters = ""
        while number:
            number, letter = divmod(number - 1, 26)
            letters = chr(ord("a") + letter) + letters
    elif kind.endswith("-roman") and 0 < number < 4000:
        letters = ""
        for value, numeral in _ROMAN:
            letters += numeral * (number // value)
            number %= value
    else:
        return str(number)
    return letters.upper() if kind.startswith("upper") else letters


def _visible(inlines: list[Inline]) -> bool:
    """Return whether inline content produces a line: white space alone does not, unless it is preserved."""
    return any(
        part.kind in ("box", "break")
        or (
            part.kind == "text"
            and (part.text.strip(" \t\n\r\f") or (part.text and part.style.white_space.startswith("pre")))
        )
        or (part.kind == "open" and _has_edges(part.style))
        for part in inlines
    )


def _has_edges(style: Style) -> bool:
    values = vars(style)
    return any(name in values for name in ("padding_left", "padding_right", "border_left_width", "border_right_width"))


def _runs(parts: list[Box | Inline]) -> list[Box | list[Inline]]:
    """Return the boxes, and between them the visible runs of inline content."""
    runs: list[Box | list[Inline]] = []
    run: list[Inline] = []
    for part in parts:
        if isinstance(part, Box):
            if _visible(run):
                runs.append(run)
            run = []
            runs.append(part)
        else:
            run.append(part)
    if _visible(run):
        runs.append(run)
    return runs


def _anonymous(parent: Style, inlines: list[Inline]) -> Box:
    style = Style(parent)
    style.set("display", "block")
    return Box(style, "paragraph", inlines=inlines, anonymous=True)


def _hand_down_ellipsis(box: Box) -> None:
    """Apply the ellipsis of a flex container to its only text, as satori does and browsers do not."""
    style = box.style
    if len(box.children) != 1 or not box.children[0].anonymous:
        return
    inner = box.children[0].style
    if style.text_overflow == "ellipsis" and style.overflow_x != "visible":
        inner.set("text-overflow", style.text_overflow)
        inner.set("overflow-x", style.overflow_x)
        inner.set("overflow-y", style.overflow_y)
    if style.line_clamp:
        inner.set("line-clamp", style.line_clamp)
