from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.validation.echo import nearest

NAMES = ["text", "size", "margin", "fgColor", "bgColor", "errorCorrection", "format", "width", "height", "language"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("fgcolour", "fgColor"),
        ("fg_color", "fgColor"),
        ("FGCOLOR", "fgColor"),
        ("bg-colour", "bgColor"),
        ("txet", "text"),
        ("sise", "size"),
        ("sizes", "size"),
        ("heigth", "height"),
        ("lang", "language"),
        ("error", "errorCorrection"),
    ],
)
def test_a_typo_leads_to_the_closest_name(name: str, meant: str) -> None:
    assert nearest(name, NAMES) == meant


@pytest.mark.parametrize("name", ["", "zzz", "colour_of_the_front", "x", "a" * 100_000])
def test_a_name_without_a_close_match_leads_nowhere(name: str) -> None:
    assert nearest(name, NAMES) is None


def test_swapped_letters_of_a_short_value_are_recognised_but_not_another_value() -> None:
    assert nearest("pgn", ["png", "svg"]) == "png"
    assert nearest("jpg", ["png", "svg"]) is None
    assert nearest("jpg", ["png", "jpeg"]) == "jpeg"


@given(st.text(max_size=80), st.lists(st.text(max_size=20), max_size=6), st.randoms())
def test_the_answer_is_a_candidate_and_does_not_depend_on_their_order(
    name: str, candidates: list[str], random: Random
) -> None:
    found = nearest(name, candidates)
    assert found is None or found in candidates
    random.shuffle(candidates)
    assert nearest(name, candidates) == found


@given(st.lists(st.from_regex(r"[a-z][a-zA-Z]{2,12}", fullmatch=True), min_size=1, max_size=6))
def test_a_candidate_is_nearest_to_itself(candidates: list[str]) -> None:
    for candidate in candidates:
        assert str(nearest(candidate, candidates)).casefold() == candidate.casefold()
