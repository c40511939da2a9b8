"""Bidirectional text is ordered according to Unicode Standard Annex 9."""

from __future__ import annotations

from typing import Literal

import pytest
from bidi import get_display
from bidi.mirror import MIRRORED
from hypothesis import given
from hypothesis import strategies as st
from pressroom.graphics.text.bidi import levels, visual_order

HEBREW_LETTERS = "".join(map(chr, range(0x5D0, 0x5D8)))
ARABIC_LETTERS = "".join(map(chr, range(0x628, 0x630)))
LETTERS = "abcdefgh" + HEBREW_LETTERS + ARABIC_LETTERS
NUMBERS = "12345678" + "".join(map(chr, range(0x661, 0x669)))
MARKS = "\u0300\u0301\u05b0\u05b1"
NEUTRALS = "!?;&@ ,.:+-%$#"
BRACKETS = "()[]{}⟨⟩「」\uff3b\uff3d\u298d\u2990\u298f\u298e"


def displayed(text: str, direction: Literal["ltr", "rtl"]) -> str:
    """Return the characters of a text in visual order from left to right, without mirroring."""
    return "".join(text[index] for index in visual_order(levels(text, direction)[1]))


@given(
    st.lists(st.sampled_from(LETTERS + NUMBERS + MARKS + NEUTRALS + 3 * BRACKETS), max_size=12, unique=True),
    st.sampled_from(["ltr", "rtl"]),
)
def test_the_order_is_that_of_another_implementation(characters: list[str], direction: Literal["ltr", "rtl"]) -> None:
    """python-bidi's `get_display` is the Rust crate unicode-bidi, which passes Unicode's own conformance tests."""
    text = "".join(characters)
    assert displayed(text, direction) == get_display(text, base_dir="L" if direction == "ltr" else "R")


HEBREW = dict(zip(map(ord, "ABCDEF"), HEBREW_LETTERS, strict=False))
LATIN = {ord(letter): chr(capital) for capital, letter in HEBREW.items()}


@pytest.mark.parametrize(
    ("text", "direction", "expected"),
    [
        pytest.param("AB (CD) ef", "ltr", "(DC) BA ef", id="with the text that they hold and follow"),
        pytest.param("ab (cd) EF", "rtl", "FE ab (cd)", id="in the other direction"),
        pytest.param("AB [cd EF] ab", "ltr", "BA [cd FE] ab", id="with the line, where they hold some of it"),
        pytest.param("AB (cd)", "rtl", "(cd) BA", id="with the line, where they follow it"),
        pytest.param("AB (c[D]e) F", "rtl", "F (e[D]c) BA", id="pairs within pairs"),
        pytest.param("AB (12) cd", "ltr", "(12) BA cd", id="numbers count as right to left"),
        pytest.param("AB \u2329CD\u3009 ef", "ltr", "\u3008DC\u232a BA ef", id="angle brackets that are equivalent"),
        pytest.param("AB (CD ef", "ltr", "DC) BA ef", id="no partner"),
    ],
)
def test_brackets_take_the_right_direction(text: str, direction: Literal["ltr", "rtl"], expected: str) -> None:
    """Capitals stand for Hebrew letters, as in the annex; brackets in right-to-left runs are mirrored by fonts."""
    hebrew = text.translate(HEBREW)
    base, levels_found = levels(hebrew, direction)
    assert base == ("ltr", "rtl").index(direction)
    visual = [
        MIRRORED.get(hebrew[index], hebrew[index]) if levels_found[index] % 2 else hebrew[index]
        for index in visual_order(levels_found)
    ]
    assert "".join(visual).translate(LATIN) == expected


def test_isolates_are_neutral_boundaries() -> None:
    """Unlike in Unicode, where an isolate keeps the digit and the Latin word apart, they form one run here."""
    isolated = "AB \u20661 cd\u2069 EF".translate(HEBREW)
    plain = "AB 1 cd EF".translate(HEBREW)
    assert displayed(isolated, "rtl").translate(dict.fromkeys((0x2066, 0x2069))) == displayed(plain, "rtl")


def test_excess_brackets_cause_no_error() -> None:
    text = "(" * 5000 + "א" + ")" * 5000
    assert sorted(visual_order(levels(text)[1])) == list(range(len(text)))
