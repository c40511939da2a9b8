"""JPEG output keeps full colour resolution and has no transparency."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, JpegImagePlugin
from pressroom.graphics.jpeg import encode_jpeg


def read(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    assert image.format == "JPEG"
    return image


def test_colours_have_full_resolution() -> None:
    content = encode_jpeg(Image.new("RGB", (16, 16), "red"))
    assert JpegImagePlugin.get_sampling(read(content)) == 0  # 4:4:4
    stripes = Image.new("RGB", (64, 8), "red")
    for x in range(0, 64, 2):
        stripes.paste("blue", (x, 0, x + 1, 8))
    drawn = read(encode_jpeg(stripes))
    assert drawn.getpixel((20, 4)) == pytest.approx((0, 0, 255), abs=25)
    assert drawn.getpixel((21, 4)) == pytest.approx((255, 0, 0), abs=25)


def test_transparency_becomes_white() -> None:
    image = Image.new("RGBA", (32, 16), (0, 0, 0, 0))
    image.paste((255, 0, 0, 128), (16, 0, 32, 16))
    drawn = read(encode_jpeg(image))
    assert drawn.getpixel((3, 8)) == pytest.approx((255, 255, 255), abs=2)
    assert drawn.getpixel((28, 8)) == pytest.approx((255, 127, 127), abs=3)


def test_a_transparent_palette_colour_becomes_white() -> None:
    image = Image.new("P", (8, 8), 1)
    image.putpalette([0, 0, 0, 10, 20, 30])
    image.info["transparency"] = 1
    assert read(encode_jpeg(image)).getpixel((4, 4)) == pytest.approx((255, 255, 255), abs=1)


def test_quality_90_is_the_default() -> None:
    noise = Image.effect_noise((64, 64), 80).convert("RGB")
    assert encode_jpeg(noise) == encode_jpeg(noise, quality=90)
    assert len(encode_jpeg(noise, quality=40)) < len(encode_jpeg(noise))


@given(st.sampled_from(["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I"]), st.integers(1, 20), st.integers(1, 20))
def test_every_image_can_be_written(mode: str, width: int, height: int) -> None:
    assert read(encode_jpeg(Image.new(mode, (width, height)))).size == (width, height)
