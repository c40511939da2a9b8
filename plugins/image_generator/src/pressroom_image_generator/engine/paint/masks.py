"""Blurring masks and pictures at the cost of what can be seen of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageFilter

from pressroom_image_generator.engine.paint.rects import Rect

_FINE_SIGMA: Final = 6.0
"""Up to this sigma a picture is blurred pixel by pixel; a softer one looks the same from a smaller picture."""


@dataclass(frozen=True, slots=True)
class Soft:
    """A blurred picture of a part of the page, kept as small as its softness allows: `scale` pixels are one of it."""

    small: Image.Image
    scale: int
    rect: Rect

    def part(self, window: Rect) -> Image.Image:
        """Return what a window of the page shows; all is empty beyond the picture."""
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


def soft(picture: Image.Image, sigma: float, rect: Rect) -> Soft:
    """Return a mask, or a picture in premultiplied `RGBa`, under a Gaussian blur; `rect` is where it is."""
    if sigma <= 0 or rect.empty:
        return Soft(picture, 1, rect)
    scale = 1
    while sigma / scale > _FINE_SIGMA:
        scale *= 2
    small = picture.reduce(scale) if scale > 1 else picture
    return Soft(small.filter(ImageFilter.GaussianBlur(sigma / scale)), scale, rect)


def blurred(picture: Image.Image, sigma: float) -> Image.Image:
    """Return a mask, or a picture in premultiplied `RGBa`, under a Gaussian blur."""
    rect = Rect(0, 0, *picture.size)
    return picture if sigma <= 0 or rect.empty else soft(picture, sigma, rect).part(rect)
