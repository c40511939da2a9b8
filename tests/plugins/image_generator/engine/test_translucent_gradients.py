"""Gradients with transparency match Chromium when clipped, transformed, faded or blended."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page
from pressroom_image_generator.engine import render
from support.chromium import chromium_page, difference
from support.engine_pages import photographed_html, prepare
from support.sizes import examples

WIDTH, HEIGHT = 240, 200
COARSE = 8
"""Images are compared in squares with sides of this many pixels, to ignore differences in antialiasing."""

MAX_DIFFERENCE = 24
"""Maximum difference in the mean colour of a square, of 255: at an edge, the antialiasing of both engines adds up."""

FEW = 1.5
"""Maximum mean colour difference, of 255."""

GLOW = "radial-gradient(circle, rgba(244,63,94,1) 0%, rgba(244,63,94,0) 70%)"
GRADIENTS = (
    GLOW,
    "linear-gradient(60deg, rgba(37,99,235,0), rgba(37,99,235,0.9))",
    "linear-gradient(transparent 20%, #10b981 60%, transparent)",
    "radial-gradient(ellipse at 30% 40%, rgba(16,185,129,0.2), rgba(124,58,237,0.9))",
    "conic-gradient(rgba(234,88,12,0.9), rgba(234,88,12,0), rgba(234,88,12,0.9))",
)
TRANSFORMS = ("", "scale(1.4)", "rotate(17deg)", "skewX(12deg) scale(0.9)", "translate(7px, 4px)", "scale(-1.2, 0.7)")
BLENDS = ("", "multiply", "screen")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium_page(WIDTH, HEIGHT) as page:
        prepare(page, WIDTH, HEIGHT)
        yield page


def html_of(gradient: str, radius: int, transform: str, opacity: float, blend: str, tile: int, *, clipped: bool) -> str:
    """Return a page with a box of 120 × 100 pixels that has the gradient, or clips a box that has it."""
    painted = f"background-image:{gradient};" + (f"background-size:{tile}px {tile}px;" if tile else "")
    outer = f"position:absolute;left:60px;top:50px;width:120px;height:100px;border-radius:{radius}px;"
    outer += f"opacity:{opacity};"
    outer += f"transform:{transform};" if transform else ""
    outer += f"mix-blend-mode:{blend};" if blend else ""
    box = (
        f'<div style="{outer}overflow:hidden"><div style="width:120px;height:100px;{painted}"></div></div>'
        if clipped
        else f'<div style="{outer}{painted}"></div>'
    )
    ground = "position:relative;width:100%;height:100%;background:linear-gradient(90deg, #fff, #ffe0a0)"
    return f'<div style="{ground}">{box}</div>'


def off(image: Image.Image, other: Image.Image) -> NDArray[np.int16]:
    """Return the colour differences between the squares of two images."""
    return difference(image.reduce(COARSE), other.reduce(COARSE))


@pytest.mark.browser
@settings(max_examples=examples(30))
@given(
    gradient=st.sampled_from(GRADIENTS),
    radius=st.sampled_from((0, 16, 60)),
    transform=st.sampled_from(TRANSFORMS),
    opacity=st.sampled_from((1.0, 0.6)),
    blend=st.sampled_from(BLENDS),
    tile=st.sampled_from((0, 30)),
    clipped=st.booleans(),
)
@example(gradient=GLOW, radius=60, transform="scale(1.4)", opacity=1.0, blend="", tile=0, clipped=False)
@example(gradient=GLOW, radius=16, transform="rotate(17deg)", opacity=1.0, blend="", tile=30, clipped=False)
@example(gradient=GRADIENTS[1], radius=16, transform="skewX(12deg)", opacity=0.6, blend="", tile=0, clipped=False)
@example(gradient=GRADIENTS[4], radius=60, transform="scale(1.4)", opacity=0.6, blend="multiply", tile=0, clipped=True)
def test_translucent_gradients_look_as_in_chromium(
    page: Page, gradient: str, radius: int, transform: str, opacity: float, blend: str, tile: int, clipped: bool
) -> None:
    html = html_of(gradient, radius, transform, opacity, blend, tile, clipped=clipped)
    found = off(render(html, WIDTH, HEIGHT).image.convert("RGB"), photographed_html(page, html))
    assert found.max() <= MAX_DIFFERENCE
    assert found.mean() <= FEW


def test_the_rounded_clip_of_a_translucent_layer_has_no_dark_edge() -> None:
    """Every colour on the edge lies between that of the box and the surrounding white."""
    html = (
        '<div style="position:relative;width:100%;height:100%;background:#fff"><div style="position:absolute;left:60px;'
        'top:40px;width:120px;height:120px;border-radius:60px;overflow:hidden;opacity:0.99">'
        '<div style="width:120px;height:120px;background:#ff8000"></div></div></div>'
    )
    red, green, blue = np.asarray(render(html, WIDTH, HEIGHT).image.convert("RGB"), dtype=np.int16).reshape(-1, 3).T
    assert blue.min() < 10
    assert red.min() >= 253
    assert np.abs(green - (128 + blue * 127 / 255)).max() <= 3
