"""Filters, blend modes and clip paths for layers, and box shadows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageFilter
from pressroom.graphics.color import BLACK

from pressroom_image_generator.engine.effects import FilterFunction, Shape
from pressroom_image_generator.engine.paint.borders import exact_polygon_mask
from pressroom_image_generator.engine.paint.canvas import BLUR, Canvas, scaled
from pressroom_image_generator.engine.paint.rectangles import SQUARE, Corners, Rect, nearest, rounded_mask
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.readers import ShadowStyle
from pressroom_image_generator.engine.sources import Sources
from pressroom_image_generator.engine.values import AnyLength, Edges

_Matrix = NDArray[np.float32]
MAX_REACH: Final = 700.0
"""Maximum distance in CSS pixels that filters can spread; anything farther is cut off."""

_MAX_SIGMA: Final = 200.0
"""Maximum standard deviation of a `drop-shadow()` in CSS pixels."""

_LUMINANCE: Final = (0.2126, 0.7152, 0.0722)


def filter_reach(filters: Sequence[FilterFunction], density: int) -> int:
    """Return the number of device pixels by which filters can extend beyond their input."""
    reach = 0.0
    for function in filters:
        if function.name == "blur":
            reach += 3 * function.amount
        elif function.shadow is not None:
            sigma = min(function.shadow.blur, _MAX_SIGMA * density)
            reach += 3 * sigma + max(abs(function.shadow.x), abs(function.shadow.y))
    return math.ceil(min(reach, MAX_REACH * density))


def filtered(image: Image.Image, filters: Sequence[FilterFunction], style: Style) -> Image.Image:
    """Apply an element's filters in order to an `RGBA` or `RGB` image (Filter Effects 1)."""
    for function in filters:
        if function.shadow is not None:
            image = _dropped(image, function.shadow, style)
        elif function.name == "blur":
            image = _blurred(image, function.amount)
        elif function.name == "opacity":
            if function.amount < 1:
                image = image.convert("RGBA")
                image.putalpha(scaled(image.getchannel("A"), round(function.amount * 255)))
        elif function.name in ("brightness", "contrast", "invert"):
            image = _curve(image, function)
        else:
            image = _mixed(image, _matrix(function))
    return image


def _blurred(image: Image.Image, sigma: float) -> Image.Image:
    if image.mode == "RGB":
        return blurred(image, sigma)
    return blurred(image.convert("RGBa"), sigma).convert("RGBA")


def _dropped(image: Image.Image, shadow: ShadowStyle, style: Style) -> Image.Image:
    if image.mode == "RGB":
        return image
    moved = Image.new("L", image.size, 0)
    moved.paste(image.getchannel("A"), (nearest(shadow.x), nearest(shadow.y)))
    below = Canvas(Image.new("RGBA", image.size))
    # Unlike in `box-shadow`, the blur is the standard deviation.
    sigma = min(shadow.blur, _MAX_SIGMA * style.density)
    below.tint(shadow.color or style.color, blurred(moved, sigma), 0, 0)
    below.image.alpha_composite(image)
    return below.image


def _curve(image: Image.Image, function: FilterFunction) -> Image.Image:
    def value(level: int) -> int:
        part = level / 255
        match function.name:
            case "brightness":
                part *= function.amount
            case "contrast":
                part = (part - 0.5) * function.amount + 0.5
            case _:
                part = function.amount * (1 - part) + (1 - function.amount) * part
        return min(max(int(part * 255 + 0.5), 0), 255)

    table = [value(level) for level in range(256)]
    return image.point(table * 3 + (list(range(256)) if image.mode == "RGBA" else []))


def _matrix(function: FilterFunction) -> _Matrix:
    amount = function.amount
    red, green, blue = _LUMINANCE
    match function.name:
        case "grayscale":
            amount = 1 - amount
        case "sepia":
            full = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
            return np.asarray(full * amount + np.eye(3) * (1 - amount), dtype=np.float32)
        case "hue-rotate":
            cosine, sine = math.cos(math.radians(amount)), math.sin(math.radians(amount))
            still = np.array([[0.213, 0.715, 0.072]] * 3)
            even = np.array([[0.787, -0.715, -0.072], [-0.213, 0.285, -0.072], [-0.213, -0.715, 0.928]])
            odd = np.array([[-0.213, -0.715, 0.928], [0.143, 0.140, -0.283], [-0.787, 0.715, 0.072]])
            return np.asarray(still + cosine * even + sine * odd, dtype=np.float32)
    grey = np.array([[red, green, blue]] * 3)
    return np.asarray(grey * (1 - amount) + np.eye(3) * amount, dtype=np.float32)


