"""Styled symbols, which are drawn, read back, and rejected if they are unreadable."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import zxingcpp
from PIL import Image
from pressroom.sdk import Artifact, InvalidInput

from pressroom_qr_code_generator.encode import encode
from pressroom_qr_code_generator.params import QrCodeDetails, QrCodeParams
from pressroom_qr_code_generator.styled import draw_styled, logo_of, png_of, rasterised
from pressroom_qr_code_generator.svg import (
    READABLE_FROM,
    QrLayout,
    Rgba,
    check_size,
    contrast,
    contrast_warnings,
    fill,
    lay_out,
    size_warnings,
)

_QUIET_ZONE: Final = 4
"""Modules added around the symbol, so that the requested margin does not affect the result."""

_ENOUGH: Final = 0.15

_MIN_PIXELS = 6
"""Minimum pixels per module when an SVG is read back: it can be shown at any size."""

_MIN_CONTRAST = 2.0
"""Minimum contrast of `gradientColor` and `eyeColor`: other readers can need the parts that would fade."""


class ReadSymbol(NamedTuple):
    """The result of reading a symbol. `spare` is the unused share of its error correction, 0 to 1."""

    text: str
    spare: float

    @property
    def fragile(self) -> bool:
        """Whether minor damage would make the symbol unreadable."""
        return self.spare < _ENOUGH


def read_back(image: Image.Image, module: float) -> ReadSymbol | None:
    """Return what a reader sees in the image, composited on white; `None` unless it finds exactly one code.

    `module` is the width of a module in pixels.
    """
    page = Image.new("RGB", image.size, "white")
    page.paste(image, mask=image.getchannel("A") if image.mode == "RGBA" else None)
    border = round(_QUIET_ZONE * module) + 1
    framed = Image.new("RGB", (page.width + 2 * border, page.height + 2 * border), page.getpixel((0, 0)))
    framed.paste(page, (border, border))
    symbols = zxingcpp.read_barcodes(
        framed.convert("L"),
        zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode),
        text_mode=zxingcpp.TextMode.Plain,
        try_rotate=False,
    )
    if len(symbols) != 1:
        return None
    extra: Any = symbols[0].extra
    return ReadSymbol(symbols[0].text, float(extra.get("UEC", 1)))


def render_styled(params: QrCodeParams, text: str) -> Artifact:
    """Return the QR code of a text with its shapes, gradient and logo.

    Raises:
        InvalidInput: the text or the symbol does not fit, the contrast is too low, the logo is invalid, or the code
            cannot be read back.
    """
    _refuse_pale(params)
    logo = logo_of(params.logo, params.logoSize) if params.logo is not None else None
    # Readers derive the symbol's corners from the edges of the finder patterns, and round ones have hardly any: without
    # an alignment pattern zbar often misses such a symbol.
    rows = encode(text, "H" if logo else params.errorCorrection, aligned=params.eyeShape == "circle")
    modules = len(rows)
    if params.format == "png":
        check_size(params.size, modules, params.margin)
        layout = lay_out(params.size, modules, params.margin)
        svg = draw_styled(rows, layout, params, logo)
        image = rasterised(svg, params.size)
        warnings = _color_warnings(params) + size_warnings(layout)
    else:
        layout = fill(params.size, modules, params.margin)
        svg = draw_styled(rows, layout, params, logo)
        size = max(params.size, _MIN_PIXELS * (modules + 2 * params.margin))
        image = rasterised(svg, size)
        warnings = _color_warnings(params)
    warnings += _checked(params, text, image, layout)
    return Artifact(
        content=png_of(image) if params.format == "png" else svg,
        media_type="image/png" if params.format == "png" else "image/svg+xml",
        details=QrCodeDetails(size=params.size, format=params.format),
        warnings=warnings,
    )


def _refuse_pale(params: QrCodeParams) -> None:
    background = Rgba.parse(params.bgColor)
    for name, color in _inks(params)[1:]:
        if (ratio := contrast(color, background)) < _MIN_CONTRAST:
            rounded = int(ratio * 10) / 10
            raise InvalidInput(name, f"must contrast with bgColor by {_MIN_CONTRAST:.0f}:1 at least (got {rounded}:1)")


def _checked(params: QrCodeParams, text: str, image: Image.Image, layout: QrLayout) -> tuple[str, ...]:
    read = read_back(image, layout.module * image.width / layout.size)
    if read is None or read.text != text:
        raise InvalidInput(*_refusal(params, layout))
    if read.fragile:
        return ("The code can be read, but it tolerates hardly any damage: make the logo smaller or the text shorter.",)
    return ()


def _refusal(params: QrCodeParams, layout: QrLayout) -> tuple[str, str]:
    """Return the parameter that most likely makes the code unreadable, and advice."""
    unreadable = "makes a code that cannot be read back"
    if _color_warnings(params):
        field = next(name for name, color in _inks(params) if contrast_warnings(color, Rgba.parse(params.bgColor)))
        return field, f"{unreadable}; choose a colour that is darker and further from bgColor"
    if params.format == "png" and layout.module < READABLE_FROM:
        return "size", f"{unreadable}: its modules have {layout.module:.1f} pixels; ask for a larger size or svg"
    if params.logo is not None:
        return "logo", f"{unreadable}; set a smaller logoSize (10 is the least), or use a simpler logo"
    return "moduleShape", f"{unreadable}; use square, or a larger size"


def _inks(params: QrCodeParams) -> list[tuple[str, Rgba]]:
    colors = {"fgColor": params.fgColor, "gradientColor": params.gradientColor, "eyeColor": params.eyeColor}
    return [(name, Rgba.parse(color)) for name, color in colors.items() if color is not None]


def _color_warnings(params: QrCodeParams) -> tuple[str, ...]:
    background = Rgba.parse(params.bgColor)
    return tuple(warning for name, color in _inks(params) for warning in contrast_warnings(color, background, name))
