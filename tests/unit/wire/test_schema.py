"""The JSON Schema of a model is generated once, and nobody who reads it changes it."""

from __future__ import annotations

from copy import deepcopy
from typing import Annotated, Literal

import pytest
from pressroom.catalog.schema import input_schema, output_schema
from pressroom.wire.schema import json_schema
from pydantic import BaseModel, Field


class Corner(BaseModel):
    radius: int = Field(default=0, ge=0)


class Card(BaseModel):
    kind: Literal["card"] = "card"
    text: Annotated[str, Field(min_length=1)] | None = Field(default=None, alias="content")
    corners: list[Corner] = []


@pytest.mark.parametrize("mode", ["validation", "serialization"])
@pytest.mark.parametrize("by_alias", [True, False])
def test_it_is_what_pydantic_generates_each_time(mode: Literal["validation", "serialization"], by_alias: bool) -> None:
    schema = json_schema(Card, mode, by_alias=by_alias)
    assert schema == Card.model_json_schema(by_alias=by_alias, mode=mode)
    assert json_schema(Card, mode, by_alias=by_alias) is schema


def test_what_the_catalog_makes_of_it_leaves_it_as_it_is() -> None:
    before = deepcopy((json_schema(Card), json_schema(Card, "serialization")))
    assert "$defs" not in input_schema(Card)
    assert "$defs" not in output_schema(Card)
    assert (json_schema(Card), json_schema(Card, "serialization")) == before
