"""Shared parts of tool declarations: executors, parameter types and toolsets."""

from __future__ import annotations

import difflib
import inspect
import re
import typing
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.fields import FieldInfo

ExecutorName = Literal["async", "thread", "process"]
"""The executor of a tool: the event loop, a worker thread, or a worker process.

Only the process executor can stop a tool that does not return, and survive a crash.
"""

_DAY_LENGTH: Final = 10

MCP_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def check_options(decorator: str, options: Iterable[str], known: Collection[str]) -> None:
    """Check that a decorator accepts the given options. Raises `TypeError`."""
    for name in options:
        if name not in known:
            similar = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {similar[0]}?" if similar else f"known are {', '.join(sorted(known))}"
            raise TypeError(f"{decorator}() takes no option {name!r}; {hint}")


def is_model(kind: object, base: type) -> bool:
    """Return whether `kind` is a subclass of `base`. Plugins can declare anything, so it might not be a class."""
    return isinstance(kind, type) and issubclass(kind, base)


def mcp_name_problems(name: str) -> list[str]:
    """Return the problems with the name of an MCP tool."""
    if name in HOST_TOOL_NAMES:
        return [f"name {name!r} is reserved for the host; choose another one"]
    return [] if MCP_TOOL_NAME.fullmatch(name) else [f"name {name!r} must match [A-Za-z0-9_-]{{1,64}}"]


def sent_fields(params: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a model by the names that clients send: the alias of a field, if it has one."""
    return {_sent_name(name, field): field for name, field in params.model_fields.items()}


def _sent_name(name: str, field: FieldInfo) -> str:
    alias = field.validation_alias  # pydantic sets it for `alias` and alias generators too
    if isinstance(alias, AliasChoices):
        alias = alias.choices[0]
    if isinstance(alias, AliasPath):
        alias = str(alias.path[0])
    return alias or name


def params_problems(params: Any) -> list[str]:
    """Return the problems with the parameter model of a tool."""
    if not is_model(params, Params):
        return ["the first argument must be annotated with a subclass of pressroom.sdk.Params"]
    return [
        f"params: {name} needs a description" for name, field in params.model_fields.items() if not field.description
    ]


def run_problems(function: Callable[..., Any], executor: str, timeout: float) -> list[str]:
    """Return the problems with the executor and timeout of a tool."""
    problems: list[str] = []
    if timeout <= 0:
        problems.append(f"timeout must be above 0 seconds (got {timeout})")
    if executor not in typing.get_args(ExecutorName):
        problems.append(f"executor must be one of async, thread, process (got {executor!r})")
    elif (executor == "async") != inspect.iscoroutinefunction(function):
        instead = '"process" or "thread" for this one' if executor == "async" else '"async" for this one'
        kind = "an async" if executor == "async" else "a plain"
        problems.append(f"executor {executor!r} needs {kind} function; use executor={instead}")
    return problems


_HEX_COLOR = re.compile(r"#?([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})", re.ASCII)


class Params(BaseModel):
    """The base class of all parameter models, which are the only place for limits and defaults.

    Types are strict: a numeric string is not a number, and a boolean is not an integer. Types that JSON does not have,
    such as dates, enums, `Decimal`, tuples and sets, therefore need `Field(strict=False)`. As a part of another type,
    write `list[Annotated[Colour, Field(strict=False)]]`. Unknown fields are refused. Instances are frozen and hashable.
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
"""A whole number. `512.0` is accepted, since JSON does not distinguish it from `512`."""


def _day(value: object) -> object:
    if isinstance(value, str):
        try:
            # Stricter than `fromisoformat`, which takes weeks too.
            datetime.strptime(value if len(value) == _DAY_LENGTH else "", "%Y-%m-%d")  # noqa: DTZ007
        except ValueError:
            raise ValueError("must be a day such as 2026-11-21") from None
    return value


Day = Annotated[
    str,
    Field(min_length=_DAY_LENGTH, max_length=_DAY_LENGTH, json_schema_extra={"format": "date"}),
    BeforeValidator(_day),
]
"""A day such as `2026-11-21`, as a text."""


def _printable(value: str | None) -> str | None:
    if value is not None and not value.isprintable():
        raise ValueError("must contain only printable characters")
    return value


MAX_REQUEST_ID_LENGTH: Final = 200

_REQUEST_ID: Final = AfterValidator(_printable)

ClientRequestId = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=MAX_REQUEST_ID_LENGTH,
        description="Any text you choose; repeats of the call with it run once.",
    ),
    _REQUEST_ID,
]
"""The type of the parameter `client_request_id`: an idempotency key that clients choose to repeat calls safely.

Declare `client_request_id: ClientRequestId = None` in a tool that is not idempotent. The host then runs the call once,
and returns the result of the first call to repeats.
"""

REQUEST_ID: Final = "client_request_id"
"""The name of the parameter for the idempotency key."""


def is_repeatable(params: type[Params]) -> bool:
    """Return whether calls with these parameters can carry a `ClientRequestId`."""
    field = params.model_fields.get(REQUEST_ID)
    return field is not None and _REQUEST_ID in field.metadata


HexColor = Annotated[str, Field(max_length=9), AfterValidator(_hex_color)]
"""A colour as `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`; the `#` is optional.

The value is normalised to lower case: `#rrggbb`, or `#rrggbbaa` if it is not opaque.
"""


CORE: Final = "core"
"""The default toolset: everything from an idea to a live article."""

GENERATORS: Final = "generators"
"""The default toolset of generators."""

ALL: Final = "all"
"""The value with which clients request all tools; no toolset can have this name."""

HOST_TOOL_NAMES: Final = ("find_tools", "call_tool")
"""The host's own tools, through which clients reach tools that they do not list."""

MAX_NAME_LENGTH: Final = 32

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)

Access = Literal["read", "drafts", "publish", "full"]
"""The access level of a connection.

`read`: only tools that change nothing. `drafts`: also tools that write, but none that publishes or is destructive.
`publish`: all tools except destructive ones. `full`: every tool.
"""


def toolset_problems(names: Iterable[object]) -> list[str]:
    """Return the problems with the names of a tool's toolsets, one sentence each."""
    return [
        f"toolsets: {name!r} must match [a-z][a-z0-9_-]{{0,31}} and not be {ALL!r}"
        for name in names
        if not isinstance(name, str) or name == ALL or not _NAME.fullmatch(name)
    ]
