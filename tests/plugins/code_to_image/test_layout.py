"""Layout: the row and column of each character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom_code_to_image.layout import RunKind, VisualRow, laid_out, prepared
from pressroom_code_to_image.themes import TokenStyle

STYLE = TokenStyle("#ffffff")


def rows(code: str, columns: int = 40) -> list[VisualRow]:
    return list(laid_out([(code, STYLE)], columns))


def shown(code: str, columns: int = 40) -> list[str]:
    """Return the rows as text; a cell wider than one column is followed by spaces."""
    return ["".join(_placed(row, columns)).rstrip() for row in rows(code, columns)]


def _placed(row: VisualRow, columns: int) -> list[str]:
    line = [" "] * (columns + 40)
    for run in row.runs:
        for offset, character in enumerate(run.text if run.kind is not RunKind.SHAPED else [run.text]):
            line[run.column + offset] = character
    return line


def columns_of(code: str) -> list[tuple[str, int, int]]:
    return [(run.text, run.column, run.columns) for row in rows(code, 200) for run in row.runs if run.text.strip()]


def test_a_tab_advances_to_the_next_multiple_of_four_columns() -> None:
    assert shown("\ta\n  \tb\nabc\td\nabcd\te") == ["    a", "    b", "abc d", "abcd    e"]


def test_only_trailing_blank_lines_are_removed() -> None:
    assert prepared("\n\na\n\nb\n \t\n\n") == "\n\na\n\nb"
    assert prepared("a\r\nb\rc") == "a\nb\nc"


def test_a_long_line_wraps_after_a_space_and_has_one_number() -> None:
    wrapped = rows("  alpha beta gamma delta\nx", 14)
    assert shown("  alpha beta gamma delta\nx", 14) == ["  alpha beta", "   gamma delta", "x"]
    assert [row.number for row in wrapped] == [1, 0, 2]


def test_a_word_longer_than_a_row_is_split() -> None:
    assert shown("a" * 25, 10) == ["a" * 10, "  " + "a" * 8, "  " + "a" * 7]


def test_wide_characters_and_emoji_take_two_columns() -> None:
    assert columns_of("日本x") == [("日", 0, 2), ("本", 2, 2), ("x", 4, 1)]
    assert columns_of("👩‍👩‍👧‍👦x") == [("👩‍👩‍👧‍👦", 0, 2), ("x", 2, 1)]
    assert columns_of("e\u0301x") == [("e\u0301", 0, 1), ("x", 1, 1)]


@pytest.mark.parametrize(
    "hidden", ["\u202e", "\u2066", "\u200b", "\u200d", "\u0000", "\u001b", "\u2028", "\ufeff", "\u3164", "\u061c"]
)
def test_invisible_characters_are_shown_as_code_points(hidden: str) -> None:
    (row,) = rows(f"a{hidden}b")
    marks = [run for run in row.runs if run.kind is RunKind.HIDDEN]
    assert [run.text for run in marks] == [f"U+{ord(hidden):04X}"]
    assert row.runs[-1].text == "b"


def test_joiners_that_affect_shaping_are_kept() -> None:
    persian = "می‌خواهم"
    assert all(run.kind is RunKind.SHAPED for row in rows(persian) for run in row.runs)


def test_a_right_to_left_word_keeps_its_position() -> None:
    """What follows the word stays on its right: reordering never extends beyond the word (Trojan Source)."""
    cells = columns_of('x = "שלום" + 1')
    word = next(item for item in cells if item[0] == "שלום")
    assert word[1:] == (5, 4)
    assert ('"', 9, 1) in cells


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=200) | st.text(
    "ab (,;\t\nאבג日\u0301\u202e", max_size=200
)


@given(TEXTS, st.integers(8, 60))
def test_no_row_is_wider_than_asked_and_nothing_visible_is_lost(code: str, columns: int) -> None:
    found = rows(code, columns)
    for row in found:
        for run in row.runs:
            assert run.column + run.columns <= columns
        ends = [run.column + run.columns for run in row.runs]
        assert all(end <= following.column for end, following in zip(ends, row.runs[1:], strict=False))
    drawn = "".join(run.text for row in found for run in row.runs if run.kind is not RunKind.HIDDEN)
    hidden = sum(run.kind is RunKind.HIDDEN for row in found for run in row.runs)
    visible = [one for one in code if not one.isspace()]
    assert len([one for one in drawn if not one.isspace()]) + hidden >= len(visible) - code.count("\n")
