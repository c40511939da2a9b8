"""The format of API keys."""

import re
import zlib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pressroom.accounts.api_keys import RANDOM_LENGTH, checksum, new_key
from pressroom.columns import BASE62

PREFIXES = st.from_regex(r"[a-z][a-z0-9]{1,11}", fullmatch=True)


@given(PREFIXES)
def test_a_secret_scanner_finds_it_by_its_shape(prefix: str) -> None:
    assert re.fullmatch(rf"{prefix}_key_[0-9A-Za-z]{{32}}_[0-9A-Za-z]{{6}}", new_key(prefix))


def test_the_random_part_has_at_least_160_bits() -> None:
    assert len(set(BASE62)) ** RANDOM_LENGTH >= 2**160


def test_keys_are_unique() -> None:
    assert len({new_key("prk") for _ in range(1000)}) == 1000


@given(st.text(st.sampled_from(BASE62), max_size=60))
def test_the_checksum_is_the_crc_32_of_zlib(body: str) -> None:
    number = 0
    for digit in checksum(body):
        number = number * 62 + BASE62.index(digit)
    assert number == zlib.crc32(body.encode())


@pytest.mark.parametrize(("body", "crc"), [("", "000000"), ("prk_key_" + "0" * 32, "0SaZob")])
def test_known_checksums(body: str, crc: str) -> None:
    assert checksum(body) == crc


@given(st.text(st.sampled_from(BASE62), min_size=32, max_size=32), st.integers(0, 31), st.sampled_from(BASE62))
def test_every_single_mistyped_character_is_noticed(random: str, position: int, other: str) -> None:
    assume(other != random[position])
    mistyped = random[:position] + other + random[position + 1 :]
    assert checksum(f"prk_key_{mistyped}") != checksum(f"prk_key_{random}")
