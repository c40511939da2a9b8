"""Layers: contexts that are painted apart, what changes them, and how they are laid over the page."""

from __future__ import annotations

from PIL import Image, ImageChops

from pressroom_image_generator.engine.edges import NO_EDGES
from pressroom_image_generator.engine.layout.fragments import Fragment
from pressroom_image_generator.engine.paint.backgrounds import paint_background
from pressroom_image_generator.engine.paint.canvas import BLUR, Canvas, scaled
from pressroom_image_generator.engine.paint.filtering import blended, clip_mask, filter_reach, filtered
from pressroom_image_generator.engine.paint.rects import Rect
from pressroom_image_generator.engine.paint.rounded import SQUARE, fragment_corners, rounded_mask
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.sources import Sources


def changes_pixels(style: Style) -> bool:
    """Tell whether a context is changed pixel by pixel after it was painted, by more than its opacity."""
    return bool(style.filter or _shaped(style) or style.mix_blend_mode != "normal" or _masked(style))


def _shaped(style: Style) -> bool:
    return style.clip_path is not None and bool(style.clip_path.name)


def _masked(style: Style) -> bool:
    return any(not isinstance(layer, str) for layer in style.mask_image)


def has_effects(style: Style) -> bool:
    """Tell whether a context is changed after it was painted, apart from its place."""
    return style.opacity < 1 or style.isolation == "isolate" or changes_pixels(style)


def needs_layer(style: Style) -> bool:
    """Tell whether an element makes a context that is painted apart."""
    return bool(style.transforms or style.backdrop_filter or has_effects(style))


def _through(picture: Image.Image, mask: Image.Image) -> None:
    picture.putalpha(ImageChops.multiply(picture.getchannel("A"), mask))


def blend(canvas: Canvas, picture: Image.Image, place: Rect, mode: str) -> None:
    """Lay a picture over the page, its colours mixed with those below."""
    part = canvas.part(place.within(canvas.rect))
    if part.rect != place:
        picture = picture.crop(
            (
                part.rect.left - place.left,
                part.rect.top - place.top,
                part.rect.right - place.left,
                part.rect.bottom - place.top,
            )
        )
    below = part.image
    mixed = blended(below.convert("RGB"), picture.convert("RGB"), mode)
    if below.mode == "RGBA":
        # Where nothing is below, the colour stays as it is.
        mixed = Image.composite(mixed, picture.convert("RGB"), below.getchannel("A"))
    mixed.putalpha(picture.getchannel("A"))
    canvas.draw(mixed, part.rect.left, part.rect.top)


def changed(layer: Canvas, style: Style, box: Rect, sources: Sources) -> Image.Image:
    """Return a layer under its filter, clip path, mask and opacity, in the order of Compositing 1, section 3.4."""
    picture, rect = layer.image, layer.rect
    if style.filter:
        layer.budget.spend(rect.size, BLUR * len(style.filter))
        picture = filtered(picture, style.filter, style.color)
    if _shaped(style) and style.clip_path is not None:
        _through(picture, clip_mask(style.clip_path, box, rect, sources))
    if _masked(style):
        _mask(layer, picture, style, box, sources)
    if style.opacity < 1:
        picture.putalpha(scaled(picture.getchannel("A"), round(style.opacity * 255)))
    return picture


def _mask(under: Canvas, picture: Image.Image, style: Style, box: Rect, sources: Sources) -> None:
    masking = Style()
    masking.set("background-image", style.mask_image)
    masking.set("background-position", style.mask_position)
    masking.set("background-size", style.mask_size)
    masking.set("background-repeat", style.mask_repeat)
    masking.set("background-clip", ("border-box",))
    masking.set("background-origin", ("border-box",))
    layer = under.layer(under.rect)
    paint_background(layer, masking, box, NO_EDGES, NO_EDGES, SQUARE, sources)
    _through(picture, layer.image.getchannel("A"))


def filter_backdrop(canvas: Canvas, fragment: Fragment, box: Rect) -> None:
    """Filter what is behind a box."""
    style = fragment.box.style
    window = box.within(canvas.rect)
    if window.empty:
        return
    reach = filter_reach(style.backdrop_filter)
    canvas.budget.spend(window.grown(reach).size, BLUR * len(style.backdrop_filter))
    behind = canvas.part(window.grown(reach).within(canvas.rect))
    changed = Canvas(filtered(behind.image, style.backdrop_filter, style.color), behind.rect.left, behind.rect.top)
    mask = rounded_mask(box, fragment_corners(fragment), window)
    part = changed.part(window)
    part.image = part.image.convert(canvas.image.mode)
    if style.opacity < 1:
        mask = scaled(mask, round(style.opacity * 255))
    canvas.put_back(part, mask)
