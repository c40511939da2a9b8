"""Invalid code is still highlighted: no text is lost, and nothing fails."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom_code_to_image.highlight import highlighted
from pressroom_code_to_image.names import Language

SAMPLES = Path(__file__).parent / "samples"


@cache
def pieces(language: Language) -> list[str]:
    """Return the distinct words, symbols and white space of a language's sample."""
    return list(dict.fromkeys(re.findall(r"\w+|\s+|[^\w\s]", (SAMPLES / f"{language}.txt").read_text("utf-8"))))


@pytest.mark.parametrize("language", get_args(Language))
@given(st.data())
def test_pieces_in_any_order(language: Language, data: st.DataObject) -> None:
    brackets = st.sampled_from("()[]{}<>:=,;'\"`$#@\n")
    code = "".join(data.draw(st.lists(st.sampled_from(pieces(language)) | brackets, min_size=1, max_size=60)))
    assert "".join(text for text, _ in highlighted(code, language)) == code


@pytest.mark.parametrize("closing", [")", ")))", "]})"])
def test_a_type_with_mismatched_brackets_loses_no_text(closing: str) -> None:
    code = f"interface A {{ b: {{ c({closing} d: string }} }}\nconst e: F = g;"
    assert "".join(text for text, _ in highlighted(code, "typescript")) == code


def test_an_unterminated_string_keeps_its_lines() -> None:
    code = '{\n  "a": "b,\n  "c": true\n}'
    assert "".join(text for text, _ in highlighted(code, "json")) == code
