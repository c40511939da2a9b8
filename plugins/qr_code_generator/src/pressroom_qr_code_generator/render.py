"""From parameters to the file. PNG files have two colours and one bit per pixel (W3C PNG, third edition)."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from pressroom.sdk import Artifact

from pressroom_qr_code_generator.encode import Rows, encode
from pressroom_qr_code_generator.params import QrCodeDetails, QrCodeParams
from pressroom_qr_code_generator.payloads import payload
from pressroom_qr_code_generator.svg import (
    QrLayout,
    Rgba,
    check_size,
    contrast_warnings,
    draw_svg,
    fill,
    lay_out,
    size_warnings,
)

try:
    from isal.isal_zlib import compress
except ImportError:
    from zlib import compress

Channels = tuple[int, int, int, int]
"""Red, green, blue and alpha, 0 to 255."""

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_INDEXED: Final = 3
_AS_IT_IS: Final = b"\x00"
_UP: Final = b"\x02"
_FASTEST: Final = 1


def two_color_png(width: int, rows: Iterable[tuple[bytes, int]], colors: tuple[Channels, Channels]) -> bytes:
    """Return a PNG in which bits 0 and 1 are indices into `colors`.

    `rows` contains pairs of a row of pixels and its number of repetitions (0 omits it). A row has `(width + 7) // 8`
    bytes; the leftmost pixel is the highest bit of the first byte, and bits beyond the width are 0.
    """
    same_as_above = _UP + bytes((width + 7) // 8)
    lines: list[bytes] = []
    for row, times in rows:
        if times:
            lines.append(_AS_IT_IS + row)
            lines.extend([same_as_above] * (times - 1))
    size = width.to_bytes(4, "big") + len(lines).to_bytes(4, "big")
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", size + bytes((1, _INDEXED, 0, 0, 0))),
            _chunk(b"PLTE", bytes(channel for color in colors for channel in color[:3])),
            _transparency(colors),
            _chunk(b"IDAT", compress(b"".join(lines), _FASTEST)),
            _chunk(b"IEND", b""),
        )
    )


def _transparency(colors: Iterable[Channels]) -> bytes:
    alphas = bytes(color[3] for color in colors).rstrip(b"\xff")
    return _chunk(b"tRNS", alphas) if alphas else b""


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


_TO_DIGITS: Final = bytes.maketrans(b"\x00\x01", b"01")


def render(params: QrCodeParams) -> Artifact:
    """Render the QR code for the parameters.

    Raises:
        InvalidInput: the text does not fit into a symbol, the symbol does not fit into the image, a part of `content`
            is invalid, or the styled code is unreadable.
    """
    text = payload(params.text, params.content)
    if params.styled:
        from pressroom_qr_code_generator.checked import render_styled  # noqa: PLC0415 - plain symbols need no Pillow

        return render_styled(params, text)
    rows = encode(text, params.errorCorrection)
    foreground, background = Rgba.parse(params.fgColor), Rgba.parse(params.bgColor)
    warnings = contrast_warnings(foreground, background)
    if params.format == "png":
        check_size(params.size, len(rows), params.margin)
        layout = lay_out(params.size, len(rows), params.margin)
        content = draw_png(rows, layout, foreground, background)
        warnings += size_warnings(layout)
    else:
        # An SVG has no pixels to align the modules to.
        content = draw_svg(rows, fill(params.size, len(rows), params.margin), foreground, background)
    return Artifact(
        content=content,
        media_type="image/png" if params.format == "png" else "image/svg+xml",
        details=QrCodeDetails(size=params.size, format=params.format),
        warnings=warnings,
    )


def draw_png(rows: Rows, layout: QrLayout, foreground: Rgba, background: Rgba) -> bytes:
    """Return the image as a PNG file."""
    return two_color_png(layout.size, _pixel_rows(rows, layout), (background, foreground.over(background)))


def _pixel_rows(rows: Rows, layout: QrLayout) -> Iterator[tuple[bytes, int]]:
    """Yield packed rows of pixels, with 1 for dark, and the number of repetitions of each."""
    edges = layout.edges()
    extents = [end - start for start, end in pairwise(edges)]
    length = (layout.size + 7) // 8
    right = length * 8 - edges[-1]
    blank = bytes(length)
    yield blank, edges[0]
    for row, extent in zip(rows, extents, strict=True):
        digits = _widened(bytes(row.translate(_TO_DIGITS)), extents) + b"0" * right
        yield int(digits, 2).to_bytes(length, "big"), extent
    yield blank, layout.size - edges[-1]


def _widened(digits: bytes, extents: list[int]) -> bytes:
    """Repeat each digit of a row of modules as many times as the module has pixels."""
    if len(set(extents)) == 1:
        return digits.replace(b"0", b"0" * extents[0]).replace(b"1", b"1" * extents[0])
    return b"".join([digits[index : index + 1] * extent for index, extent in enumerate(extents)])
