"""The shadows of boxes, outer and inner, and the blurred masks that they and filters are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageChops, ImageFilter

from pressroom_image_generator.engine.paint.canvas import BLUR, Canvas
from pressroom_image_generator.engine.paint.rectangles import Corners, Rect, nearest, rounded_mask
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.readers import ShadowStyle
from pressroom_image_generator.engine.values import Edges

_FINE_SIGMA: Final = 6.0
"""Up to this sigma an image is blurred at full size; a softer blur looks the same when made from a smaller image."""


@dataclass(frozen=True, slots=True)
class BlurredMask:
    """A blurred image of a part of the page, kept as small as its softness allows: one pixel of it covers `scale`."""

    small: Image.Image
    scale: int
    rect: Rect

    def part(self, window: Rect) -> Image.Image:
        """Return what a window of the page shows; everything outside the image is empty."""
        seen = window.within(self.rect)
        if seen.empty:
            return Image.new(self.small.mode, window.size)
        left, top = seen.left - self.rect.left, seen.top - self.rect.top
        box = (left, top, left + seen.width, top + seen.height)
        if self.scale == 1:
            shown = self.small.crop(box)
        else:
            across, down, right, bottom = (edge / self.scale for edge in box)
            shown = self.small.resize(seen.size, Image.Resampling.BICUBIC, (across, down, right, bottom))
        if seen == window:
            return shown
        whole = Image.new(self.small.mode, window.size)
        whole.paste(shown, (seen.left - window.left, seen.top - window.top))
        return whole


def soft(image: Image.Image, sigma: float, rect: Rect) -> BlurredMask:
    """Return a mask, or an image in premultiplied `RGBa`, under a Gaussian blur; `rect` is where it is."""
    if sigma <= 0 or rect.empty:
        return BlurredMask(image, 1, rect)
    scale = 1
    while sigma / scale > _FINE_SIGMA:
        scale *= 2
    small = image.reduce(scale) if scale > 1 else image
    return BlurredMask(small.filter(ImageFilter.GaussianBlur(sigma / scale)), scale, rect)


def blurred(image: Image.Image, sigma: float) -> Image.Image:
    """Return a mask, or an image in premultiplied `RGBa`, under a Gaussian blur."""
    rect = Rect(0, 0, *image.size)
    return image if sigma <= 0 or rect.empty else soft(image, sigma, rect).part(rect)


MAX_BLUR: Final = 400.0


def paint_shadows(canvas: Canvas, style: Style, rect: Rect, corners: Corners) -> None:
    """Paint the outer shadows of a border box, the first one on top; nothing is painted under the box itself."""
    for shadow in reversed(style.box_shadow):
        if not shadow.inset:
            _outer(canvas, style, rect, corners, shadow)


def paint_inset_shadows(canvas: Canvas, style: Style, rect: Rect, border: Edges, corners: Corners) -> None:
    """Paint the inner shadows of a border box, inside its padding box."""
    inner = Rect(
        rect.left + nearest(border.left), rect.top + nearest(border.top),
        rect.right - nearest(border.right), rect.bottom - nearest(border.bottom),
    )  # fmt: skip
    for shadow in reversed(style.box_shadow):
        if shadow.inset:
            _inset(canvas, style, inner, corners.inside(border), shadow)


def _outer(canvas: Canvas, style: Style, rect: Rect, corners: Corners, shadow: ShadowStyle) -> None:
    color = shadow.color or style.color
    sigma = min(shadow.blur, MAX_BLUR) / 2
    reach = math.ceil(3 * sigma)
    spread = nearest(shadow.spread)
    x, y = nearest(shadow.x), nearest(shadow.y)
    cast = Rect(rect.left + x, rect.top + y, rect.right + x, rect.bottom + y).grown(spread)
    window = cast.grown(reach).within(canvas.rect)
    if cast.empty or window.empty or color.alpha <= 0:
        return
    canvas.budget.spend(window.grown(reach).within(cast.grown(reach)).size, BLUR)
    shape = corners.grown(shadow.spread).fitted(cast.width, cast.height)
    mask = _soft(cast, shape, sigma, window)
    # Nothing is painted under the middle of the box.
    for part in window.around(rect.grown(-math.ceil(corners.largest))):
        under = rounded_mask(rect, corners, part)
        canvas.tint(color, ImageChops.multiply(mask.part(part), ImageChops.invert(under)), part.left, part.top)


def _inset(canvas: Canvas, style: Style, rect: Rect, corners: Corners, shadow: ShadowStyle) -> None:
    color = shadow.color or style.color
    sigma = min(shadow.blur, MAX_BLUR) / 2
    x, y, spread = nearest(shadow.x), nearest(shadow.y), nearest(shadow.spread)
    window = rect.within(canvas.rect)
    if window.empty or color.alpha <= 0:
        return
    canvas.budget.spend(window.size, BLUR)
    hole = Rect(rect.left + x, rect.top + y, rect.right + x, rect.bottom + y).grown(-spread)
    if hole.empty:
        mask = Image.new("L", window.size, 255)
    else:
        soft_hole = _soft(hole, corners.grown(-shadow.spread).fitted(*hole.size), sigma, window)
        mask = ImageChops.invert(soft_hole.part(window))
    canvas.tint(color, ImageChops.multiply(mask, rounded_mask(rect, corners, window)), window.left, window.top)


def _soft(rect: Rect, corners: Corners, sigma: float, window: Rect) -> BlurredMask:
    """Return what a window can show of a blurred round box."""
    if sigma <= 0:
        return BlurredMask(rounded_mask(rect, corners, window), 1, window)
    reach = math.ceil(3 * sigma)
    # Only what is within reach of the window can be seen in it.
    near = rect.grown(reach).within(window.grown(reach))
    return soft(rounded_mask(rect, corners, near), sigma, near)
