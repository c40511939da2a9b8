"""Images with 16 bits per channel keep their grey values wherever they are converted."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Final

import pytest
from PIL import Image
from pressroom.graphics.channels import in_8_bits
from pressroom.graphics.jpeg import encode_jpeg
from pressroom.graphics.png import encode_png
from pressroom.graphics.thumbnails import thumbnail, within_bytes, within_pixels
from pressroom_content.builtin_site.files import make_variants
from pressroom_images.library.files import make

GREY: Final = 128 * 257


def deep(value: int = GREY) -> Image.Image:
    return Image.new("I;16", (1000, 500), value)


def file_of(image: Image.Image, transparency: int | None = None) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", **({} if transparency is None else {"transparency": transparency}))
    return buffer.getvalue()


PLACES: Final[dict[str, Callable[[], bytes | None]]] = {
    "encode_png": lambda: encode_png(deep()),
    "encode_jpeg": lambda: encode_jpeg(deep()),
    "thumbnail": lambda: thumbnail(file_of(deep()), (100, 100), 90),
    "within_pixels": lambda: within_pixels(file_of(deep()), 10_000),
    "within_bytes": lambda: within_bytes(file_of(deep()), ("image/png",), 200_000),
    "a thumbnail of the media library": lambda: make(file_of(deep())),
    "a copy of a built-in site": lambda: make_variants(file_of(deep()))[0][2],
}


@pytest.mark.parametrize("place", PLACES)
def test_grey_stays_grey(place: str) -> None:
    content = PLACES[place]()
    assert content is not None
    with Image.open(io.BytesIO(content)) as image:
        assert image.convert("L").getpixel((50, 25)) == pytest.approx(128, abs=2)


def test_black_and_white_and_the_values_between_are_rounded() -> None:
    values = [0, 128, 129, 257, GREY, 65_535 - 128, 65_535]
    image = Image.new("I;16", (len(values), 1))
    for x, value in enumerate(values):
        image.putpixel((x, 0), value)
    assert list(in_8_bits(image).tobytes()) == [0, 0, 1, 1, 128, 255, 255]


def test_a_transparent_value_stays_transparent() -> None:
    image = deep()
    image.paste(0, (0, 0, 500, 500))
    with Image.open(io.BytesIO(thumbnail(file_of(image, transparency=0), (100, 100), 90))) as small:
        assert small.convert("RGBA").getpixel((20, 25))[3] == 0  # type: ignore[index]
        assert small.convert("RGBA").getpixel((80, 25))[3] == 255  # type: ignore[index]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
def test_other_images_are_unchanged(mode: str) -> None:
    image = Image.new(mode, (2, 2))
    assert in_8_bits(image) is image
