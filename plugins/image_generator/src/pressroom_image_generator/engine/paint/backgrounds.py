"""Painting backgrounds, colour and image layers (CSS Backgrounds 3), and images in their boxes."""

from __future__ import annotations

import math
from itertools import product
from typing import Final

from PIL import Image
from pressroom.graphics.color import Color
from pressroom.graphics.painting import paint_part
from pressroom.graphics.text import FontLibrary, shape
from pressroom.graphics.text.drawing import draw_text

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.css_images import BackgroundSize, CssImage, UrlImage
from pressroom_image_generator.engine.layout.flow import natural_size
from pressroom_image_generator.engine.layout.inline_text import text_style
from pressroom_image_generator.engine.paint.canvas import GRADIENT, LAYER, Canvas
from pressroom_image_generator.engine.paint.rectangles import Corners, Rect, nearest, rounded_mask
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.sources import Sources
from pressroom_image_generator.engine.values import NO_EDGES, Edges

MAX_TILE: Final = 4096
"""Maximum edge of a tile. Larger ones are drawn directly, and only where visible."""

MAX_TILES: Final = 250_000


def paint_background(
    canvas: Canvas, style: Style, rect: Rect, border: Edges, padding: Edges, corners: Corners, sources: Sources,
    text: Image.Image | None = None,
) -> None:  # fmt: skip
    """Paint the background of a border box. `text` is the mask of its text, for `background-clip: text`."""
    layers = style.background_image
    clips = style.background_clip
    last = _cycled(clips, len(layers) - 1)
    if style.background_color.alpha > 0:
        if last == "text":
            area, mask = _clip(canvas, rect, border, padding, corners, last, text)
            if mask is not None:
                canvas.tint(style.background_color, mask, area.left, area.top)
        else:
            edges = _edges(border, padding, last)
            canvas.fill_box(_box(rect, edges), corners.inside(edges), style.background_color)
    for index in reversed(range(len(layers))):
        layer = layers[index]
        if isinstance(layer, str):
            continue
        area, mask = _clip(canvas, rect, border, padding, corners, _cycled(clips, index), text)
        if not area.empty:
            origin = _box(rect, _edges(border, padding, _cycled(style.background_origin, index)))
            _paint_layer(canvas, style, index, layer, origin, area, mask, sources)


def _cycled(values: tuple[str, ...], index: int) -> str:
    return values[index % len(values)]


def _edges(border: Edges, padding: Edges, name: str) -> Edges:
    return NO_EDGES if name == "border-box" else border if name == "padding-box" else border.plus(padding)


def _box(rect: Rect, edges: Edges) -> Rect:
    return Rect(
        rect.left + nearest(edges.left), rect.top + nearest(edges.top),
        rect.right - nearest(edges.right), rect.bottom - nearest(edges.bottom),
    )  # fmt: skip


def _clip(
    canvas: Canvas, rect: Rect, border: Edges, padding: Edges, corners: Corners, name: str, text: Image.Image | None
) -> tuple[Rect, Image.Image | None]:
    """Return the area of the page that a layer covers, and its mask unless it is a plain rectangle."""
    if name == "text":
        area = rect.within(canvas.rect)
        if text is None or area.empty:
            return Rect(0, 0, 0, 0), None
        left, top = area.left - canvas.rect.left, area.top - canvas.rect.top
        return area, text.crop((left, top, left + area.width, top + area.height))
    edges = _edges(border, padding, name)
    box = _box(rect, edges)
    area = box.within(canvas.rect)
    if corners.square or area.empty:
        return area, None
    return area, rounded_mask(box, corners.inside(edges), area)


