"""Running time of regular expressions on untrusted text: while one runs, no other thread does."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from support.growth import Found, grows, hostile, patterns, repeats_a_group_possessively, room_of, rooms

LOOK, MEASURE = 2_000, 8_000
"""Length of the text in a first trial, and of one that is measured, in characters."""

LONG = 0.001
"""CPU seconds in the trial above which a pattern is measured; a linear pattern takes a tenth of this."""


@pytest.mark.parametrize("room", rooms())
def test_twice_the_text_takes_a_pattern_at_most_three_times_as_long(room: str) -> None:
    room_patterns = [occurrence for occurrence in patterns() if room_of(occurrence.where) == room]
    assert [problem for occurrence in room_patterns if (problem := growth(occurrence))] == []


def growth(occurrence: Found) -> str:
    """Return how a pattern's time grows if twice the text takes over three times as long, else an empty string."""
    work = _uses(occurrence)
    for start, repeated in hostile(occurrence.pattern):
        text = _text(occurrence.pattern, start, repeated)
        started = time.process_time()
        work(text(LOOK))
        if time.process_time() - started > LONG and (grown := grows(work, text, MEASURE)):
            return f"{occurrence.where} {occurrence.pattern.pattern!r}: {start!r} + {repeated!r} x n: {grown}"
    return ""


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Before Python 3.11.5, what follows such a repeat starts at a wrong position (python/cpython issue 106052).

    `(?>(?:…)*)` is equivalent, and correct in every version.
    """
    wrong = [occurrence.where for occurrence in patterns() if repeats_a_group_possessively(occurrence.pattern)]
    assert wrong == []


def test_a_possessive_repeat_of_a_group_is_detected() -> None:
    for pattern in (r"(?:a|bc)*+", r"x(?=(?:a|bc)++)", r"(?>[^a]|(ab)?+)", r"(?:(?:ab){2}+)"):
        assert repeats_a_group_possessively(re.compile(pattern)), pattern
    assert not repeats_a_group_possessively(re.compile(r"[^a]*+b++(?:c)?+(?>(?:a|bc)*)"))


def test_patterns_of_all_kinds_are_listed() -> None:
    names = [occurrence.where for occurrence in patterns()]
    assert len(names) > 200
    assert "pressroom.observability.secrets._USER_INFO" in names


def test_a_pattern_of_quadratic_time_is_detected() -> None:
    assert "marker" in growth(Found("here", re.compile(r"\s*<!-- marker"), frozenset({"search"})))


def _text(pattern: re.Pattern[Any], start: str, repeated: str) -> Callable[[int], Any]:
    def made(size: int) -> Any:
        text = f"{start}{repeated * (size // len(repeated))}\x01"
        return text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text

    return made


def _uses(occurrence: Found) -> Callable[[Any], object]:
    pattern, ways = occurrence.pattern, occurrence.ways

    def use(text: Any) -> None:
        if "search" in ways:
            for _ in pattern.finditer(text):
                pass
        if "match" in ways:
            pattern.match(text)
        if "fullmatch" in ways:
            pattern.fullmatch(text)

    return use
