"""Draws the icon at one size, and `favicon.svg`: the uploaded SVG in a square, with its dark mode colour.

Also decodes images from `data:` URLs, within limits.
"""

from __future__ import annotations

import io
import math
import warnings as python_warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from PIL import Image, ImageOps
from pressroom.graphics.channels import in_8_bits
from pressroom.graphics.color import parse_color
from pressroom.graphics.data_url import data_of
from pressroom.graphics.emoji import emoji_image, is_emoji
from pressroom.graphics.shapes import box_mask
from pressroom.graphics.svg import Svg, UnsafeSvg, safe_svg, with_namespaces
from pressroom.graphics.text import FontLibrary, ShapedText, TextStyle, default_library, draw_text, ink_box, shape
from pressroom.graphics.vectors import TooCostly, VectorBudget
from pressroom.sdk import InvalidInput

from pressroom_favicon_generator.params import FaviconParams

_LETTER_SIZE: Final = 0.74
"""Font size of a letter that needs no shrinking, relative to the icon."""

_INK_WIDTH, _INK_HEIGHT = 0.8, 0.66
"""Maximum width and height of the ink of letters, relative to the icon."""

_CIRCLE: Final = 0.84
"""Maximum diagonal of the ink in a round icon, relative to its diameter."""

_SAFE: Final = 0.79
"""The same for a maskable icon, whose inner 80 % is always visible (W3C Web Application Manifest)."""

_IMAGE_SQUARE: Final = 0.84
"""Size of an uploaded image without background in a square icon, relative to the icon; systems round such icons."""

_EMOJI: Final = 0.76
_EMOJI_ROUND: Final = 0.66
_EMOJI_ALONE: Final = 0.94
_EMOJI_MASKABLE: Final = 0.56
"""Size of an emoji relative to the icon: on a background, on a round one, without one, and in a maskable icon."""

_PROBE: Final = 128
"""Size in pixels at which the ink of an emoji is measured."""

_ROUND: Final = 30
"""Radius in percent from which the content has to fit into a circle."""

_SMALL, _FINER = 24, 8
"""Icons up to this size in pixels are drawn larger by this factor and reduced, for finer antialiasing."""

_FONTS: Final = {"Inter": "Inter", "serif": "serif", "mono": "monospace"}

_EDGE: Final = 512
_CLASS, _DARK, _ROUND_SHARE = "pressroom-icon", "pressroom-dark", "pressroom-round"


@dataclass(frozen=True, slots=True)
class Icon:
    """An icon at one size. `ink` is the bounding box of the content on the background, in pixels."""

    image: Image.Image
    ink: tuple[float, float, float, float]


def draw_icon(params: FaviconParams, size: int, *, square: bool = False, maskable: bool = False) -> Icon:
    """Return the icon as an `RGBA` image of `size` by `size` pixels.

    `square` keeps the corners square and fills transparency with white, for systems that round icons themselves.
    `maskable` also keeps the content in the safe zone, so that any shape can be cut out.

    Raises:
        InvalidInput: no font has the content, or the image cannot be drawn.
    """
    if params.image is not None:
        return _image_icon(params, read_image(params.image), size, square=square, maskable=maskable)
    if size <= _SMALL:
        large = draw_icon(params, size * _FINER, square=square, maskable=maskable)
        left, top, right, bottom = (edge / _FINER for edge in large.ink)
        return Icon(large.image.reduce(_FINER), (left, top, right, bottom))
    background = parse_color(params.bgColor)
    canvas = Image.new("RGBA", (size, size), background.rgba8)
    if is_emoji(params.content) and params.source != "text":
        part = (
            _EMOJI_MASKABLE
            if maskable
            else _EMOJI_ALONE
            if not background.alpha
            else _EMOJI_ROUND
            if params.radius >= _ROUND
            else _EMOJI
        )
        ink = _place_emoji(canvas, params.content, part)
    else:
        ink = _place_text(canvas, params, circle=_SAFE if maskable else _CIRCLE if params.radius >= _ROUND else None)
    if square or maskable:
        return Icon(_on_white(canvas), ink)
    return Icon(_rounded(canvas, params.radius), ink)


def _image_icon(params: FaviconParams, image: UploadedImage, size: int, *, square: bool, maskable: bool) -> Icon:
    """Return the icon for an uploaded image."""
    background = parse_color(params.imageBackground)
    part = 1 - params.imagePadding / 50
    if maskable:
        part = min(part, _SAFE * max(image.raster.size) / math.hypot(*image.raster.size))
    elif square and not background.alpha:
        # Systems that round icons add no margin to images without one.
        part = min(part, _IMAGE_SQUARE)
    scaled = image.fitted(max(1, round(size * part)))
    left, top = round((size - scaled.width) / 2), round((size - scaled.height) / 2)
    canvas = Image.new("RGBA", (size, size), background.rgba8)
    canvas.alpha_composite(scaled, (left, top))
    if square or maskable:
        canvas = _on_white(canvas)
    elif background.alpha:
        canvas = _rounded(canvas, params.radius)
    return Icon(canvas, (left, top, left + scaled.width, top + scaled.height))


