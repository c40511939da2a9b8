"""Text layout matches Chromium, covers many scripts, and survives any input."""

from __future__ import annotations

import io
from typing import Any, Literal

import numpy as np
import pytest
import resvg_py
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pressroom.graphics.color import BLACK, parse_color
from pressroom.graphics.emoji import emoji_image, emoji_path, is_emoji
from pressroom.graphics.segments import line_units
from pressroom.graphics.text import (
    TextStyle,
    break_lines,
    clamp_lines,
    default_library,
    draw_text,
    ellipsized,
    shape,
)
from support.chromium import chromium_page, photographed, similarity

LIBRARY = default_library()
INTER, SERIF, MONO = (LIBRARY.of_family(name)[0] for name in ("sans-serif", "serif", "monospace"))


def drawn(text: str, style: TextStyle, size: tuple[int, int] = (400, 120), baseline: float = 70) -> Image.Image:
    image = Image.new("RGB", size, "white")
    draw_text(image, shape(text, style, LIBRARY), 10, baseline, BLACK)
    return image


@pytest.mark.browser
@pytest.mark.parametrize(
    ("text", "family", "size", "weight"),
    [
        ("Hamburgefonstiv AVATAR office", "Inter", 26, 400),
        ("The quick brown fox jumps", "Inter", 16, 700),
        ("Serif “quotes” office fi", "Source Serif 4", 36, 600),
        ("const x => 1 != 2;", "JetBrains Mono", 20, 400),
    ],
)
def test_latin_text_matches_chromium(text: str, family: str, size: int, weight: int) -> None:
    """Widths match to a tenth of a pixel, and the structural similarity is at least 0.97."""
    face = LIBRARY.of_family(family)[0]
    style = TextStyle(size, (family,), weight)
    with chromium_page(400, 120) as page:
        # The strut is an image of zero height on the baseline: it shows where the baseline is.
        expected = photographed(
            page,
            f'<div style="position:absolute;left:10px;top:20px;white-space:pre;font:{weight} {size}px/80px '
            f'\'{family}\'"><span>{text}</span><i style="display:inline-block"></i></div>',
            {family: face.path},
        )
        width = page.evaluate("document.querySelector('span').getBoundingClientRect().width")
        baseline = page.evaluate("document.querySelector('i').getBoundingClientRect().bottom")
    assert shape(text, style, LIBRARY).width == pytest.approx(width, abs=0.1)
    assert similarity(expected, drawn(text, style, baseline=round(baseline))) > 0.97


@pytest.mark.parametrize(
    "text",
    ["Ελληνικά Кириллица", "مرحبا بالعالم", "שלום עולם", "नमस्ते दुनिया", "ภาษาไทย", "Tiếng Việt", "→ ✓"],
)
def test_many_scripts_have_glyphs(text: str) -> None:
    assert shape(text, TextStyle(20), LIBRARY).missing == ()


def test_a_character_without_a_font_is_a_visible_box() -> None:
    text = "\U000e1000\U00013000"
    assert "\U00013000" in shape(text, TextStyle(40), LIBRARY).missing
    assert np.asarray(drawn("\U00013000", TextStyle(40))).min() == 0


def test_arabic_joins_and_runs_from_right_to_left() -> None:
    joined, alone = (shape(text, TextStyle(20), LIBRARY) for text in ("ععع", "ع"))
    assert joined.right_to_left
    assert len({glyph.glyph for glyph in joined.glyphs} | {alone.glyphs[0].glyph}) == 4
    assert [glyph.cluster for glyph in joined.glyphs] == [2, 1, 0]


def test_numbers_in_hebrew_keep_their_order() -> None:
    text = "א12ב"
    order = [text[glyph.cluster] for glyph in shape(text, TextStyle(20), LIBRARY).glyphs]
    assert order == ["ב", "1", "2", "א"]


def test_weights_sizes_kerning_and_ligatures() -> None:
    def width(text: str, size: float = 100, **options: Any) -> float:
        return shape(text, TextStyle(size, **options), LIBRARY).width

    assert width("office", weight=800) > width("office", weight=300)
    assert width("AVAVAV") < width("AVAVAV", kerning=False)
    assert width("a", size=14) / 14 != pytest.approx(width("a", size=32) / 32, rel=1e-3)  # the optical size
    assert width("1111", features=(("tnum", 1),)) == pytest.approx(width("0000", features=(("tnum", 1),)))
    joined, single = (shape("=>", TextStyle(20, ("mono",), ligatures=on), LIBRARY) for on in (True, False))
    assert [glyph.glyph for glyph in joined.glyphs] != [glyph.glyph for glyph in single.glyphs]
    assert width("abc", letter_spacing=5) == pytest.approx(width("abc", ligatures=False) + 15)


@pytest.mark.parametrize("symbol", ["👩‍👩‍👧‍👦", "🇩🇪", "1️⃣", "👍🏽", "❤️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🧑🏿‍🚀"])
def test_every_type_of_emoji_is_one_image(symbol: str) -> None:
    assert is_emoji(symbol)
    (glyph,) = shape(symbol, TextStyle(32), LIBRARY).glyphs
    assert glyph.emoji == symbol
    image = emoji_image(symbol, 512)
    assert image is not None
    assert image.size == (512, 512)
    box = image.getchannel("A").getbbox()
    assert box is not None
    assert max(box[2] - box[0], box[3] - box[1]) > 400


