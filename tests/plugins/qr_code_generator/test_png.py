"""The PNG encoder on its own."""

import io
import sys
import zlib
from importlib import reload

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pressroom_qr_code_generator import render as png
from support.sizes import examples

RED, CLEAR = (255, 0, 0, 255), (1, 2, 3, 0)


def _bits(image: Image.Image) -> list[list[int]]:
    return [[int(image.getpixel((x, y)) or 0) for x in range(image.width)] for y in range(image.height)]  # type: ignore[arg-type]


@settings(max_examples=examples(100))
@given(
    width=st.integers(1, 70),
    lines=st.lists(st.tuples(st.integers(0, 2**70 - 1), st.integers(0, 4)), min_size=1, max_size=12).filter(
        lambda lines: any(times for _, times in lines)
    ),
)
def test_every_pixel_comes_back(width: int, lines: list[tuple[int, int]]) -> None:
    length, spare = (width + 7) // 8, -width % 8
    rows = [(((bits % 2**width) << spare).to_bytes(length, "big"), times) for bits, times in lines]
    expected = [
        [int(digit) for digit in format(bits % 2**width, f"0{width}b")] for bits, times in lines for _ in range(times)
    ]
    with Image.open(io.BytesIO(png.two_color_png(width, rows, (RED, CLEAR)))) as image:
        assert image.size == (width, len(expected))
        assert _bits(image) == expected


def test_the_image_is_the_same_without_the_fast_compressor(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(b"\xaa\x80", 3), (b"\x0f\x00", 2)]
    fast = png.two_color_png(9, rows, (RED, CLEAR))
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
    try:
        assert reload(png).compress is zlib.compress
        plain = png.two_color_png(9, rows, (RED, CLEAR))
    finally:
        monkeypatch.undo()
        reload(png)
    with Image.open(io.BytesIO(fast)) as first, Image.open(io.BytesIO(plain)) as second:
        assert _bits(first) == _bits(second)


def test_the_alpha_of_opaque_colours_is_omitted() -> None:
    assert b"tRNS" not in png.two_color_png(8, [(b"\x00", 1)], (RED, RED))
    assert b"tRNS\x00" in png.two_color_png(8, [(b"\x00", 1)], (CLEAR, RED))
    assert b"tRNS\xff\x00" in png.two_color_png(8, [(b"\x00", 1)], (RED, CLEAR))
