"""Appearance of the icons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pressroom.sdk import InvalidInput
from pressroom_favicon_generator.icon import draw_icon
from pressroom_favicon_generator.params import FaviconParams
from pydantic import ValidationError

BLACK_ON_WHITE = {"bgColor": "#ffffff", "fgColor": "#000000", "radius": 0}


def icon(size: int, **options: Any) -> Image.Image:
    return draw_icon(FaviconParams(**options), size).image


def ink(image: Image.Image) -> tuple[float, float, float, float]:
    """Return the edges of the dark area with subpixel precision: the outermost pixels count by their darkness."""
    darkness = 1 - np.asarray(image.convert("L"), dtype=float) / 255
    across, down = darkness.max(axis=0), darkness.max(axis=1)
    columns, rows = np.nonzero(across > 0.02)[0], np.nonzero(down > 0.02)[0]
    return (
        columns[0] + 1 - across[columns[0]],
        rows[0] + 1 - down[rows[0]],
        columns[-1] + across[columns[-1]],
        rows[-1] + down[rows[-1]],
    )


@pytest.mark.parametrize("family", ["Inter", "serif", "mono"])
@pytest.mark.parametrize("letter", ["g", "Q", "j", "Å", "W", "1"])
def test_letters_are_centred_by_their_ink(letter: str, family: str) -> None:
    left, top, right, bottom = ink(icon(512, content=letter, fontFamily=family, **BLACK_ON_WHITE))
    assert (left + right) / 2 == pytest.approx(256, abs=0.5)
    assert (top + bottom) / 2 == pytest.approx(256, abs=0.5)


@pytest.mark.parametrize("content", ["W", "Ag", "WWW", "DESIGN88"])
@pytest.mark.parametrize("size", [16, 32, 48, 180, 512])
def test_text_shrinks_to_fit(content: str, size: int) -> None:
    left, top, right, bottom = ink(icon(size, source="text", content=content, **BLACK_ON_WHITE))
    assert left >= size * 0.08
    assert right <= size * 0.92
    assert top >= size * 0.1
    assert bottom <= size * 0.9


def test_heavier_weights_have_more_ink() -> None:
    def darkness(weight: int) -> float:
        return 255 - float(np.asarray(icon(128, content="H", fontWeight=weight, **BLACK_ON_WHITE).convert("L")).mean())

    amounts = [darkness(weight) for weight in (400, 600, 700, 800, 900)]
    assert amounts == sorted(amounts)
    assert len(set(amounts)) == 5


@pytest.mark.parametrize("letter", ["A", "R", "8"])
def test_16_pixels_stay_legible(letter: str) -> None:
    """Letters at 16 pixels keep their strokes: there is clear black and white, and counters are open."""
    pixels = np.asarray(icon(16, content=letter, **BLACK_ON_WHITE).convert("L"))
    assert pixels.min() < 40
    middle = pixels[4:12, 6:10]
    assert middle.max() > 120


def test_radius_0_is_a_square_and_50_a_circle() -> None:
    assert icon(180, content="P", radius=0).getpixel((0, 0)) == (185, 80, 42, 255)
    alpha = np.asarray(icon(180, content="P", radius=50).getchannel("A"), dtype=float) / 255
    assert alpha.sum() == pytest.approx(np.pi * 90**2, rel=0.002)
    assert len(np.unique(alpha)) > 20  # the edge is antialiased


@pytest.mark.parametrize("emoji", ["🚀", "👩‍👩‍👧‍👦", "🇩🇪", "1️⃣", "👍🏽", "❤️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"])
def test_emoji_fill_the_icon_with_an_even_margin(emoji: str) -> None:
    image = icon(512, source="emoji", content=emoji, bgColor="#ffffff00", radius=0)
    box = image.getchannel("A").getbbox()
    assert box is not None
    left, top, right, bottom = box
    assert max(right - left, bottom - top) == pytest.approx(512 * 0.94, abs=4)
    assert left == pytest.approx(512 - right, abs=1)
    assert top == pytest.approx(512 - bottom, abs=1)


@pytest.mark.parametrize(
    "symbol", ["\N{HEAVY BLACK HEART}", "\N{AIRPLANE}", "\N{BLACK SUN WITH RAYS}", "\N{COPYRIGHT SIGN}"]
)
def test_emoji_that_are_text_by_default_are_the_same_with_and_without_their_style(symbol: str) -> None:
    plain, styled = (
        FaviconParams(source="emoji", content=content) for content in (symbol, f"{symbol}\N{VARIATION SELECTOR-16}")
    )
    assert plain == styled
    assert draw_icon(plain, 48).image.getcolors(10) is None


@pytest.mark.parametrize("emoji", ["🪭", "🫨", "🫩"])
def test_emoji_newer_than_python_are_supported(emoji: str) -> None:
    assert icon(48, source="emoji", content=emoji).getcolors(10) is None


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"content": "AB"}, "must be one letter (got 2)"),
        ({"content": ""}, "at least 1 character"),
        ({"content": "  "}, "a symbol that can be seen"),
        ({"content": "123456789", "source": "text"}, "at most 8 symbols"),
        ({"content": "a" + "\u0301" * 100}, "at most 8 symbols"),
        ({"content": "A", "source": "emoji"}, "must be one emoji"),
        ({"content": "🚀🚀", "source": "emoji"}, "must be one emoji"),
        ({"content": "1", "source": "emoji"}, "must be one emoji"),
        ({"content": "\N{AIRPLANE}\N{VARIATION SELECTOR-15}", "source": "emoji"}, "must be one emoji"),
        ({"content": "A", "radius": 50.5}, "less than or equal to 50"),
        ({"content": "A", "fontWeight": 500}, "400, 600, 700, 800 or 900"),
        ({"content": "A", "bgColor": "red"}, "hex colour"),
    ],
)
def test_invalid_parameters_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError) as exc_info:
        FaviconParams(**options)
    assert problem in str(exc_info.value)


def test_a_family_emoji_is_one_symbol_and_eight_of_them_fit() -> None:
    assert FaviconParams(source="text", content="👩‍👩‍👧‍👦" * 8).content == "👩‍👩‍👧‍👦" * 8


def test_a_letter_missing_from_every_font_is_refused() -> None:
    with pytest.raises(InvalidInput) as exc_info:
        draw_icon(FaviconParams(content="𓀀"), 64)
    assert exc_info.value.field == "content"


@given(st.text(min_size=1, max_size=8), st.sampled_from(["emoji", "letter", "text"]), st.floats(0, 50))
def test_any_content_is_drawn_or_refused(content: str, source: str, radius: float) -> None:
    try:
        params = FaviconParams(content=content, source=source, radius=radius)  # type: ignore[arg-type]
        drawn = draw_icon(params, 48)
    except (ValidationError, InvalidInput):
        return
    assert drawn.image.size == (48, 48)
