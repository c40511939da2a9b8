"""Images from `data:` URLs, fetched content and SVG, decoded within limits."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Final, Protocol

from PIL import Image, ImageOps
from pressroom.graphics.channels import in_8_bits
from pressroom.graphics.color import Color
from pressroom.graphics.data_url import data_of
from pressroom.graphics.svg import Svg, UnsafeSvg, safe_svg, with_namespaces
from pressroom.graphics.vectors import TooCostly, VectorBudget

from pressroom_image_generator.engine.notes import Notes, quoted

MAX_PIXELS: Final = 25_000_000
MAX_EDGE: Final = 4096
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "AVIF")
_NEUTRAL: Final = (128, 128, 128, 64)

ImageSource = bytes | None
"""The bytes of a fetched image, or `None` if the fetch failed."""


class Source(Protocol):
    """An image that can be drawn at any size. `ratio` is width to height; sizes can be unknown."""

    width: float | None
    height: float | None
    ratio: float | None

    def image(self, width: int, height: int) -> Image.Image:
        """Return the image as `RGBA` or `RGB` at this size in pixels."""
        ...


class _Raster:
    def __init__(self, image: Image.Image, scale: float) -> None:
        self._image = image
        self.width: float | None = image.width * scale
        self.height: float | None = image.height * scale
        self.ratio: float | None = image.width / image.height

    def image(self, width: int, height: int) -> Image.Image:
        """Resize the image, with premultiplied alpha if it has an alpha channel."""
        image = self._image
        if image.size == (width, height):
            return image
        smaller = width < image.width or height < image.height
        resampling = Image.Resampling.LANCZOS if smaller else Image.Resampling.BICUBIC
        if image.mode == "RGB":
            return image.resize((width, height), resampling, reducing_gap=3.0)
        return image.convert("RGBa").resize((width, height), resampling, reducing_gap=3.0).convert("RGBA")


class _Vector:
    def __init__(self, svg: Svg, label: str, budget: VectorBudget, notes: Notes, density: int) -> None:
        self._svg, self._what, self._budget, self._notes = svg, label, budget, notes
        self.width = svg.width and svg.width * density
        self.height = svg.height and svg.height * density
        self.ratio = svg.ratio

    def image(self, width: int, height: int) -> Image.Image:
        """Render the SVG at this size. If it takes too long, the image is grey; if invalid, transparent."""
        try:
            return self._budget.draw(self._svg, width, height)
        except TooCostly:
            self._notes.warn(f"{self._what} takes too long to draw; simplify it, or save it as a PNG")
            return Image.new("RGBA", (width, height), _NEUTRAL)
        except ValueError:
            return Image.new("RGBA", (width, height))


def not_loaded(url: str) -> str:
    """Return the warning about an image whose fetch failed."""
    return f"the image {quoted(url)} could not be loaded"


class Sources:
    """The images of one render, each decoded once. Sizes are in device pixels; 1px has `density` of them."""

    def __init__(self, fetched: Mapping[str, ImageSource], notes: Notes, density: int = 1) -> None:
        self._fetched = fetched
        self._notes = notes
        self._density = density
        self._decoded: dict[str, Source | None] = {}
        self._budget = VectorBudget()

    def named(self, url: str) -> Source | None:
        """Return the image at a URL, or warn and return `None` if it is unavailable."""
        if not url:
            self._notes.warn("an <img> has no src")
            return None
        if url not in self._decoded:
            self._decoded[url] = self._decode(url)
        return self._decoded[url]

    def inline_svg(self, markup: str, color: Color) -> Source | None:
        """Return an `<svg>` element as an image, with `currentColor` set to the text colour."""
        red, green, blue, _ = color.rgba8
        paint = f"#{red:02x}{green:02x}{blue:02x}"
        return self._svg(re.sub("currentcolor", paint, with_namespaces(markup), flags=re.IGNORECASE), "an <svg>")

    def _decode(self, url: str) -> Source | None:
        label = f"the image {quoted(url)}"
        if not url.startswith("data:") and not url.lower().startswith("data:"):
            content = self._fetched.get(url)
            if content is None:
                self._notes.warn(not_loaded(url))
                return None
        else:
            data = data_of(url)
            if data is None:
                self._notes.warn(f"{label} cannot be read: its data is damaged")
                return None
            content = data
        return self._image(content, label)

    def _image(self, content: bytes, label: str) -> Source | None:
        start = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
        if start.startswith(b"<"):
            return self._svg(content.decode("utf-8", "replace").lstrip("\ufeff"), label)
        try:
            with Image.open(io.BytesIO(content), formats=_FORMATS) as opened:
                width, height = opened.size
                if width * height > MAX_PIXELS:
                    self._notes.warn(f"{label} has {width} by {height} pixels, more than {MAX_PIXELS // 10**6} million")
                    return None
                # A JPEG can be decoded at reduced size, which is enough for any canvas.
                opened.draft(None, (MAX_EDGE // 2, MAX_EDGE // 2))
                scale = self._density * width / opened.width
                turned = in_8_bits(ImageOps.exif_transpose(opened))
                opaque = turned.mode in ("RGB", "L", "CMYK", "YCbCr", "1") and "transparency" not in turned.info
                return _Raster(turned.convert("RGB" if opaque else "RGBA"), scale)
        # Decoders raise arbitrary exceptions for damaged files.
        except Exception:  # noqa: BLE001
            self._notes.warn(f"{label} cannot be read; png, jpeg, gif, webp, avif and svg can")
            return None

    def _svg(self, text: str, label: str) -> Source | None:
        try:
            svg = safe_svg(text)
        except UnsafeSvg as error:
            self._notes.warn(f"{label} is not drawn: {error}")
            return None
        if svg.removed:
            self._notes.warn(f"{label} is drawn without {', '.join(svg.removed)}")
        if "<text" in svg.text:
            self._notes.warn(f"{label} is drawn without its text; convert the text to paths, or write it as HTML")
        return _Vector(svg, label, self._budget, self._notes, self._density)
