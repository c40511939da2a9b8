"""An image with an origin on the page that colours and images are painted on. Anything outside it is skipped."""

from __future__ import annotations

from typing import Final

from PIL import Image, ImageChops
from pressroom.graphics.color import Color
from pressroom.sdk import InvalidInput

from pressroom_image_generator.engine.paint.rectangles import Corners, Rect, rounded_mask

MAX_WORK: Final = 800_000_000
"""Maximum number of pixels painted for one image; layers, gradients and blurs count multiple times."""

LAYER, GRADIENT, BLUR, OUTLINE, FINE = 4, 8, 6, 12, 24
"""Cost per pixel of a layer, a gradient, a blur, a box under a transform, and a supersampled mask."""


class Budget:
    """Limits the work for one image: hostile styles would take hours."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def spend(self, size: tuple[int, int], times: float = 1) -> None:
        """Deduct the cost of an area.

        Raises:
            InvalidInput: the budget is exhausted.
        """
        self._left -= int(size[0] * size[1] * times)
        if self._left < 0:
            raise InvalidInput(
                "html",
                "it takes too long to paint; use fewer shadows, filters, gradients and layers (opacity, transforms, "
                "clips), or make them smaller",
            )


class Canvas:
    """An `RGB` or `RGBA` image whose first pixel is at `left` and `top` of the page."""

    def __init__(self, image: Image.Image, left: int = 0, top: int = 0, budget: Budget | None = None) -> None:
        self.image = image
        self.budget = budget or Budget()
        self.rect = Rect(left, top, left + image.width, top + image.height)

    def layer(self, rect: Rect) -> Canvas:
        """Return a transparent canvas for a part of the page."""
        self.budget.spend(rect.size, LAYER)
        return Canvas(Image.new("RGBA", rect.size), rect.left, rect.top, self.budget)

    def part(self, rect: Rect) -> Canvas:
        """Return a copy of a part of the canvas."""
        self.budget.spend(rect.size)
        return Canvas(self.image.crop(self._local(rect)), rect.left, rect.top, self.budget)

    def put_back(self, part: Canvas, mask: Image.Image | None = None) -> None:
        """Replace the part of the page that another canvas covers, through a mask if one is given."""
        box = self._local(part.rect)
        if mask is None or self.image.mode == "RGB":
            self.image.paste(part.image, box, mask)
            return
        # Mix premultiplied colours: transparent pixels are black and would darken the edges.
        mixed = self.image.crop(box).convert("RGBa")
        mixed.paste(part.image.convert("RGBa"), (0, 0), mask)
        self.image.paste(mixed.convert("RGBA"), box)

    def fill(self, rect: Rect, color: Color) -> None:
        """Fill a rectangle with a colour."""
        visible = rect.within(self.rect)
        red, green, blue, alpha = color.rgba8
        if visible.empty or not alpha:
            return
        self.budget.spend(visible.size)
        if alpha == 255:
            self.image.paste((red, green, blue, 255)[: len(self.image.getbands())], self._local(visible))
        else:
            self.tint(color, Image.new("L", visible.size, 255), visible.left, visible.top)

    def fill_box(self, box: Rect, corners: Corners, color: Color) -> None:
        """Fill a box that may have rounded corners."""
        if corners.square:
            self.fill(box, color)
            return
        for band, round_ in corners.bands(box):
            visible = band.within(self.rect)
            if round_ and not visible.empty:
                self.tint(color, rounded_mask(box, corners, visible), visible.left, visible.top)
            else:
                self.fill(visible, color)

    def tint(self, color: Color, mask: Image.Image, left: int, top: int) -> None:
        """Paint a colour through a mask whose top left corner is at `left` and `top`."""
        mask, left, top = self._cut(mask, left, top)
        red, green, blue, alpha = color.rgba8
        if not mask.width or not mask.height or not alpha:
            return
        self.budget.spend(mask.size, 2)
        if alpha < 255:
            mask = scaled(mask, alpha)
        position = (left - self.rect.left, top - self.rect.top)
        if self.image.mode == "RGB":
            # Pasting an image through a mask is twice as fast as pasting a colour.
            self.image.paste(Image.new("RGB", mask.size, (red, green, blue)), position, mask)
        else:
            layer = Image.new("RGBA", mask.size, (red, green, blue, 0))
            layer.putalpha(mask)
            self.image.alpha_composite(layer, position)

    def draw(self, image: Image.Image, left: int, top: int, mask: Image.Image | None = None) -> None:
        """Paint an image over the page, through a mask of the same size if one is given."""
        visible = Rect(left, top, left + image.width, top + image.height).within(self.rect)
        if visible.empty:
            return
        self.budget.spend(visible.size, 2)
        box = (visible.left - left, visible.top - top, visible.right - left, visible.bottom - top)
        if visible.size != image.size:
            image = image.crop(box)
            mask = mask.crop(box) if mask is not None else None
        position = (visible.left - self.rect.left, visible.top - self.rect.top)
        if image.mode == "RGBA" and self.image.mode == "RGB":
            self.image.paste(image, position, image if mask is None else through(image, mask))
        elif self.image.mode == "RGB" or (mask is None and image.mode == "RGB"):
            self.image.paste(image, position, mask)
        else:
            layer = image.convert("RGBA") if mask is None else through(image, mask)
            self.image.alpha_composite(layer, position)

    def _local(self, rect: Rect) -> tuple[int, int, int, int]:
        left, top = self.rect.left, self.rect.top
        return rect.left - left, rect.top - top, rect.right - left, rect.bottom - top

    def _cut(self, mask: Image.Image, left: int, top: int) -> tuple[Image.Image, int, int]:
        full = Rect(left, top, left + mask.width, top + mask.height)
        visible = full.within(self.rect)
        if visible == full:
            return mask, left, top
        if visible.empty:
            return Image.new("L", (0, 0)), left, top
        return (
            mask.crop((visible.left - left, visible.top - top, visible.right - left, visible.bottom - top)),
            visible.left,
            visible.top,
        )


def scaled(mask: Image.Image, alpha: int) -> Image.Image:
    """Return a mask multiplied by an alpha of 0 to 255."""
    return mask.point([(value * alpha + 127) // 255 for value in range(256)])


def through(image: Image.Image, mask: Image.Image) -> Image.Image:
    """Return an image as `RGBA` with its alpha multiplied by a mask."""
    masked = image.convert("RGBA")
    masked.putalpha(ImageChops.multiply(masked.getchannel("A"), mask))
    return masked
