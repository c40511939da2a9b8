"""Rounded boxes and shadows match Chromium."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pressroom.graphics.shapes import Radii, border_mask, box_mask, box_shadow, fitted_radii
from support.chromium import chromium_page, difference, photographed

Box = tuple[int, int, Radii, int, int]

BOXES: list[Box] = [
    (120, 80, (16, 16, 16, 16), 30, 0),
    (120, 80, (40, 5, 0, 60), 10, 0),
    (150, 90, (0, 0, 0, 0), 60, 0),
    (120, 80, (8, 8, 8, 8), 24, 12),
    (120, 80, (10, 10, 10, 10), 20, -10),
    (60, 60, (90, 90, 90, 90), 0, 8),
]


@pytest.mark.browser
def test_boxes_and_shadows_match_chromium() -> None:
    """The mean channel difference is below 1 of 255, and 99 % of channels are within 8."""
    with chromium_page(400, 300) as page:
        for width, height, radii, blur, spread in BOXES:
            corners = " ".join(f"{radius}px" for radius in radii)
            expected = photographed(
                page,
                f'<div style="position:absolute;left:130px;top:100px;width:{width}px;height:{height}px;'
                f'border-radius:{corners};box-shadow:0 0 {blur}px {spread}px #000;background:#b9502a">',
            )
            drawn = Image.new("RGB", (400, 300), "white")
            shadow = box_shadow(width, height, radii, blur, spread)
            drawn.paste((0, 0, 0), (130 - shadow.margin, 100 - shadow.margin), shadow.mask)
            drawn.paste((185, 80, 42), (130, 100), box_mask(width, height, radii))
            deviation = difference(expected, drawn)
            assert deviation.mean() < 1, (radii, blur, spread)
            assert np.percentile(deviation, 99) <= 8, (radii, blur, spread)


def test_a_border_leaves_the_inside_empty() -> None:
    mask = border_mask(40, 30, (8, 8, 8, 8), 3)
    assert [mask.getpixel(position) for position in ((0, 0), (20, 0), (20, 2), (20, 3), (20, 15), (39, 15))] == [
        0,
        255,
        255,
        0,
        0,
        255,
    ]


LENGTHS = st.floats(-50, 1e5, allow_nan=False)


@given(st.integers(1, 60), st.integers(1, 60), st.tuples(LENGTHS, LENGTHS, LENGTHS, LENGTHS))
def test_radii_never_overlap(width: int, height: int, radii: Radii) -> None:
    top_left, top_right, bottom_right, bottom_left = fitted_radii(width, height, radii)
    assert max(top_left + top_right, bottom_left + bottom_right) <= width + 1e-6
    assert max(top_left + bottom_left, top_right + bottom_right) <= height + 1e-6
    assert box_mask(width, height, radii).size == (width, height)


@given(st.integers(1, 60), st.integers(1, 60), st.floats(0, 1e9), st.floats(-100, 100), st.floats(0, 40))
def test_every_shadow_lies_around_its_box(width: int, height: int, blur: float, spread: float, radius: float) -> None:
    shadow = box_shadow(width, height, (radius, radius, radius, radius), blur, spread)
    if shadow.margin > 0:
        assert shadow.mask.size == (width + 2 * shadow.margin, height + 2 * shadow.margin)
