"""Sizes of images, the built-in templates, and the contract for templates from other plugins.

The names in `__all__` are public; the rest of `pressroom_image_generator` is not. `CONTRACT_VERSION` is the version of
this contract. It changes by the same rules as `pressroom_content.contract`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Final, NamedTuple

import pluggy
from pressroom.sdk import InvalidInput, PluginContext

MIN_EDGE: Final = 200
MAX_EDGE: Final = 2400
"""Limits of width and height, in pixels."""

CONTRACT_VERSION: Final = "1"
"""The version of this contract. It increases when plugins have to be changed."""

FILE: Final = "template.html"
NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)
THEMES: Final = ("light", "dark", "gradient", "minimal", "bold")


class Size(NamedTuple):
    """The size of an image in pixels."""

    width: int
    height: int


HTML_SIZE: Final = Size(1200, 630)
"""Default size for HTML: link previews show it uncropped."""


def computed_size(width: int, height: int | None, aspect_ratio: str | None, natural: Size) -> Size:
    """Return the size of an image. A height computed from the width is rounded half up.

    Args:
        width: width in pixels.
        height: height in pixels, if given.
        aspect_ratio: `W:H`, two positive decimal numbers, if given.
        natural: size whose ratio applies if neither is given.

    Raises:
        InvalidInput: the computed height is out of range.
    """
    if height is not None:
        return Size(width, height)
    across, down = map(Decimal, aspect_ratio.split(":") if aspect_ratio is not None else natural)
    computed = (width * down / across).quantize(Decimal(1), ROUND_HALF_UP)
    if not MIN_EDGE <= computed <= MAX_EDGE:
        raise InvalidInput(
            "width" if aspect_ratio is None else "aspectRatio",
            f"makes a height of {computed} at a width of {width}; it must be between {MIN_EDGE} and {MAX_EDGE}",
        )
    return Size(width, int(computed))


__all__ = ["CONTRACT_VERSION", "ImageTemplate", "ImageTemplateHooks", "image_templates"]


FOLDER: Final = Path(__file__).parent / "templates"
"""Folder of the built-in templates, one subfolder each, and the parts that every template can import."""


BUILT_IN: Final = {
    "og": Size(1200, 630),
    "twitter-header": Size(1500, 500),
    "linkedin-banner": Size(1584, 396),
    "square": Size(1080, 1080),
    "story": Size(1080, 1920),
    "photo": Size(1200, 630),
    "quote": Size(1080, 1080),
    "event": Size(1200, 630),
    "changelog": Size(1200, 630),
    "podcast": Size(1200, 630),
    "comparison": Size(1200, 630),
    "product": Size(1200, 630),
    "job": Size(1200, 630),
    "hiring": Size(1080, 1080),
    "tutorial": Size(1200, 630),
    "stats": Size(1200, 630),
    "minimal": Size(1200, 630),
}
"""The templates of this plugin and their default sizes."""


@dataclass(frozen=True, slots=True)
class ImageTemplate:
    """A template that the `template` parameter can select.

    `width` and `height` are its default size in pixels. `folder` contains `template.html`: a Jinja template for HTML as
    the generator accepts it. Values are escaped. The template gets `props` (`TemplateProps`), `colors` (`Palette`),
    `width`, `height`, and the functions described in `pressroom_image_generator.rendering`.
    """

    name: str
    title: str
    width: int
    height: int
    folder: Path

    def __post_init__(self) -> None:
        """Raise `ValueError` if an attribute is invalid."""
        if not NAME.fullmatch(self.name) or self.name in BUILT_IN:
            raise ValueError(f"name {self.name!r} must be lower-case words joined by hyphens, and no built-in template")
        if not all(MIN_EDGE <= edge <= MAX_EDGE for edge in self.size):
            raise ValueError(f"{self.name}: width and height must be between {MIN_EDGE} and {MAX_EDGE}")
        if not (self.folder / FILE).is_file():
            raise ValueError(f"{self.name}: {self.folder} holds no {FILE}")

    @property
    def size(self) -> Size:
        """The template's default size."""
        return Size(self.width, self.height)


def image_templates(plugin: PluginContext) -> tuple[tuple[str, ImageTemplate], ...]:
    """Return the templates from the hook `pressroom_image_templates`, as pairs of plugin ID and template.

    Raises:
        RuntimeError: not all plugins are loaded yet.
    """
    return plugin.extensions.of("pressroom_image_templates")


class ImageTemplateHooks:
    """The hook that this plugin offers to others."""

    @pluggy.HookspecMarker("pressroom")
    def pressroom_image_templates(self, plugin: PluginContext) -> Iterable[ImageTemplate]:
        """Offer templates for the image generator. Plugins that claim the same name are in conflict.

        Example:
            ```python
            import tempfile
            from collections.abc import Iterable
            from pathlib import Path

            from pressroom.sdk import Plugin, hookimpl
            from pressroom_image_generator.templates import ImageTemplate

            PLUGIN = Plugin(id="cards", api="1", title="Cards", summary="A card.", requires=("image_generator",))
            TEMPLATE = "<div style='display: flex; color: {{ colors.text }}'>{{ props.title }}</div>"
            FOLDER = Path(tempfile.mkdtemp())  # in a package: Path(__file__).parent / "card"


            @hookimpl
            def pressroom_image_templates() -> Iterable[ImageTemplate]:
                (FOLDER / "template.html").write_text(TEMPLATE)
                return [ImageTemplate("card", "Card", 600, 400, FOLDER)]
            ```
        """
        raise NotImplementedError
