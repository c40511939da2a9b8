"""The parameters of an image, and its details in the response."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pressroom.sdk import HexColor, InvalidInput, Params
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from pressroom_image_generator.templates import (
    BUILT_IN,
    HTML_SIZE,
    MAX_EDGE,
    MIN_EDGE,
    NAME,
    THEMES,
    Size,
    computed_size,
)

ImageFormat = Literal["png", "jpeg"]
Theme = Literal["light", "dark", "gradient", "minimal", "bold"]
Align = Literal["left", "center"]

MAX_HTML_LENGTH: Final = 10_000
MAX_PIXELS: Final = 24_000_000
"""Maximum number of pixels of a file. It bounds memory use; every size is possible at a scale of 2."""

MAX_ITEMS: Final = 8
MAX_ITEM_LENGTH: Final = 80
MAX_URL_LENGTH: Final = 2_048
MAX_DATA_URL_LENGTH: Final = 200_000

_ASPECT_RATIO: Final = re.compile(r"(\d{1,5}(?:\.\d{1,4})?):(\d{1,5}(?:\.\d{1,4})?)", re.ASCII)

_IMAGE_DATA: Final = re.compile(r"data:image/(png|jpe?g|gif|webp|avif|svg\+xml)[;,]", re.IGNORECASE)
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})


def _whole_number(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value


Pixels = Annotated[int, BeforeValidator(_whole_number), Field(ge=MIN_EDGE, le=MAX_EDGE)]


def _ratio(value: str) -> str:
    match = _ASPECT_RATIO.fullmatch(value)
    if match is None or not (float(match[1]) and float(match[2])):
        raise ValueError("must be two numbers above 0 as W:H, such as 16:9 or 1.91:1")
    return value


def _template(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError(f"must be one of {', '.join(BUILT_IN)}, or a template that a plugin adds")
    return value


def _image_url(value: str) -> str:
    if value[:8].lower() == "https://":
        if len(value) > MAX_URL_LENGTH:
            raise ValueError(f"must be at most {MAX_URL_LENGTH} characters")
        return value
    if _IMAGE_DATA.match(value):
        return value
    raise ValueError("must begin with https:// or data:image/ (png, jpeg, gif, webp, avif, svg+xml)")


def visible_text(value: str) -> str:
    """Collapse white space to single spaces; return an empty string if no character is visible."""
    text = " ".join(value.split())
    return text if any(unicodedata.category(character) not in _INVISIBLE for character in text) else ""


ImageAddress = Annotated[
    str, Field(max_length=MAX_DATA_URL_LENGTH, json_schema_extra={"format": "uri"}), AfterValidator(_image_url)
]


TEXT_PROPS: Final = ("title", "subtitle", "eyebrow", "author", "siteName")
"""Names of the text props."""


def _items(value: Any) -> Any:
    # JSON arrays arrive as lists, which strict models reject for tuples.
    return tuple(value) if isinstance(value, list) else value


def _nonempty_items(items: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(item for item in items if item)


Item = Annotated[str, Field(max_length=MAX_ITEM_LENGTH), AfterValidator(visible_text)]


class TemplateProps(Params):
    """What a template shows. Everything is optional; no template leaves a gap for a missing value."""

    title: Annotated[str, Field(max_length=200), AfterValidator(visible_text)] = Field(
        default="", description="The headline. A long one shrinks, then ends in an ellipsis.", examples=["Hello, world"]
    )
    subtitle: Annotated[str, Field(max_length=300), AfterValidator(visible_text)] = Field(
        default="", description="A sentence below the title.", examples=["What we learned in a year of writing"]
    )
    eyebrow: Annotated[str, Field(max_length=60), AfterValidator(visible_text)] = Field(
        default="", description="A word or two above the title, such as a category.", examples=["Engineering"]
    )
    author: Annotated[str, Field(max_length=80), AfterValidator(visible_text)] = Field(
        default="", description="Who wrote it.", examples=["Ada Lovelace"]
    )
    siteName: Annotated[str, Field(max_length=60), AfterValidator(visible_text)] = Field(  # noqa: N815 - the contract's name
        default="", description="The name of the site, beside the logo.", examples=["example.com"]
    )
    items: Annotated[tuple[Item, ...], BeforeValidator(_items), AfterValidator(_nonempty_items)] = Field(
        default=(),
        max_length=MAX_ITEMS,
        description=(
            "Short lines for templates with a list: changes, steps, figures, open roles, the two sides of a comparison."
        ),
        examples=[["12k readers", "48 articles", "3.1% growth"]],
    )
    theme: Theme = Field(default="light", description="Light, dark, gradient, minimal or bold.", examples=["dark"])
    accentColor: HexColor = Field(  # noqa: N815 - the contract's name
        default="#b9502a",
        description="The brand colour. Text colours are chosen to be legible with it.",
        examples=["#0f766e"],
    )
    backgroundColor: HexColor | None = Field(  # noqa: N815 - as the contract names its own
        default=None,
        description="A brand colour for the background instead of the theme's. Text stays legible on it.",
        examples=["#0b1f3a"],
    )
    align: Align = Field(default="left", description="How the text is aligned.", examples=["center"])
    logoUrl: ImageAddress | None = Field(  # noqa: N815 - the contract's name
        default=None,
        description="URL of a logo: https:// or data:image/.",
        examples=["https://example.com/logo.png"],
    )
    imageUrl: ImageAddress | None = Field(  # noqa: N815 - the contract's name
        default=None,
        description="URL of a large image: https:// or data:image/.",
        examples=["https://example.com/cover.jpg"],
    )
    avatarUrl: ImageAddress | None = Field(  # noqa: N815 - the contract's name
        default=None,
        description="URL of the author's photo: https:// or data:image/.",
        examples=["https://example.com/ada.jpg"],
    )

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the names and values of the non-empty texts."""
        for name in TEXT_PROPS:
            if text := getattr(self, name):
                yield name, text


