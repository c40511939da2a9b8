"""Symbols with other shapes, a gradient or a centred logo, as SVG; PNGs are rendered from it."""

from __future__ import annotations

import base64
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from PIL import Image, ImageOps
from pressroom.graphics.channels import in_8_bits
from pressroom.graphics.png import encode_png
from pressroom.sdk import InvalidInput

from pressroom_qr_code_generator.encode import Rows
from pressroom_qr_code_generator.params import EyeShape, ModuleShape, QrCodeParams
from pressroom_qr_code_generator.svg import Point, QrLayout, Rgba, loops, outline

MAX_EDGE: Final = 640
"""Maximum edge of a logo in pixels, enough for 30 % of the largest symbol. Larger logos are scaled down."""

MAX_PIXELS: Final = 16_000_000
_FORMATS: Final = ("PNG", "JPEG", "WEBP")
_DATA_URI: Final = re.compile(r"data:image/(?:png|jpe?g|webp);base64,([A-Za-z0-9+/\s]+={0,2})\s*", re.IGNORECASE)

_UNREADABLE: Final = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)

EYE: Final = 7
"""Modules per side of a finder pattern."""

_DOT_RADIUS: Final = 0.46
_CORNER: Final = 0.5
_EYE_RADII: Final = {"square": (0.0, 0.0, 0.0), "rounded": (2.2, 1.5, 0.9), "circle": (3.0, 2.0, 1.5)}
"""The radii of a finder pattern's outer edge, hole and centre.

Circles have a straight module in the middle of each side: zbar finds full circles (3.5, 2.5) less often.
"""


@dataclass(frozen=True, slots=True)
class Logo:
    """A logo as PNG, and its width in percent of the symbol."""

    png: bytes
    percent: int

    def clear(self, modules: int) -> range:
        """Return the range of rows, and of columns, without modules: the logo's and a narrow margin."""
        side = math.ceil(modules * self.percent / 100 + 0.5)
        side += (modules - side) % 2
        start = (modules - side) // 2
        return range(start, start + side)


def logo_of(uri: str, percent: int) -> Logo:
    """Decode the logo in a `data:` URI (RFC 2397). It is re-encoded, so that only its pixels are kept.

    Raises:
        InvalidInput: it is not a base64-encoded PNG, JPEG or WebP, or has too many pixels.
    """
    match = _DATA_URI.fullmatch(uri.strip())
    if match is None:
        raise InvalidInput("logo", "must be a data: URI of a PNG, JPEG or WebP, such as data:image/png;base64,iVBOR…")
    try:
        content = base64.b64decode(re.sub(r"\s", "", match[1]), validate=True)
        with Image.open(io.BytesIO(content), formats=_FORMATS) as opened:
            size = opened.size
            image = _small(opened) if size[0] * size[1] <= MAX_PIXELS else None
    except _UNREADABLE as error:
        raise InvalidInput("logo", "isn't a complete PNG, JPEG or WebP image; export it again") from error
    if image is None:
        dimensions = f"{size[0]} x {size[1]}"
        raise InvalidInput("logo", f"must have at most {MAX_PIXELS:,} pixels (got {dimensions}); make it smaller")
    written = io.BytesIO()
    image.save(written, "PNG")
    return Logo(written.getvalue(), percent)


def _small(opened: Image.Image) -> Image.Image:
    opened.draft("RGB", (MAX_EDGE, MAX_EDGE))
    image = in_8_bits(ImageOps.exif_transpose(opened)).convert("RGBA")
    image.thumbnail((MAX_EDGE, MAX_EDGE), Image.Resampling.LANCZOS)
    return image


def draw_styled(rows: Rows, layout: QrLayout, params: QrCodeParams, logo: Logo | None) -> bytes:
    """Return the image as an SVG document."""
    modules, size = len(rows), layout.size
    foreground, background = Rgba.parse(params.fgColor), Rgba.parse(params.bgColor)
    hole = logo.clear(modules) if logo else range(0)
    body = _shape_paths(_without(rows, hole), params.moduleShape)
    eyes = "".join(_eye(x, y, params.eyeShape) for x, y in _eye_corners(modules))
    ink, defs = _ink(params, foreground, modules)
    eye_ink = _solid(Rgba.parse(params.eyeColor)) if params.eyeColor else ink
    paper = f'<rect width="{size}" height="{size}" {_solid(background)}/>' if background.alpha else ""
    transform = f"translate({layout.origin:.7g} {layout.origin:.7g}) scale({layout.module:.7g})"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" role="img" aria-label="QR code">'
        f'{defs}{paper}<g transform="{transform}"><path {ink} d="{body}"/>'
        f'<path {eye_ink} fill-rule="evenodd" d="{eyes}"/>{_image(logo, modules)}</g></svg>\n'
    ).encode()


def rasterised(svg: bytes, size: int) -> Image.Image:
    """Render an SVG document of this module at `size` by `size` pixels, as `RGB` if it is opaque."""
    import resvg_py  # noqa: PLC0415 - plain symbols need no renderer

    png = resvg_py.svg_to_bytes(svg_string=svg.decode(), width=size, height=size, skip_system_fonts=True)
    with Image.open(io.BytesIO(bytes(png))) as opened:
        image = opened.convert("RGBA")
    return image.convert("RGB") if image.getchannel("A").getextrema() == (255, 255) else image


