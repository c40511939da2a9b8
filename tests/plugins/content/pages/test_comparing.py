"""Text differences, and month grids."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom_content.articles.versions import changed_blocks
from pressroom_content.pages.article_versions import WordDiff
from pressroom_content.pages.calendar import Month
from pressroom_content.pages.shown import relative
from support.sizes import examples

LINES = st.lists(st.sampled_from(["a", "b", "c", "the tea is hot", ""]), max_size=12)


@given(LINES, LINES)
def test_the_blocks_turn_one_text_into_the_other(old: list[str], new: list[str]) -> None:
    made: list[str] = []
    end = 0
    for a, b, c, d in changed_blocks(old, new):
        made += old[end:a] + new[c:d]
        end = b
    assert made + old[end:] == new


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_pieces_of_a_line_are_the_line(before: str, after: str) -> None:
    old, new = WordDiff().changes(before, after)
    assert "".join(piece.text for piece in old) == before
    assert "".join(piece.text for piece in new) == after
    kept = ["".join(piece.text for piece in side if not piece.changed) for side in (old, new)]
    if any(piece.changed for piece in (*old, *new)):
        assert kept[0] == kept[1]


def test_changed_words_are_marked() -> None:
    old, new = WordDiff().changes("The tea is hot today.", "The tea is cold today.")
    assert [piece.text for piece in old if piece.changed] == ["hot"]
    assert [piece.text for piece in new if piece.changed] == ["cold"]


@settings(max_examples=examples(15))
@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_long_texts_are_compared_between_the_lines_that_stand_once(first: set[int], second: set[int]) -> None:
    base = [f"line {number}" for number in range(2_100)]
    old, new = list(base), list(base)
    for at in first:
        old[at * 50] = "gone" if at % 2 else "same"
    for at in sorted(second):
        new.insert(at * 50, "come")
    made: list[str] = []
    end = 0
    for a, b, c, d in changed_blocks(old, new):
        assert b - a + d - c <= 4
        made += old[end:a] + new[c:d]
        end = b
    assert made + old[end:] == new


def test_texts_with_nothing_in_common_are_one_block_however_long() -> None:
    old, new = [f"a{n}" for n in range(3_000)], [f"b{n}" for n in range(3_000)]
    assert changed_blocks(old, new) == [(0, 3_000, 0, 3_000)]
    assert changed_blocks(["same", *old], ["same", *new]) == [(1, 3_001, 1, 3_001)]


@given(st.integers(1970, 2999), st.integers(1, 12))
def test_a_month_has_whole_weeks_and_all_its_days(year: int, number: int) -> None:
    days = Month(year, number).days
    assert len(days) % 7 == 0
    assert (days[0].weekday(), days[-1].weekday()) == (0, 6)
    inside = [day for day in days if (day.year, day.month) == (year, number)]
    assert inside[0] == date(year, number, 1)
    assert (inside[-1] + timedelta(days=1)).day == 1
    assert days == [days[0] + timedelta(days=at) for at in range(len(days))]


def test_a_month_starts_at_local_midnight_across_clock_changes() -> None:
    begin, end = Month(2026, 10).bounds(ZoneInfo("Europe/Berlin"))
    assert begin == datetime(2026, 9, 27, 22, tzinfo=UTC)
    assert end == datetime(2026, 11, 1, 23, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "just now"), (-5, "in a moment"), (90, "1 minute ago"), (-7200, "in 2 hours"), (86_400 * 3, "3 days ago")],
)
def test_relative_times(seconds: int, expected: str) -> None:
    now = datetime(2026, 11, 21, tzinfo=UTC)
    assert relative(now - timedelta(seconds=seconds), now) == expected
