"""Result schemas match the actual output."""

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pressroom.catalog.schema import file_schema, input_schema, mcp_schema, output_schema
from pressroom.errors import PluginError
from pressroom.sdk import Artifact, Call, Generator, Mcp, Params, generator, per_hour
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
def test_serialised_results_match_the_schema(shelter: Shelter) -> None:
    schema = output_schema(Shelter)

    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(shelter.model_dump(mode="json", by_alias=True))
    assert "$ref" not in str(schema)
    assert "$defs" not in str(schema)
    assert set(schema["properties"]) == {"title", "when", "Animals", "best", "by_name"}


def test_a_file_schema_has_the_members_of_the_host_and_its_own() -> None:
    schema = file_schema(Shelter)

    assert {"id", "url", "expiresAt", "cached", "warnings", "title", "Animals"} <= set(schema["properties"])
    assert {"id", "url", "expiresAt", "cached", "title", "when"} <= set(schema["required"])
    assert file_schema(None)["required"] == ["id", "url", "expiresAt", "cached"]


def test_an_optional_parameter_is_omitted_rather_than_null() -> None:
    class Choice(Params):
        width: int | None = Field(None, ge=1, description="Pixels.")

    assert input_schema(Choice)["properties"] == {"width": {"type": "integer", "minimum": 1, "description": "Pixels."}}


def test_a_result_that_does_not_serialise_to_an_object_is_refused() -> None:
    class Text(BaseModel):
        word: str

        @model_serializer
        def written(self) -> str:
            return self.word

    with pytest.raises(PluginError, match="Text must be written as one plain object"):
        output_schema(Text)


@pytest.mark.parametrize("model", [Cat, Dog, Shelter])
def test_the_schema_is_created_once(model: type[BaseModel]) -> None:
    first: Any = output_schema(model)

    assert output_schema(model) is first


class Frame(Params):
    color: str = Field("", max_length=9, description="The colour of the frame.", examples=["#fff"])


class Poster(Params):
    """A poster."""

    text: str = Field(description="What it says, in a sentence for people.", examples=["Hello"])
    dpi: int | None = Field(None, ge=72, json_schema_extra={"default": 300}, description="Density.")
    frame: Frame | None = Field(None, description="Its frame.")


def poster(**mcp: Any) -> Generator:
    decorate = generator(
        slug="poster",
        name="Poster",
        summary="Makes a poster.",
        rate_limit=per_hour(1),
        produces=("image/png",),
        mcp=Mcp(name="make_poster", **mcp),
    )
    return decorate(make_poster)


def make_poster(params: Poster, call: Call) -> Artifact:
    return Artifact(b"", "image/png")


def test_the_mcp_schema_has_the_descriptions_for_models() -> None:
    tool = poster(descriptions={"text": "Text.", "frame.color": "Hex."}, hide=("dpi",))

    assert tool.problems() == []
    assert mcp_schema(tool, Poster) == {
        "properties": {
            "text": {"type": "string", "description": "Text."},
            "frame": {
                "type": "object",
                "description": "Its frame.",
                "properties": {"color": {"type": "string", "description": "Hex."}},
                "additionalProperties": False,
            },
        },
        "required": ["text"],
        "additionalProperties": False,
        "type": "object",
    }


def test_the_full_schema_is_unchanged_for_programs() -> None:
    before = str(input_schema(Poster))
    mcp_schema(poster(descriptions={"frame.color": "Hex."}, hide=("dpi", "frame.color")), Poster)

    assert str(input_schema(Poster)) == before
    assert input_schema(Poster)["properties"]["dpi"]["default"] == 300
    assert "default" not in mcp_schema(poster(), Poster)["properties"]["dpi"]


@pytest.mark.parametrize(
    ("mcp", "problem"),
    [
        ({"hide": ("text",)}, "mcp: hide: 'text' is required"),
        ({"hide": ("size",)}, "mcp: 'size' is not a parameter"),
        ({"descriptions": {"size.width": "Pixels."}}, "mcp: 'size.width' is not a parameter"),
    ],
)
def test_a_parameter_that_does_not_exist_cannot_be_described(mcp: dict[str, Any], problem: str) -> None:
    tool = poster(**mcp)

    assert tool.problems() == [problem]
    with pytest.raises(PluginError, match="poster"):
        mcp_schema(tool, Poster)


def test_a_member_that_does_not_exist_cannot_be_described() -> None:
    with pytest.raises(PluginError, match=r"mcp of poster names frame\.width, which is not a parameter"):
        mcp_schema(poster(descriptions={"frame.width": "Pixels."}), Poster)
