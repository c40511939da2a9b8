"""Theme colours stay legible with any accent."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pressroom.graphics.color import Color, contrast, parse_color
from pressroom_image_generator.palette import Palette, palette
from pressroom_image_generator.templates import THEMES

ACCENTS = st.from_regex(r"#[0-9a-f]{6}([0-9a-f]{2})?", fullmatch=True)
AA = 4.5


def grounds(colors: Palette) -> list[Color]:
    """Return all colours that can be behind text: those of the background, gradients between them, and shapes."""
    stops = [parse_color(text) for text in re.findall(r"#[0-9a-f]{6}", colors.background)]
    shades = [parse_color(colors.shape), *stops]
    for start, end in pairwise(stops):
        for step in range(1, 20):
            part = step / 20
            shades.append(
                Color(
                    start.red + (end.red - start.red) * part,
                    start.green + (end.green - start.green) * part,
                    start.blue + (end.blue - start.blue) * part,
                )
            )
    return shades


@pytest.mark.parametrize("theme", THEMES)
@given(accent=ACCENTS)
@example(accent="#808080")
@example(accent="#ffff00")
@example(accent="#0000ff")
@example(accent="#767676")
@example(accent="#00ff0000")
def test_every_text_can_be_read_on_all_that_lies_under_it(theme: str, accent: str) -> None:
    colors = palette(theme, accent)
    for ground in grounds(colors):
        for name in ("text", "muted", "accent_text"):
            ratio = contrast(parse_color(getattr(colors, name)), ground)
            assert ratio >= AA - 0.01, (name, ratio, colors)
    assert contrast(parse_color(colors.on_accent), parse_color(colors.accent)) >= AA


def test_a_dark_accent_is_unchanged_on_a_light_background() -> None:
    assert palette("light", "#b9502a").accent == "#b9502a"
    assert palette("bold", "#0f766e").background == "#0f766e"


def test_an_accent_that_would_be_invisible_is_adjusted() -> None:
    assert palette("minimal", "#ffffff").accent != "#ffffff"
    assert palette("dark", "#000000").accent != "#000000"


@pytest.mark.parametrize("accent", ["#ffffff", "#000000", "#fefefe", "#ffff00", "#808080", "#00ff0000"])
def test_a_bold_image_has_a_visible_shape_on_any_colour(accent: str) -> None:
    colors = palette("bold", accent)
    assert contrast(parse_color(colors.shape), parse_color(colors.ground)) > 1.05