def _paint_layer(
    canvas: Canvas, style: Style, index: int, layer: CssImage, origin: Rect, area: Rect, mask: Image.Image | None,
    sources: Sources,
) -> None:  # fmt: skip
    size = _tile_size(layer, style.background_size[index % len(style.background_size)], origin, sources)
    if size is None:
        return
    repeats = style.background_repeat[index % len(style.background_repeat)]
    width, height = (
        total / max(1, round(total / length)) if repeat == "round" and length else length
        for length, total, repeat in zip(size, origin.size, repeats, strict=True)
    )
    if width < 0.5 or height < 0.5:
        return
    at_x, at_y = style.background_position[index % len(style.background_position)]
    across, down = (
        (area.left - origin.left, area.right - origin.left),
        (area.top - origin.top, area.bottom - origin.top),
    )
    x = _starts(at_x.of(origin.width - width), width, origin.width, across, repeats[0])
    y = _starts(at_y.of(origin.height - height), height, origin.height, down, repeats[1])
    if len(x) * len(y) > MAX_TILES:
        return
    wide, high = max(1, nearest(width)), max(1, nearest(height))
    lefts, tops = [origin.left + nearest(at) for at in x], [origin.top + nearest(at) for at in y]
    if len(x) == len(y) == 1 or max(wide, high) > MAX_TILE:
        for left, top in product(lefts, tops):
            box = Rect(left, top, left + wide, top + high)
            visible = box.within(area)
            part = None if visible.empty else _visible_part(canvas, layer, box, visible, sources)
            if part is not None:
                canvas.draw(part, visible.left, visible.top, _cut(mask, area, visible))
        return
    tile = _visible_part(canvas, layer, (full := Rect(0, 0, wide, high)), full, sources)
    if tile is None:
        return
    row = Image.new("RGBA", (area.width, tile.height))
    for left in lefts:
        row.paste(tile, (left - area.left, 0))
    tiled = Image.new("RGBA", area.size)
    for top in tops:
        tiled.paste(row, (0, top - area.top))
    canvas.draw(tiled, area.left, area.top, mask)


def _visible_part(canvas: Canvas, layer: CssImage, box: Rect, visible: Rect, sources: Sources) -> Image.Image | None:
    """Return the visible part of a tile, where the whole tile fills a box."""
    edges = (visible.left - box.left, visible.top - box.top, visible.right - box.left, visible.bottom - box.top)
    if not isinstance(layer, UrlImage):
        canvas.budget.spend(visible.size, GRADIENT)
        return paint_part(layer, box.width, box.height, edges)
    source = sources.named(layer.address)
    if source is None:
        return None
    image = source.image(min(box.width, MAX_EDGE), min(box.height, MAX_EDGE))
    if image.size == box.size:
        return image.crop(edges)
    across, down = image.width / box.width, image.height / box.height
    part = (edges[0] * across, edges[1] * down, edges[2] * across, edges[3] * down)
    if image.mode == "RGB":
        return image.resize(visible.size, Image.Resampling.BICUBIC, part)
    return image.convert("RGBa").resize(visible.size, Image.Resampling.BICUBIC, part).convert("RGBA")


def _cut(mask: Image.Image | None, area: Rect, visible: Rect) -> Image.Image | None:
    if mask is None or area == visible:
        return mask
    return mask.crop(
        (visible.left - area.left, visible.top - area.top, visible.right - area.left, visible.bottom - area.top)
    )


def _starts(first: float, size: float, total: float, visible: tuple[float, float], repeat: str) -> list[float]:
    """Return the start of each tile needed to cover the visible range."""
    start, end = visible
    if repeat == "no-repeat":
        return [first]
    step = size
    if repeat == "space":
        count = math.floor(total / size)
        if count < 2:
            return [first]
        step = size + (total - count * size) / (count - 1)
        first = 0.0
    elif repeat == "round":
        first = first % size
    count = min(int((end - start) / step) + 3, 5000)
    begin = first + math.floor((start - first) / step) * step
    return [begin + index * step for index in range(count) if begin + index * step < end]


def _natural(layer: CssImage, sources: Sources) -> tuple[float | None, float | None, float | None]:
    if not isinstance(layer, UrlImage):
        return None, None, None
    source = sources.named(layer.address)
    return (source.width, source.height, source.ratio) if source is not None else (None, None, None)


def _tile_size(layer: CssImage, size: BackgroundSize, origin: Rect, sources: Sources) -> tuple[float, float] | None:
    """Return the size of one tile (section 2.9), or `None` for a missing image."""
    if isinstance(layer, UrlImage) and sources.named(layer.address) is None:
        return None
    origin_size = (float(origin.width), float(origin.height))
    width, height, ratio = _natural(layer, sources)
    if isinstance(size, str):
        if not ratio:
            return origin_size
        wider = origin_size[0] > origin_size[1] * ratio
        by_width = wider if size == "cover" else not wider
        return (origin_size[0], origin_size[0] / ratio) if by_width else (origin_size[1] * ratio, origin_size[1])
    sizes = [
        None if isinstance(value, str) else max(0.0, value.of(base))
        for value, base in zip(size, origin_size, strict=True)
    ]
    across, down = sizes
    if across is None and down is None:
        if width and height:
            return width, height
        return _contained(origin_size, ratio) if ratio else origin_size
    if across is None:
        return ((down or 0.0) * ratio if ratio else width or origin_size[0]), down or 0.0
    if down is None:
        return across, (across / ratio if ratio else height or origin_size[1])
    return across, down


