"""Image geometry: size, quiet zone, module width, colours and alpha."""

import io
import math
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pressroom.sdk import InvalidInput
from pressroom_qr_code_generator.encode import encode
from pressroom_qr_code_generator.params import QrCodeParams
from pressroom_qr_code_generator.render import render
from support.sizes import examples

URL = "https://example.com/"
MODULES = 25


def _image(**params: Any) -> Image.Image:
    with Image.open(io.BytesIO(render(QrCodeParams(**params)).content)) as image:
        return image.convert("RGBA")


def _dark_box(image: Image.Image) -> tuple[int, int, int, int]:
    box = image.convert("L").point(lambda value: 255 - value).getbbox()
    assert box is not None
    return box


@settings(max_examples=examples(60))
@given(size=st.integers(64, 2048), margin=st.integers(0, 16))
def test_the_image_has_the_size_asked_and_every_module_its_place(size: int, margin: int) -> None:
    assert len(encode(URL, "M")) == MODULES
    total = MODULES + 2 * margin
    image = _image(text=URL, size=size, margin=margin)
    assert image.size == (size, size)
    left, top, right, bottom = _dark_box(image)
    assert (left, right) == (top, bottom)
    assert abs(left - (size - right)) <= 1
    assert left >= int(margin * size / total) - (size < 3 * total)
    row = [image.getpixel((x, top)) for x in range(left, left + (right - left) * 7 // MODULES)]
    assert row == [(0, 0, 0, 255)] * len(row)


@settings(max_examples=examples(60))
@given(size=st.integers(64, 1024), margin=st.integers(0, 16))
def test_modules_are_equally_large_from_three_pixels_on_and_fill_the_image_below(size: int, margin: int) -> None:
    image = _image(text=URL, size=size, margin=margin)
    left, _, right, _ = _dark_box(image)
    module = size / (MODULES + 2 * margin)
    timing_row = left + int(6.5 * int(module)) if module >= 3 else int((margin + 6.5) * module)
    line = [image.getpixel((x, timing_row)) for x in range(left, right)]
    widths = [len(list(run)) for _, run in groupby(line)][1:-1]
    if module >= 3:
        assert (right - left) == MODULES * int(module)
        assert set(widths) == {int(module)}
    else:
        assert abs((right - left) - MODULES * module) <= 1
        assert all(int(module) <= width <= int(module) + 1 for width in widths)


def test_the_quiet_zone_of_an_evenly_divisible_image_is_exactly_the_margin() -> None:
    image = _image(text=URL, size=(MODULES + 8) * 10, margin=4)
    assert _dark_box(image) == (40, 40, 290, 290)


def test_without_a_margin_the_symbol_reaches_the_edges() -> None:
    assert _dark_box(_image(text=URL, size=MODULES * 20, margin=0)) == (0, 0, 500, 500)


def test_the_smallest_image_has_one_pixel_per_module() -> None:
    text = "a" * 300
    modules = len(encode(text, "M"))
    image = _image(text=text, size=modules + 4)
    dark = [[image.getpixel((x + 2, y + 2)) == (0, 0, 0, 255) for x in range(modules)] for y in range(modules)]
    assert dark == [[bool(module) for module in row] for row in encode(text, "M")]


def test_an_image_that_is_too_small_is_refused_with_the_required_size() -> None:
    text, margin = "a" * 300, 16
    smallest = len(encode(text, "M")) + 2 * margin
    with pytest.raises(InvalidInput, match=f"^size: must be at least {smallest} .*got {smallest - 1}"):
        render(QrCodeParams(text=text, size=smallest - 1, margin=margin))
    assert _image(text=text, size=smallest, margin=margin).size == (smallest, smallest)


def test_modules_too_small_for_most_readers_cause_a_warning_with_a_sufficient_size() -> None:
    text = "a" * 300
    enough = math.ceil(2.5 * (len(encode(text, "M")) + 4))
    (warning,) = render(QrCodeParams(text=text, size=enough - 1)).warnings
    assert f"at least {enough}" in warning
    assert render(QrCodeParams(text=text, size=enough)).warnings == ()


@pytest.mark.parametrize(
    ("foreground", "background", "paper", "ink"),
    [
        ("#000000", "#ffffff", (255, 255, 255, 255), (0, 0, 0, 255)),
        ("#1d1a17", "#faf7f2", (250, 247, 242, 255), (29, 26, 23, 255)),
        ("#123456", "#abcdef00", (171, 205, 239, 0), (18, 52, 86, 255)),
        ("#12345680", "#ffffff00", (255, 255, 255, 0), (18, 52, 86, 128)),
        ("#00000080", "#ffffff", (255, 255, 255, 255), (127, 127, 127, 255)),
        ("#0000ff80", "#ffffff80", (255, 255, 255, 128), (85, 85, 255, 192)),
        ("#00000000", "#ff0000", (255, 0, 0, 255), (255, 0, 0, 255)),
    ],
)
def test_colours_are_blended(foreground: str, background: str, paper: tuple[int, ...], ink: tuple[int, ...]) -> None:
    image = _image(text=URL, size=330, margin=4, fgColor=foreground, bgColor=background)
    assert image.getpixel((0, 0)) == paper
    assert image.getpixel((40, 40)) == ink
    assert {color for _, color in image.getcolors() or ()} == {paper, ink}


def test_an_opaque_image_has_one_bit_per_pixel_and_no_alpha() -> None:
    content = render(QrCodeParams(text=URL)).content
    with Image.open(io.BytesIO(content)) as image:
        assert (image.format, image.mode) == ("PNG", "P")
        assert "transparency" not in image.info
    assert content[24:26] == bytes([1, 3])


def test_a_large_dense_image_is_a_small_file() -> None:
    assert len(render(QrCodeParams(text="ä" * 1165, size=2048)).content) < 30_000
