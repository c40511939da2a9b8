"""Sealed values that a browser stores for the server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.http.browser_sessions import CookieCipher

SECRET = b"0123456789abcdef0123456789abcdef"
TEXTS = {"state": "s3cret", "nonce": "n"}


class Clock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@given(st.dictionaries(st.text(max_size=5), st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=4))
def test_what_was_sealed_opens(texts: dict[str, str]) -> None:
    seal = CookieCipher(SECRET, "test")
    assert seal.open(seal.seal(texts, seconds=60)) == texts


def test_a_sealed_value_can_be_neither_read_nor_changed() -> None:
    seal = CookieCipher(SECRET, "test")
    sealed = seal.seal(TEXTS, seconds=60)
    assert "s3cret" not in sealed
    head, key, nonce, text, tag = sealed.split(".")
    other_letter = "A" if text[0] != "A" else "B"
    assert seal.open(".".join((head, key, nonce, other_letter + text[1:], tag))) is None


def test_another_purpose_or_secret_does_not_open_a_sealed_value() -> None:
    sealed = CookieCipher(SECRET, "test").seal(TEXTS, seconds=60)
    assert CookieCipher(SECRET, "else").open(sealed) is None
    assert CookieCipher(SECRET[::-1], "test").open(sealed) is None


def test_a_sealed_value_expires() -> None:
    clock = Clock()
    seal = CookieCipher(SECRET, "test", clock=clock)
    sealed = seal.seal(TEXTS, seconds=60)
    clock.now += 59
    assert seal.open(sealed) == TEXTS
    clock.now += 2
    assert seal.open(sealed) is None


@pytest.mark.parametrize("text", ["", ".", "....", "a.b.c.d.e", "eyJhbGciOiJub25lIn0....", "\u00e9", "x" * 9000])
def test_an_invalid_value_does_not_open(text: str) -> None:
    assert CookieCipher(SECRET, "test").open(text) is None


@given(st.text(max_size=200))
def test_no_text_makes_it_fail(text: str) -> None:
    assert CookieCipher(SECRET, "test").open(text) is None
