import json
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom.wire.echo import ECHO_LIMIT, quoted, shown, shown_path


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (9000, "9000"),
        (9000.0, "9000.0"),
        (float("inf"), "inf"),
        (10**40, "a number of more than 30 digits"),
        ("512", '"512"'),
        ('a "b"\n', '"a \\"b\\"\\n"'),
        ("\x1b[31m\u202e", '"\\u001b[31m\\u202e"'),
        ({}, "an object"),
        ([1], "an array"),
        (date(2026, 5, 31), '"2026-05-31"'),
    ],
)
def test_a_value_is_shown_as_json(value: object, text: str) -> None:
    assert shown(value) == text


@settings(deadline=None)
@given(st.text(st.characters()))
def test_a_text_is_shown_printable_short_and_quoted(text: str) -> None:
    result = quoted(text)
    assert result.isprintable()
    assert len(json.loads(result)) <= ECHO_LIMIT
    assert json.loads(result) == text or json.loads(result)[:-1] == text[: ECHO_LIMIT - 1]


def test_only_plain_names_stand_in_a_path_as_they_are() -> None:
    assert shown_path(("rows", 0, "fgColor", "odd name", "", "a.b")) == 'rows.0.fgColor."odd name".""."a.b"'
