"""Input and output types of the layout."""

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
    """The constraints that a box is laid out in.

    `width` and `height` are those of the containing block, for percentages and for filling; an unknown height is
    `None`. `fixed_width` and `fixed_height` are border-box sizes that the parent has decided. With `shrink`, an
    automatic width follows the content. `root` starts a new block formatting context, which contains the margins of its
    children. With `indefinite`, percentages cannot be resolved against `fixed_height`; with `natural`, the height
    follows the content whatever the style says.
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
    """A fragment and its offset from the border box of its parent."""

    x: float
    y: float
    fragment: Fragment


class PendingBox(NamedTuple):
    """An absolute box that waits for its containing block, with its static position and alignment."""

    box: Box
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    align_x: str = "start"
    align_y: str = "start"

    def moved(self, x: float, y: float) -> PendingBox:
        """Return the box with its position shifted."""
        return self._replace(x=self.x + x, y=self.y + y)


class TextPiece(NamedTuple):
    """Text of one style on one line.

    `x` and `baseline` are relative to the paragraph's border box; `ascent` is the font's, in whole pixels.
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
    """A laid-out box. `baseline` is the distance of its first baseline from its top."""

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
    margin_bottom: float = 0.0


@dataclass(slots=True, eq=False)
class BoxMemory:
    """Cached layout results of a box: its fragment for each space, and a paragraph's text, breaks and lines."""

    fragments: dict[Space, Fragment] = field(default_factory=dict)
    widths: tuple[float, float] | None = None
    paragraph: InlineText | None = None
    break_positions: list[int] = field(default_factory=list)
    lines: dict[tuple[float, Edges, float | None], tuple[float, Fragment]] = field(default_factory=dict)


class LayoutContext(Protocol):
    """Interface of the layout engine for laying out a single box. `width` and `height` are those of the canvas."""

    library: FontLibrary
    width: float
    height: float
    notes: Notes

    def memory(self, box: Box) -> BoxMemory:
        """Return the mutable cache of a box."""
        ...

    def fragment(self, box: Box, space: Space) -> Fragment:
        """Lay out a box in a space; results are cached by space."""
        ...

    def content_widths(self, box: Box) -> tuple[float, float]:
        """Return the min-content and max-content width of a box."""
        ...

    def outer_widths(self, box: Box) -> tuple[float, float]:
        """Return a box's contribution to the content widths of its parent, including margins."""
        ...
