import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.errors import InvalidInput
from pressroom.sdk import HexColor, Integer, Params, PluginConfig
from pressroom.validation.messages import input_error, problem_of, problems, schema_of
from pydantic import (
    AnyUrl,
    BaseModel,
    Field,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError, core_schema

JARGON = re.compile(
    r"[Ii]nput|[Vv]alidation error|[Vv]alue error|[Aa]ssertion|pydantic|type=|should (be|have|match)"
    r"|[Vv]alid (str|int|dict)|function-|constrained-|[Ll]iteral\[|\bNone\b|\bdict\b|\blist\b|\btuple\b"
)


class Circle(Params):
    kind: Literal["circle"]
    radius: int = Field(ge=1)


class Square(Params):
    kind: Literal["square"]
    side: int = Field(ge=1)


class Range(Params):
    first: Integer
    last: Integer

    @model_validator(mode="after")
    def _ordered(self) -> "Range":
        if self.last < self.first:
            raise InvalidInput("last", f"must not be below first (got {self.last})")
        return self


class Zoo(Params):
    text: str = Field(min_length=1, max_length=2048)
    size: Integer = Field(512, ge=64, le=2048)
    height: Integer | None = Field(None, ge=200, le=2400)
    scale: float = Field(1.0, gt=0, lt=10)
    ratio: str | None = Field(None, pattern=r"^\d+:\d+$", examples=["16:9"])
    step: int = Field(5, multiple_of=5)
    title: str = Field("", max_length=1)
    code: str = Field("abcd", min_length=4, max_length=4)
    fgColor: HexColor = "#000000"  # noqa: N815 - as in the interface contract
    format: Literal["png", "svg"] = "png"
    weight: Literal[400, 600, 700] = 400
    border: bool = False
    shape: Annotated[Circle | Square, Field(discriminator="kind")] | None = None
    area: Circle | Range | None = None
    rows: list[Circle] = Field(default_factory=list, max_length=2)
    names: list[str] = Field(default_factory=list, min_length=1)
    extra: dict[Annotated[str, StringConstraints(pattern="^[a-z]+$")], int] = Field(default_factory=dict, max_length=1)
    limit: int | Literal["auto"] = "auto"
    fill: HexColor | Literal["none"] = "none"
    either: int | str | list[int] = 1


class Look(BaseModel):
    """Types that a non-strict model can have, as in a configuration."""

    color: Enum("Color", {"RED": "red", "BLUE": "blue"}) = None  # type: ignore[valid-type]  # an enum made in place
    day: date = date(2026, 1, 1)
    at: datetime = datetime(2026, 1, 1)  # noqa: DTZ001 - a default that no test looks at
    clock: time = time(1)
    wait: timedelta = timedelta(1)
    id: UUID = UUID(int=0)
    price: Decimal = Field(Decimal(1), max_digits=4, decimal_places=2)
    home: AnyUrl = AnyUrl("https://example.com")
    pair: tuple[int, str] = (1, "")
    several: set[int] = set()
    count: int = 1


def explained(model: type[BaseModel], value: object, **options: Any) -> InvalidInput:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(value)
    return input_error(caught.value, model, **options)


CIRCLE = {"kind": "circle", "radius": 1}


def message(model: type[BaseModel] = Zoo, /, **fields: Any) -> str:
    return explained(model, {"text": "a", **fields} if model is Zoo else fields).message


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"size": 9000}, "size: must be between 64 and 2048 (got 9000)"),
        ({"size": 63.0}, "size: must be between 64 and 2048 (got 63)"),
        ({"size": 512.5}, "size: must be a whole number (got 512.5)"),
        ({"size": "512"}, 'size: must be a whole number (got the string "512")'),
        ({"size": True}, "size: must be a whole number (got true)"),
        ({"size": None}, "size: must be a whole number (got null)"),
        ({"size": 10**40}, "size: must be between 64 and 2048 (got a number of more than 30 digits)"),
        ({"height": 5}, "height: must be between 200 and 2400 (got 5)"),
        ({"height": {}}, "height: must be a whole number (got an object)"),
        ({"scale": 0}, "scale: must be above 0 and below 10 (got 0)"),
        ({"scale": 10.0}, "scale: must be above 0 and below 10 (got 10.0)"),
        ({"scale": float("nan")}, "scale: must be a finite number (got nan)"),
        ({"ratio": "16x9"}, r'ratio: must match the pattern ^\d+:\d+$, such as "16:9" (got "16x9")'),
        ({"step": 7}, "step: must be a multiple of 5 (got 7)"),
        ({"text": "a" * 2049}, "text: must be between 1 and 2048 characters (got 2049)"),
        ({"text": ""}, "text: must be between 1 and 2048 characters (got 0)"),
        ({"text": 5}, "text: must be a string (got 5)"),
        ({"title": "ab"}, "title: must be at most 1 character (got 2)"),
        ({"code": "abc"}, "code: must be exactly 4 characters (got 3)"),
        ({"fgColor": "red"}, 'fgColor: must be a hex colour such as #b9502a, #fff or #00000000 (got "red")'),
        ({"format": "pgn"}, 'format: must be one of png, svg (got "pgn"); did you mean png?'),
        ({"format": "webp"}, 'format: must be one of png, svg (got "webp")'),
        ({"format": 1}, "format: must be one of png, svg (got 1)"),
        ({"weight": 500}, "weight: must be one of 400, 600, 700 (got 500)"),
        ({"border": "yes"}, 'border: must be true or false (got the string "yes")'),
        ({"shape": {"kind": "cirle"}}, 'shape.kind: must be one of circle, square (got "cirle"); did you mean circle?'),
        ({"shape": {}}, "shape.kind: is required"),
        ({"shape": 1}, "shape: must be an object (got 1)"),
        ({"shape": {"kind": "circle", "radius": 0}}, "shape.radius: must be at least 1 (got 0)"),
        ({"area": {"first": 1}}, "area.last: is required"),
        ({"area": []}, "area: must be an object (got an array)"),
        ({"area": {"first": 5, "last": 4}}, "area.last: must not be below first (got 4)"),
        ({"rows": {}}, "rows: must be an array (got an object)"),
        ({"rows": [CIRCLE, {"kind": "circle", "radius": True}]}, "rows.1.radius: must be a whole number (got true)"),
        ({"rows": [{}, {}, {}]}, "rows: must have at most 2 items (got 3)"),
        ({"names": []}, "names: must have at least 1 item (got 0)"),
        ({"extra": {"a": 1, "b": 2}}, "extra: must have at most 1 entry (got 2)"),
        ({"extra": {"odd key": 1}}, 'extra."odd key": its name must match the pattern ^[a-z]+$ (got "odd key")'),
        ({"limit": "outo"}, 'limit: must be a whole number or auto (got "outo"); did you mean auto?'),
        ({"fill": "blu"}, 'fill: must be a hex colour such as #b9502a, #fff or #00000000, or none (got "blu")'),
        ({"either": None}, "either: must be a whole number, a string or an array (got null)"),
        ({"either": ["x"]}, 'either.0: must be a whole number (got the string "x")'),
    ],
)  # fmt: skip
def test_a_message_names_the_field_what_it_must_be_and_what_it_was(fields: dict[str, Any], expected: str) -> None:
    assert message(**fields) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"color": "bleu"}, "color: must be one of red, blue"),
        ({"day": "31.5.2026"}, "day: must be a date such as 2026-05-31"),
        ({"at": "noon"}, "at: must be a date and time such as"),
        ({"clock": "noon"}, "clock: must be a time such as"),
        ({"wait": "long"}, "wait: must be a duration such as"),
        ({"id": "x"}, "id: must be a UUID such as"),
        ({"price": "x"}, "price: must be a decimal number"),
        ({"price": "1.234"}, "price: must have at most 2 digits after the decimal point"),
        ({"home": "x"}, "home: must be a URL such as"),
        ({"pair": 1}, "pair: must be an array"),
        ({"several": ["x"]}, 'several.0: must be a whole number (got the string "x")'),
        ({"count": "x"}, 'count: must be a whole number (got the string "x")'),
    ],
)
def test_types_outside_the_strict_mode_are_explained_too(fields: dict[str, Any], expected: str) -> None:
    assert message(Look, **fields).startswith(expected)


