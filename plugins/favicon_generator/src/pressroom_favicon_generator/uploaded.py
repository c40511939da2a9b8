"""Images that callers send as `data:` URLs, read within bounds."""

from __future__ import annotations

import io
import warnings as python_warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from PIL import Image
from pressroom.graphics.data_url import data_of
from pressroom.graphics.svg import Svg, UnsafeSvg, safe_svg, with_namespaces
from pressroom.graphics.vectors import TooCostly, VectorBudget
from pressroom.sdk import InvalidInput

MAX_EDGE: Final = 2048
MIN_EDGE: Final = 16
_SHARP_EDGE: Final = 512
"""The largest icon of a bundle: smaller images are enlarged for it."""

_DRAWN_EDGE: Final = 1024
"""At how many pixels an SVG is drawn, once for all sizes."""

_FORMATS: Final = ("PNG", "JPEG", "WEBP")
_KINDS: Final = "SVG, PNG, JPEG or WebP"
_LARGEST_RATIO: Final = 8.0


@dataclass(frozen=True, slots=True)
class UploadedImage:
    """An image, `RGBA` and as large as it is worth. `svg` is its source without anything that runs or loads."""

    raster: Image.Image
    svg: Svg | None = None
    warnings: tuple[str, ...] = ()

    def fitted(self, edge: int) -> Image.Image:
        """Return the image in its ratio, its longer side `edge` pixels."""
        factor = edge / max(self.raster.size)
        size = max(1, round(self.raster.width * factor)), max(1, round(self.raster.height * factor))
        resampling = Image.Resampling.LANCZOS if factor < 1 else Image.Resampling.BICUBIC
        # Premultiplied, so that the colour of transparent pixels does not bleed into the edges.
        return self.raster.convert("RGBa").resize(size, resampling, reducing_gap=3.0).convert("RGBA")


@lru_cache(maxsize=4)
def read_image(url: str) -> UploadedImage:
    """Return the image of a `data:` URL. Its kind is told by the content.

    Raises:
        InvalidInput: it cannot be read, is too large or too small, takes too long to draw, or shows nothing.
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
                width, height = opened.size
                _check_size(width, height)
                raster = opened.convert("RGBA")
    except InvalidInput:
        raise
    # Decoders raise whatever a damaged file leads them to.
    except Exception as error:
        raise _refused(f"cannot be read; give an image as {_KINDS}") from error
    blurred = max(width, height) < _SHARP_EDGE
    said = (
        f"The image has {width} by {height} pixels: larger icons are blurred. {_SHARP_EDGE} pixels or an SVG are sharp."
    )
    return UploadedImage(raster, warnings=(said,) if blurred else ())


def _check_size(width: int, height: int) -> None:
    if max(width, height) > MAX_EDGE:
        raise _refused(f"has {width} by {height} pixels; at most {MAX_EDGE} each way are allowed")
    if min(width, height) < MIN_EDGE:
        raise _refused(f"has {width} by {height} pixels; at least {MIN_EDGE} each way are needed")
    _check_ratio(width / height)


def _check_ratio(ratio: float) -> None:
    if not 1 / _LARGEST_RATIO <= ratio <= _LARGEST_RATIO:
        raise _refused(f"is more than {_LARGEST_RATIO:.0f} times as long as wide; icons are squares")


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
    said = [f"Removed from the SVG: {', '.join(svg.removed)}."] if svg.removed else []
    if "<text" in svg.text:
        said.append("Text in the SVG is not drawn in the PNGs: convert it to paths.")
    return UploadedImage(raster, svg, tuple(said))


def _refused(reason: str) -> InvalidInput:
    return InvalidInput("image", reason)
