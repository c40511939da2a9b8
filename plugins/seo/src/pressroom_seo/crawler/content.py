"""Unpacking what a server sent compressed, within a bound (RFC 9110, section 8.4)."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

ENCODINGS: Final = "gzip, deflate"
"""What is accepted; the header `Accept-Encoding`."""

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS
_MAX_CODINGS = 2
_KNOWN = frozenset({"gzip", "x-gzip", "deflate"})


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Content, and what was wrong with it: `problem` is empty, or a sentence."""

    content: bytes
    whole: bool
    problem: str = ""


def unpack(content: bytes, codings: str, most: int) -> Unpacked:
    """Return content without its codings.

    At most `most` bytes are ever made: a gzip bomb ends there. What could be unpacked before an error is kept.

    Args:
        content: as it was sent.
        codings: the value of the header `Content-Encoding`.
        most: how many bytes may come out of it.
    """
    names = [name for name in (one.strip().lower() for one in codings.split(",")) if name not in ("", "identity")]
    unknown = next((name for name in names if name not in _KNOWN), None)
    if unknown is not None or len(names) > _MAX_CODINGS:
        return Unpacked(b"", whole=False, problem=f"the content is encoded as {codings[:60]}, which was not asked for")
    unpacked = Unpacked(content[:most], whole=len(content) <= most)
    for _ in names:
        unpacked = _inflate(unpacked.content, most)
        if unpacked.problem:
            break
    return unpacked


def gunzip(content: bytes, most: int) -> Unpacked:
    """Return the content of a gzip file, at most `most` bytes of it."""
    return _inflate(content, most)


def _inflate(content: bytes, most: int) -> Unpacked:
    # Some servers say deflate and send it without the zlib wrapper.
    wrapped = content[:2] == b"\x1f\x8b" or (content[:1] == b"\x78" and len(content) > 1)
    inflater = zlib.decompressobj(_GZIP_OR_ZLIB if wrapped else _RAW)
    made = bytearray()
    rest = content
    try:
        while rest and len(made) <= most:
            made += inflater.decompress(rest, most + 1 - len(made))
            if not inflater.eof:
                rest = inflater.unconsumed_tail
                continue
            rest = inflater.unused_data.lstrip(b"\0")  # a gzip file may have several members
            inflater = zlib.decompressobj(_GZIP_OR_ZLIB if wrapped else _RAW)
    except zlib.error:
        return Unpacked(bytes(made[:most]), whole=False, problem="the compressed content is damaged")
    return Unpacked(bytes(made[:most]), whole=len(made) <= most)
