"""PNG round trips preserve the image."""

import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pressroom.graphics.png import encode_png


def noise(mode: str, width: int, height: int, seed: int) -> Image.Image:
    randomness = random.Random(seed)
    image = Image.frombytes("RGBA", (width, height), randomness.randbytes(width * height * 4))
    if mode == "P":
        return image.convert("RGB").quantize(randomness.choice([2, 17, 256]))
    return image.convert(mode)


@given(
    st.sampled_from(["1", "L", "P", "RGB", "RGBA", "LA"]),
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(),
    st.booleans(),
)
def test_every_image_comes_back(mode: str, width: int, height: int, seed: int, photographic: bool) -> None:
    image = noise(mode, width, height, seed)
    read = Image.open(io.BytesIO(encode_png(image, photographic=photographic)))
    assert read.convert("RGBA").tobytes() == image.convert("RGBA").tobytes()


@pytest.mark.parametrize("photographic", [False, True])
@pytest.mark.parametrize(("mode", "width", "height"), [("RGBA", 700, 400), ("RGB", 3, 90_001), ("1", 4001, 300)])
def test_a_large_image_round_trips(mode: str, width: int, height: int, photographic: bool) -> None:
    image = noise(mode, width, height, 1)
    decoded = Image.open(io.BytesIO(encode_png(image, photographic=photographic)))
    assert decoded.tobytes() == image.tobytes()


@pytest.mark.parametrize("transparency", [1, bytes([255, 0, 128])])
def test_a_palette_preserves_transparency(transparency: int | bytes) -> None:
    image = Image.new("P", (3, 1))
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255])
    image.putdata([0, 1, 2])
    image.info["transparency"] = transparency
    decoded = Image.open(io.BytesIO(encode_png(image))).convert("RGBA")
    assert [decoded.getpixel((x, 0))[3] for x in range(3)] == ([255, 0, 255] if transparency == 1 else [255, 0, 128])  # type: ignore[index]
