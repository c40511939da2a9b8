"""Read QR codes with decoders independent of the encoder."""

import io
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from PIL import Image

from support.needs import missing_package


@dataclass(frozen=True, slots=True)
class Reading:
    """A symbol as read by zxing-cpp."""

    text: str
    version: int
    level: str
    names_utf8: bool
    unused_error_correction: float


def pixels(content: bytes, paper: str = "white") -> Image.Image:
    """Return a PNG as rendered on paper of that colour."""
    with Image.open(io.BytesIO(content)) as opened:
        image = opened.convert("RGBA")
    page = Image.new("RGBA", image.size, paper)
    page.alpha_composite(image)
    return page


def rasterised(content: bytes, width: int) -> bytes:
    """Return an SVG document as a PNG, `width` pixels wide."""
    import resvg_py  # noqa: PLC0415 - few tests need it

    return bytes(resvg_py.svg_to_bytes(svg_string=content.decode(), width=width, height=width))


def with_more_margin(image: Image.Image, border: int, color: Any = "white") -> Image.Image:
    """Return the image with a quiet zone that is `border` pixels wider."""
    page = Image.new("RGBA", (image.width + 2 * border, image.height + 2 * border), color)
    page.paste(image, (border, border))
    return page


def read_with_zxing(image: Image.Image) -> list[Reading]:
    """Return every QR code that zxing-cpp finds."""
    return [
        Reading(
            text=plain.text,
            version=int(plain.extra["Version"]),
            level=plain.extra["ECLevel"],
            names_utf8=bytes.fromhex(raw.text).startswith(b"]Q2\\000026"),
            unused_error_correction=plain.extra["UEC"],
        )
        for plain, raw in zip(_zxing(image, "Plain"), _zxing(image, "HexECI"), strict=True)
    ]


def read_with_zbar(image: Image.Image) -> list[str]:
    """Return the text of every QR code that zbar finds."""
    pyzbar = _pyzbar()
    symbols = pyzbar.decode(image.convert("L"), symbols=[pyzbar.ZBarSymbol.QRCODE])
    return [symbol.data.decode() for symbol in symbols]


def _zxing(image: Image.Image, text_mode: str) -> list[Any]:
    import zxingcpp  # noqa: PLC0415 - few tests need it

    formats = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)
    return list(zxingcpp.read_barcodes(image.convert("L"), formats, text_mode=getattr(zxingcpp.TextMode, text_mode)))


def _pyzbar() -> ModuleType:
    try:
        from pyzbar import pyzbar  # noqa: PLC0415 - importing it fails without the library
    except ImportError:
        missing_package("libzbar0", "libzbar")
    return pyzbar  # type: ignore[no-any-return]
