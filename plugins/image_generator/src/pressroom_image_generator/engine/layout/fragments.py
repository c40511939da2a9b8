"""What layout takes and what it yields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from pressroom.graphics.text import FontLibrary, ShapedText

from pressroom_image_generator.engine.boxes import Box, Decoration
from pressroom_image_generator.engine.layout.inline_text import InlineText
from pressroom_image_generator.engine.notes import Notes
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.values import NO_EDGES, Edges


class Space(NamedTuple):
    """The room that a box is laid out in.

    `width` and `height` are those of the containing block, for percentages and for filling; an unknown height is
    `None`. `fixed_width` and `fixed_height` are what the parent has decided already for the border box. `shrink` lets
    an automatic width follow the content. `root` starts a new block formatting context: margins stay inside.
    `indefinite` says that percentages in it must not rely on `fixed_height`, `natural` that the height follows the
    content whatever the style says.
    """

    width: float
    height: float | None = None
    fixed_width: float | None = None
    fixed_height: float | None = None
    shrink: bool = False
    root: bool = True
    indefinite: bool = False
    natural: bool = False


class PlacedFragment(NamedTuple):
    """A fragment at a place relative to the border box of its parent."""

    x: float
    y: float
    fragment: Fragment


class PendingBox(NamedTuple):
    """An absolute box that waits for its containing block: where it would stand, and how it is aligned there."""

    box: Box
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    align_x: str = "start"
    align_y: str = "start"

    def moved(self, x: float, y: float) -> PendingBox:
        """Return it relative to another origin."""
        return self._replace(x=self.x + x, y=self.y + y)


class TextPiece(NamedTuple):
    """A text of one style on one line.

    `x` and `baseline` are relative to the paragraph's border box, `ascent` is the font's in whole pixels.
    """

    text: ShapedText
    x: float
    baseline: float
    style: Style
    decorations: tuple[Decoration, ...]
    ascent: float


class InlineArea(NamedTuple):
    """The area of an inline box on one line, for its background and border."""

    style: Style
    x: float
    y: float
    width: float
    height: float
    first: bool
    last: bool


@dataclass(slots=True, eq=False)
class Fragment:
    """A box that was laid out. `baseline` is that of its first line, from its top."""

    box: Box
    width: float
    height: float
    border: Edges = NO_EDGES
    padding: Edges = NO_EDGES
    children: list[PlacedFragment] = field(default_factory=list)
    texts: list[TextPiece] = field(default_factory=list)
    areas: list[InlineArea] = field(default_factory=list)
    pending: list[PendingBox] = field(default_factory=list)
    baseline: float | None = None
    last_baseline: float | None = None
    margin_top: float = 0.0
    margin_bottom: float = 0.0


@dataclass(slots=True, eq=False)
class BoxMemory:
    """What layout remembers of a box: its fragment in each space, and of a paragraph its text, breaks and lines."""

    fragments: dict[Space, Fragment] = field(default_factory=dict)
    widths: tuple[float, float] | None = None
    paragraph: InlineText | None = None
    places: list[int] = field(default_factory=list)
    lines: dict[tuple[float, Edges, float | None], tuple[float, Fragment]] = field(default_factory=dict)


class LayoutContext(Protocol):
    """What the layout of one box asks of the layout of the whole canvas, whose size is `width` and `height`."""

    library: FontLibrary
    width: float
    height: float
    notes: Notes

    def memory(self, box: Box) -> BoxMemory:
        """Return what is remembered of a box, to be read and changed."""
        ...

    def fragment(self, box: Box, space: Space) -> Fragment:
        """Return a box laid out in a space; the same space gives the same fragment."""
        ...

    def content_widths(self, box: Box) -> tuple[float, float]:
        """Return the least and the greatest width that the content of a box asks for."""
        ...

    def outer_widths(self, box: Box) -> tuple[float, float]:
        """Return what a box contributes to the content widths of its parent, margins included."""
        ...
