import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pressroom.errors import InvalidInput, InvalidJson
from pressroom.validation.json import parse_object

TEXTS = st.text() | st.sampled_from(["[", "]", "{", "}", '"', "\\", '\\"', '["', '"]', "\\\\", '[{"', "\\u0000"])
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=30,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=5)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


def holds_nul(value: Any) -> bool:
    return "\\u0000" in json.dumps(value).replace("\\\\", "")


def refusal(body: bytes, **options: Any) -> str:
    with pytest.raises(InvalidJson) as caught:
        parse_object(body, **options)
    return caught.value.message


@given(OBJECTS, st.booleans(), st.sampled_from([None, 2]))
def test_every_json_object_is_read_as_it_was_written(
    value: dict[str, Any], ascii_only: bool, indent: int | None
) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    if holds_nul(value):
        with pytest.raises(InvalidInput, match="NUL"):
            parse_object(body)
    else:
        assert parse_object(body) == value


@given(OBJECTS, st.integers(1, 5), st.booleans())
@example({"a": '[[["', "b": [["\\", "]"]]}, 3, True)
def test_a_body_is_refused_for_its_depth_exactly_when_it_is_deeper(
    value: dict[str, Any], limit: int, ascii_only: bool
) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    if depth(value) > limit:
        assert refusal(body, max_depth=limit) == f"the body is nested too deeply; at most {limit} levels are allowed"
    elif not holds_nul(value):
        assert parse_object(body, max_depth=limit) == value


@given(st.binary() | st.text().map(str.encode) | st.text('{}[]",:\\ aé1-.eE+tfn\x00\x1b\u202e').map(str.encode))
@example(b'{"a":"\xed\xa0\x80"}')
def test_whatever_comes_is_an_object_or_a_short_printable_refusal(body: bytes) -> None:
    message, value = "", None
    try:
        value = parse_object(body, max_depth=64)
    except (InvalidJson, InvalidInput) as error:
        message = error.message
    assert message.isprintable()
    assert len(message) < 300
    assert message or value == json.loads(body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is empty; it must be a JSON object"),
        (b" \n\t", "the body is empty; it must be a JSON object"),
        (b"[1]", "the body must be a JSON object, not an array"),
        (b'"text"', "the body must be a JSON object, not a string"),
        (b"1.5", "the body must be a JSON object, not a number"),
        (b"true", "the body must be a JSON object, not a boolean"),
        (b"null", "the body must be a JSON object, not null"),
        (b'{"a":"\xff"}', "the body must be UTF-8, but the byte 0xff at offset 6 is not"),
        (b'\xff\xfe{\x00"\x00', "the body must be UTF-8, but the byte 0xff at offset 0 is not"),
        (b"[" * 2000, "the body is nested too deeply; at most 1024 levels are allowed"),
    ],
)
def test_an_unusable_body_is_described(body: bytes, message: str) -> None:
    assert refusal(body) == message


def test_a_byte_order_mark_is_reported() -> None:
    assert "byte order mark" in refusal(b"\xef\xbb\xbf{}")


@pytest.mark.parametrize(
    ("body", "place", "found"),
    [
        (b'{"a": 1,}', "line 1 column 8", '",}"'),
        (b'{\n  "a": 01\n}', "line 2 column 8", '"01'),
        ('{"é": "é",\n"b" 1}'.encode(), "line 2 column 5", '"1}"'),
        (b'{"a": \x1b[31m}', "line 1 column 7", '"\\u001b[31m}"'),
        ('{"a": \u202e1}'.encode(), "line 1 column 7", '"\\u202e1}"'),
    ],
)
def test_a_mistake_is_shown_at_its_position(body: bytes, place: str, found: str) -> None:
    message = refusal(body)
    assert message.startswith(f"the body is not valid JSON: {place}: ")
    assert f"found {found}" in message


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (b'{"a": NaN}', "JSON has no NaN and no Infinity"),
        (b'{"a": -Infinity}', "JSON has no NaN and no Infinity"),
        (b'{"a": True}', "JSON writes true, false and null"),
        (b"{'a': 1}", "JSON strings are in double quotes"),
        (b'{"a": 1 // one\n}', "JSON has no comments"),
    ],
)
def test_frequent_mistakes_get_advice(body: bytes, hint: str) -> None:
    assert hint in refusal(body)


def test_a_refusal_repeats_only_a_little_of_the_input() -> None:
    assert len(refusal(b'{"a": ' + b"x" * 100_000 + b"}")) < 200


@pytest.mark.parametrize(
    "body", [b'{"a": "\\ud800"}', b'{"a": 1e400}', b'{"a": 1}{"b": 2}', b'{"a": "x\ny"}', b'{"a": "']
)
def test_json_that_only_lenient_parsers_accept_is_refused(body: bytes) -> None:
    assert refusal(body).startswith("the body is not valid JSON: line 1 column ")


def test_the_last_value_of_a_duplicate_name_counts() -> None:
    assert parse_object(b'{"a": 1, "a": 2}') == {"a": 2}


def test_an_integer_beyond_64_bits_becomes_the_nearest_double() -> None:
    assert parse_object(b'{"a": 18446744073709551616}') == {"a": 2.0**64}


@pytest.mark.parametrize(
    ("body", "field", "problem"),
    [
        (b'{"text": "a\\u0000b"}', "text", "must not contain NUL characters"),
        (b'{"a": "\\\\u0000", "rows": [1, {"b c": "\\u0000"}]}', 'rows.1."b c"', "must not contain NUL characters"),
        (b'{"p": {}, "a": {"\\u0000": 1}}', 'a."\\u0000"', "its name must not contain NUL characters"),
    ],
)
def test_a_nul_character_is_refused_with_the_field_that_holds_it(body: bytes, field: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_object(body)
    assert (caught.value.field, caught.value.problem) == (field, problem)


def test_a_nul_character_is_detected_at_the_deepest_level_that_the_parser_accepts() -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        parse_object(b'{"a":' * 1000 + b'"\\u0000"' + b"}" * 1000)


def test_a_backslash_before_u0000_is_not_a_nul_character() -> None:
    assert parse_object(b'{"a": "\\\\u0000"}') == {"a": "\\u0000"}