def _on_white(image: Image.Image) -> Image.Image:
    ground = Image.new("RGBA", image.size, (255, 255, 255, 255))
    ground.alpha_composite(image)
    return ground


def _rounded(image: Image.Image, percent: float) -> Image.Image:
    size = image.width
    radius = percent / 100 * size
    if radius:
        mask = box_mask(size, size, (radius, radius, radius, radius))
        alpha = Image.new("L", image.size, 0)
        alpha.paste(image.getchannel("A"), (0, 0), mask)
        image.putalpha(alpha)
    return image


def _place_text(canvas: Image.Image, params: FaviconParams, circle: float | None) -> tuple[float, float, float, float]:
    size = canvas.width
    library = default_library()
    text = _fitted(params, size, circle, library)
    if text.missing:
        raise InvalidInput("content", f"no font has {text.missing[0]!r}; use other letters")
    left, top, right, bottom = ink_box(text)
    # Centred by ink, because side bearings differ between fonts.
    x, baseline = (size - left - right) / 2, (size - top - bottom) / 2
    draw_text(canvas, text, x, baseline, parse_color(params.fgColor))
    return x + left, baseline + top, x + right, baseline + bottom


def _fitted(params: FaviconParams, size: int, circle: float | None, library: FontLibrary) -> ShapedText:
    style = TextStyle(size * _LETTER_SIZE, (_FONTS[params.fontFamily],), params.fontWeight)
    text = shape(params.content, style, library)
    left, top, right, bottom = ink_box(text)
    width, height = right - left, bottom - top
    if width <= 0 or height <= 0:
        raise InvalidInput("content", "has nothing that can be seen; use other letters")
    factor = min(1.0, size * _INK_WIDTH / width, size * _INK_HEIGHT / height)
    if circle is not None:
        factor = min(factor, size * circle / math.hypot(width, height))
    return shape(params.content, TextStyle(style.size * factor, style.families, style.weight), library)


def _place_emoji(canvas: Image.Image, emoji: str, part: float) -> tuple[float, float, float, float]:
    size = canvas.width
    probe = _drawn_emoji(emoji, _PROBE)
    box = probe.getchannel("A").getbbox() or (0, 0, _PROBE, _PROBE)
    # Flags are wide and hearts low: scale by the larger side, and centre the ink.
    edge = max(1, round(size * part * _PROBE / max(box[2] - box[0], box[3] - box[1])))
    image = _drawn_emoji(emoji, edge)
    ink = image.getchannel("A").getbbox() or (0, 0, edge, edge)
    image = image.crop(ink)
    left, top = round((size - image.width) / 2), round((size - image.height) / 2)
    canvas.alpha_composite(image, (left, top))
    return left, top, left + image.width, top + image.height


def _drawn_emoji(emoji: str, edge: int) -> Image.Image:
    image = emoji_image(emoji, edge)
    if image is None:
        raise InvalidInput("content", "there is no image of this emoji; use another")
    return image


def vector_icon(svg: Svg, params: FaviconParams) -> bytes:
    """Return `favicon.svg`. `svg` must be sanitised, with a known ratio."""
    ratio = svg.ratio or 1.0
    inner_edge = _EDGE * (1 - params.imagePadding / 50)
    width, height = (inner_edge, inner_edge / ratio) if ratio > 1 else (inner_edge * ratio, inner_edge)
    position = f'x="{_number((_EDGE - width) / 2)}" y="{_number((_EDGE - height) / 2)}"'
    inner = f'<svg {position} width="{_number(width)}" height="{_number(height)}"{svg.text.removeprefix("<svg")}'
    background = parse_color(params.imageBackground)
    parts: list[str] = []
    clip = ""
    if params.darkColor:
        color = parse_color(params.darkColor)
        red, green, blue, _ = color.rgba8
        flood = f'<feFlood flood-color="#{red:02x}{green:02x}{blue:02x}" flood-opacity="{_number(color.alpha)}"/>'
        parts += [
            f"<style>@media (prefers-color-scheme: dark) {{ .{_CLASS} {{ filter: url(#{_DARK}) }} }}</style>",
            f'<filter id="{_DARK}" x="0" y="0" width="1" height="1" color-interpolation-filters="sRGB">',
            # The drawing keeps its alpha and takes one colour, however its colours are specified.
            f'{flood}<feComposite operator="in" in2="SourceAlpha"/></filter>',
        ]
    if background.alpha:
        red, green, blue, _ = background.rgba8
        radius = _number(params.radius / 100 * _EDGE)
        shape = f'<rect width="{_EDGE}" height="{_EDGE}" rx="{radius}"'
        opacity = "" if background.opaque else f' fill-opacity="{_number(background.alpha)}"'
        parts += [
            f'<clipPath id="{_ROUND_SHARE}">{shape}/></clipPath>',
            f'{shape} fill="#{red:02x}{green:02x}{blue:02x}"{opacity}/>',
        ]
        clip = f' clip-path="url(#{_ROUND_SHARE})"'
    drawing = f'<g class="{_CLASS}">{inner}</g>'
    content = f"<g{clip}>{drawing}</g>" if clip else drawing
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_EDGE} {_EDGE}">'
    return f"{opening}{''.join(parts)}{content}</svg>\n".encode()


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


