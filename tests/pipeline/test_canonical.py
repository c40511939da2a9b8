"""Canonical arguments: values that are equal as JSON have the same form, and no others do."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pressroom.pipeline.stages.repeat import canonical, canonical_arguments
from pressroom.sdk import ClientRequestId, Params
from pydantic import Field

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Part(Params):
    kind: str = Field(default="part", description="Its kind.")


class NoteParams(Params):
    text: str = Field(description="The text.")
    weight: float = Field(default=1, description="How much it weighs.")
    parts: list[Part] = Field(default_factory=list, description="Its parts.")
    extra: dict[str, Any] | None = Field(default=None, description="Anything.")
    client_request_id: ClientRequestId = None


def reordered(value: Any) -> Any:
    """Return an equal value with its members in reverse order, and integers written as floats."""
    if isinstance(value, dict):
        return {name: reordered(value[name]) for name in reversed(list(value))}
    if isinstance(value, list):
        return [reordered(item) for item in value]
    if type(value) is int and float(value) == value:
        return float(value)
    return value


def equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal as JSON: `true` is not a number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


@given(VALUES)
def test_equal_values_give_the_same_text(value: Any) -> None:
    assert canonical(reordered(value)) == canonical(value) == canonical(json.loads(json.dumps(value)))


@given(VALUES, VALUES)
def test_other_values_give_another_text(one: Any, other: Any) -> None:
    assert (canonical(one) == canonical(other)) == equal(one, other)


@given(st.fixed_dictionaries({"text": st.text()}, optional={"weight": st.integers(0, 3), "extra": st.just({"a": 1})}))
def test_defaults_may_be_spelled_out(arguments: dict[str, Any]) -> None:
    params = NoteParams.model_validate(arguments)
    spelled_out = NoteParams.model_validate({**params.model_dump(mode="json"), "client_request_id": None})
    assert canonical_arguments(params) == canonical_arguments(spelled_out)
    assert canonical_arguments(params).keys() <= arguments.keys()


def test_a_default_is_omitted_whatever_its_type() -> None:
    for weight in (1, 1.0):
        assert canonical_arguments(NoteParams(text="a", weight=weight)) == {"text": '"a"'}
    assert canonical_arguments(NoteParams(text="a", weight=2)) == {"text": '"a"', "weight": "2"}
    assert canonical_arguments(NoteParams(text="a", parts=[])) == {"text": '"a"'}
    assert canonical_arguments(NoteParams(text="a", parts=[Part()])) == {"parts": '[{"kind":"part"}]', "text": '"a"'}
