"""What the declarations of generators and of MCP tools have in common."""

from __future__ import annotations

import difflib
import inspect
import re
import typing
from collections.abc import Callable, Collection, Iterable
from typing import Any, Literal

from pressroom.sdk.params import Params
from pressroom.sdk.toolsets import HOST_TOOL_NAMES

ExecutorName = Literal["async", "thread", "process"]
"""Where a tool runs: on the event loop, on a worker thread, or in a worker process.

Only the process executor can stop a tool that does not return, and contain one that crashes.
"""

MCP_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def check_options(decorator: str, given: Iterable[str], known: Collection[str]) -> None:
    """Make sure that a decorator knows its options. Raises `TypeError`."""
    for name in given:
        if name not in known:
            similar = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {similar[0]}?" if similar else f"known are {', '.join(sorted(known))}"
            raise TypeError(f"{decorator}() takes no option {name!r}; {hint}")


def first_argument_type(function: Callable[..., Any]) -> Any:
    """Return the type that the first of a tool function's two arguments is annotated with.

    Raises:
        TypeError: the function has no two positional arguments, or the first has no annotation.
    """
    arguments = list(inspect.signature(function).parameters)
    if len(arguments) != 2:
        raise TypeError(f"{function.__qualname__} must take (params, call), it takes ({', '.join(arguments)})")
    hints = typing.get_type_hints(function)
    if arguments[0] not in hints:
        raise TypeError(f"{function.__qualname__}: annotate {arguments[0]!r} with its parameter model")
    return hints[arguments[0]]


def is_model(kind: object, base: type) -> bool:
    """Tell whether `kind` is a class derived from `base`; plugins may have declared anything."""
    return isinstance(kind, type) and issubclass(kind, base)


def mcp_name_problems(name: str) -> list[str]:
    """Return what is wrong with the name of an MCP tool."""
    if name in HOST_TOOL_NAMES:
        return [f"name {name!r} is the host's own; choose another one"]
    return [] if MCP_TOOL_NAME.fullmatch(name) else [f"name {name!r} must match [A-Za-z0-9_-]{{1,64}}"]


def params_problems(params: Any) -> list[str]:
    """Return what is wrong with the parameter model of a tool."""
    if not is_model(params, Params):
        return ["the first argument must be annotated with a subclass of pressroom.sdk.Params"]
    return [
        f"params: {name} needs a description" for name, field in params.model_fields.items() if not field.description
    ]


def run_problems(function: Callable[..., Any], executor: str, timeout: float) -> list[str]:
    """Return what is wrong with where and how long a tool runs."""
    found: list[str] = []
    if timeout <= 0:
        found.append(f"timeout must be above 0 seconds (got {timeout})")
    if executor not in typing.get_args(ExecutorName):
        found.append(f"executor must be one of async, thread, process (got {executor!r})")
    elif (executor == "async") != inspect.iscoroutinefunction(function):
        instead = '"process" or "thread" for this one' if executor == "async" else '"async" for this one'
        kind = "an async" if executor == "async" else "a plain"
        found.append(f"executor {executor!r} needs {kind} function; use executor={instead}")
    return found
