"""Mask selection matches segno's."""

import random
from typing import Any

import pytest
import segno
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom_qr_code_generator.encode import penalties, template, to_bits, to_rows, with_best_mask
from support.sizes import examples

encoder: Any = segno.encoder

SIZES = st.integers(1, 40).map(lambda version: version * 4 + 17)


def _noise(modules: int, share: float, seed: int) -> list[bytearray]:
    source = random.Random(seed)
    return [bytearray(source.random() < share for _ in range(modules)) for _ in range(modules)]


@settings(max_examples=examples(150))
@given(modules=SIZES, share=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_scores_of_noise_are_segnos(modules: int, share: float, seed: int) -> None:
    rows = _noise(modules, share, seed)
    assert penalties(to_bits(rows), template(modules)) == encoder.mask_scores(rows, modules, modules)


@settings(max_examples=examples(300))
@given(
    pieces=st.lists(st.sampled_from(["1011101", "0000", "1", "0", "11111", "01", "1011", "011101"]), min_size=70),
    across=st.booleans(),
)
def test_scores_of_rows_full_of_finder_patterns_are_segnos(pieces: list[str], across: bool) -> None:
    modules = 21
    digits = "".join(pieces).ljust(modules * modules, "0")[: modules * modules]
    rows = [bytearray(map(int, digits[start : start + modules])) for start in range(0, len(digits), modules)]
    if not across:
        rows = [bytearray(column) for column in zip(*rows, strict=True)]
    assert penalties(to_bits(rows), template(modules)) == encoder.mask_scores(rows, modules, modules)


@pytest.mark.parametrize("dark", [0, 1])
def test_a_single_colour_symbol_scores_as_in_segno(dark: int) -> None:
    rows = [bytearray([dark]) * 25] * 25
    assert penalties(to_bits(rows), template(25)) == encoder.mask_scores(rows, 25, 25)


@settings(max_examples=examples(50))
@given(modules=SIZES, share=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_rows_survive_being_an_integer(modules: int, share: float, seed: int) -> None:
    rows = _noise(modules, share, seed)
    assert to_rows(to_bits(rows), modules) == rows


@pytest.mark.parametrize("mask", range(8))
def test_the_best_mask_does_not_depend_on_the_initial_mask(mask: int) -> None:
    rows = [segno.make_qr("https://example.com/", error="M", mask=each).matrix for each in (0, mask)]
    assert with_best_mask(rows[0], 0) == with_best_mask(rows[1], mask)
