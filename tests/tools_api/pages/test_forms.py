"""Posted forms are converted to the input that the API would receive."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.errors import InvalidInput
from pressroom.interfaces.tools_api.pages import FormState, input_from_form, parse_form
from pressroom.interfaces.tools_api.pages.forms import form_from_input
from support.tool_descriptors import ALL, CODE, FAVICON, IMAGE, QR, param


def params_of(tool: dict[str, Any]) -> list[dict[str, Any]]:
    params: list[dict[str, Any]] = tool["endpoints"][0]["params"]
    return params


def posted(tool: dict[str, Any], **texts: str) -> dict[str, Any]:
    return input_from_form(params_of(tool), {name: [text] for name, text in texts.items()})


def test_an_untouched_form_sends_only_the_required_fields() -> None:
    form = {"text": "hi", "size": "512", "margin": "2", "fgColor": "#000000", "format": "png", "errorCorrection": "M"}
    assert posted(QR, **form) == {"text": "hi"}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("300", 300),
        (" 300 ", 300),
        ("300.0", 300),
        ("3e2", 300),
        ("+300", 300),
        ("0300", 300),
        ("12.5", 12.5),
        (".5", 0.5),
    ],
)
def test_numbers_are_parsed(text: str, number: float) -> None:
    value = posted(QR, text="hi", size=text)["size"]
    assert value == number
    assert type(value) is type(number)


@pytest.mark.parametrize("text", ["big", "1,5", "0x10", "nan", "inf", "1e999", "٣", "1 2", "9" * 5000])
def test_invalid_numbers_are_left_to_the_validation(text: str) -> None:
    assert posted(QR, text="hi", size=text)["size"] == text


@pytest.mark.parametrize(
    ("text", "sent"), [("false", {"lineNumbers": False}), ("true", {}), ("maybe", {"lineNumbers": "maybe"})]
)
def test_checkboxes_are_booleans(text: str, sent: dict[str, Any]) -> None:
    assert posted(CODE, code="x", lineNumbers=text) == {"code": "x"} | sent


def test_a_checked_box_wins_over_the_hidden_field_before_it() -> None:
    params = [param("bold", "boolean", "", default=False)]
    assert input_from_form(params, {"bold": ["false", "true"]}) == {"bold": True}
    assert input_from_form(params, {"bold": ["false"]}) == {}


def test_an_unchecked_box_without_a_default_is_left_out() -> None:
    assert input_from_form([param("bold", "boolean", "")], {"bold": ["false"]}) == {}


def test_a_deleted_default_means_the_empty_text() -> None:
    assert posted(CODE, code="x", title="") == {"code": "x", "title": ""}


@pytest.mark.parametrize("name", ["fgColor", "size", "errorCorrection", "text"])
def test_an_emptied_field_that_cannot_be_empty_is_left_out(name: str) -> None:
    assert posted(QR, **{name: ""}) == {}


def test_an_emptied_text_with_a_minimum_length_is_left_out() -> None:
    assert posted(CODE, code="x", background="") == {"code": "x"}


def test_choices_keep_the_type_that_the_descriptor_gives_them() -> None:
    assert posted(FAVICON, content="P", fontWeight="700") == {"content": "P", "fontWeight": 700}
    assert posted(FAVICON, content="P", fontWeight="bold") == {"content": "P", "fontWeight": "bold"}


def test_line_ends_are_preserved() -> None:
    assert posted(CODE, code="a\r\nb\r\n") == {"code": "a\nb\n"}


def test_spaces_are_part_of_a_text() -> None:
    assert posted(QR, text="  hi ") == {"text": "  hi "}


def test_objects_are_typed_as_json() -> None:
    assert posted(IMAGE, props=' {"title": "Hi", "n": [1.5, null]} ') == {"props": {"title": "Hi", "n": [1.5, None]}}
    assert posted(IMAGE, props="  ") == {}


@pytest.mark.parametrize("text", ["{", "[1]", "null", '"x"', '{"a": NaN}', "[" * 100_000, '{"a":' * 100_000])
def test_a_value_that_is_not_a_json_object_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^props: must be (JSON|a JSON object)") as exc_info:
        posted(IMAGE, props=text)
    assert exc_info.value.field == "props"


def test_unknown_parameter_names_are_ignored() -> None:
    assert posted(QR, text="hi", nonsense="1", response="binary") == {"text": "hi"}


def test_examples_survive_a_round_trip_through_the_form() -> None:
    for tool in ALL:
        for example in tool["endpoints"][0]["examples"]:
            form = form_from_input(params_of(tool), example["params"])
            assert input_from_form(params_of(tool), form) == example["params"]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {"code": st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: "\r\n" not in text)},
        optional={
            "title": st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: "\r\n" not in text),
            "width": st.integers(400, 2000) | st.floats(400, 2000),
            "lineNumbers": st.booleans(),
            "theme": st.sampled_from(["nord", "monokai"]),
            "extras": st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values, max_size=3),
        },
    )
)
def test_any_input_survives_the_way_through_an_encoded_form(values: dict[str, Any]) -> None:
    params = [*params_of(CODE), param("extras", "object", "")]
    defaults = {each["name"]: each["default"] for each in params if "default" in each}
    body = urlencode(form_from_input(params, values), doseq=True).encode()
    wanted = {name: value for name, value in values.items() if name not in defaults or value != defaults[name]}
    assert input_from_form(params, parse_form(body)) == wanted


@given(st.dictionaries(st.sampled_from([each["name"] for each in params_of(QR)]), st.lists(st.text(), max_size=3)))
def test_any_form_gives_an_input(form: dict[str, list[str]]) -> None:
    assert set(input_from_form(params_of(QR), form)) <= set(form) - {"response"}


def test_a_form_body_keeps_empty_fields() -> None:
    assert parse_form(b"text=a%26b+c&title=&text=%F0%9F%97%9E") == {"text": ["a&b c", "🗞"], "title": [""]}


@pytest.mark.parametrize("body", [b"text=%ff", b"text=\xff", b"text=%ED%A0%80", b"&".join([b"a=1"] * 1000)])
def test_a_malformed_form_body_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidInput, match="the form must be UTF-8"):
        parse_form(body)


def test_a_query_fills_the_form_by_name_or_from_an_example() -> None:
    by_name = FormState.from_query(QR, {"text": ["hi"], "utm_source": ["x"]})
    assert by_name is not None
    assert by_name.form == {"text": ["hi"]}
    example = FormState.from_query(QR, {"example": ["2"]})
    assert example is not None
    assert input_from_form(params_of(QR), example.form) == QR["endpoints"][0]["examples"][2]["params"]


@pytest.mark.parametrize("number", ["", "3", "-1", "x", "²", "9" * 400])
def test_an_unknown_example_fills_nothing(number: str) -> None:
    assert FormState.from_query(QR, {"example": [number]}) is None
