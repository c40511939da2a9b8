"""What a QR code is made from, and what is said of it."""

from __future__ import annotations

from typing import Literal

from pressroom.sdk import HexColor, Integer, Params
from pydantic import BaseModel, Field

ErrorCorrection = Literal["L", "M", "Q", "H"]
ImageFormat = Literal["png", "svg"]


class QrCodeParams(Params):
    """The parameters of a QR code."""

    text: str = Field(
        min_length=1,
        max_length=2048,
        description="What the code says: a URL, or any text in any script.",
        examples=["https://example.com/", "WIFI:T:WPA;S:Guests;P:correct horse;;"],
    )
    size: Integer = Field(
        default=512,
        ge=64,
        le=2048,
        description="Width and height in pixels. An SVG has no size of its own: there it is only the viewBox.",
        examples=[512],
    )
    margin: Integer = Field(
        default=2,
        ge=0,
        le=16,
        description="Width of the quiet zone around the symbol, in modules. ISO/IEC 18004 asks for 4.",
        examples=[4],
    )
    fgColor: HexColor = Field(  # noqa: N815 - the contract's name
        default="#000000",
        description="Colour of the squares, with or without alpha; it is painted over bgColor.",
        examples=["#1d1a17"],
    )
    bgColor: HexColor = Field(  # noqa: N815 - the contract's name
        default="#ffffff",
        description="Colour of the background. Eight digits set its alpha: #ffffff00 is transparent.",
        examples=["#ffffff00"],
    )
    errorCorrection: ErrorCorrection = Field(  # noqa: N815 - the contract's name
        default="M",
        description=(
            "How much of the symbol may be damaged or covered: L about 7%, M 15%, Q 25%, H 30%. Raised "
            "automatically when it costs no extra space; never lowered."
        ),
        examples=["Q"],
    )
    format: ImageFormat = Field(
        default="png",
        description="png for pixels, svg for print and for any scale.",
        examples=["svg"],
    )


class QrCodeDetails(BaseModel):
    """What the answer says of the file, besides its URL."""

    size: int = Field(description="Width and height in pixels; of an SVG the width and height of its viewBox.")
    format: ImageFormat = Field(description="The file's format.")
