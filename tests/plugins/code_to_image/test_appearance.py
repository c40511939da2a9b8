"""Appearance of the images."""

from __future__ import annotations

import io
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pressroom.graphics.color import contrast, parse_color
from pressroom.sdk import InvalidInput
from pressroom_code_to_image.glyphs import ROW
from pressroom_code_to_image.names import Language, ThemeName
from pressroom_code_to_image.params import CodeImageDetails, CodeImageParams
from pressroom_code_to_image.render import MAX_HEIGHT, MAX_PIXELS, render
from pressroom_code_to_image.themes import THEMES
from pydantic import ValidationError
from support.sizes import examples

from .conftest import Draw

PLAIN: dict[str, Any] = {"title": "", "windowControls": False, "lineNumbers": False}

BACKGROUNDS = {
    "dracula": ("#282a36", "#f8f8f2"),
    "nord": ("#2e3440", "#d8dee9"),
    "github-dark": ("#24292e", "#e1e4e8"),
    "github-light": ("#ffffff", "#24292e"),
    "monokai": ("#272822", "#f8f8f2"),
    "one-dark": ("#282c34", "#abb2bf"),
    "solarized-dark": ("#002b36", "#839496"),
    "tokyo-night": ("#1a1b26", "#a9b1d6"),
    "catppuccin-latte": ("#eff1f5", "#4c4f69"),
    "catppuccin-mocha": ("#1e1e2e", "#cdd6f4"),
    "everforest-dark": ("#2d353b", "#d3c6aa"),
    "gruvbox-dark": ("#282828", "#ebdbb2"),
    "gruvbox-light": ("#fbf1c7", "#3c3836"),
    "kanagawa": ("#1f1f28", "#dcd7ba"),
    "light-plus": ("#ffffff", "#000000"),
    "night-owl": ("#011627", "#d6deeb"),
    "one-light": ("#fafafa", "#383a42"),
    "palenight": ("#292d3e", "#a6accd"),
    "rose-pine": ("#191724", "#e0def4"),
    "solarized-light": ("#fdf6e3", "#657b83"),
}

MIN_TEXT_CONTRAST, MIN_CONTRAST = 4.0, 2.4
"""Minimum contrast of plain text and of any token; the palettes themselves have dim comments."""


def _rgb(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))


def _has(image: Image.Image, color: str) -> bool:
    return bool((np.asarray(image.convert("RGB")) == np.array(_rgb(color))).all(axis=2).any())


@pytest.mark.parametrize("theme", BACKGROUNDS)
def test_a_theme_has_its_background_and_foreground(theme: str, draw: Draw) -> None:
    background, foreground = BACKGROUNDS[theme]
    image = draw("█" * 8, theme=theme, **PLAIN)
    assert image.getpixel((60, image.height - 60)) == _rgb(background)
    assert _has(image, foreground)


@pytest.mark.parametrize(("width", "padding"), [(400, 16), (900, 48), (2000, 128)])
def test_the_width_is_the_requested_one_and_the_height_follows_the_lines(width: int, padding: int, draw: Draw) -> None:
    heights = [draw("\n".join("a" * count), width=width, padding=padding).height for count in (1, 2, 10)]
    assert draw("a", width=width, padding=padding).width == width
    assert [height - heights[0] for height in heights] == [0, ROW, 9 * ROW]


def test_the_details_match_the_image() -> None:
    artifact = render(CodeImageParams(code="a\nb", width=500))
    assert isinstance(artifact.details, CodeImageDetails)
    assert Image.open(io.BytesIO(artifact.content)).size == (artifact.details.width, artifact.details.height)


def test_wrapped_rows_add_to_the_height(draw: Draw) -> None:
    assert draw("a" * 200).height == draw("a\nb\nc").height


def test_the_window_has_round_corners_and_a_shadow(draw: Draw) -> None:
    image = draw("a", background="#ffffff", theme="github-dark")
    corner = image.getpixel((48, 48))
    assert corner != _rgb("#24292e")
    shadow = [image.getpixel((450, image.height - 48 + down))[0] for down in (1, 12, 24, 40, 47)]  # type: ignore[index]
    assert shadow == sorted(shadow)
    assert shadow[0] < 190
    assert shadow[-1] > 245


def test_buttons_title_and_line_numbers_can_be_hidden(draw: Draw) -> None:
    assert _has(draw("a"), "#ff5f57")
    bare = draw("a", **PLAIN)
    assert not _has(bare, "#ff5f57")
    assert bare.height < draw("a").height
    titled = draw("a", title="main.py", windowControls=False, lineNumbers=False)
    assert titled.height == draw("a").height
    assert not _has(titled, "#ff5f57")


def test_a_long_title_does_not_overlap_the_buttons(draw: Draw) -> None:
    buttons = (40, 16, 100, 60)
    short, long = (draw("a", title=title, width=400, padding=16, background="#000000") for title in ("", "W" * 60))
    assert short.crop(buttons).tobytes() == long.crop(buttons).tobytes()


def test_the_line_numbers_are_dimmer_than_the_code(draw: Draw) -> None:
    image = np.asarray(draw("H", theme="github-light", background="#ffffff").convert("L"))
    row = image[92:116]
    assert row[:, 60:105].min() > row[:, 105:130].min() + 60