def test_a_missing_field_is_required() -> None:
    assert explained(Zoo, {}).message == "text: is required"


def test_an_unknown_field_leads_to_the_closest_one() -> None:
    assert message(fgcolour=1) == "fgcolour: unknown field; did you mean fgColor?"
    assert (
        message(shape={"kind": "circle", "radius": 1, "radus": 1}) == "shape.radus: unknown field; did you mean radius?"
    )


def test_an_unknown_field_without_a_close_match_leads_to_the_known_ones() -> None:
    assert message(Circle, kind="circle", radius=1, zzz=1) == "zzz: unknown field; known are kind, radius"


def test_the_hosts_own_names_are_known_at_the_top_level_only() -> None:
    value = {"kind": "circle", "radius": 1, "respnse": 1}
    top = explained(Circle, value, also_known=("response",))
    inner = explained(Zoo, {"text": "a", "shape": value}, also_known=("response",))
    assert top.message == "respnse: unknown field; did you mean response?"
    assert inner.message == "shape.respnse: unknown field; known are kind, radius"


def test_several_problems_are_in_the_order_of_the_fields() -> None:
    error = explained(Zoo, {"zzzz": 1, "yyyy": 1, "format": "pgn", "size": 1, "fgcolour": 1})
    assert error.field == "text"
    known = ", ".join(Zoo.model_fields)
    assert error.message == (
        "text: is required. size: must be between 64 and 2048 (got 1). "
        'format: must be one of png, svg (got "pgn"); did you mean png? '
        f"zzzz: unknown field; known are {known}. yyyy: unknown field. There are more problems."
    )


