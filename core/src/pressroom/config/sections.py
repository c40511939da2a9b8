"""Validation of tables against their models, reporting the origin of each invalid value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard, TypeVar, overload

from pydantic import BaseModel, ValidationError

from pressroom.config.origins import ConfigProblem, InvalidConfig, Origins, dotted
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
    """Validate a plugin's own configuration, `[plugins.<id>.config]`.

    `path` is the table's dotted key, and `origins` those of the whole configuration (`LoadedConfig.origins`). A plugin
    without a model accepts no configuration; the result is then `None`.

    Raises:
        InvalidConfig: The table does not match the model; each problem states its key, its bounds and its origin.
    """
    origins = origins or Origins()
    if model is None:
        if data:
            problem = "this plugin has no settings"
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
    # A value that is valid neither as JSON nor as text is reported in its JSON form.
    raise InvalidConfig(
        {**remaining, **{problem.key: problem for problem in problems if problem.key in remaining}}.values()
    )


def _with_texts(data: Mapping[str, Any], path: str, origins: Origins, wrong: set[str]) -> Mapping[str, Any]:
    """Replace JSON values that do not fit the model, such as a numeric password, with the variable's original text."""
    for key, text in origins.texts.items():
        inner_path = next((key[length:] for length in range(1, len(key)) if dotted(key[:length]) == path), ())
        name = dotted(key)
        if inner_path and any(wrong_key == name or wrong_key.startswith(f"{name}.") for wrong_key in wrong):
            data = merge(data, nested(inner_path, text))
    return data


def problems_of(error: ValidationError, model: type[BaseModel], path: str, origins: Origins) -> list[ConfigProblem]:
    """Return pydantic's errors for a table as problems with their origins, one for each key."""
    unknown = {dotted(detail["loc"]): detail["loc"] for detail in error.errors() if detail["type"] == "extra_forbidden"}
    problems = []
    for problem in explained(error, model):
        key = ".".join(part for part in (path, problem.field) if part)
        hint = _elsewhere(str(unknown[problem.field][-1]), model) if problem.field in unknown else ""
        # Never repeat a value from a referenced file or variable, whatever the setting.
        text = problem.text.partition(" (got ")[0] if origins.hides(key) else problem.text
        problems.append(ConfigProblem(key, text, origins.nearest(key), hint))
    return problems


def _elsewhere(name: str, model: type[BaseModel]) -> str:
    """Return a hint if other tables have a key with that name, else an empty string."""
    homes = [key for key in fixed_keys(model) if key[-1] == name]
    if (name,) in homes:
        return f"{name} is at the top of the file, before the first [table]."
    if len(homes) == 1:
        return f"{name} is in [{dotted(homes[0][:-1])}]."
    return f"Did you mean {' or '.join(map(dotted, homes))}?" if homes else ""


def fixed_keys(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the key of every setting in a model and its nested models, except those in tables with free names."""
    for name, info in model.model_fields.items():
        if is_model(info.annotation):
            yield from fixed_keys(info.annotation, (*path, name))
        else:
            yield (*path, name)


def is_model(kind: Any) -> TypeGuard[type[BaseModel]]:
    """Return whether a type is a model, that is, a table with fixed keys."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)