def _mixed(image: Image.Image, matrix: _Matrix) -> Image.Image:
    rows = [(*(float(value) for value in row), 0.0) for row in matrix]
    mixed = image.convert("RGB").convert("RGB", (*rows[0], *rows[1], *rows[2]))
    if image.mode == "RGBA":
        mixed.putalpha(image.getchannel("A"))
    return mixed


def clip_mask(shape: Shape, box: Rect, window: Rect, sources: Sources) -> Image.Image:
    """Return the mask of a basic shape within a window (CSS Shapes 1, section 3)."""
    width, height = float(box.width), float(box.height)
    if shape.name == "polygon":
        points = [(box.left + x.of(width), box.top + y.of(height)) for x, y in shape.points]
        return exact_polygon_mask(points, window, even_odd=shape.even_odd)
    if shape.name == "path":
        return _path(shape, box, window, sources)
    if shape.name == "inset":
        top, right, bottom, left = (
            0.0 if isinstance(side, str) else side.of(base)
            for side, base in zip(shape.lengths, (height, width, height, width), strict=True)
        )
        inner = Rect(
            nearest(box.left + left), nearest(box.top + top), nearest(box.right - right), nearest(box.bottom - bottom)
        )
        corners = SQUARE
        if shape.radii and not inner.empty:
            radii = [(max(0.0, radius.of(width)), max(0.0, radius.of(height))) for radius in shape.radii]
            corners = Corners(*radii).fitted(*inner.size)
        return rounded_mask(inner, corners, window)
    return _ellipse(shape, box, window)


def _path(shape: Shape, box: Rect, window: Rect, sources: Sources) -> Image.Image:
    """Return the mask of a path, rendered as SVG."""
    rule = "evenodd" if shape.even_odd else "nonzero"
    view = f"{window.left - box.left} {window.top - box.top} {window.width} {window.height}"
    size = f'width="{window.width}" height="{window.height}"'
    markup = f'<svg {size} viewBox="{view}"><path fill-rule="{rule}" d="{shape.commands}"/></svg>'
    drawing = sources.inline_svg(markup, BLACK)
    if drawing is None:
        return Image.new("L", window.size, 0)
    return drawing.image(window.width, window.height).getchannel("A")


def _ellipse(shape: Shape, box: Rect, window: Rect) -> Image.Image:
    width, height = float(box.width), float(box.height)
    x, y = shape.centre[0].of(width), shape.centre[1].of(height)
    if shape.name == "circle":
        base = math.hypot(width, height) / math.sqrt(2)
        across = down = _radius(shape.lengths[0], base, [abs(x), abs(width - x), abs(y), abs(height - y)])
    else:
        across = _radius(shape.lengths[0], width, [abs(x), abs(width - x)])
        down = _radius(shape.lengths[1], height, [abs(y), abs(height - y)])
    mask = Image.new("L", window.size, 0)
    if across <= 0 or down <= 0:
        return mask
    left, top = box.left + x - window.left, box.top + y - window.top
    columns = (np.arange(window.width) + 0.5 - left)[None, :] / across
    rows = (np.arange(window.height) + 0.5 - top)[:, None] / down
    distance = np.hypot(columns, rows)
    slope = np.hypot(columns / across, rows / down) / np.maximum(distance, 1e-9)
    coverage = np.clip((1 - distance) / np.maximum(slope, 1e-9) + 0.5, 0, 1)
    return Image.fromarray((coverage * 255 + 0.5).astype(np.uint8))


def _radius(value: AnyLength | str, base: float, sides: list[float]) -> float:
    if isinstance(value, str):
        return max(sides) if value == "farthest-side" else min(sides)
    return value.of(base)


def blended(below: Image.Image, above: Image.Image, mode: str) -> Image.Image:
    """Blend the colours of two `RGB` images (Compositing 1, section 9)."""
    match mode:
        case "multiply":
            return ImageChops.multiply(below, above)
        case "screen":
            return ImageChops.screen(below, above)
        case "darken":
            return ImageChops.darker(below, above)
        case "lighten":
            return ImageChops.lighter(below, above)
        case "difference":
            return ImageChops.difference(below, above)
        case "plus-lighter":
            return ImageChops.add(below, above)
        case "overlay":
            return ImageChops.overlay(below, above)
        case "hard-light":
            return ImageChops.overlay(above, below)
    backdrop, source = (np.asarray(image, dtype=np.float32) / np.float32(255) for image in (below, above))
    return Image.fromarray((np.clip(_blend(backdrop, source, mode), 0, 1) * 255 + 0.5).astype(np.uint8))


