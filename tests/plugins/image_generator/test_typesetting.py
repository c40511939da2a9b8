"""Typesetting: any text fits into its box."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom_image_generator.typesetting import Copy, Scale, TypesetText, line_width, one_line, set_copy
from support.sizes import examples

SCALE = Scale(largest=96, smallest=30)
SAMPLES = "Hello, world éßø שלום مرحبا नमस्ते สวัสดี 漢字かな 👩‍👩‍👧 -_/…"
TEXTS = st.text(st.sampled_from(SAMPLES), max_size=200)


def parts(copy: Copy) -> list[TypesetText]:
    return [part for part in (copy.eyebrow, copy.title, copy.subtitle) if part.lines]


def letters(*lines: str) -> str:
    return "".join("".join(lines).split())


@settings(max_examples=examples(60))
@given(
    eyebrow=TEXTS.map(lambda text: " ".join(text.split())[:60]),
    title=TEXTS.map(lambda text: " ".join(text.split())),
    subtitle=TEXTS.map(lambda text: " ".join(text.split())),
    width=st.integers(120, 1400),
    height=st.integers(60, 1200),
)
def test_nothing_overflows(eyebrow: str, title: str, subtitle: str, width: int, height: int) -> None:
    copy = set_copy(eyebrow, title, subtitle, width, height, SCALE)
    assert copy.height <= height
    assert len(copy.subtitle.lines) <= SCALE.subtitle_lines
    for part in parts(copy):
        assert line_width(part) <= width
    for text, part in ((title, copy.title), (subtitle, copy.subtitle)):
        if part.lines and letters(*part.lines) != letters(text):
            assert part.lines[-1].endswith("…")
    assert bool(copy.title.lines) == bool(title)


def test_a_short_title_has_the_largest_size() -> None:
    copy = set_copy("", "Hello", "", 1000, 400, SCALE)
    assert (copy.title.lines, copy.title.size) == (("Hello",), 96)


def test_a_longer_title_is_smaller() -> None:
    sizes = [set_copy("", "word " * count, "", 1000, 300, SCALE).title.size for count in (3, 12, 20, 30)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4


def test_lines_are_balanced() -> None:
    copy = set_copy("", "What a year of small releases taught us", "", 1056, 300, SCALE)
    assert copy.title.lines == ("What a year of small", "releases taught us")


def test_a_title_shrinks_before_a_word_breaks() -> None:
    word = "Donaudampfschifffahrtsgesellschaft"
    copy = set_copy("", f"Die {word}", "", 800, 600, SCALE)
    assert word in copy.title.lines
    assert copy.title.size < 96


def test_a_word_too_long_for_any_size_breaks_into_even_lines() -> None:
    copy = set_copy("", "a" * 80, "", 600, 600, SCALE)
    assert letters(*copy.title.lines) == "a" * 80
    assert copy.title.size > SCALE.smallest
    assert max(map(len, copy.title.lines)) - min(map(len, copy.title.lines)) <= 3


def test_a_title_uses_more_lines_before_it_is_truncated() -> None:
    """The subtitle is cut, and stays at its minimum size."""
    title = "word " * 39 + "word"
    copy = set_copy("", title, "far too long " * 20, 500, 480, SCALE)
    assert len(copy.title.lines) > SCALE.title_lines
    assert " ".join(copy.title.lines) == title
    assert copy.subtitle.lines[-1].endswith("…")
    assert copy.subtitle.size == pytest.approx(0.8 * SCALE.smallest)


def test_truncated_text_ends_with_a_whole_word() -> None:
    copy = set_copy("", "A title", "Nothing here is abbreviated unfortunately " * 7, 500, 400, SCALE)
    assert copy.subtitle.lines[-1].rstrip("…").split()[-1] in ("Nothing", "here", "is", "abbreviated", "unfortunately")


def test_korean_words_are_not_broken() -> None:
    words = "작은 릴리스의 한 해가 우리에게 가르쳐 준 것들"
    copy = set_copy("", words, "", 400, 600, SCALE)
    assert len(copy.title.lines) > 1
    assert " ".join(copy.title.lines) == words


@pytest.mark.parametrize(
    ("text", "taller"), [("Hello", False), ("שלום", False), ("สวัสดี", True), ("漢字", True), ("🎉", True)]
)
def test_tall_scripts_have_more_line_spacing(text: str, taller: bool) -> None:
    title = set_copy("", text, "", 800, 300, SCALE).title
    assert (title.leading / title.size > 1.15) == taller


def test_serifs_are_used_only_for_scripts_that_have_them() -> None:
    serif = Scale(largest=96, smallest=30, family="Source Serif 4", weight=600)
    families = [
        set_copy("", text, "", 800, 300, serif).title.family for text in ("Été", "Ответ 🎉", "שלום 2026", "漢字")
    ]
    assert families == ["Source Serif 4", "Source Serif 4", "Inter", "Inter"]


def test_the_subtitle_is_truncated_before_the_title() -> None:
    copy = set_copy("", "A title", "far too long " * 20, 400, 90, SCALE)
    assert copy.title.lines == ("A title",)
    assert not copy.subtitle.lines or copy.subtitle.lines[-1].endswith("…")


def test_joined_letters_have_no_tracking() -> None:
    assert set_copy("", "مرحبا", "", 600, 300, SCALE).title.tracking == 0
    assert set_copy("", "Hello", "", 600, 300, SCALE).title.tracking < 0


def test_the_text_direction_is_detected() -> None:
    assert set_copy("", "שלום world", "", 600, 300, SCALE).title.right_to_left
    assert not set_copy("", "world שלום", "", 600, 300, SCALE).title.right_to_left


def test_a_line_that_is_too_wide_is_truncated() -> None:
    line = one_line("A name that goes on and on", 120, 20)
    assert line.lines[0].endswith("…")
    assert line_width(line) <= 120
    assert one_line("", 120, 20) == TypesetText()
