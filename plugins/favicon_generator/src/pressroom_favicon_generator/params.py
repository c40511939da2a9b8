"""The parameters of a favicon bundle, and its details in the response."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pressroom.sdk import HexColor, Params
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationInfo, model_validator

Source = Literal["emoji", "letter", "text"]
FontFamily = Literal["Inter", "serif", "mono"]

MAX_SYMBOLS: Final = 8
"""Maximum number of symbols (grapheme clusters) of the content."""

_MAX_SYMBOL_LENGTH: Final = 12
"""Maximum number of code points per symbol: the longest emoji, a kiss with skin tones, has ten."""

_EMOJI_STYLE: Final = "\N{VARIATION SELECTOR-16}"

MAX_IMAGE_LENGTH: Final = 200_000
MAX_NAME_LENGTH: Final = 60
_DISC: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'%3E"
    "%3Ccircle cx='4.5' cy='4.5' r='4'/%3E%3C/svg%3E"
)
_IMAGE_DATA: Final = re.compile(r"data:image/(svg\+xml|png|jpe?g|webp)[;,]", re.IGNORECASE)


def _symbols(text: str) -> list[str]:
    from pressroom.graphics.segments import grapheme_clusters  # noqa: PLC0415 - ICU loads with the first call

    return list(grapheme_clusters(text))


def _image_data(value: str) -> str:
    if not _IMAGE_DATA.match(value):
        raise ValueError("must begin with data:image/ (svg+xml, png, jpeg or webp)")
    return value


def _one_line(value: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in value).split())


def _content(value: str, info: ValidationInfo) -> str:
    if len(value) > MAX_SYMBOLS * _MAX_SYMBOL_LENGTH or len(_symbols(value)) > MAX_SYMBOLS:
        raise ValueError(f"must have at most {MAX_SYMBOLS} symbols")
    stripped = value.strip()
    if not any(map(_visible, stripped)):
        raise ValueError("must have a symbol that can be seen")
    return _as_emoji(stripped) if info.data.get("source") == "emoji" else stripped


def _as_emoji(symbol: str) -> str:
    """Return a symbol that is text by default, such as ❤ or ✈, in its emoji style (UTS 51), and others unchanged."""
    from pressroom.graphics.emoji import emoji_path, is_emoji  # noqa: PLC0415 - loads with the first emoji

    in_emoji_style = symbol + _EMOJI_STYLE
    return in_emoji_style if not is_emoji(symbol) and emoji_path(in_emoji_style) is not None else symbol


def _visible(character: str) -> bool:
    if character.isprintable():
        return not character.isspace()
    from pressroom.graphics.emoji import emoji_path  # noqa: PLC0415 - loads with the first emoji

    # Emoji can be newer than this Python's Unicode version.
    return emoji_path(character) is not None


def _weight(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Weight = Annotated[Literal[400, 600, 700, 800, 900], BeforeValidator(_weight)]


ImageData = Annotated[
    str, Field(max_length=MAX_IMAGE_LENGTH, json_schema_extra={"format": "uri"}), AfterValidator(_image_data)
]


class FaviconParams(Params):
    """The parameters of a favicon bundle."""

    source: Source = Field(
        default="letter",
        description="Type of content: one emoji, one letter, or a short text.",
        examples=["emoji"],
    )
    content: Annotated[str, AfterValidator(_content)] = Field(
        min_length=1,
        json_schema_extra={"maxLength": MAX_SYMBOLS},
        description="The emoji, the letter, or up to 8 letters; 1 or 2 are legible at 16 pixels.",
        examples=["P"],
    )
    bgColor: HexColor = Field(  # noqa: N815 - the contract's name
        default="#b9502a",
        description="Colour of the background. Eight digits set its alpha: #ffffff00 is transparent.",
        examples=["#1d1a17"],
    )
    fgColor: HexColor = Field(  # noqa: N815 - the contract's name
        default="#ffffff",
        description="Colour of the letters; an emoji has its own.",
        examples=["#faf7f2"],
    )
    radius: float = Field(
        default=20,
        ge=0,
        le=50,
        description="Roundness of the corners in percent of the size: 0 is a square, 50 a circle.",
        examples=[50],
    )
    fontFamily: FontFamily = Field(  # noqa: N815 - the contract's name
        default="Inter", description="Font of letters and text.", examples=["serif"]
    )
    fontWeight: Weight = Field(  # noqa: N815 - the contract's name
        default=800, description="Weight of letters and text; a font without it takes its nearest.", examples=[700]
    )

    image: ImageData | None = Field(
        default=None,
        description=(
            "Your own image instead of content: a data: URL of an SVG, PNG, JPEG or WebP, 16 to 2048 pixels each way."
        ),
        examples=[_DISC],
    )
    imageBackground: HexColor = Field(  # noqa: N815 - as the contract names its own
        default="#ffffff00",
        description="Colour behind image; transparent by default. With a colour, radius rounds the icon.",
        examples=["#ffffff"],
    )
    imagePadding: float = Field(  # noqa: N815 - as above
        default=0, ge=0, le=40, description="Space around image, in percent of the icon's size.", examples=[12]
    )
    darkColor: HexColor | None = Field(  # noqa: N815 - as above
        default=None,
        description="Colour that favicon.svg takes in dark mode, for an SVG in image of one colour.",
        examples=["#ffffff"],
    )
    maskable: bool = Field(
        default=False,
        description="Add maskable icons, which Android may cut into any shape.",
        examples=[True],
    )
    name: Annotated[str, Field(max_length=MAX_NAME_LENGTH), AfterValidator(_one_line)] = Field(
        default="",
        description="The website's name in the manifest.",
        examples=["Example"],
    )

    @model_validator(mode="after")
    def _dark_color_has_an_svg(self) -> FaviconParams:
        if self.darkColor is not None and self.image is None:
            raise ValueError("darkColor: only goes with image; give an SVG there")
        return self

    @model_validator(mode="after")
    def _fits_its_source(self) -> FaviconParams:
        symbols = _symbols(self.content)
        if self.source == "letter" and len(symbols) != 1:
            raise ValueError(f"content: must be one letter (got {len(symbols)}); use source text for more")
        if self.source == "emoji":
            from pressroom.graphics.emoji import emoji_path, is_emoji  # noqa: PLC0415 - loads with the first emoji

            if len(symbols) != 1 or not is_emoji(self.content) or emoji_path(self.content) is None:
                raise ValueError("content: must be one emoji; use source letter or text for anything else")
        return self


class FaviconDetails(BaseModel):
    """What the response says about the bundle, besides its URL."""

    files: list[str] = Field(description="The names of the files in the ZIP.")
    html: str = Field(default="", description="The tags for the page's head, as in favicon-tags.html.")
