"""Paints the fragments of a canvas in the order of CSS 2.2, appendix E."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from PIL import Image, ImageChops
from pressroom.graphics.text import FontLibrary

from pressroom_image_generator.engine.effects import Matrix
from pressroom_image_generator.engine.layout.fragments import Fragment, InlineArea, PlacedFragment
from pressroom_image_generator.engine.layout.sizing import border_edges, padding_edges
from pressroom_image_generator.engine.paint.backgrounds import paint_background, paint_image_box
from pressroom_image_generator.engine.paint.borders import paint_border, paint_outline
from pressroom_image_generator.engine.paint.canvas import LAYER, Canvas, scaled
from pressroom_image_generator.engine.paint.filtering import filter_reach, paint_inset_shadows, paint_shadows
from pressroom_image_generator.engine.paint.layers import (
    DeferredFragment,
    blend,
    changed,
    changes_pixels,
    clips_something,
    deferral,
    filter_backdrop,
    gather,
    has_effects,
    ink_rect,
    needs_layer,
    padding_box,
    tiltable,
)
from pressroom_image_generator.engine.paint.rectangles import (
    Corners,
    Rect,
    corners_of,
    fragment_corners,
    nearest,
    rounded_mask,
    snapped,
)
from pressroom_image_generator.engine.paint.texts import glyph_mask, paint_text
from pressroom_image_generator.engine.paint.transforms import (
    TiltedCanvas,
    inverse_rect,
    mapped_rect,
    matrix_of,
    product,
    warped,
)
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.sources import Sources
from pressroom_image_generator.engine.values import Edges

_NOWHERE: Final = Rect(0, 0, 0, 0)


class Painter:
    """Paints the fragments of one canvas."""

    def __init__(self, library: FontLibrary, sources: Sources) -> None:
        self._library = library
        self._sources = sources

    def paint(self, canvas: Canvas, fragment: Fragment, x: float, y: float) -> None:
        """Paint a fragment and its descendants as one stacking context, at a position on the page."""
        style = fragment.box.style
        if needs_layer(style):
            self._layer(canvas, fragment, x, y)
        else:
            self._context(canvas, fragment, x, y)

    def _layer(self, canvas: Canvas, fragment: Fragment, x: float, y: float) -> None:
        """Paint a context separately, then composite it with its effects."""
        style = fragment.box.style
        if style.opacity <= 0:
            return
        if style.transforms:
            # Browsers snap transformed boxes to whole pixels first.
            x, y = float(nearest(x)), float(nearest(y))
        matrix = matrix_of(style, fragment, x, y)
        if matrix is not None and matrix[:4] == (1.0, 0.0, 0.0, 1.0):
            # Pure translations are drawn directly at their target.
            x, y, matrix = x + matrix[4], y + matrix[5], None
        visible = canvas.rect if matrix is None else inverse_rect(matrix, canvas.rect)
        box = snapped(x, y, fragment.width, fragment.height)
        if style.backdrop_filter:
            filter_backdrop(canvas, fragment, box)
        reach = filter_reach(style.filter, style.density) + 1
        rect = _NOWHERE if visible is None else ink_rect(fragment, x, y).grown(reach).within(visible.grown(reach))
        if rect.empty:
            return
        if matrix is None and not has_effects(style):
            self._context(canvas, fragment, x, y)
        elif matrix is not None and not changes_pixels(style) and tiltable(fragment, x, y):
            self._tilted(canvas, fragment, x, y, matrix, rect)
        else:
            self._flattened(canvas, PlacedFragment(x, y, fragment), box, matrix, rect)

    def _flattened(self, canvas: Canvas, placed: PlacedFragment, box: Rect, matrix: Matrix | None, rect: Rect) -> None:
        """Paint the area `rect` of a context to an image, and composite that."""
        style = placed.fragment.box.style
        layer = canvas.layer(rect)
        self._context(layer, placed.fragment, placed.x, placed.y)
        image = changed(layer, style, box, self._sources)
        if matrix is not None:
            target = mapped_rect(matrix, rect).within(canvas.rect)
            if target.empty:
                return
            canvas.budget.spend(target.size, LAYER)
            image, rect = warped(image, matrix, rect, target), target
        if style.mix_blend_mode != "normal":
            blend(canvas, image, rect, style.mix_blend_mode)
        else:
            canvas.draw(image, rect.left, rect.top)

    def _tilted(
        self, canvas: Canvas, fragment: Fragment, x: float, y: float, matrix: Matrix, rect: Rect
    ) -> None:  # fmt: skip
        """Paint the area `rect` of a context directly under its transform."""
        if isinstance(canvas, TiltedCanvas):
            matrix = product(canvas.matrix, matrix)
            canvas = canvas.under
        opacity = fragment.box.style.opacity
        if opacity == 1:
            self._context(TiltedCanvas(canvas, matrix, rect), fragment, x, y)
            return
        target = mapped_rect(matrix, rect).within(canvas.rect)
        if target.empty:
            return
        layer = canvas.layer(target)
        self._context(TiltedCanvas(layer, matrix, rect), fragment, x, y)
        layer.image.putalpha(scaled(layer.image.getchannel("A"), round(opacity * 255)))
        canvas.draw(layer.image, target.left, target.top)

    def _context(self, canvas: Canvas, fragment: Fragment, x: float, y: float) -> None:
        """Paint a stacking context, with deferred descendants in `z-index` order."""
        self._decorations(canvas, fragment, x, y)
        clipped = self._clipped(canvas, fragment, x, y)
        inner = canvas if clipped is None else clipped[0]
        deferred: list[DeferredFragment] = []
        gather(fragment, x, y, deferred, ())
        deferred.sort(key=lambda child: (child.z, child.sequence))
        self._deferred(inner, [child for child in deferred if child.z < 0])
        self._contents(inner, fragment, x, y)
        self._deferred(inner, [child for child in deferred if child.z >= 0])
        if clipped is not None:
            canvas.put_back(*clipped)
        self._outline(canvas, fragment, x, y)

    def _deferred(self, canvas: Canvas, deferred: list[DeferredFragment]) -> None:
        """Paint deferred fragments with their clips, each as its own context."""
        for clips, group in groupby(deferred, key=lambda child: child.clips):
            inner = canvas
            cut: list[tuple[Canvas, tuple[Canvas, Image.Image | None]]] = []
            for x, y, fragment in clips:
                if (clipped := self._clipped(inner, fragment, x, y)) is not None:
                    cut.append((inner, clipped))
                    inner = clipped[0]
            for child in group:
                self.paint(inner, child.fragment, child.x, child.y)
            for outer, clipped in reversed(cut):
                outer.put_back(*clipped)

    def _clipped(
        self, canvas: Canvas, fragment: Fragment, x: float, y: float
    ) -> tuple[Canvas, Image.Image | None] | None:
        """Return a copy of the canvas inside a clipping fragment, and the mask for putting it back."""
        if not clips_something(fragment, x, y):
            return None
        inner, corners = padding_box(fragment, x, y)
        window = inner.within(canvas.rect)
        if window.empty:
            return Canvas(Image.new(canvas.image.mode, (1, 1)), 10**7, 10**7), None
        mask = None if corners.square else rounded_mask(inner, corners, window)
        return canvas.part(window), mask

    def _decorations(self, canvas: Canvas, fragment: Fragment, x: float, y: float) -> None:
        """Paint the shadows, background and border of a fragment."""
        box = fragment.box
        style = box.style
        if style.visibility != "visible" or box.anonymous:
            return
        rect = snapped(x, y, fragment.width, fragment.height)
        corners = fragment_corners(fragment)
        text = None
        if "text" in style.background_clip:
            text = self._text_mask(canvas, fragment, x, y)
        self._box(canvas, style, rect, fragment.border, fragment.padding, corners, text)

    def _box(
        self, canvas: Canvas, style: Style, rect: Rect, border: Edges, padding: Edges, corners: Corners,
        text: Image.Image | None,
    ) -> None:  # fmt: skip
        if style.box_shadow:
            paint_shadows(canvas, style, rect, corners)
        if not rect.empty:
            paint_background(canvas, style, rect, border, padding, corners, self._sources, text)
            if style.box_shadow:
                paint_inset_shadows(canvas, style, rect, border, corners)
            paint_border(canvas, style, rect, border, corners)

    def _text_mask(self, canvas: Canvas, fragment: Fragment, x: float, y: float) -> Image.Image:
        """Return the coverage of all text in a fragment."""
        mask = Image.new("L", canvas.rect.size, 0)
        waiting = [(fragment, x, y)]
        while waiting:
            part, left, top = waiting.pop()
            for piece in part.texts:
                ink = glyph_mask(piece, left + piece.x, float(nearest(top + piece.baseline)), canvas.rect)
                mask = ImageChops.lighter(mask, ink)
            waiting += [(child, left + at_x, top + at_y) for at_x, at_y, child in part.children]
        return mask

    def _content(self, canvas: Canvas, fragment: Fragment, x: float, y: float) -> None:
        """Paint the image, the inline boxes and the text of a fragment."""
        box = fragment.box
        if box.kind == "image" and box.style.visibility == "visible":
            rect = snapped(x, y, fragment.width, fragment.height)
            frame = fragment.border.plus(fragment.padding)
            paint_image_box(canvas, box, rect, frame, fragment_corners(fragment), self._library)
        for area in fragment.areas:
            self._area(canvas, fragment, area, x, y)
        for piece in fragment.texts:
            paint_text(canvas, piece, x, y)

    def _area(self, canvas: Canvas, fragment: Fragment, area: InlineArea, x: float, y: float) -> None:
        style = area.style
        if style.visibility != "visible":
            return
        rect = snapped(x + area.x, y + area.y, area.width, area.height)
        border, padding = border_edges(style), padding_edges(style, fragment.width)
        corners = corners_of(style, area.width, area.height)
        if not area.first:
            border, padding = border._replace(left=0.0), padding._replace(left=0.0)
            corners = corners._replace(top_left=(0.0, 0.0), bottom_left=(0.0, 0.0))
        if not area.last:
            border, padding = border._replace(right=0.0), padding._replace(right=0.0)
            corners = corners._replace(top_right=(0.0, 0.0), bottom_right=(0.0, 0.0))
        text = None
        if "text" in style.background_clip:
            text = Image.new("L", canvas.rect.size, 0)
            for piece in fragment.texts:
                if area.x - 0.5 <= piece.x and piece.x + piece.text.width <= area.x + area.width + 0.5:
                    ink = glyph_mask(piece, x + piece.x, float(nearest(y + piece.baseline)), canvas.rect)
                    text = ImageChops.lighter(text, ink)
        self._box(canvas, style, rect, border, padding, corners, text)
        paint_outline(canvas, style, rect, corners)

    def _outline(self, canvas: Canvas, fragment: Fragment, x: float, y: float) -> None:
        style = fragment.box.style
        if style.outline_style != "none" and not fragment.box.anonymous and style.visibility == "visible":
            paint_outline(canvas, style, snapped(x, y, fragment.width, fragment.height), fragment_corners(fragment))

    def _child(self, canvas: Canvas, placed: PlacedFragment, x: float, y: float) -> None:
        """Paint a child in the same context, with its contents."""
        fragment = placed.fragment
        x, y = x + placed.x, y + placed.y
        self._decorations(canvas, fragment, x, y)
        clipped = self._clipped(canvas, fragment, x, y)
        self._contents(canvas if clipped is None else clipped[0], fragment, x, y)
        if clipped is not None:
            canvas.put_back(*clipped)
        self._outline(canvas, fragment, x, y)

    def _contents(self, canvas: Canvas, fragment: Fragment, x: float, y: float) -> None:
        """Paint the contents of a fragment, except deferred ones."""
        self._content(canvas, fragment, x, y)
        for placed in fragment.children:
            if deferral(placed.fragment, fragment) is None:
                self._child(canvas, placed, x, y)
