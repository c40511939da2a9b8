"""Sizes, highlighted and focused lines, diffs, and characters missing from all fonts."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pressroom.sdk import InvalidInput
from pressroom_code_to_image.params import SWATCHES, CodeImageParams, line_numbers
from pressroom_code_to_image.render import MAX_PIXELS, render
from pydantic import ValidationError

from .conftest import Draw

TWENTY = "\n".join(f"line {number}" for number in range(1, 21))
TOP, ROW = 48 + 44, 24
"""Top of the first row in a default image, and the height of a row, in pixels."""


def _row(image: Image.Image, number: int) -> Any:
    """Return the pixels of a row of the window, without its borders."""
    top = TOP + (number - 1) * ROW
    return np.asarray(image.convert("RGB"))[top : top + ROW, 50:-50].astype(int)


def test_highlighted_lines_have_a_band_and_others_are_unchanged(draw: Draw) -> None:
    plain, highlighted = draw(TWENTY), draw(TWENTY, highlightLines="2, 4-6")
    changed = [number for number in range(1, 21) if (_row(plain, number) != _row(highlighted, number)).any()]
    assert changed == [2, 4, 5, 6]
    assert (_row(highlighted, 2)[0] == _row(highlighted, 5)[0]).all()


def test_a_warning_names_chosen_lines_that_the_code_does_not_have() -> None:
    artifact = render(CodeImageParams(code="a\nb", highlightLines="2-9, 3-9,12", focusLines="4"))
    assert artifact.warnings == (
        "highlightLines: the code has no line 3-9, 12; its last line is 2.",
        "focusLines: the code has no line 4; its last line is 2.",
    )
    assert render(CodeImageParams(code="a\nb", highlightLines="1-9")).warnings == ()


def test_every_row_of_a_wrapped_line_is_highlighted(draw: Draw) -> None:
    code = "a\n" + "b" * 150
    plain, highlighted = draw(code), draw(code, highlightLines="2")
    assert [(_row(plain, row) != _row(highlighted, row)).any() for row in (1, 2, 3)] == [False, True, True]


def test_lines_outside_the_focus_are_dimmed(draw: Draw) -> None:
    plain, focused = draw(TWENTY, theme="light-plus"), draw(TWENTY, theme="light-plus", focusLines="3")
    assert (_row(plain, 3) == _row(focused, 3)).all()
    for number in (1, 2, 4, 20):
        assert _row(focused, number).min() > _row(plain, number)[:, 60:].min() + 80


def test_a_diff_has_bands_and_loses_its_first_column(draw: Draw) -> None:
    code = " a = 1\n-b = 2\n+b = 3\n c = 4"
    diff, plain = draw(code, diff=True), draw("a = 1\nb = 2\nb = 3\nc = 4")
    assert [(_row(diff, row) != _row(plain, row)).any() for row in (1, 2, 3, 4)] == [False, True, True, False]
    removed, added = _row(diff, 2)[0, 300], _row(diff, 3)[0, 300]
    assert removed[0] > removed[1]
    assert added[1] > added[0]


@pytest.mark.parametrize("scale", [2, 4])
def test_a_scaled_image_is_the_same_image_at_a_higher_resolution(scale: int, draw: Draw) -> None:
    once, more = draw("const a = 1;\nb()"), draw("const a = 1;\nb()", scale=scale)
    assert more.size == (once.width * scale, once.height * scale)
    smaller = np.asarray(more.resize(once.size, Image.Resampling.BOX).convert("RGB")).astype(int)
    assert np.abs(smaller - np.asarray(once.convert("RGB")).astype(int)).mean() < 1.5


def test_a_scale_that_makes_the_image_too_large_is_refused() -> None:
    with pytest.raises(InvalidInput) as exc_info:
        render(CodeImageParams(code="x\n" * 200 + "x", scale=4, width=2000))
    assert exc_info.value.field == "scale"
    assert f"at most {MAX_PIXELS:,} pixels" in exc_info.value.problem


@pytest.mark.parametrize(("size", "row"), [(10, 16), (15, 24), (20, 32), (32, 51)])
def test_the_font_size_determines_the_row_height(size: int, row: int, draw: Draw) -> None:
    heights = [draw("\n".join("a" * lines), fontSize=size).height for lines in (1, 3)]
    assert heights[1] - heights[0] == 2 * row


@pytest.mark.parametrize("font", ["fira-code", "source-code-pro"])
def test_a_font_changes_the_glyphs_but_not_their_positions(font: str, draw: Draw) -> None:
    code = "if (a !== b) => return fi;\n# caf\u00e9 \u65e5\u672c \u202e"
    usual, other = draw(code), draw(code, font=font)
    assert other.size == usual.size
    assert (_row(usual, 1) != _row(other, 1)).any()
    # Every bar is centred in its column, as in the default font.
    bars = [
        np.flatnonzero(np.abs(_row(image, 1) - _row(image, 1)[0, -1]).sum(axis=2).any(axis=0))
        for image in (draw("|    |    |", lineNumbers=False), draw("|    |    |", lineNumbers=False, font=font))
    ]
    assert all(np.abs(bar.mean() - bars[0].mean()) < 1 for bar in bars)
    # Ligatures must not join two cells.
    joined, first, second = (_row(draw(code, font=font, lineNumbers=False), 1) for code in ("=>.", "= .", " >."))
    assert (np.maximum(first, second) == joined).all()
    svg = render(CodeImageParams(code=code, font=font, format="svg")).content  # type: ignore[arg-type]
    assert svg != render(CodeImageParams(code=code, format="svg")).content


def test_the_default_font_is_jetbrains_mono_and_others_are_named(draw: Draw) -> None:
    assert draw("a = 1").tobytes() == draw("a = 1", font="jetbrains-mono").tobytes()
    with pytest.raises(ValidationError, match="'jetbrains-mono', 'fira-code' or 'source-code-pro'"):
        CodeImageParams(code="a", font="comic-sans")  # type: ignore[arg-type]


def test_an_automatic_width_fits_the_longest_line_up_to_the_maximum(draw: Draw) -> None:
    widths = [draw("x" * length, autoWidth=True).width for length in (1, 40, 60, 500)]
    assert widths[0] == 240 + 2 * 48
    assert widths[2] - widths[1] == 20 * 9
    assert 900 - 9 < widths[3] <= 900
    assert draw("x" * 500, autoWidth=True).height == draw("x" * 500).height


def test_a_window_may_have_square_corners_and_no_shadow(draw: Draw) -> None:
    image = draw("a", radius=0, shadow=0, background="#ffffff", theme="nord")
    shadow = [image.getpixel((450, image.height - 48 + down)) for down in (1, 10)]
    assert shadow == [(255, 255, 255)] * 2
    assert image.getpixel((49, 49)) == (0x2E, 0x34, 0x40)


@pytest.mark.parametrize("background", ["#ffffff", "transparent"])
def test_large_corners_clip_neither_buttons_nor_bands(background: str, draw: Draw) -> None:
    params: dict[str, Any] = {"radius": 40, "background": background, "shadow": 0}
    image = draw("a", **params).convert("RGBA")
    assert image.getpixel((48 + 26, 48 + 22)) == (0xFF, 0x5F, 0x57, 255)
    bare = draw("a", highlightLines="1", title="", windowControls=False, **params).convert("RGBA")
    corner = bare.getpixel((51, 51))
    assert corner in {(255, 255, 255, 255), (0, 0, 0, 0)}


@pytest.mark.parametrize("background", SWATCHES)
def test_every_swatch_is_a_valid_background(background: str, draw: Draw) -> None:
    assert draw("a", background=background).width == 900


@pytest.mark.parametrize(
    ("text", "found"), [("", set()), ("2", {2}), ("2,4-6", {2, 4, 5, 6}), (" 1 - 3 , 9 ", {1, 2, 3, 9})]
)
def test_line_numbers_may_be_numbers_and_ranges(text: str, found: set[int]) -> None:
    assert line_numbers(text) == found


@pytest.mark.parametrize("text", ["a", "0", "6-4", "1,,2", "1-", "1;2", "12345"])
def test_invalid_line_numbers_are_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        CodeImageParams(code="x", highlightLines=text)


def test_a_character_missing_from_every_font_shows_its_code_point_with_a_warning(draw: Draw) -> None:
    (warning,) = render(CodeImageParams(code="𓀀", language="plaintext")).warnings
    assert warning == "No font of this server has U+13000: their code points are shown."
    boxed, invisible = draw("𓀀", theme="nord"), draw("\u202e", theme="nord")
    assert np.abs(_row(boxed, 1) - _row(invisible, 1)).max() > 0
    assert (_row(boxed, 1)[4] == _row(invisible, 1)[4]).mean() > 0.9


@pytest.mark.parametrize("text", ["مرحبا بالعالم ", "日本語の文字列", "👩‍👩‍👧‍👦👍🏽", "שלום עולם "])
def test_8000_characters_of_another_script_are_drawn_without_a_warning(text: str) -> None:
    code = (("# " + text * 6)[:70] + "\n") * 400
    artifact = render(CodeImageParams(code=code[:8000], language="python", width=1200))
    assert artifact.warnings == ()


@pytest.mark.parametrize(
    "settings", [{}, {"padding": 90, "fontSize": 24}, {"lineNumbers": False}, {"diff": True}, {"autoWidth": True}]
)
def test_the_editable_text_matches_the_position_of_the_code(settings: dict[str, Any], draw: Draw) -> None:
    code = "+W\n+W" if settings.get("diff") else "W\nW"
    editable = render(CodeImageParams(code=code, language="plaintext", **settings)).editable
    assert editable is not None
    image = draw(code, language="plaintext", **settings)
    assert editable.image_width == image.width
    mark = 1 if settings.get("diff") else 0
    for row in range(editable.rows):
        left = round(editable.left + mark * editable.column_width)
        top = round(editable.top + row * editable.row_height)
        cell = image.convert("L").crop(
            (left, top, left + round(editable.column_width), top + round(editable.row_height))
        )
        beside = image.convert("L").crop((left + round(editable.column_width), top, left + 60, top + 20))
        assert np.ptp(np.asarray(cell)) > 100
        assert np.ptp(np.asarray(beside)) < 30


def test_the_word_colours_fit_in_a_header() -> None:
    code = "\n".join(f"const name_{number} = {number};" for number in range(300))
    editable = render(CodeImageParams(code=code, language="javascript", theme="dracula")).editable
    assert editable is not None
    assert editable.words["const"] == "#ff79c6"
    assert len(json.dumps(dict(editable.words), separators=(",", ":"))) <= 1_202


def test_a_diff_with_unmarked_lines_is_not_editable() -> None:
    assert render(CodeImageParams(code="@@ 1\n+a", diff=True)).editable is None
    assert render(CodeImageParams(code="@@ 1\n+a")).editable is not None
