"""Members of an input that are `null`: they count as absent, unless the model accepts `null`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pressroom.validation.messages import input_error

Model = TypeVar("Model", bound=BaseModel)

_MAX_NULLS: Final = 200


def validated_without_nulls(
    error: ValidationError, model: type[Model], arguments: Mapping[str, Any], *, also_known: Iterable[str] = ()
) -> Model:
    """Validate arguments again that the model refused with `error`, without the members that are `null`.

    `also_known` is passed to `input_error`.

    Raises:
        InvalidInput: The arguments are invalid for other reasons too, or a required member is `null`.
    """
    failures = error.errors(include_url=False)
    paths = [*dict.fromkeys(islice(_paths_of_nulls(arguments, failures), _MAX_NULLS))]
    if paths:
        try:
            return model.model_validate(_without(arguments, paths))
        except ValidationError as remaining:
            failures = remaining.errors(include_url=False)
    raise input_error(failures, model, also_known=also_known) from None


def _paths_of_nulls(arguments: Mapping[str, Any], failures: Iterable[ErrorDetails]) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each member of an object that is `null` and must not be, except those with unknown names."""
    for failure in failures:
        if failure["input"] is not None or failure["type"] == "extra_forbidden":
            continue
        value: Any = arguments
        path: list[str | int] = []
        for part in failure["loc"]:
            # A location also contains labels of union members, which are not names of members.
            if isinstance(value, Mapping) and part in value:
                path.append(part)
                if value[part] is None:
                    yield tuple(path)
                value = value[part]
            elif isinstance(value, list) and isinstance(part, int) and part < len(value):
                path.append(part)
                value = value[part]


def _without(arguments: Mapping[str, Any], paths: Iterable[tuple[Any, ...]]) -> dict[str, Any]:
    """Return a copy without the members at these paths. Each object around them is copied once."""
    pruned = dict(arguments)
    copies: dict[tuple[Any, ...], Any] = {(): pruned}
    for path in paths:
        for depth in range(1, len(path)):
            inner = path[:depth]
            if inner not in copies:
                around = copies[inner[:-1]]
                around[inner[-1]] = copies[inner] = around[inner[-1]].copy()
        del copies[path[:-1]][path[-1]]
    return pruned
