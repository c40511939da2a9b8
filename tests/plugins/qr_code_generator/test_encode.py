"""Encoding: the symbol equals segno's for any text, and errors state the maximum length."""

from typing import Any

import pytest
import segno
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom.sdk import InvalidInput
from pressroom_qr_code_generator import encode as module
from pressroom_qr_code_generator.encode import SUPPORTED_SEGNO_VERSIONS, Rows, encode
from pressroom_qr_code_generator.params import ErrorCorrection
from support.sizes import examples

LEVELS: tuple[ErrorCorrection, ...] = ("L", "M", "Q", "H")
TEXTS = st.one_of(
    st.text(alphabet="0123456789", min_size=1, max_size=500),
    st.text(alphabet="ABCXYZ0189 $%*+-./:", min_size=1, max_size=300),
    st.text(alphabet=st.characters(max_codepoint=127, exclude_characters="\0"), min_size=1, max_size=300),
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=100),
)


def _as_segno_makes_it(text: str, level: str) -> list[bytes]:
    utf8: dict[str, Any] = {} if text.isascii() else {"encoding": "utf-8", "mode": "byte", "eci": True}
    return [bytes(row) for row in segno.make_qr(text, error=level, **utf8).matrix]


def _plain(rows: Rows) -> list[bytes]:
    return [bytes(row) for row in rows]


def test_the_installed_segno_release_is_supported() -> None:
    assert segno.__version__ in SUPPORTED_SEGNO_VERSIONS, (
        "this release of segno is not sped up; if the other tests here and in test_masks.py pass with it added to "
        "SUPPORTED_SEGNO_VERSIONS, add it"
    )


@settings(max_examples=examples(200))
@given(text=TEXTS, level=st.sampled_from(LEVELS))
def test_the_symbol_is_segnos(text: str, level: ErrorCorrection) -> None:
    assert _plain(encode(text, level)) == _as_segno_makes_it(text, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("length", [14, 60, 134, 210, 320, 450, 660, 858, 1000, 1273])
def test_larger_symbols_match_segno(level: ErrorCorrection, length: int) -> None:
    text = "".join(chr(97 + index * index % 26) for index in range(length))
    assert _plain(encode(text, level)) == _as_segno_makes_it(text, level)


@pytest.mark.parametrize("text", ["https://example.com/", "¥100", "漢字 🙂" * 40])
def test_an_unknown_segno_release_creates_the_same_symbol(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    expected = _plain(encode(text, "Q"))
    monkeypatch.setattr(module, "SUPPORTED_SEGNO_VERSIONS", frozenset())
    assert _plain(encode(text, "Q")) == expected


@pytest.mark.parametrize("text", ["1", "A", "a", "é"])
def test_the_shortest_text_is_not_a_micro_qr_code(text: str) -> None:
    assert len(encode(text, "L")) == 21


LETTERS, CAPITALS, UMLAUTS = "a", "A", "ä"


@pytest.mark.parametrize(
    ("symbol", "level", "fits"),
    [
        (LETTERS, "L", 2953),
        (LETTERS, "M", 2331),
        (LETTERS, "Q", 1663),
        (LETTERS, "H", 1273),
        (CAPITALS, "L", 4296),
        (CAPITALS, "M", 3391),
        (CAPITALS, "Q", 2420),
        (CAPITALS, "H", 1852),
        (UMLAUTS, "L", 2952),
        (UMLAUTS, "M", 2330),
        (UMLAUTS, "Q", 1662),
        (UMLAUTS, "H", 1272),
    ],
)
def test_the_maximum_text_length_matches_the_refusal_message(symbol: str, level: ErrorCorrection, fits: int) -> None:
    width = len(symbol.encode())
    assert len(encode(symbol * (fits // width), level)) == 177
    with pytest.raises(InvalidInput) as exc_info:
        encode(symbol * (fits // width + 1), level)
    assert exc_info.value.field == "text"
    assert f"at most {fits} bytes at errorCorrection {level}" in exc_info.value.message
    assert f"got {fits + width} bytes" in exc_info.value.message


@pytest.mark.parametrize(("length", "choice"), [(2400, "L"), (2000, "L or M"), (1300, "L, M or Q")])
def test_a_refusal_names_the_levels_at_which_the_text_fits(length: int, choice: str) -> None:
    with pytest.raises(InvalidInput, match=rf"set errorCorrection to {choice}$"):
        encode("a" * length, "H")


def test_a_text_too_long_for_every_level_must_be_shortened() -> None:
    with pytest.raises(InvalidInput, match=r"in UTF-8\); shorten it$"):
        encode("🙂" * 2048, "L")
