"""The parameters of a QR code, and its details in the response."""

from __future__ import annotations

from typing import Final, Literal

from pressroom.sdk import HexColor, Integer, Params
from pydantic import BaseModel, Field

ErrorCorrection = Literal["L", "M", "Q", "H"]
ImageFormat = Literal["png", "svg"]
ContentType = Literal["text", "wifi", "contact", "email", "event", "phone", "sms", "geo"]
Security = Literal["WPA", "SAE", "WEP", "nopass"]
ModuleShape = Literal["square", "dot", "rounded"]
EyeShape = Literal["square", "rounded", "circle"]
GradientType = Literal["linear", "radial"]

MAX_LOGO_LENGTH: Final = 200_000


class QrContent(Params):
    """What the text is the main part of, and the other parts."""

    type: ContentType = Field(
        default="text",
        description=(
            "Type of text: any text, the name of a Wi-Fi network, of a contact or of an event, an e-mail address, a "
            "phone number (phone, sms), or a place as latitude,longitude (geo)."
        ),
    )
    password: str | None = Field(
        default=None, max_length=128, description="wifi: the password; without one the network is open."
    )
    security: Security | None = Field(
        default=None, description="wifi: WPA (also WPA2 and WPA3 beside it), SAE (WPA3 only), WEP or nopass."
    )
    hidden: bool = Field(default=False, description="wifi: whether the network hides its name.")
    email: str | None = Field(default=None, max_length=254, description="contact: the e-mail address.")
    phone: str | None = Field(default=None, max_length=40, description="contact: the phone number.")
    organization: str | None = Field(default=None, max_length=120, description="contact: the company.")
    jobTitle: str | None = Field(  # noqa: N815 - parameters are in camelCase
        default=None, max_length=120, description="contact: the position."
    )
    subject: str | None = Field(default=None, max_length=250, description="email: the subject.")
    start: str | None = Field(
        default=None,
        max_length=40,
        description=(
            "event: when it starts, as 2027-05-01 or 2027-05-01T18:00, in local time unless Z or an offset follows."
        ),
        examples=["2027-05-01T18:00"],
    )
    end: str | None = Field(default=None, max_length=40, description="event: when it ends; of a date, the last day.")
    url: str | None = Field(
        default=None, max_length=500, description="contact, event: the website.", json_schema_extra={"format": "uri"}
    )
    location: str | None = Field(
        default=None, max_length=250, description="contact: street and town. event: the place."
    )
    message: str | None = Field(
        default=None, max_length=1000, description="email, sms: the text. contact, event: a note."
    )


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
        description="Width of the quiet zone around the symbol, in modules. ISO/IEC 18004 requires 4.",
        examples=[4],
    )
    fgColor: HexColor = Field(  # noqa: N815 - the contract's name
        default="#000000",
        description="Colour of the squares, over bgColor. Eight digits set its alpha.",
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
    content: QrContent | None = Field(
        default=None,
        description="Makes the text a Wi-Fi login, a contact, an e-mail, an event, a phone number, an SMS or a place.",
        examples=[{"type": "wifi", "password": "correct horse"}],
    )
    moduleShape: ModuleShape = Field(  # noqa: N815 - parameters are in camelCase
        default="square", description="Shape of the modules.", examples=["rounded"]
    )
    eyeShape: EyeShape = Field(  # noqa: N815 - parameters are in camelCase
        default="square", description="Shape of the three large squares in the corners.", examples=["circle"]
    )
    eyeColor: HexColor | None = Field(  # noqa: N815 - parameters are in camelCase
        default=None,
        description="Colour of the three corners; by default that of the squares.",
        examples=["#b9502a"],
    )
    gradientColor: HexColor | None = Field(  # noqa: N815 - parameters are in camelCase
        default=None, description="Makes a gradient from fgColor to this colour.", examples=["#5b21b6"]
    )
    gradientType: GradientType = Field(  # noqa: N815 - parameters are in camelCase
        default="linear", description="Whether the gradient runs along a line or outwards.", examples=["radial"]
    )
    gradientAngle: Integer = Field(  # noqa: N815 - parameters are in camelCase
        default=135,
        ge=0,
        le=360,
        description="Direction of a linear gradient in degrees: 90 is to the right, 180 downwards.",
        examples=[90],
    )
    logo: str | None = Field(
        default=None,
        max_length=MAX_LOGO_LENGTH,
        description=("An image for the centre, as a data: URI of a PNG, JPEG or WebP. Raises errorCorrection to H."),
        examples=["data:image/png;base64,iVBORw0KGgo"],
    )
    logoSize: Integer = Field(  # noqa: N815 - parameters are in camelCase
        default=20, ge=10, le=30, description="Width of the logo, in percent of the symbol.", examples=[25]
    )

    @property
    def styled(self) -> bool:
        """Whether the symbol has anything other than plain squares in one colour."""
        looks = (self.moduleShape, self.eyeShape, self.eyeColor, self.gradientColor, self.logo)
        return looks != ("square", "square", None, None, None)


class QrCodeDetails(BaseModel):
    """What the response says about the file, besides its URL."""

    size: int = Field(description="Width and height in pixels; of an SVG the width and height of its viewBox.")
    format: ImageFormat = Field(description="The file's format.")
