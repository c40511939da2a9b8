"""Core of the layout: dispatches by kind of box, caches results, and places absolute boxes."""

from __future__ import annotations

from typing import Final

from pressroom.graphics.text import FontLibrary
from pressroom.sdk import InvalidInput

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.flex import flex_widths, layout_flex
from pressroom_image_generator.engine.layout.flow import (
    flow_widths,
    image_widths,
    layout_flow,
    layout_image,
    layout_paragraph,
    paragraph_widths,
)
from pressroom_image_generator.engine.layout.fragments import BoxMemory, Fragment, Space
from pressroom_image_generator.engine.layout.grid import grid_widths, layout_grid
from pressroom_image_generator.engine.layout.sizing import (
    Sizing,
    border_edges,
    known,
    padding_edges,
    place_pending,
    preferred_ratio,
)
from pressroom_image_generator.engine.notes import Notes

MAX_STEPS: Final = 60_000
"""Maximum number of box layouts, including repeated ones with other sizes; pages need a few hundred."""


class LayoutEngine:
    """Lays out the boxes of one canvas."""

    def __init__(self, library: FontLibrary, width: float, height: float, notes: Notes) -> None:
        self.library = library
        self.width = width
        self.height = height
        self.notes = notes
        self._steps = 0
        self._memories: dict[Box, BoxMemory] = {}

    def memory(self, box: Box) -> BoxMemory:
        """Return the mutable cache of a box."""
        memory = self._memories.get(box)
        if memory is None:
            memory = self._memories[box] = BoxMemory()
        return memory

    def canvas(self, root: Box) -> Fragment:
        """Return the fragment of the whole canvas.

        Raises:
            InvalidInput: the layout takes too many steps.
        """
        return self.fragment(root, Space(self.width, self.height, self.width, self.height))

    def fragment(self, box: Box, space: Space) -> Fragment:
        """Lay out a box in a space; results are cached by space."""
        fragments = self.memory(box).fragments
        cached = fragments.get(space)
        if cached is not None:
            return cached
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise InvalidInput("html", "the layout is too complex; nest fewer flexible boxes of automatic size")
        fragment = self._laid_out(box, space)
        root = box.sequence == 1
        if fragment.pending and (root or box.positioned):
            waiting, fragment.pending = fragment.pending, []
            for pending in waiting:
                fragment.children.append(place_pending(self, pending, fragment))
        fragments[space] = fragment
        return fragment

    def _laid_out(self, box: Box, space: Space) -> Fragment:
        match box.kind:
            case "flex":
                return layout_flex(self, box, space)
            case "grid":
                return layout_grid(self, box, space)
            case "paragraph":
                return layout_paragraph(self, box, space)
            case "image":
                return layout_image(self, box, space)
            case "block":
                return layout_flow(self, box, space)

    def content_widths(self, box: Box) -> tuple[float, float]:
        """Return the min-content and max-content width of a box (CSS Box Sizing 3, section 4)."""
        memory = self.memory(box)
        if memory.widths is None:
            memory.widths = self._content_widths(box)
        return memory.widths

    def _content_widths(self, box: Box) -> tuple[float, float]:
        match box.kind:
            case "flex":
                return flex_widths(self, box)
            case "grid":
                return grid_widths(self, box)
            case "paragraph":
                return paragraph_widths(self, box)
            case "image":
                return image_widths(box)
            case "block":
                return flow_widths(self, box)

    def outer_widths(self, box: Box) -> tuple[float, float]:
        """Return a box's contribution to the content widths of its parent, including margins."""
        style = box.style
        frame = border_edges(style).plus(padding_edges(style, 0.0)).across
        extra = frame if style.box_sizing == "content-box" else 0.0
        width = known(style.width, None)
        if width is not None:
            minimum = maximum = max(width + extra, frame)
        else:
            ratio = preferred_ratio(box)
            height = known(style.height, None) if ratio else None
            if height is not None:
                minimum = maximum = Sizing(self, box, Space(0.0)).width_for(height)
            else:
                minimum, maximum = (content + frame for content in self.content_widths(box))
                if style.width == "min-content":
                    maximum = minimum
                elif style.width == "max-content":
                    minimum = maximum
                elif not isinstance(style.width, str) and box.kind == "image":
                    minimum = 0.0
        highest, lowest = known(style.max_width, None), known(style.min_width, None)
        if highest is not None:
            minimum, maximum = min(minimum, highest + extra), min(maximum, highest + extra)
        if lowest is not None:
            minimum, maximum = max(minimum, lowest + extra), max(maximum, lowest + extra)
        margins = (known(style.margin_left, None) or 0.0) + (known(style.margin_right, None) or 0.0)
        return max(0.0, minimum + margins), max(0.0, maximum + margins)