def _blend(below: NDArray[np.float32], above: NDArray[np.float32], mode: str) -> NDArray[np.float32]:
    match mode:
        case "exclusion":
            return below + above - 2 * below * above
        case "color-dodge":
            lit = np.minimum(1, below / np.maximum(1 - above, 1e-6))
            return np.where(below <= 0, np.float32(0), lit).astype(np.float32)
        case "color-burn":
            burnt = 1 - np.minimum(1, (1 - below) / np.maximum(above, 1e-6))
            return np.where(below >= 1, np.float32(1), burnt).astype(np.float32)
        case "soft-light":
            curve = np.where(below <= 0.25, ((16 * below - 12) * below + 4) * below, np.sqrt(below))
            dark = below - (1 - 2 * above) * below * (1 - below)
            return np.where(above <= 0.5, dark, below + (2 * above - 1) * (curve - below)).astype(np.float32)
    return above


_FINE_SIGMA: Final = 6.0
"""Maximum sigma for a blur at full size; softer blurs look the same when computed on a smaller image."""


@dataclass(frozen=True, slots=True)
class BlurredMask:
    """A blurred image of a part of the page, downscaled as far as its softness allows: one pixel covers `scale`."""

    small: Image.Image
    scale: int
    rect: Rect

    def part(self, window: Rect) -> Image.Image:
        """Return the part within a window of the page; everything outside the image is empty."""
        visible = window.within(self.rect)
        if visible.empty:
            return Image.new(self.small.mode, window.size)
        left, top = visible.left - self.rect.left, visible.top - self.rect.top
        box = (left, top, left + visible.width, top + visible.height)
        if self.scale == 1:
            cropped = self.small.crop(box)
        else:
            across, down, right, bottom = (edge / self.scale for edge in box)
            cropped = self.small.resize(visible.size, Image.Resampling.BICUBIC, (across, down, right, bottom))
        if visible == window:
            return cropped
        padded = Image.new(self.small.mode, window.size)
        padded.paste(cropped, (visible.left - window.left, visible.top - window.top))
        return padded


def soft(image: Image.Image, sigma: float, rect: Rect) -> BlurredMask:
    """Apply a Gaussian blur to a mask or a premultiplied `RGBa` image; `rect` is its position on the page."""
    if sigma <= 0 or rect.empty:
        return BlurredMask(image, 1, rect)
    scale = 1
    while sigma / scale > _FINE_SIGMA:
        scale *= 2
    small = image.reduce(scale) if scale > 1 else image
    return BlurredMask(small.filter(ImageFilter.GaussianBlur(sigma / scale)), scale, rect)


def blurred(image: Image.Image, sigma: float) -> Image.Image:
    """Return a mask or a premultiplied `RGBa` image with a Gaussian blur."""
    rect = Rect(0, 0, *image.size)
    return image if sigma <= 0 or rect.empty else soft(image, sigma, rect).part(rect)


MAX_BOX_BLUR: Final = 400.0


def paint_shadows(canvas: Canvas, style: Style, rect: Rect, corners: Corners) -> None:
    """Paint the outer shadows of a border box, the first one on top. The area under the box is left out."""
    for shadow in reversed(style.box_shadow):
        if not shadow.inset:
            _outer(canvas, style, rect, corners, shadow)


def paint_inset_shadows(canvas: Canvas, style: Style, rect: Rect, border: Edges, corners: Corners) -> None:
    """Paint the inset shadows of a border box inside its padding box."""
    inner = Rect(
        rect.left + nearest(border.left), rect.top + nearest(border.top),
        rect.right - nearest(border.right), rect.bottom - nearest(border.bottom),
    )  # fmt: skip
    for shadow in reversed(style.box_shadow):
        if shadow.inset:
            _inset(canvas, style, inner, corners.inside(border), shadow)


def _outer(canvas: Canvas, style: Style, rect: Rect, corners: Corners, shadow: ShadowStyle) -> None:
    color = shadow.color or style.color
    sigma = min(shadow.blur, MAX_BOX_BLUR * style.density) / 2
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
    # Skip the middle of the box, which hides its shadow.
    for part in window.around(rect.grown(-math.ceil(corners.largest))):
        under = rounded_mask(rect, corners, part)
        canvas.tint(color, ImageChops.multiply(mask.part(part), ImageChops.invert(under)), part.left, part.top)


def _inset(canvas: Canvas, style: Style, rect: Rect, corners: Corners, shadow: ShadowStyle) -> None:
    color = shadow.color or style.color
    sigma = min(shadow.blur, MAX_BOX_BLUR * style.density) / 2
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
    """Return the blurred mask of a rounded box, as far as it is visible in a window."""
    if sigma <= 0:
        return BlurredMask(rounded_mask(rect, corners, window), 1, window)
    reach = math.ceil(3 * sigma)
    # Only the area within reach of the window affects it.
    near = rect.grown(reach).within(window.grown(reach))
    return soft(rounded_mask(rect, corners, near), sigma, near)
