"""Detect the type of an image file."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["type_of_image"]

_HEAD_BYTES: Final = 2048
_MAX_BRANDS_BYTES: Final = 256
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_SVG: Final = re.compile(
    rb"(?>(?>\s+|<\?xml[^>]*>|<!--.*?-->|<!DOCTYPE[^>\[]*>)*)<svg[\s>/]", re.DOTALL | re.IGNORECASE
)


def type_of_image(content: bytes) -> str:
    """Return the media type of an image by its first bytes, or an empty string for other content.

    Knows AVIF, GIF, JPEG, PNG, SVG and WebP. In SVG, the root element must begin within the first 2,048 bytes.
    """
    head = content[:_HEAD_BYTES]
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if _is_avif(head):
        return "image/avif"
    return "image/svg+xml" if _SVG.match(head.removeprefix(_BYTE_ORDER_MARK)) else ""


def _is_avif(head: bytes) -> bool:
    """Return whether the file type box (ISO/IEC 14496-12) names AVIF, as its major brand or a compatible one."""
    if head[4:8] != b"ftyp":
        return False
    end = min(int.from_bytes(head[:4], "big"), _MAX_BRANDS_BYTES)
    brands = (head[at : at + 4] for at in (8, *range(16, end, 4)))
    return any(brand in (b"avif", b"avis") for brand in brands)
