"""PNG files of two colours (W3C PNG, third edition): a bit a pixel, compressed quickly."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Final

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
    """Return a PNG in which the bits 0 and 1 stand for `colors`.

    `rows` holds pairs of a row of pixels and the number of times that it follows itself (0 leaves it out). A row is
    `(width + 7) // 8` bytes, the leftmost pixel is the highest bit of the first one, bits beyond the width are 0.
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
