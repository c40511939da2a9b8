"""JPEG encoding (ITU-T T.81), for photographs and other images without transparency."""

from __future__ import annotations

import io
from typing import Final

from PIL import Image

from pressroom.graphics.channels import in_8_bits

__all__ = ["encode_jpeg"]

_NO_SUBSAMPLING: Final = 0


def encode_jpeg(image: Image.Image, *, quality: int = 90) -> bytes:
    """Encode an image as JPEG without chroma subsampling (4:4:4). Transparency is flattened onto white.

    Args:
        image: an image of any mode.
        quality: 1 to 95, as in libjpeg.
    """
    buffer = io.BytesIO()
    _flattened(image).save(buffer, "JPEG", quality=quality, subsampling=_NO_SUBSAMPLING)
    return buffer.getvalue()


def _flattened(image: Image.Image) -> Image.Image:
    image = in_8_bits(image)
    if image.mode in ("L", "RGB"):
        return image
    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    background = Image.new("RGB", image.size, "white")
    background.paste(layer, mask=layer.getchannel("A"))
    return background