def png_of(image: Image.Image) -> bytes:
    """Return an image as a PNG file."""
    return encode_png(image)


def _eye_corners(modules: int) -> tuple[Point, ...]:
    far = modules - EYE
    return (0, 0), (far, 0), (0, far)


def _without(rows: Rows, hole: range) -> list[bytearray]:
    """Return a symbol's modules without its finder patterns and the area of the logo."""
    left = [bytearray(row) for row in rows]
    for x, y in _eye_corners(len(rows)):
        for row in left[y : y + EYE]:
            row[x : x + EYE] = bytes(EYE)
    for y in hole:
        left[y][hole.start : hole.stop] = bytes(len(hole))
    return left


def _shape_paths(rows: Rows, shape: ModuleShape) -> str:
    if shape == "square":
        return outline(rows)
    if shape == "rounded":
        return "".join(map(_rounded, loops(rows)))
    return "".join(
        _circle(x + 0.5, y + 0.5, _DOT_RADIUS) for y, row in enumerate(rows) for x, dark in enumerate(row) if dark
    )


def _rounded(corners: list[Point]) -> str:
    """Return an outline with rounded convex corners. Edges are at least one module long, which fits two arcs."""
    ring = [corners[-1], *corners, corners[0]]
    parts: list[str] = []
    for (before, corner), (_, after) in pairwise(pairwise(ring)):
        into, out = _direction(before, corner), _direction(corner, after)
        turn = into[0] * out[1] - into[1] * out[0]
        radius = _CORNER if turn > 0 else 0.0
        start = (corner[0] - into[0] * radius, corner[1] - into[1] * radius)
        end = (corner[0] + out[0] * radius, corner[1] + out[1] * radius)
        parts.append(f"{'L' if parts else 'M'}{start[0]:g} {start[1]:g}")
        if radius:
            parts.append(f"A{radius} {radius} 0 0 1 {end[0]:g} {end[1]:g}")
    return "".join(parts) + "z"


def _direction(start: Point, end: Point) -> Point:
    x, y = end[0] - start[0], end[1] - start[1]
    return (x > 0) - (x < 0), (y > 0) - (y < 0)


def _circle(x: float, y: float, radius: float) -> str:
    arc = f"a{radius} {radius} 0 1 0 "
    return f"M{x - radius:g} {y:g}{arc}{2 * radius:g} 0{arc}{-2 * radius:g} 0z"


def _eye(x: int, y: int, shape: EyeShape) -> str:
    outer, hole, centre = _EYE_RADII[shape]
    return _box(x, y, 7, outer) + _box(x + 1, y + 1, 5, hole) + _box(x + 2, y + 2, 3, centre)


def _box(x: int, y: int, side: int, radius: float) -> str:
    if not radius:
        return f"M{x} {y}h{side}v{side}h{-side}z"
    straight, arc = f"{side - 2 * radius:g}", f"a{radius:g} {radius:g} 0 0 1 "
    return (
        f"M{x + radius:g} {y}h{straight}{arc}{radius:g} {radius:g}v{straight}{arc}{-radius:g} {radius:g}"
        f"h-{straight}{arc}{-radius:g} {-radius:g}v-{straight}{arc}{radius:g} {-radius:g}z"
    )


def _ink(params: QrCodeParams, foreground: Rgba, modules: int) -> tuple[str, str]:
    """Return the fill attributes of the modules, and the definitions they refer to."""
    if params.gradientColor is None:
        return _solid(foreground), ""
    stops = "".join(_stops(foreground, Rgba.parse(params.gradientColor)))
    middle = modules / 2
    if params.gradientType == "radial":
        geometry = f'cx="{middle}" cy="{middle}" r="{middle * math.sqrt(2):.6g}"'
        name = "radialGradient"
    else:
        angle = math.radians(params.gradientAngle)
        across, down = math.sin(angle), -math.cos(angle)
        reach = middle * (abs(across) + abs(down))
        ends = (middle - across * reach, middle - down * reach, middle + across * reach, middle + down * reach)
        geometry = " ".join(f'{key}="{value:.6g}"' for key, value in zip(("x1", "y1", "x2", "y2"), ends, strict=True))
        name = "linearGradient"
    defs = f'<defs><{name} id="ink" gradientUnits="userSpaceOnUse" {geometry}>{stops}</{name}></defs>'
    return 'fill="url(#ink)"', defs


def _stops(first: Rgba, last: Rgba) -> Iterator[str]:
    for offset, color in ((0, first), (1, last)):
        opacity = "" if color.alpha == 255 else f' stop-opacity="{color.alpha / 255:.4g}"'
        yield f'<stop offset="{offset}" stop-color="{color.rgb}"{opacity}/>'


def _solid(color: Rgba) -> str:
    opacity = "" if color.alpha == 255 else f' fill-opacity="{color.alpha / 255:.4g}"'
    return f'fill="{color.rgb}"{opacity}'


def _image(logo: Logo | None, modules: int) -> str:
    if logo is None:
        return ""
    side = modules * logo.percent / 100
    start = (modules - side) / 2
    data = base64.b64encode(logo.png).decode()
    return (
        f'<image x="{start:.6g}" y="{start:.6g}" width="{side:.6g}" height="{side:.6g}" '
        f'href="data:image/png;base64,{data}"/>'
    )
