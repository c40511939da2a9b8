"""The schemas of results: they must say what is really written."""

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pressroom.catalog.schema import file_schema, input_schema, output_schema
from pressroom.errors import PluginError
from pressroom.sdk import Params
from pydantic import BaseModel, Field, model_serializer


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    title: str | None = None


class Shelter(BaseModel):
    title: str
    when: date
    animals: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = Field(serialization_alias="Animals")
    best: Cat | None = None
    by_name: dict[str, Dog] = {}


SHELTERS = [
    Shelter(title="t", when=date(2026, 1, 2), animals=[]),
    Shelter(title="t", when=date(2026, 1, 2), animals=[Cat(), Dog()], best=Cat(), by_name={"a": Dog(title="x")}),
]


@pytest.mark.parametrize("shelter", SHELTERS)
def test_what_is_written_matches(shelter: Shelter) -> None:
    schema = output_schema(Shelter)

    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(shelter.model_dump(mode="json", by_alias=True))
    assert "$ref" not in str(schema)
    assert "$defs" not in str(schema)
    assert set(schema["properties"]) == {"title", "when", "Animals", "best", "by_name"}


def test_a_file_has_the_members_of_the_host_and_its_own() -> None:
    schema = file_schema(Shelter)

    assert {"id", "url", "expiresAt", "cached", "warnings", "title", "animals"} <= set(schema["properties"])
    assert {"id", "url", "expiresAt", "cached", "title", "when"} <= set(schema["required"])
    assert file_schema(None)["required"] == ["id", "url", "expiresAt", "cached"]


def test_an_optional_parameter_is_left_out_rather_than_null() -> None:
    class Choice(Params):
        width: int | None = Field(None, ge=1, description="Pixels.")

    assert input_schema(Choice)["properties"] == {"width": {"type": "integer", "minimum": 1, "description": "Pixels."}}


def test_a_result_that_is_written_as_something_else_is_refused() -> None:
    class Text(BaseModel):
        word: str

        @model_serializer
        def written(self) -> str:
            return self.word

    with pytest.raises(PluginError, match="Text must be written as one plain object"):
        output_schema(Text)


@pytest.mark.parametrize("model", [Cat, Dog, Shelter])
def test_the_schema_is_made_once(model: type[BaseModel]) -> None:
    first: Any = output_schema(model)

    assert output_schema(model) is first
