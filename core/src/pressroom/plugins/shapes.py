"""Whether a record holds what its fields are declared to hold.

Python does not check the annotations of a dataclass, and a rate limit that is text, or a title that is a number, would
fail only when a page is made of all tools.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal, Union

from pressroom.plugins.explaining import shown

_SDK: Final = "pressroom.sdk"


def shape_problems(record: Any, path: str = "") -> Iterator[str]:
    """Yield a phrase for each field, also of records inside the record, that holds something else than it declares."""
    kind = _sdk_type(record)
    if kind is None:
        return
    for name, (hint, annotation) in _fields(kind).items():
        value, field = getattr(record, name), f"{path}{name}"
        if not fits(value, hint):
            yield f"{field} must be {annotation}, not {shown(value)}"
            continue
        for one in value if isinstance(value, tuple) else (value,):
            yield from shape_problems(one, f"{field}.")


def fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is what a type hint says. An `int` fits a `float`, a `bool` fits neither."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in arguments)
    if origin is Literal:
        return isinstance(value, str) and value in arguments
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(one, arguments[0]) for one in value)
    if origin is type:
        return isinstance(value, type) and issubclass(value, arguments[0])
    if origin is collections.abc.Callable:
        return callable(value)
    if origin is collections.abc.Mapping:
        return isinstance(value, Mapping)
    if hint in (int, float):
        return isinstance(value, int if hint is int else int | float) and not isinstance(value, bool)
    return isinstance(value, hint)


def _sdk_type(record: Any) -> type | None:
    """Return the SDK's dataclass that a record is one of; a plugin may have derived its own from it."""
    return next(
        (kind for kind in type(record).__mro__ if kind.__module__.startswith(_SDK) and dataclasses.is_dataclass(kind)),
        None,
    )


@cache
def _fields(kind: type) -> Mapping[str, tuple[Any, str]]:
    """Return the type hint of each field, and how an error words it."""
    hints = typing.get_type_hints(kind)
    return {
        field.name: (hints[field.name], _worded(hints[field.name], field.type)) for field in dataclasses.fields(kind)
    }


def _worded(hint: Any, annotation: Any) -> str:
    choices = typing.get_args(hint) if typing.get_origin(hint) is Literal else ()
    return f"one of {', '.join(choices)}" if choices else str(annotation)
