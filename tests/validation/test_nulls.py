"""A member that is `null` counts as absent, unless the model accepts it."""

from __future__ import annotations

import copy
from typing import Annotated, Any, Literal

import pytest
from pressroom.errors import InvalidInput
from pressroom.sdk import Integer, Params
from pressroom.validation.nulls import validated_without_nulls
from pydantic import Field, ValidationError


class Circle(Params):
    kind: Literal["circle"]
    radius: Integer = Field(5, ge=1)


class Square(Params):
    kind: Literal["square"]
    side: Integer = 2


class Drawing(Params):
    text: str
    size: Integer = Field(512, ge=64)
    format: Literal["png", "svg"] = "png"
    label: str | None = "untitled"
    limit: int | Literal["auto"] = "auto"
    circle: Circle = Circle(kind="circle")
    circles: list[Circle] = Field(default_factory=list)
    names: list[str] = Field(default_factory=list)
    shape: Annotated[Circle | Square, Field(discriminator="kind")] = Circle(kind="circle")
    counts: dict[str, int] = Field(default_factory=dict)


def validated(arguments: dict[str, Any]) -> Drawing:
    with pytest.raises(ValidationError) as caught:
        Drawing.model_validate(arguments)
    before = copy.deepcopy(arguments)
    try:
        return validated_without_nulls(caught.value, Drawing, arguments)
    finally:
        assert arguments == before


@pytest.mark.parametrize(
    ("given", "same_as"),
    [
        ({"size": None}, {}),
        ({"size": None, "format": None, "limit": None}, {}),
        ({"size": None, "label": None}, {"label": None}),
        ({"circle": None}, {}),
        ({"circle": {"kind": "circle", "radius": None}}, {"circle": {"kind": "circle"}}),
        (
            {"circles": [{"kind": "circle", "radius": 9}, {"kind": "circle", "radius": None}]},
            {"circles": [{"kind": "circle", "radius": 9}, {"kind": "circle"}]},
        ),
        ({"shape": {"kind": "square", "side": None}}, {"shape": {"kind": "square"}}),
        ({"counts": {"a": 1, "b": None}}, {"counts": {"a": 1}}),
    ],
)
def test_an_optional_member_that_is_null_has_its_default(given: dict[str, Any], same_as: dict[str, Any]) -> None:
    assert validated({"text": "a", **given}) == Drawing.model_validate({"text": "a", **same_as})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": None}, "text: is required"),
        ({"text": "a", "size": None, "format": "gif"}, 'format: must be one of png, svg (got "gif")'),
        ({"text": "a", "names": [None]}, "names.0: must be a string (got null)"),
        ({"text": "a", "sice": None}, "sice: unknown field; did you mean size?"),
    ],
)
def test_what_is_wrong_otherwise_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        validated(arguments)
    assert caught.value.message == message