class Words(Params):
    words: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=2, max_length=9, strict=False)


def test_invalid_items_count_towards_the_length_of_an_array() -> None:
    expected = "words.1: must be at least 1 character (got 0)"
    assert explained(Words, {"words": ["tea", ""]}).message == expected
    assert explained(Words, {"words": ["tea"]}).message == "words: must have between 2 and 9 items (got 1)"
    both = explained(Words, {"words": [""]}).message
    assert "words: must have between 2 and 9 items (got 1)" in both


def test_very_many_problems_lead_to_a_short_message() -> None:
    error = explained(Circle, {"x" * 10_000 + str(number): number for number in range(5_000)})
    assert error.field == "kind"
    assert len(error.message) < 500


def test_a_hostile_name_is_quoted_cut_and_escaped() -> None:
    error = explained(Circle, {"kind": "circle", "radius": 1, "\x1b[2J: is fine\n" + "a" * 100: 1})
    assert error.message.startswith('"\\u001b[2J: is fine\\naaaaaa')
    assert error.message.isprintable()
    assert len(error.field) < 60


class Labels(Params):
    """Validators that refer to fields in every supported way."""

    text: str = ""
    other: str = ""
    area: Range | None = None

    @field_validator("text")
    @classmethod
    def _text(cls, value: str) -> str:
        raise {
            "own": InvalidInput("text", "is own"),
            "none": InvalidInput("", "is own"),
            "beside": InvalidInput("other", "is beside"),
            "plain": ValueError("must be\n  something else\x1b"),
            "empty": ValueError(""),
            "assertion": AssertionError("must hold"),
            "custom": PydanticCustomError("my_own", "is {what}", {"what": "custom"}),
            "taken": PydanticCustomError("multiple_of", "is custom"),
            "adapter": _error_of_adapter(),
        }[value]

    @field_validator("area", mode="before")
    @classmethod
    def _area(cls, value: Any) -> Any:
        if value == "inner":
            raise InvalidInput("first", "is inside")
        if value == "whole":
            raise InvalidInput("area.first", "is inside")
        return value

    @model_validator(mode="after")
    def _whole(self) -> "Labels":
        if self.other == "field":
            raise InvalidInput("text", "does not go with other")
        if self.other == "nothing":
            raise ValueError("text and other do not go together")
        return self


def _error_of_adapter() -> Exception:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(dict[str, int]).validate_python({"a": "words"})
    return caught.value


@pytest.mark.parametrize(
    ("fields", "field", "expected"),
    [
        ({"text": "own"}, "text", "text: is own"),
        ({"text": "none"}, "text", "text: is own"),
        ({"text": "beside"}, "other", "other: is beside"),
        ({"text": "plain"}, "text", 'text: must be something else\\u001b (got "plain")'),
        ({"text": "empty"}, "text", "text: is not valid"),
        ({"text": "assertion"}, "text", 'text: must hold (got "assertion")'),
        ({"text": "custom"}, "text", "text: is custom"),
        ({"text": "taken"}, "text", 'text: must be a multiple of  (got "taken")'),
        ({"text": "adapter"}, "text", 'text: must be a whole number (got the string "words")'),
        ({"area": "inner"}, "area.first", "area.first: is inside"),
        ({"area": "whole"}, "area.first", "area.first: is inside"),
        ({"other": "field"}, "text", "text: does not go with other"),
        ({"other": "nothing"}, "", "text and other do not go together"),
    ],
)
def test_the_message_of_a_validator_is_under_its_field(fields: dict[str, Any], field: str, expected: str) -> None:
    error = explained(Labels, fields)
    assert (error.field, error.message) == (field, expected)