class ImageParams(Params):
    """The parameters of an image: exactly one of `html` and `template`."""

    html: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_HTML_LENGTH,
        json_schema_extra={"contentMediaType": "text/html"},
        description=("HTML with inline styles. <img src> takes https:// and data:image/ URLs only."),
        examples=[
            '<div style="display:flex;width:100%;height:100%;padding:80px;background:#1d1a17;color:#fff">Hello</div>'
        ],
    )
    template: Annotated[str, AfterValidator(_template)] | None = Field(
        default=None,
        json_schema_extra={"enum": list(BUILT_IN)},
        description="Start from a template instead of HTML.",
        examples=["og"],
    )
    props: TemplateProps | None = Field(
        default=None,
        description=f"What the template shows; only with template. Themes are {', '.join(THEMES)}.",
        examples=[{"title": "Hello, world", "theme": "dark"}],
    )
    width: Pixels | None = Field(
        default=None,
        json_schema_extra={"default": HTML_SIZE.width},
        description="Width in pixels. A template has its own default; og has 1200.",
        examples=[1200],
    )
    height: Pixels | None = Field(
        default=None,
        description=(
            "Height in pixels, or set aspectRatio. By default 1200 by 630 for html; a template keeps its own ratio."
        ),
        examples=[630],
    )
    aspectRatio: Annotated[str, AfterValidator(_ratio)] | None = Field(  # noqa: N815 - the contract's name
        default=None, description="Width to height as W:H, decimals allowed; the height follows.", examples=["1.91:1"]
    )
    format: ImageFormat = Field(default="png", description="png, or jpeg for photographs.", examples=["jpeg"])
    scale: Literal[1, 2, 4] = Field(
        default=1, description="Pixel density: image pixels for each pixel of width and height.", examples=[2]
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> ImageParams:
        if self.html is not None and self.template is not None:
            raise InvalidInput("template", "give either html or template, not both")
        if self.html is None and self.template is None:
            raise InvalidInput("html", "is missing; give html, or template with one of " + ", ".join(BUILT_IN))
        if self.props is not None and self.template is None:
            raise InvalidInput("props", "only goes with template; html has its texts in itself")
        if self.height is not None and self.aspectRatio is not None:
            raise InvalidInput("aspectRatio", "give either height or aspectRatio, not both")
        if self.template is not None and self.props is None:
            self.__dict__["props"] = TemplateProps()
        natural = HTML_SIZE if self.template is None else BUILT_IN.get(self.template)
        if natural is not None:
            self._settle(self.size(natural))
        return self

    def _settle(self, size: Size) -> None:
        """Replace the size parameters with the resulting size, so that equal images have equal parameters."""
        self.__dict__.update(width=size.width, height=size.height, aspectRatio=None)

    def size(self, natural: Size) -> Size:
        """Return the size of the image at a scale of 1; `natural` is the default size.

        Raises `InvalidInput` if the resulting height is out of range, or the image is too large at this scale.
        """
        width = natural.width if self.width is None else self.width
        size = computed_size(width, self.height, self.aspectRatio, natural)
        if size.width * size.height * self.scale**2 > MAX_PIXELS:
            raise InvalidInput(
                "scale",
                f"makes an image of {size.width * self.scale} x {size.height * self.scale} pixels; at most "
                f"{MAX_PIXELS:,} pixels are allowed; give a smaller scale, width or height",
            )
        return size


class ImageDetails(BaseModel):
    """What the response says of the file, besides its URL."""

    width: int = Field(description="Width of the file in pixels.")
    height: int = Field(description="Height of the file in pixels.")
    format: ImageFormat = Field(description="The file's format.")
