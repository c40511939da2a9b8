"""Parsing `Accept-Encoding` (RFC 9110, section 12.5.3)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.http.compression import prefers_gzip

CODINGS = ("gzip", "x-gzip", "br", "deflate", "zstd", "identity", "*", "compress")
WEIGHTS = st.integers(0, 1000)


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("gzip", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("gzip, deflate, br, zstd", True),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        ("gzip;q=0.001", True),
        ("gzip ; Q=0.5", True),
        ("*", True),
        ("identity, gzip", True),
        ("identity;q=0.5, gzip;q=0.5", True),
        (",, gzip,", True),
        ("", False),
        ("br", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip;q=0.000", False),
        ("*;q=0", False),
        ("*, gzip;q=0", False),
        ("identity, gzip;q=0.9", False),
        ("identity;q=1, *;q=0.5", False),
        ("gzipped", False),
        ("gzip;q=1.001", False),
        ("gzip;q=0.0001", False),
        ("gzip;q=-1", False),
        ("gzip;q=", False),
        ("gzip;level=9", False),
        ('"gzip"', False),
    ],
)
def test_gzip_is_sent_to_clients_that_accept_it(header: str, wanted: bool) -> None:
    assert prefers_gzip(header) is wanted


@given(st.dictionaries(st.sampled_from(CODINGS), WEIGHTS), st.randoms(use_true_random=False))
def test_any_well_formed_header_is_read_by_its_weights(weights: dict[str, int], random: Random) -> None:
    space, pick = ["", " ", "\t", "  "], random.choice
    elements = (f"{pick(space)}{name}{pick(space)};{pick(space)}q={_q(q)}{pick(space)}" for name, q in weights.items())
    header = ",".join(elements)
    named = [weights[name] for name in ("gzip", "x-gzip") if name in weights]
    gzip = max(named) if named else weights.get("*", 0)
    assert prefers_gzip(header) is (gzip > 0 and gzip >= weights.get("identity", 0))


def _q(thousandths: int) -> str:
    return "1" if thousandths == 1000 else f"0.{thousandths:03}"


@given(st.text(max_size=200))
def test_no_header_breaks_it(header: str) -> None:
    assert prefers_gzip(header) in (True, False)