class Store(PluginConfig):
    password: SecretStr = Field(min_length=8)
    keys: list[SecretStr] = Field(default_factory=list)
    either: int | SecretStr = 1


class Storage(PluginConfig):
    store: Store | None = None
    stores: dict[str, Store] = Field(default_factory=dict)


@pytest.mark.parametrize(
    "value",
    [
        {"store": {"password": "hunter2"}},
        {"store": {"password": 72_643_911}},
        {"store": "hunter2"},
        {"stores": "hunter2"},
        {"stores": {"main": "hunter2"}},
        {"store": {"password": "longenough", "keys": "hunter2"}},
        {"store": {"password": "longenough", "either": 7.2643911}},
    ],
)
def test_a_secret_is_never_repeated(value: dict[str, Any]) -> None:
    text = explained(Storage, value).message
    assert text.startswith("store")
    assert not re.search("hunter2|2643911|got", text)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64)
    | st.floats()
    | st.text(max_size=60)
    | st.sampled_from(["circle", "square", "auto", "none", "#fff", "16:9", "png"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "radius", "side", "first", "last"]) | st.text(max_size=10), inner)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from([*Zoo.model_fields, "fgcolour", "txet", "[key]"]) | st.text(max_size=20)


@given(st.dictionaries(NAMES, JSON_VALUES, max_size=6))
def test_any_input_is_valid_or_explained_without_jargon(value: dict[str, Any]) -> None:
    found, error = [], None
    try:
        Zoo.model_validate(value)
    except ValidationError as wrong:
        found, error = problems(wrong, Zoo), input_error(wrong, Zoo)
    for problem in found:
        assert re.match(r'[A-Za-z_0-9@$"-]', problem.field)
        assert problem.text.isprintable()
        assert re.match(r"must |is |its name must |unknown field", problem.text)
        assert not JARGON.search(re.sub(r'"([^"\\]|\\.)*"', "", problem.text))
    assert error is None or error.message.startswith(f"{found[0].field}: {found[0].text}")
    assert error is None or len(error.message) < 1500


CONTEXT = {
    "error": ValueError("must be otherwise"),
    "expected": "'a' or 'b'",
    "pattern": "^a$",
    "discriminator": "'kind'",
    "tag": "x",
    "expected_tags": "'a', 'b'",
    **dict.fromkeys(("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "actual_length"), 3),
    **dict.fromkeys(("max_digits", "decimal_places", "whole_digits", "expected_version", "tz_expected"), 3),
    **dict.fromkeys(("class", "class_name", "encoding", "expected_schemes"), "name"),
}


@pytest.mark.parametrize("kind", get_args(core_schema.ErrorType))
@pytest.mark.parametrize("context", [CONTEXT, {}], ids=["with context", "without"])
def test_every_type_of_error_has_a_message(kind: str, context: dict[str, Any]) -> None:
    error = ErrorDetails(type=kind, loc=("field",), msg="Input should be JARGON", input=[1], ctx=context)
    text = problem_of(error, {"type": "object", "properties": {"field": {}}})
    assert re.match(r"must |is |its name must |unknown field|cannot |could not |was given twice", text)
    assert not JARGON.search(text)


def test_an_unknown_type_of_error_keeps_its_text() -> None:
    error = ErrorDetails(type="brand_new", loc=("field",), msg="Input should be purple", input=1)
    assert problem_of(error, {}) == "must be purple"


def test_a_model_that_json_schema_cannot_express_is_explained_all_the_same() -> None:
    class Odd(BaseModel):
        call: Any = Field(default=object(), gt=1)
        run: type[int] = int
        done: Callable[[], None] = print
        size: int = Field(1, ge=0, le=5)

    assert explained(Odd, {"size": 9, "run": 5, "done": 5}).message == (
        "run: must be of another type (got 5). done: must be of another type (got 5). "
        "size: must be between 0 and 5 (got 9)."
    )
    assert schema_of(Odd) is schema_of(Odd)


def test_a_model_that_contains_itself_is_explained() -> None:
    assert explained(Tree, {"branches": [{"branches": [{"size": 0}]}]}).message == (
        "branches.0.branches.0.size: must be at least 1 (got 0)"
    )


class Tree(Params):
    size: int = Field(1, ge=1)
    branches: list["Tree"] = Field(default_factory=list)
