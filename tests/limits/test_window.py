from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.limits.limiter import hundredths, window_item

identifiers = st.lists(st.text(max_size=5) | st.sampled_from(["a", "b", "/", ":", "a/b", "b/c", "1", "11"]), max_size=4)


@given(first=identifiers, second=identifiers)
def test_different_identifiers_never_share_a_key(first: list[str], second: list[str]) -> None:
    item = window_item(300, 3600)
    assert (item.key_for(*first) == item.key_for(*second)) == (first == second)


def test_identifiers_that_look_the_same_when_joined_have_separate_keys() -> None:
    item = window_item(300, 3600)
    assert len({item.key_for(*parts) for parts in [("a/b", "c"), ("a", "b/c"), ("a/b/c",), ("a", "b", "c")]}) == 4


@given(st.integers(1, 100), st.integers(1, 100), st.integers(1, 100), st.integers(1, 100))
def test_different_rates_never_share_a_key(requests: int, window: int, others: int, other_window: int) -> None:
    same = (requests, window) == (others, other_window)
    assert (window_item(requests, window).key_for("a") == window_item(others, other_window).key_for("a")) == same


@given(st.text())
def test_keys_are_short_and_plain_whatever_they_stand_for(key: str) -> None:
    assert len(window_item(300, 3600).key_for(key)) == len("0" * 32 + ":30000:3600")


@pytest.mark.parametrize("cost", [0.0, 0.006, 0.0099, 1.001, -1.0, float("nan")])
def test_a_cost_below_a_hundredth_or_above_one_is_refused(cost: float) -> None:
    with pytest.raises(ValueError, match=r"must be from 0\.01 to 1 request"):
        hundredths(cost)


@given(st.integers(1, 100))
def test_every_hundredth_is_counted_exactly(cost: int) -> None:
    assert hundredths(cost / 100) == cost
    assert hundredths(cost * 0.01) == cost
