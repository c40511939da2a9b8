"""The rendering engine: from HTML with inline styles to an image, in four steps.

`parse` turns the text into elements, `cascade` computes their styles (each property is defined in `properties`),
`boxes` and `layout` compute the position of every box, and `paint` draws them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from PIL import Image
from pressroom.graphics.text import FontLibrary, default_library

from pressroom_image_generator.engine.boxes import BoxBuilder
from pressroom_image_generator.engine.cascade import Cascade
from pressroom_image_generator.engine.css_images import UrlImage
from pressroom_image_generator.engine.layout.engine import LayoutEngine
from pressroom_image_generator.engine.layout.fragments import Fragment
from pressroom_image_generator.engine.notes import Notes
from pressroom_image_generator.engine.paint.canvas import Canvas
from pressroom_image_generator.engine.paint.painter import Painter
from pressroom_image_generator.engine.parse import image_sources, parse_html
from pressroom_image_generator.engine.properties import Style
from pressroom_image_generator.engine.sources import ImageSource, Sources

__all__ = ["ImageSource", "RenderedImage", "image_addresses", "render"]

_SHAPING: Final = frozenset(
    {"transform", "translate", "rotate", "scale", "filter", "clip_path", "mask_image", "mix_blend_mode"}
)
"""Properties with which a box can cover less than its rectangle."""

_NO_IMAGES: Final[Mapping[str, ImageSource]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RenderedImage:
    """An image, `RGB` if it is opaque and `RGBA` otherwise, and warnings about anything not drawn as requested."""

    image: Image.Image
    warnings: tuple[str, ...]


def image_addresses(html: str) -> tuple[str, ...]:
    """Return the distinct `https` URLs of `<img src>`, in document order.

    Raises:
        InvalidInput: the HTML contains something that is refused, such as a URL with another scheme.
    """
    sources = image_sources(parse_html(html, Notes()))
    return tuple(dict.fromkeys(source for source in sources if source.lower().startswith("https://")))


def render(
    html: str,
    width: int,
    height: int,
    *,
    density: int = 1,
    images: Mapping[str, ImageSource] = _NO_IMAGES,
    fonts: FontLibrary | None = None,
) -> RenderedImage:
    """Render HTML on a canvas of this size in CSS pixels.

    Args:
        html: elements with `style` attributes.
        width: width of the canvas.
        height: height of the canvas; anything beyond it is clipped.
        density: device pixels per CSS pixel in each direction.
        images: image bytes by URL, for the URLs from `image_addresses`; a missing image is drawn as a neutral area.
        fonts: the fonts to use; by default those of the installed packages.

    Raises:
        InvalidInput: the HTML contains something that is refused, or is too complex; the message gives the details.
    """
    notes = Notes()
    library = fonts or default_library()
    width, height = width * density, height * density
    sources = Sources(images, notes, density)
    root = BoxBuilder(Cascade(width, height, notes, density), sources, notes).build(parse_html(html, notes))
    fragment = LayoutEngine(library, width, height, notes).canvas(root)
    covered = _covered(fragment, 0.0, 0.0, width, height)
    canvas = Canvas(Image.new("RGB" if covered else "RGBA", (width, height)))
    Painter(library, sources).paint(canvas, fragment, 0.0, 0.0)
    return RenderedImage(canvas.image, notes.warnings)


def _covered(fragment: Fragment, x: float, y: float, width: int, height: int) -> bool:
    """Return whether the outermost boxes cover the canvas with opaque colour, so that no alpha channel is needed."""
    while True:
        style = fragment.box.style
        values = vars(style)
        covers = x <= 0 and y <= 0 and x + fragment.width >= width and y + fragment.height >= height
        if not covers or style.opacity < 1 or style.visibility != "visible":
            return False
        if any(name.endswith("_radius") or name in _SHAPING for name in values):
            return False
        if set(style.background_clip) == {"border-box"} and (style.background_color.opaque or _opaque_image(style)):
            return True
        if not fragment.children or fragment.children[0].fragment.box.style.position in ("absolute", "fixed"):
            return False
        at_x, at_y, fragment = fragment.children[0]
        x, y = x + at_x, y + at_y


def _opaque_image(style: Style) -> bool:
    """Return whether the bottom layer of a background is an opaque gradient."""
    lowest = style.background_image[-1]
    if isinstance(lowest, (str, UrlImage)):
        return False
    sizes = {style.background_size[(len(style.background_image) - 1) % len(style.background_size)]}
    return sizes <= {("auto", "auto"), "cover", "contain"} and all(
        stop.color is None or stop.color.opaque for stop in lowest.stops
    )