def _contained(available: tuple[float, float], ratio: float) -> tuple[float, float]:
    return (
        (available[1] * ratio, available[1])
        if available[0] > available[1] * ratio
        else (available[0], available[0] / ratio)
    )


_PLACEHOLDER = Color(0.5, 0.5, 0.5, 0.25)
MAX_EDGE: Final = 6000
"""Maximum pixels per direction at which an image is rendered; larger ones are scaled up."""


def paint_image_box(canvas: Canvas, box: Box, rect: Rect, frame: Edges, corners: Corners, library: FontLibrary) -> None:
    """Paint the image of a box into its content box."""
    inner = Rect(
        rect.left + nearest(frame.left), rect.top + nearest(frame.top),
        rect.right - nearest(frame.right), rect.bottom - nearest(frame.bottom),
    )  # fmt: skip
    window = inner.within(canvas.rect)
    if window.empty:
        return
    mask = None if corners.square else rounded_mask(inner, corners.inside(frame), window)
    if box.source is None:
        _missing(canvas, box, inner, window, mask, library)
        return
    x, y, width, height = _fitted(box, inner)
    left, top = inner.left + nearest(x), inner.top + nearest(y)
    right, bottom = inner.left + nearest(x + width), inner.top + nearest(y + height)
    area = Rect(left, top, right, bottom)
    visible = area.within(window)
    if visible.empty:
        return
    # An image far larger than its visible part is only scaled to a bounded size.
    canvas.budget.spend((min(area.width, MAX_EDGE), min(area.height, MAX_EDGE)), LAYER)
    scaled_image = box.source.image(min(area.width, MAX_EDGE), min(area.height, MAX_EDGE))
    part = (
        scaled_image
        if visible == area
        else scaled_image.crop((visible.left - left, visible.top - top, visible.right - left, visible.bottom - top))
    )
    if mask is not None and visible != window:
        mask = mask.crop(
            (
                visible.left - window.left,
                visible.top - window.top,
                visible.right - window.left,
                visible.bottom - window.top,
            )
        )
    canvas.draw(part, visible.left, visible.top, mask)


def _fitted(box: Box, inner: Rect) -> tuple[float, float, float, float]:
    """Return the position and size of an image in its content box (CSS Images 3, section 5.5)."""
    width, height = float(inner.width), float(inner.height)
    natural_width, natural_height = natural_size(box)
    fit = box.style.object_fit
    if natural_width <= 0 or natural_height <= 0 or fit == "fill":
        return 0.0, 0.0, width, height
    contain = min(width / natural_width, height / natural_height)
    scale = {
        "contain": contain,
        "cover": max(width / natural_width, height / natural_height),
        "none": 1.0,
        "scale-down": min(1.0, contain),
    }[fit]
    scaled_width, scaled_height = natural_width * scale, natural_height * scale
    at_x, at_y = box.style.object_position
    return at_x.of(width - scaled_width), at_y.of(height - scaled_height), scaled_width, scaled_height


def _missing(
    canvas: Canvas, box: Box, inner: Rect, window: Rect, mask: Image.Image | None, library: FontLibrary
) -> None:
    """Paint a neutral area, with the alternative text if it fits on one line."""
    canvas.tint(_PLACEHOLDER, mask if mask is not None else Image.new("L", window.size, 255), window.left, window.top)
    text = " ".join(box.alternative.split())
    if not text:
        return
    shaped = shape(text, text_style(box.style), library)
    if shaped.width <= inner.width - 8 and shaped.ascent + shaped.descent <= inner.height:
        layer = canvas.layer(window)
        x = inner.left + (inner.width - shaped.width) / 2 - window.left
        y = inner.top + (inner.height + shaped.ascent - shaped.descent) / 2 - window.top
        draw_text(layer.image, shaped, x, nearest(y), box.style.color)
        canvas.draw(layer.image, window.left, window.top)
