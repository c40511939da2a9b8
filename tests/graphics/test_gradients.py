"""Colours and gradients match Chromium, and invalid values raise the documented error."""

from __future__ import annotations

import io

import numpy as np
import pytest
import resvg_py
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pressroom.errors import InvalidStyle
from pressroom.graphics.color import Color, contrast, parse_color
from pressroom.graphics.gradient import ConicGradient, parse_paint
from pressroom.graphics.painting import paint_image
from pressroom.graphics.svg_paint import svg_paint
from support.chromium import chromium_page, difference, photographed

WIDTH, HEIGHT = 300, 200

BACKGROUNDS = [
    "linear-gradient(135deg, #b9502a, #3b1d52)",
    "linear-gradient(to top right, red, 20%, rgb(0 0 255 / 50%) 80%, lime)",
    "linear-gradient(to left, red 20%, blue 20%, 90%, white)",
    "linear-gradient(170deg, red -50px, blue 150%)",
    "linear-gradient(-0.2turn, red, 10px, blue 40% 60%, lime)",
    "repeating-linear-gradient(45deg, #222 0 10px, #eee 10px 20px)",
    "radial-gradient(circle at 30% 40%, #fff, transparent 60%, oklch(70% .2 30))",
    "radial-gradient(closest-side, hsl(200 80% 50%), hwb(20 10% 10%))",
    "radial-gradient(circle closest-corner at right 20px bottom 30px, red, blue)",
    "radial-gradient(ellipse farthest-side at 10% 10%, #0008, #fff0)",
    "repeating-radial-gradient(20px 30px at 10px 20px, lab(50% 40 59), navy 50%, gold)",
    "repeating-radial-gradient(circle at 30% 40%, red -60px, blue 0, lime 0, gold 90px)",
    "repeating-radial-gradient(circle at 0 0, red 90px, blue 150px, lime 150px, gold 240px)",
    "conic-gradient(red, lime)",
    "conic-gradient(from 45deg at 60% 40%, red, yellow 25%, blue 50% 75%, red)",
    "hsl(210deg 50% 50% / 40%)",
    "oklab(60% .1 -.1)",
]


def on_white(image: Image.Image) -> Image.Image:
    ground = Image.new("RGBA", image.size, "white")
    ground.alpha_composite(image.convert("RGBA"))
    return ground.convert("RGB")


@pytest.mark.browser
def test_backgrounds_match_chromium() -> None:
    """The mean channel difference is below 1 of 255, and 99 % of channels are within 8."""
    with chromium_page(WIDTH, HEIGHT) as page:
        for background in BACKGROUNDS:
            expected = photographed(page, f'<div style="height:{HEIGHT}px;background:{background}">')
            deviation = difference(expected, on_white(paint_image(parse_paint(background), WIDTH, HEIGHT)))
            assert deviation.mean() < 1, background
            assert np.percentile(deviation, 99) <= 8, background


@pytest.mark.parametrize("background", [background for background in BACKGROUNDS if "conic" not in background])
def test_backgrounds_look_the_same_in_svg(background: str) -> None:
    paint = parse_paint(background)
    assert not isinstance(paint, ConicGradient)
    filled = svg_paint(paint, WIDTH, HEIGHT, "ground")
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"><defs>{filled.definition}</defs>'
        f'<rect width="100%" height="100%" {filled.attributes}/></svg>'
    )
    with Image.open(io.BytesIO(bytes(resvg_py.svg_to_bytes(svg_string=svg)))) as drawn:
        deviation = difference(on_white(drawn), on_white(paint_image(paint, WIDTH, HEIGHT)))
    assert deviation.mean() < 1
    assert np.percentile(deviation, 99) <= 8


