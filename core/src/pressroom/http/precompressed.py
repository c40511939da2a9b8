"""Text that is compressed once and sent many times, with a few varying bytes around it.

The result is a gzip member (RFC 1952) of three parts: the preceding bytes in a stored DEFLATE block (RFC 1951, section
3.2.4), the precompressed text, and the following bytes in another stored block. Only the checksum is computed per
response.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final

_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
_LEVEL: Final = 9
_MAX_STORED: Final = 0xFFFF
_BEGINNING: Final = 32


class PrecompressedText:
    """A text and its DEFLATE blocks, which end on a byte boundary and are not marked as final."""

    __slots__ = ("_deflated", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._deflated = compressor.compress(text) + compressor.flush(zlib.Z_FULL_FLUSH)

    def gzip(self, body: bytes) -> bytes | None:
        """Return a body that contains the text as a gzip member, or `None` if the text is not in it.

        Also returns `None` if more than 65,535 bytes precede or follow the text.
        """
        # Finding the beginning and comparing the rest takes a tenth of the time of searching for a long text.
        beginning = self.text[:_BEGINNING]
        start = body.find(beginning)
        while start >= 0 and not body.startswith(self.text, start):
            start = body.find(beginning, start + 1)
        before, after = body[:start], body[start + len(self.text) :]
        if start < 0 or len(before) > _MAX_STORED or len(after) > _MAX_STORED:
            return None
        checks = struct.pack("<II", zlib.crc32(body), len(body) & 0xFFFFFFFF)
        return b"".join((_HEADER, _stored(before), self._deflated, _stored(after, last=True), checks))


def _stored(data: bytes, *, last: bool = False) -> bytes:
    return struct.pack("<BHH", last, len(data), len(data) ^ 0xFFFF) + data