@pytest.mark.parametrize(
    "background",
    [
        "#b9502a",
        "rebeccapurple",
        "oklch(70% 0.15 200)",
        "linear-gradient(135deg, #5b6ee1, #b26ff0)",
        "radial-gradient(circle at top left, white, black)",
        "conic-gradient(red, lime, blue, red)",
    ],
)
def test_any_css_background_fills_the_canvas(background: str, draw: Draw) -> None:
    image = draw("a", background=background)
    assert image.mode == "RGB"


def test_a_transparent_background_leaves_only_the_window_and_its_shadow(draw: Draw) -> None:
    image = draw("a", background="transparent", theme="nord")
    assert image.mode == "RGBA"
    assert image.getpixel((0, 0)) == (0, 0, 0, 0)
    assert image.getpixel((450, 60))[3] == 255  # type: ignore[index]


def test_a_tall_gradient_has_no_seams(draw: Draw) -> None:
    """The background is painted in strips, which must join without a seam."""
    image = np.asarray(draw("a\n" * 60 + "a", background="linear-gradient(#000000, #ffffff)").convert("L"), dtype=int)
    edge = image[:, 0]
    assert (np.diff(edge) >= 0).all()
    assert np.abs(edge - np.linspace(0, 255, len(edge))).max() <= 2


def test_an_image_that_would_be_too_tall_is_refused() -> None:
    with pytest.raises(InvalidInput) as exc_info:
        render(CodeImageParams(code="\n" * 7999 + "x", width=400))
    assert exc_info.value.field == "code"
    assert f"at most {MAX_HEIGHT} are allowed" in exc_info.value.problem


@pytest.mark.parametrize(("width", "lines"), [(400, 820), (2000, 490)])
def test_images_just_below_the_maximum_height_are_drawn(width: int, lines: int, draw: Draw) -> None:
    image = draw("\n" * lines + "x", width=width)
    assert image.height > 0.95 * min(MAX_HEIGHT, MAX_PIXELS / width)


def test_characters_missing_from_every_font_are_named() -> None:
    (warning,) = render(CodeImageParams(code="𓀀")).warnings
    assert "U+13000" in warning


def test_code_in_the_wrong_language_is_still_drawn(samples: dict[str, str]) -> None:
    for language in get_args(Language):
        for code in samples.values():
            assert render(CodeImageParams(code=code, language=language)).content


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=300) | st.text(
    "(){}[]<>:;,.=&|?!@#$%*/\\'\"`\n\t azAZ09_-é日\u202e", min_size=1, max_size=300
)


@settings(max_examples=examples(100))
@given(
    code=TEXTS,
    language=st.sampled_from(get_args(Language)),
    theme=st.sampled_from(get_args(ThemeName)),
    width=st.integers(400, 900),
    padding=st.integers(16, 128),
    numbers=st.booleans(),
)
def test_any_code_in_any_language_is_drawn_or_refused(
    code: str, language: Language, theme: ThemeName, width: int, padding: int, numbers: bool
) -> None:
    try:
        params = CodeImageParams(
            code=code, language=language, theme=theme, width=width, padding=padding, lineNumbers=numbers
        )
        first = render(params)
    except ValidationError:
        assert not code.strip()
        return
    except InvalidInput as refused:
        assert "pixels in height" in refused.problem  # noqa: PT017 - the refusal is one of two outcomes
        return
    assert first.content == render(params).content


def problem_of(code: str, **options: Any) -> str:
    with pytest.raises(InvalidInput) as exc_info:
        render(CodeImageParams(code=code, **options))
    return exc_info.value.problem


def test_a_refusal_says_how_many_rows_fit() -> None:
    fitting = int(problem_of("x\n" * 1500 + "x").partition(" fit;")[0].rpartition(" ")[2])
    assert render(CodeImageParams(code="x\n" * (fitting - 1) + "x")).content
    assert "pixels in height" in problem_of("x\n" * fitting + "x")


def test_a_refusal_suggests_a_larger_width_only_if_lines_wrap() -> None:
    suggestion = "raise width so that fewer lines wrap"
    assert suggestion in problem_of("word " * 1600, width=400, padding=128)
    assert suggestion not in problem_of("x\n" * 1500 + "x")


@pytest.mark.parametrize(
    "character", ["x", "日", "\u202e", "(", "<", "'", "`", "{", "👩‍👩‍👧‍👦", "a\u0301", "א", "/", "\\", "a "]
)
@pytest.mark.parametrize("language", ["typescript", "python", "rust", "html"])
def test_8000_characters_of_one_kind_are_drawn_or_refused(character: str, language: Language) -> None:
    code = (character * 8000)[:8000]
    try:
        assert render(CodeImageParams(code=code, language=language, width=1200)).content
    except InvalidInput as refused:
        assert "pixels in height" in refused.problem  # noqa: PT017 - the refusal is one of two outcomes


@pytest.mark.parametrize("theme", sorted(THEMES))
def test_every_colour_of_a_theme_is_distinct_from_its_background(theme: ThemeName) -> None:
    palette = THEMES[theme]
    background = parse_color(palette.background)
    assert contrast(parse_color(palette.foreground), background) > MIN_TEXT_CONTRAST
    tables = (palette.styles, *palette.languages.values())
    assert (
        min(contrast(parse_color(style.color), background) for table in tables for style in table.values())
        > MIN_CONTRAST
    )


def test_the_themes_match_the_contract() -> None:
    assert set(THEMES) == set(BACKGROUNDS) == set(get_args(ThemeName))
