"""Checking a table against its model, with problems that say where each value stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard, TypeVar, overload

from pydantic import BaseModel, ValidationError

from pressroom.config.origins import Origins, dotted
from pressroom.config.problems import ConfigProblem, InvalidConfig
from pressroom.config.values import merge, nested
from pressroom.validation.messages import problems as explained

Model = TypeVar("Model", bound=BaseModel)


@overload
def validate_section(
    model: type[Model], data: Mapping[str, Any], path: str, origins: Origins | None = None
) -> Model: ...


@overload
def validate_section(
    model: type[Model] | None, data: Mapping[str, Any], path: str, origins: Origins | None = None
) -> Model | None: ...


def validate_section(
    model: type[Model] | None, data: Mapping[str, Any], path: str, origins: Origins | None = None
) -> Model | None:
    """Check a plugin's own configuration, `[plugins.<id>.config]`.

    `path` is the table's dotted key, `origins` those of the whole configuration (`LoadedConfig.origins`).
    A plugin without a model takes no configuration; its result is `None`.

    Raises:
        InvalidConfig: the table does not match the model; each problem names its key, its bounds and its position.
    """
    origins = origins or Origins()
    if model is None:
        if data:
            problem = "this plugin takes no configuration"
            raise InvalidConfig([ConfigProblem(path, problem, origins.nearest(path), "Remove the table.")])
        return None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = problems_of(error, model, path, origins)
    fixed = _with_texts(data, path, origins, {problem.key for problem in problems})
    if fixed is data:
        raise InvalidConfig(problems)
    try:
        return model.model_validate(fixed)
    except ValidationError as error:
        remaining = {problem.key: problem for problem in problems_of(error, model, path, origins)}
    # A value that fits in neither form is explained as what it looks like.
    raise InvalidConfig({**remaining, **{one.key: one for one in problems if one.key in remaining}}.values())


def _with_texts(data: Mapping[str, Any], path: str, origins: Origins, wrong: set[str]) -> Mapping[str, Any]:
    """Return the table with the text of those variables that were taken as JSON and do not fit, such as a password."""
    for key, text in origins.texts.items():
        inside = next((key[length:] for length in range(1, len(key)) if dotted(key[:length]) == path), ())
        name = dotted(key)
        if inside and any(one == name or one.startswith(f"{name}.") for one in wrong):
            data = merge(data, nested(inside, text))
    return data


def problems_of(error: ValidationError, model: type[BaseModel], path: str, origins: Origins) -> list[ConfigProblem]:
    """Return what pydantic found in a table, a problem for each key, with its origin."""
    unknown = {dotted(one["loc"]): one["loc"] for one in error.errors() if one["type"] == "extra_forbidden"}
    found = []
    for problem in explained(error, model):
        key = ".".join(part for part in (path, problem.field) if part)
        hint = _elsewhere(str(unknown[problem.field][-1]), model) if problem.field in unknown else ""
        # What somebody keeps in a file of its own is not repeated, whatever the setting is.
        text = problem.text.partition(" (got ")[0] if origins.hides(key) else problem.text
        found.append(ConfigProblem(key, text, origins.nearest(key), hint))
    return found


def _elsewhere(name: str, model: type[BaseModel]) -> str:
    """Return a hint where a key of that name is in another table."""
    homes = [key for key in fixed_keys(model) if key[-1] == name]
    if (name,) in homes:
        return f"{name} is at the top of the file, before the first [table]."
    if len(homes) == 1:
        return f"{name} is in [{dotted(homes[0][:-1])}]."
    return f"There are {' and '.join(map(dotted, homes))}." if homes else ""


def fixed_keys(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the key of every setting in a model and the models in it, apart from those in tables with free names."""
    for name, info in model.model_fields.items():
        if is_model(info.annotation):
            yield from fixed_keys(info.annotation, (*path, name))
        else:
            yield (*path, name)


def is_model(kind: Any) -> TypeGuard[type[BaseModel]]:
    """Tell whether a type is a table whose keys are fixed."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)