@pytest.mark.parametrize(
    ("text", "rgba"),
    [
        ("#b9502a", (185, 80, 42, 255)),
        ("#F0c8", (255, 0, 204, 136)),
        ("rebeccapurple", (102, 51, 153, 255)),
        ("transparent", (0, 0, 0, 0)),
        ("rgba(10, 20, 30, 0.5)", (10, 20, 30, 128)),
        ("rgb(100% 0% 50%)", (255, 0, 128, 255)),
        ("hsl(120 100% 25%)", (0, 128, 0, 255)),
        ("hwb(0 20% 20%)", (204, 51, 51, 255)),
        ("oklch(0.62796 0.25768 29.23)", (255, 0, 0, 255)),
        ("lab(100% 0 0)", (255, 255, 255, 255)),
        ("color(srgb-linear 0.5 0.5 0.5)", (188, 188, 188, 255)),
        ("currentcolor", (1, 2, 3, 255)),
    ],
)
def test_colours(text: str, rgba: tuple[int, ...]) -> None:
    assert parse_color(text, Color(1 / 255, 2 / 255, 3 / 255)).rgba8 == rgba


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("", 1, "is empty"),
        ("bleu", 1, '"bleu" is neither'),
        ("red blue", 5, "is too much"),
        ("linear-gradient(90deg, red, bleu)", 29, '"bleu" is not a colour'),
        ("linear-gradient(red)", 1, "two colours"),
        ("linear-gradient(red,,blue)", 1, "between two commas"),
        ("linear-gradient(to middle, red, blue)", 17, '"to" must be followed by'),
        ("linear-gradient(20%, red, blue)", 1, "between two colours"),
        ("radial-gradient(circle 10%, red, blue)", 17, "a circle takes one length"),
        ("radial-gradient(-5px, red, blue)", 17, "negative"),
        ("conic-gradient(from, red, blue)", 16, '"from" must be followed by'),
        ("conic-gradient(at nowhere, red, blue)", 16, '"at" must be followed by'),
        ("url(https://example.org/a.png)", 1, "images are not allowed"),
        ("linear-gradient(red, url(a))", 22, "images are not allowed"),
        ("spiral-gradient(red, blue)", 1, "is not a gradient"),
        ("(" * 40, 33, "brackets are nested"),
        ("linear-gradient(" + "red," * 300 + "blue)", 1, "256 stops"),
    ],
)
def test_problems_are_reported_with_their_location(text: str, position: int, problem: str) -> None:
    with pytest.raises(InvalidStyle) as caught:
        parse_paint(text)
    assert caught.value.position == position
    assert problem in caught.value.message


PIECES = st.sampled_from(
    [
        *(
            "linear-gradient(",
            "repeating-radial-gradient(",
            "conic-gradient(",
            "rgb(",
            "oklch(",
            "color(",
            "(",
            "[",
            ")",
        ),
        *("to ", "top ", "at ", "from ", "circle ", "closest-side ", "center ", "none ", "red", "transparent", "#f00"),
        *(
            ",",
            "/",
            " ",
            "0",
            "1e40",
            "-1e40px",
            "50%",
            "-10%",
            "45deg",
            "1e30turn",
            "calc(",
            "url(x)",
            '"',
            "\\",
            "💥",
        ),
        *("nan", "infinity", "currentcolor", "display-p3 ", "1 2 3"),
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=60))
def test_any_text_is_drawn_or_refused(text: str) -> None:
    try:
        paint = parse_paint(text)
    except InvalidStyle:
        return
    assert paint_image(paint, 7, 5).size == (7, 5)


COLORS = st.sampled_from(["red", "#00f8", "transparent", "oklch(70% .2 30)", "hsl(20 30% 40% / 10%)"])
PLACES = st.sampled_from(["", " 10%", " -5px", " 200%", " 1e9px", " 0 0"])


@given(
    st.sampled_from(["linear-gradient(1e-9deg", "repeating-linear-gradient(to top left", "radial-gradient(0 0 at 0 0"]),
    st.lists(st.tuples(COLORS, PLACES), min_size=2, max_size=5),
    st.integers(1, 40),
    st.integers(1, 40),
)
def test_every_gradient_fills_every_box(start: str, stops: list[tuple[str, str]], width: int, height: int) -> None:
    text = start + ", " + ", ".join(color + place for color, place in stops) + ")"
    assert paint_image(parse_paint(text), width, height).size == (width, height)


def test_contrast_follows_wcag() -> None:
    assert contrast(parse_color("white"), parse_color("black")) == pytest.approx(21)
    assert contrast(parse_color("#777"), parse_color("#fff")) == pytest.approx(4.48, abs=0.01)
