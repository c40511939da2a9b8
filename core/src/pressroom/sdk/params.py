"""The types that a tool's parameters are declared with."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

_HEX_COLOR = re.compile(r"#?([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})", re.ASCII)


class Params(BaseModel):
    """The base of every parameter model: the one place where bounds and defaults are written.

    Types are strict: a numeric string is not a number and a boolean is not an integer.
    Unknown fields are refused. Values are frozen, so that equal parameters hash alike.
    """

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        validate_default=False,
    )


def _whole_number(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value


def _hex_color(value: str) -> str:
    match = _HEX_COLOR.fullmatch(value)
    if match is None:
        raise ValueError("must be a hex colour such as #b9502a, #fff or #00000000")
    digits = match[1].lower()
    if len(digits) <= 4:
        digits = "".join(digit * 2 for digit in digits)
    return f"#{digits.removesuffix('ff') if len(digits) == 8 else digits}"


Integer = Annotated[int, BeforeValidator(_whole_number)]
"""A whole number. `512.0` is accepted, since JSON does not tell it from `512`."""


def _printable(value: str | None) -> str | None:
    if value is not None and not value.isprintable():
        raise ValueError("must hold printable characters only")
    return value


MAX_REQUEST_ID_LENGTH: Final = 200

_REQUEST_ID: Final = AfterValidator(_printable)

ClientRequestId = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=MAX_REQUEST_ID_LENGTH,
        description="Any text you choose; the same call with it runs once.",
    ),
    _REQUEST_ID,
]
"""The type of the parameter `client_request_id`: a text that the client chooses, so that it can repeat a call safely.

A tool that does something new each time it is called declares `client_request_id: ClientRequestId = None`. The host
does the rest: it runs the call once, and answers a repeat with what the first one answered.
"""

REQUEST_ID: Final = "client_request_id"
"""The name of the parameter."""


def is_repeatable(params: type[Params]) -> bool:
    """Tell whether calls with these parameters can carry a `ClientRequestId`."""
    field = params.model_fields.get(REQUEST_ID)
    return field is not None and _REQUEST_ID in field.metadata


HexColor = Annotated[str, Field(max_length=9), AfterValidator(_hex_color)]
"""A colour as `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`, the `#` optional.

The value is normalised to lower case: `#rrggbb`, or `#rrggbbaa` where it is not opaque.
"""