def test_an_image_wider_than_high_is_centred_in_its_square() -> None:
    image = emoji_image("🍉", 180)
    assert image is not None
    assert image.size == (180, 180)
    left, top, right, bottom = image.getchannel("A").getbbox() or (0, 0, 0, 0)
    assert right - left > bottom - top
    assert top == pytest.approx(180 - bottom, abs=2)


@pytest.mark.parametrize("size", [16, 18, 72, 300])
@pytest.mark.parametrize("symbol", ["🚀", "🇦🇫", "📶", "🪇", "🧆", "🪮", "🍿"])
def test_emoji_match_another_engine(symbol: str, size: int) -> None:
    """The samples include flags, clipped and rotated shapes, strokes and translucent shapes."""
    image, path = emoji_image(symbol, size), emoji_path(symbol)
    assert image is not None
    assert path is not None
    other = resvg_py.svg_to_bytes(svg_path=str(path), width=size, height=size, skip_system_fonts=True)
    grounds = [Image.new("RGB", (size, size), "white") for _ in range(2)]
    for ground, layer in zip(grounds, (image, Image.open(io.BytesIO(other)).convert("RGBA")), strict=True):
        ground.paste(layer, mask=layer.getchannel("A"))
    ours, theirs = (np.asarray(ground, dtype=int) for ground in grounds)
    # The images differ only along edges, which make up more of a smaller image.
    assert np.abs(ours - theirs).mean() < 250 / size


@pytest.mark.parametrize("text", ["©", "a", "3", "☎\ufe0e", "→"])
def test_symbols_remain_text(text: str) -> None:
    assert not is_emoji(text)


def test_lines_break_where_the_language_allows() -> None:
    style = TextStyle(20)
    assert break_lines("one two three", style, LIBRARY, 80) == ["one two", "three"]
    assert break_lines("a\n\nb", style, LIBRARY, 80) == ["a", "", "b"]
    thai = break_lines("ภาษาไทยง่ายนิดเดียว", style, LIBRARY, 80)
    assert len(thai) > 1
    assert thai[0] in ("ภาษาไทย", "ภาษา")
    assert len(break_lines("x" * 100, style, LIBRARY, 80)) > 5


def test_a_word_that_breaks_at_a_soft_hyphen_ends_with_a_hyphen() -> None:
    style = TextStyle(20)
    lines = break_lines("Donau\u00addampf\u00adschiff fährt", style, LIBRARY, 80)
    assert lines == ["Donau-", "dampf-", "schiff", "fährt"]
    assert all(shape(line, style, LIBRARY).width <= 80 for line in lines)


@pytest.mark.parametrize("text", ["C++ ", "C++20/", "$$$ ", "€€ ", "100%+ ", "--option ", "-x "])
def test_programming_languages_prices_and_options_are_not_broken(text: str) -> None:
    assert list(line_units(f"a {text}b-c")) == ["a ", text, "b-", "c"]


def test_text_that_is_too_long_ends_in_an_ellipsis() -> None:
    style = TextStyle(20)
    cut = ellipsized("a rather long title", style, LIBRARY, 100)
    assert cut.endswith("…")
    assert shape(cut, style, LIBRARY).width <= 100
    lines = break_lines("one two three four five six seven", style, LIBRARY, 90)
    assert clamp_lines(lines, 2, style, LIBRARY, 90) == [lines[0], clamp_lines(lines, 2, style, LIBRARY, 90)[1]]
    assert clamp_lines(lines, 2, style, LIBRARY, 90)[1].endswith("…")


def test_translucent_text_and_images_with_alpha() -> None:
    red = parse_color("#f008")
    for mode, ground in (("RGB", (255, 255, 255)), ("RGBA", (255, 255, 255, 255))):
        image = Image.new(mode, (60, 60), ground)
        draw_text(image, shape("█", TextStyle(60, ("mono",)), LIBRARY), 0, 45, red)
        assert image.convert("RGB").getpixel((15, 30)) == pytest.approx((255, 119, 119), abs=2)


Direction = Literal["auto", "ltr", "rtl"]
DIRECTIONS: tuple[Direction, ...] = ("auto", "ltr", "rtl")

TEXTS = st.text(
    st.characters(codec="utf-8") | st.sampled_from("א١ب\u202e\u2067\u2069\u200f\u200d\ufe0f👩🏽🇩🇪\t\r\n\u0301\u0e33\0"),
    max_size=25,
)


@given(TEXTS, st.floats(1, 200), st.sampled_from(DIRECTIONS))
def test_any_text_can_be_set(text: str, size: float, direction: Direction) -> None:
    shaped = shape(text, TextStyle(size), LIBRARY, direction)
    assert shaped.width >= 0
    assert {glyph.cluster for glyph in shaped.glyphs} <= set(range(len(text)))
    draw_text(Image.new("RGB", (40, 40)), shaped, -5.3, 20.7, BLACK)


@given(TEXTS, st.floats(1, 300))
def test_lines_lose_nothing_but_white_space(text: str, width: float) -> None:
    lines = break_lines(text, TextStyle(20), LIBRARY, width)
    assert letters(*lines) == letters(text)


def letters(*lines: str) -> str:
    """Return the text without white space, and without hyphens: a soft one can become visible."""
    return "".join("".join(lines).split()).replace("-", "").replace("\u00ad", "")
