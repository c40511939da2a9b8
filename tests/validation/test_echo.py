import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.validation.echo import ECHO_LIMIT, format_path, format_value, is_line, quoted, waiting_time


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
    assert format_value(value) == text


@given(st.text(st.characters()))
def test_a_text_is_shown_printable_short_and_quoted(text: str) -> None:
    result = quoted(text)
    assert result.isprintable()
    assert len(json.loads(result)) <= ECHO_LIMIT
    assert json.loads(result) == text or json.loads(result)[:-1] == text[: ECHO_LIMIT - 1]


def test_only_plain_names_are_unquoted_in_a_path() -> None:
    assert format_path(("rows", 0, "fgColor", "odd name", "", "a.b")) == 'rows.0.fgColor."odd name".""."a.b"'


@pytest.mark.parametrize("text", ["", "Ada", "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "क्\u200dष", "👩\u200d💻"])
def test_names_in_all_scripts_are_printable(text: str) -> None:
    assert is_line(text)


@pytest.mark.parametrize("text", ["a\nb", "\0", "\u202e", "\ufeff", "\u2028", "\x1b[31m", "\ud800"])
def test_misleading_characters_are_not_printable(text: str) -> None:
    assert not is_line(text)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        *((1, "1 second"), (90, "90 seconds"), (120, "2 minutes"), (121, "3 minutes")),
        *((3600, "60 minutes"), (7200, "2 hours"), (7201, "3 hours"), (86_400, "24 hours")),
    ],
)
def test_waiting_times(seconds: int, expected: str) -> None:
    assert waiting_time(seconds) == expected
