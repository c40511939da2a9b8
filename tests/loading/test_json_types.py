"""Parameters of types that JSON does not have: a plugin with one that no client could send is refused."""

from __future__ import annotations

import datetime as dt
import enum
from collections import deque
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pressroom.errors import PluginError
from pressroom.plugins.validating import validate
from pressroom.sdk import Call, McpTool, Params, mcp_tool
from pydantic import AfterValidator, BaseModel, Field, HttpUrl, PlainValidator, SecretStr, create_model


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


@dataclass
class Point:
    x: int


class Strict(Params):
    day: dt.date


class Circle(Params):
    kind: Literal["circle"]
    sizes: set[int]


class Square(Params):
    kind: Literal["square"]
    size: int


class Lax(BaseModel):
    day: dt.date
    colour: Colour


class Done(BaseModel):
    ok: bool = True


def odd(value: int) -> int:
    if value % 2 == 0:
        raise ValueError("must be odd")
    return value


def careless(value: Any) -> str:
    return str(value.name)


def tool_with(kind: Any) -> McpTool:
    params = create_model("Taken", __base__=Params, value=(kind, Field(description="A value.")))

    async def take(params: Params, call: Call) -> Done:
        return Done()

    take.__annotations__["params"] = params
    take.__annotations__["return"] = Done
    return mcp_tool(name="take", description="Takes a value.")(take)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (Colour, "value takes no text, and JSON has no enum: add strict=False to its Field"),
        (Size, "value takes no number, and JSON has no enum: add"),
        (Colour | None, "value takes no text, and JSON has no enum: add"),
        (int | Colour, "takes no text, and JSON has no enum"),
        (Decimal, "value takes no number, and JSON has no Decimal: add"),
        (dt.date, "value takes no text, and JSON has no date: add"),
        (dt.timedelta | None, "value takes no text, and JSON has no duration: add"),
        (UUID, "value takes no text, and JSON has no UUID: add"),
        (Path, "value takes no text, and JSON has no Path: add"),
        (bytes, "value takes no text, and JSON has no bytes: add"),
        (set[int], "value takes no array, and JSON has no set: add"),
        (frozenset[Literal["a"]], "value takes no array, and JSON has no frozenset: add"),
        (tuple[int, str], "value takes no array, and JSON has no tuple: add"),
        (deque[int], "value takes no array, and JSON has no deque: add"),
        (Point, "value takes no object, and JSON has no dataclass: add"),
        (
            list[Colour],
            "value.0 takes no text, and JSON has no enum: write Annotated[…, Field(strict=False)] as its type",
        ),
        (dict[str, dt.date], "takes no text, and JSON has no date: write Annotated"),
        (Strict, "value.day takes no text, and JSON has no date: write Annotated"),
        (list[Strict], "value.0.day takes no text, and JSON has no date: write Annotated"),
        (Annotated[Circle | Square, Field(discriminator="kind")], "sizes takes no array, and JSON has no set"),
        (dict[int, str], "value has keys that are texts in JSON: declare them as str, or as Annotated"),
    ],
)
def test_a_parameter_that_no_client_can_send_is_refused_with_the_fix(kind: Any, problem: str) -> None:
    with pytest.raises(PluginError) as refused:
        validate([tool_with(kind)])
    assert problem in refused.value.message
    assert refused.value.message.startswith("tool take: value")


@pytest.mark.parametrize(
    "kind",
    [
        Annotated[Colour, Field(strict=False)],
        Annotated[Decimal, Field(strict=False, gt=5)],
        Annotated[tuple[int, ...], Field(strict=False)] | None,
        list[Annotated[Colour, Field(strict=False)]],
        dict[Annotated[int, Field(strict=False)], str],
        Lax,
        list[Lax],
        str | dt.date,
        Literal["a", 1] | None,
        HttpUrl,
        SecretStr,
        Annotated[int, AfterValidator(odd), Field(ge=2)],
        Annotated[str, PlainValidator(careless)],
    ],
)
def test_a_parameter_that_clients_can_send_is_accepted(kind: Any) -> None:
    validate([tool_with(kind)])
