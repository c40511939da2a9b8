"""Stacking contexts, clips and layers (CSS 2.2, appendix E; CSS Overflow 3), and ink bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PIL import Image, ImageChops

from pressroom_image_generator.engine.layout.fragments import Fragment, PlacedFragment
from pressroom_image_generator.engine.paint.backgrounds import paint_background
from pressroom_image_generator.engine.paint.canvas import BLUR, Canvas, scaled
from pressroom_image_generator.engine.paint.filtering import (
    MAX_BOX_BLUR,
    blended,
    clip_mask,
    filter_reach,
    filtered,
)
from pressroom_image_generator.engine.paint.rectangles import (
    SQUARE,
    Corners,
    Rect,
    fragment_corners,
    rounded_mask,
    snapped,
)
from pressroom_image_generator.engine.paint.texts import MAX_TEXT_BLUR, text_rect
from pressroom_image_generator.engine.paint.transforms import mapped_rect, matrix_of
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.sources import Sources
from pressroom_image_generator.engine.values import NO_EDGES

_NOTHING = Rect(10**7, 10**7, -(10**7), -(10**7))


def ink_rect(fragment: Fragment, x: float, y: float, *, content_only: bool = False) -> Rect:
    """Return the bounds of everything that a fragment paints, before its own transform and filter.

    `content_only` excludes the box itself and its children.
    """
    rect = _NOTHING
    for piece in fragment.texts:
        rect = _joined(rect, _with_shadows(text_rect(piece, x, y), piece.style))
    if content_only:
        return rect
    rect = _joined(rect, _box_rect(fragment.box.style, x, y, fragment.width, fragment.height))
    for area in fragment.areas:
        rect = _joined(rect, _box_rect(area.style, x + area.x, y + area.y, area.width, area.height))
    style = fragment.box.style
    if style.overflow_x != "visible" or style.overflow_y != "visible":
        return rect
    for at_x, at_y, child in fragment.children:
        rect = _joined(rect, _transformed(child, x + at_x, y + at_y))
    return rect


def _transformed(fragment: Fragment, x: float, y: float) -> Rect:
    rect = ink_rect(fragment, x, y)
    style = fragment.box.style
    if style.filter:
        rect = rect.grown(filter_reach(style.filter, style.density))
    matrix = matrix_of(style, fragment, x, y)
    return rect if matrix is None else mapped_rect(matrix, rect)


def _joined(first: Rect, second: Rect) -> Rect:
    if second.empty:
        return first
    if first.empty:
        return second
    return Rect(
        min(first.left, second.left),
        min(first.top, second.top),
        max(first.right, second.right),
        max(first.bottom, second.bottom),
    )


def _box_rect(style: Style, x: float, y: float, width: float, height: float) -> Rect:
    rect = Rect(math.floor(x), math.floor(y), math.ceil(x + width), math.ceil(y + height))
    bounds = rect
    for shadow in style.box_shadow:
        if not shadow.inset:
            reach = max(0, math.ceil(min(shadow.blur, MAX_BOX_BLUR * style.density) * 1.5 + shadow.spread) + 1)
            moved = Rect(
                rect.left + math.floor(shadow.x), rect.top + math.floor(shadow.y),
                rect.right + math.ceil(shadow.x), rect.bottom + math.ceil(shadow.y),
            )  # fmt: skip
            bounds = _joined(bounds, moved.grown(reach))
    if style.outline_style not in ("none", "hidden"):
        bounds = _joined(bounds, rect.grown(max(0, math.ceil(style.outline_width + style.outline_offset))))
    return bounds


def _with_shadows(rect: Rect, style: Style) -> Rect:
    bounds = rect
    for shadow in style.text_shadow:
        reach = math.ceil(min(shadow.blur, MAX_TEXT_BLUR * style.density) * 1.5)
        moved = Rect(
            rect.left + math.floor(shadow.x), rect.top + math.floor(shadow.y),
            rect.right + math.ceil(shadow.x), rect.bottom + math.ceil(shadow.y),
        )  # fmt: skip
        bounds = _joined(bounds, moved.grown(reach))
    return bounds


def changes_pixels(style: Style) -> bool:
    """Return whether a painted context needs changes other than opacity: filter, clip path, blend mode or mask."""
    return bool(style.filter or _shaped(style) or style.mix_blend_mode != "normal" or _masked(style))


def _shaped(style: Style) -> bool:
    return style.clip_path is not None and bool(style.clip_path.name)


def _masked(style: Style) -> bool:
    return any(not isinstance(layer, str) for layer in style.mask_image)


def has_effects(style: Style) -> bool:
    """Return whether a context needs changes after painting, apart from its position."""
    return style.opacity < 1 or style.isolation == "isolate" or changes_pixels(style)


def needs_layer(style: Style) -> bool:
    """Return whether an element forms a context that is painted separately."""
    return bool(style.transforms or style.backdrop_filter or has_effects(style))


def _through(image: Image.Image, mask: Image.Image) -> None:
    image.putalpha(ImageChops.multiply(image.getchannel("A"), mask))


def blend(canvas: Canvas, image: Image.Image, area: Rect, mode: str) -> None:
    """Paint an image with its colours blended with those below."""
    part = canvas.part(area.within(canvas.rect))
    if part.rect != area:
        image = image.crop(
            (
                part.rect.left - area.left,
                part.rect.top - area.top,
                part.rect.right - area.left,
                part.rect.bottom - area.top,
            )
        )
    below = part.image
    mixed = blended(below.convert("RGB"), image.convert("RGB"), mode)
    if below.mode == "RGBA":
        # Without a backdrop, the colour stays unchanged.
        mixed = Image.composite(mixed, image.convert("RGB"), below.getchannel("A"))
    mixed.putalpha(image.getchannel("A"))
    canvas.draw(mixed, part.rect.left, part.rect.top)


def changed(layer: Canvas, style: Style, box: Rect, sources: Sources) -> Image.Image:
    """Apply filter, clip path, mask and opacity to a layer, in the order of Compositing 1, section 3.4."""
    image, rect = layer.image, layer.rect
    if style.filter:
        layer.budget.spend(rect.size, BLUR * len(style.filter))
        image = filtered(image, style.filter, style)
    if _shaped(style) and style.clip_path is not None:
        _through(image, clip_mask(style.clip_path, box, rect, sources))
    if _masked(style):
        _mask(layer, image, style, box, sources)
    if style.opacity < 1:
        image.putalpha(scaled(image.getchannel("A"), round(style.opacity * 255)))
    return image


def _mask(under: Canvas, image: Image.Image, style: Style, box: Rect, sources: Sources) -> None:
    masking = Style()
    masking.set("background-image", style.mask_image)
    masking.set("background-position", style.mask_position)
    masking.set("background-size", style.mask_size)
    masking.set("background-repeat", style.mask_repeat)
    masking.set("background-clip", ("border-box",))
    masking.set("background-origin", ("border-box",))
    layer = under.layer(under.rect)
    paint_background(layer, masking, box, NO_EDGES, NO_EDGES, SQUARE, sources)
    _through(image, layer.image.getchannel("A"))


def filter_backdrop(canvas: Canvas, fragment: Fragment, box: Rect) -> None:
    """Filter the backdrop of a box."""
    style = fragment.box.style
    window = box.within(canvas.rect)
    if window.empty:
        return
    reach = filter_reach(style.backdrop_filter, style.density)
    canvas.budget.spend(window.grown(reach).size, BLUR * len(style.backdrop_filter))
    backdrop = canvas.part(window.grown(reach).within(canvas.rect))
    filtered_canvas = Canvas(
        filtered(backdrop.image, style.backdrop_filter, style), backdrop.rect.left, backdrop.rect.top
    )
    mask = rounded_mask(box, fragment_corners(fragment), window)
    part = filtered_canvas.part(window)
    part.image = part.image.convert(canvas.image.mode)
    if style.opacity < 1:
        mask = scaled(mask, round(style.opacity * 255))
    canvas.put_back(part, mask)


@dataclass(frozen=True, slots=True)
class DeferredFragment:
    """A fragment that is painted after its surroundings, ordered by `z-index` and document order.

    `clips` are the clipping fragments with their positions on the page, outermost first.
    """

    z: int
    sequence: int
    fragment: Fragment
    x: float
    y: float
    clips: tuple[PlacedFragment, ...] = ()


def deferral(fragment: Fragment, parent: Fragment) -> int | None:
    """Return the `z-index` of a fragment that is painted out of flow order, or `None` for one that is not."""
    style = fragment.box.style
    z = style.z_index
    positioned = style.position != "static"
    item = parent.box.kind in ("flex", "grid")
    if positioned or needs_layer(style) or (item and isinstance(z, int)):
        return z if isinstance(z, int) and (positioned or item) else 0
    return None


def gather(
    fragment: Fragment, x: float, y: float, into: list[DeferredFragment], clips: tuple[PlacedFragment, ...]
) -> None:  # fmt: skip
    """Collect the fragments that are deferred to the end of this context. Clips do not form contexts."""
    for at_x, at_y, child in fragment.children:
        z = deferral(child, fragment)
        if z is not None:
            into.append(DeferredFragment(z, child.box.sequence, child, x + at_x, y + at_y, clips))
            continue
        inner = (*clips, PlacedFragment(x + at_x, y + at_y, child)) if is_clip(child) else clips
        gather(child, x + at_x, y + at_y, into, inner)


def is_clip(fragment: Fragment) -> bool:
    """Return whether a fragment clips its overflow."""
    style = fragment.box.style
    return style.overflow_x != "visible" or style.overflow_y != "visible"


def padding_box(fragment: Fragment, x: float, y: float) -> tuple[Rect, Corners]:
    """Return the padding box of a fragment, which is its clipping area, and its corners."""
    border = fragment.border
    inner = snapped(x + border.left, y + border.top, fragment.width - border.across, fragment.height - border.down)
    return inner, fragment_corners(fragment).inside(border)


def clips_something(fragment: Fragment, x: float, y: float) -> bool:
    """Return whether a fragment clips anything that would be visible otherwise."""
    if not is_clip(fragment):
        return False
    inner, corners = padding_box(fragment, x, y)
    inks = [ink_rect(child, x + at_x, y + at_y) for at_x, at_y, child in fragment.children]
    inks.append(ink_rect(fragment, x, y, content_only=True))
    if corners.square:
        return not all(inner.holds(ink) for ink in inks)
    return not all(ink.empty for ink in inks)


def tiltable(fragment: Fragment, x: float, y: float) -> bool:
    """Return whether everything in a fragment can be painted without reading pixels that are already painted."""
    if clips_something(fragment, x, y):
        return False
    return not any(
        child.box.style.backdrop_filter
        or child.box.style.mix_blend_mode != "normal"
        or not tiltable(child, x + at_x, y + at_y)
        for at_x, at_y, child in fragment.children
    )
