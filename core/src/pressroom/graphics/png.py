"""Fast PNG encoding (PNG, third edition) for images of flat colours and gradients rather than photographs."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pressroom.graphics.channels import in_8_bits

try:
    from isal.isal_zlib import compressobj
except ImportError:
    from zlib import compressobj  # type: ignore[assignment] # it is called alike

__all__ = [
    "encode_png",
]

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_COLOR_TYPES: Final = {"1": 0, "L": 0, "P": 3, "RGB": 2, "RGBA": 6}
_NO_FILTER, _UP_FILTER = 0, 2

_BAND_BYTES: Final = 2**19
"""Bytes of an image compressed at a time. A buffer of this size is reused; allocating memory for a whole image would
take longer than everything else."""


def encode_png(image: Image.Image, *, photographic: bool = False) -> bytes:
    """Encode an image of mode `1`, `L`, `P`, `RGB` or `RGBA` as PNG; other modes are converted to `RGBA`.

    Flat images are written without a filter, since repeated rows compress best that way. `photographic` selects the Up
    filter, which suits images with gradual changes everywhere.
    """
    if image.mode not in _COLOR_TYPES:
        image = in_8_bits(image).convert("RGBA")
    width, height = image.size
    stream = compressobj(1)
    filtered = photographic and image.mode not in ("1", "P")
    pixels = [stream.compress(band) for band in _scanlines(image, _UP_FILTER if filtered else _NO_FILTER)]
    depth = 1 if image.mode == "1" else 8
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOR_TYPES[image.mode], 0, 0, 0)
    chunks = [_chunk(b"IHDR", header)]
    if image.mode == "P":
        chunks += _palette(image)
    chunks += [_chunk(b"IDAT", b"".join([*pixels, stream.flush()])), _chunk(b"IEND", b"")]
    return _SIGNATURE + b"".join(chunks)


def _scanlines(image: Image.Image, filter_type: int) -> Iterator[NDArray[np.uint8]]:
    """Yield an image in bands of scanlines, each line preceded by its filter type (section 7.2)."""
    width, height = image.size
    step = max(1, _BAND_BYTES // (width * len(image.getbands())))
    above: NDArray[np.uint8] | int = 0
    for top in range(0, height, step):
        bottom = min(top + step, height)
        band = image.crop((0, top, width, bottom)) if bottom - top < height else image
        rows = np.frombuffer(band.tobytes(), np.uint8).reshape(bottom - top, -1)
        scanlines = np.empty((len(rows), rows.shape[1] + 1), np.uint8)
        scanlines[:, 0] = filter_type
        if filter_type == _UP_FILTER:
            np.subtract(rows[0], above, out=scanlines[0, 1:])
            np.subtract(rows[1:], rows[:-1], out=scanlines[1:, 1:])
            above = rows[-1]
        else:
            scanlines[:, 1:] = rows
        yield scanlines


def _palette(image: Image.Image) -> list[bytes]:
    colors = np.array(image.getpalette("RGBA"), dtype=np.uint8).reshape(-1, 4)
    used = int(np.frombuffer(image.tobytes(), dtype=np.uint8).max()) + 1
    colors = colors[:used]
    transparency = image.info.get("transparency")
    if isinstance(transparency, bytes):
        alpha = np.frombuffer(transparency, dtype=np.uint8)[:used]
        colors[: len(alpha), 3] = alpha
    elif isinstance(transparency, int) and transparency < used:
        colors[transparency, 3] = 0
    chunks = [_chunk(b"PLTE", colors[:, :3].tobytes())]
    if (colors[:, 3] < 255).any():
        chunks.append(_chunk(b"tRNS", colors[:, 3].tobytes()))
    return chunks


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(content, zlib.crc32(name)))