MAX_EDGE: Final = 2048
MIN_EDGE: Final = 16
_SHARP_EDGE: Final = 512
"""The largest icon of a bundle: smaller images are enlarged to it."""

_DRAWN_EDGE: Final = 1024
"""Size in pixels at which an SVG is drawn once, for all icons."""

_FORMATS: Final = ("PNG", "JPEG", "WEBP")
_KINDS: Final = "SVG, PNG, JPEG or WebP"
_MAX_RATIO: Final = 8.0


@dataclass(frozen=True, slots=True)
class UploadedImage:
    """An uploaded image as `RGBA` at useful resolution. `svg` is its sanitised source, without active content."""

    raster: Image.Image
    svg: Svg | None = None
    warnings: tuple[str, ...] = ()

    def fitted(self, edge: int) -> Image.Image:
        """Return the image scaled so that its longer side is `edge` pixels."""
        factor = edge / max(self.raster.size)
        size = max(1, round(self.raster.width * factor)), max(1, round(self.raster.height * factor))
        resampling = Image.Resampling.LANCZOS if factor < 1 else Image.Resampling.BICUBIC
        # Premultiplied alpha, so that the colours of transparent pixels do not bleed into the edges.
        return self.raster.convert("RGBa").resize(size, resampling, reducing_gap=3.0).convert("RGBA")


@lru_cache(maxsize=4)
def read_image(url: str) -> UploadedImage:
    """Decode the image in a `data:` URL. The format is detected from the content.

    Raises:
        InvalidInput: the image is damaged, too large, too small, too slow to draw, or empty.
    """
    content = data_of(url)
    if not content:
        raise _refused("its data is damaged; encode the file as Base64, without line breaks")
    start = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    image = _vector(content) if start.startswith(b"<") else _raster(content)
    alpha = image.raster.getchannel("A")
    if alpha.getbbox() is None:
        hint = " (text is not drawn: convert it to paths)" if image.svg and "<text" in image.svg.text else ""
        raise _refused(f"shows nothing{hint}")
    return image


def _raster(content: bytes) -> UploadedImage:
    try:
        with python_warnings.catch_warnings():
            python_warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=_FORMATS) as opened:
                _check_size(*opened.size)
                raster = in_8_bits(ImageOps.exif_transpose(opened)).convert("RGBA")
    except InvalidInput:
        raise
    # Decoders raise arbitrary exceptions for damaged files.
    except Exception as error:
        raise _refused(f"cannot be read; give an image as {_KINDS}") from error
    width, height = raster.size
    blurred = max(width, height) < _SHARP_EDGE
    warning = (
        f"The image has {width} by {height} pixels: larger icons are blurred. {_SHARP_EDGE} pixels or an SVG are sharp."
    )
    return UploadedImage(raster, warnings=(warning,) if blurred else ())


def _check_size(width: int, height: int) -> None:
    if max(width, height) > MAX_EDGE:
        raise _refused(f"has {width} by {height} pixels; at most {MAX_EDGE} each way are allowed")
    if min(width, height) < MIN_EDGE:
        raise _refused(f"has {width} by {height} pixels; at least {MIN_EDGE} each way are needed")
    _check_ratio(width / height)


def _check_ratio(ratio: float) -> None:
    if not 1 / _MAX_RATIO <= ratio <= _MAX_RATIO:
        raise _refused(f"is more than {_MAX_RATIO:.0f} times as long as wide; icons are squares")


def _vector(content: bytes) -> UploadedImage:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused("is not UTF-8; save the SVG as UTF-8") from error
    try:
        svg = safe_svg(with_namespaces(text))
    except UnsafeSvg as error:
        raise _refused(f"is refused: {error}") from error
    ratio = svg.ratio
    if ratio is None:
        raise _refused("has neither a viewBox nor a size; give the <svg> a viewBox")
    _check_ratio(ratio)
    size = (_DRAWN_EDGE, max(1, round(_DRAWN_EDGE / ratio))) if ratio > 1 else (round(_DRAWN_EDGE * ratio), _DRAWN_EDGE)
    try:
        raster = VectorBudget().draw(svg, *size)
    except TooCostly as error:
        raise _refused("takes too long to draw; simplify the SVG, or give a PNG") from error
    except ValueError as error:
        raise _refused("cannot be drawn; check that the SVG opens in a browser, or give a PNG") from error
    warnings = [f"Removed from the SVG: {', '.join(svg.removed)}."] if svg.removed else []
    if "<text" in svg.text:
        warnings.append("Text in the SVG is not drawn in the PNGs: convert it to paths.")
    return UploadedImage(raster, svg, tuple(warnings))


def _refused(reason: str) -> InvalidInput:
    return InvalidInput("image", reason)
