"""Messages for pydantic errors that people and models can act on.

A message contains the field, what it must be, and what was given: `width: must be between 200 and 2400 (got 9000)`. It
repeats at most a few dozen characters of the input, and never control characters or secrets. Messages do not depend on
HTTP: the same ones explain errors in the operator's configuration.

The location of an error mixes field names with labels of union members (`("shape", "Circle", "radius")`). The JSON
Schema of the model distinguishes them, and contains the bounds for the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import ErrorDetails

from pressroom.errors import InvalidInput
from pressroom.validation.clauses import Clause, clause_of, own_text
from pressroom.validation.echo import format_path, nearest, printable

Schema = Mapping[str, Any]

_KEY = "[key]"
_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})

MAX_PROBLEMS = 5
"""The maximum number of problems in one message."""

_MAX_ERRORS = 200


class _Lenient(GenerateJsonSchema):
    """A lenient generator: fields whose type JSON Schema cannot express get an empty schema."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - declared so by the base class
        "skipped-choice",
        "non-serializable-default",
        "skipped-discriminator",
    }

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
        del schema, error_info
        return {}


@lru_cache(maxsize=1024)
def schema_of(model: type[BaseModel]) -> Schema:
    """Return the JSON Schema of a model's input, with `$defs` and references. It is cached for each model."""
    return model.model_json_schema(mode="validation", schema_generator=_Lenient)


@dataclass(frozen=True, slots=True)
class ErrorLocation:
    """The resolved location of an error.

    `path` contains names and indexes only. `schema` describes the value at that path, `parent` the object or array
    around it; both are empty if the model does not describe them. `is_name` is true if the error is about the name of a
    member, not its value. `choices` lists the union members that were tried along the path: the length of the path at
    that point, and the member's label.
    """

    path: tuple[str | int, ...]
    schema: Schema
    parent: Schema
    is_name: bool = False
    choices: tuple[tuple[int, str], ...] = ()


def locate(root: Schema, location: Sequence[str | int], *, may_be_name: bool = True) -> ErrorLocation:
    """Resolve an error's location in a model with the JSON Schema `root`.

    `may_be_name` is whether the error can be about the name of a member. A client can also send a field named `[key]`.
    """
    path: list[str | int] = []
    choices: list[tuple[int, str]] = []
    schema: Schema = resolve(root, root)
    parent: Schema = {}
    for position, part in enumerate(location):
        members = _members(root, schema)
        if part == _KEY and position == len(location) - 1 and may_be_name and _takes_any_name(parent):
            return ErrorLocation(tuple(path), _names(root, parent), parent, is_name=True, choices=tuple(choices))
        if len(members) > 1 and isinstance(part, str):
            choices.append((len(path), part))
            schema = _chosen(root, schema, members, part, location[position + 1 :])
        elif (child := _child(root, schema, part)) is not None:
            path.append(part)
            schema, parent = child, schema
        elif not _takes_no_name(schema, part):
            path.append(part)
            schema, parent = {}, schema
    return ErrorLocation(tuple(path), schema, parent, choices=tuple(choices))


def resolve(root: Schema, schema: Schema) -> dict[str, Any]:
    """Return a schema with its references resolved, and without `null` if there is only one other choice."""
    resolved = dict(schema)
    for _ in range(32):
        if "$ref" in resolved:
            target = root.get("$defs", {}).get(resolved.pop("$ref").rpartition("/")[2], {})
            resolved = {**target, **resolved}
            continue
        choices = [member for member in resolved.get("anyOf", ()) if member.get("type") != "null"]
        if len(choices) != 1:
            break
        del resolved["anyOf"]
        resolved = {**choices[0], **resolved}
    return resolved


def holds_secret(root: Schema, schema: Schema) -> bool:
    """Return whether a schema describes a secret (`SecretStr`), or contains one."""
    visited: set[str] = set()
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if current.get("writeOnly"):
            return True
        reference = current.get("$ref", "")
        if reference and reference not in visited:
            visited.add(reference)
            waiting.append(resolve(root, {"$ref": reference}))
        waiting += [*current.get("anyOf", ()), *current.get("oneOf", ()), *current.get("prefixItems", ())]
        waiting += current.get("properties", {}).values()
        waiting += [current[key] for key in ("items", "additionalProperties") if isinstance(current.get(key), dict)]
    return False


def _takes_any_name(schema: Schema) -> bool:
    return bool(schema.get("patternProperties") or schema.get("additionalProperties") or "propertyNames" in schema)


def _takes_no_name(schema: Schema, part: str | int) -> bool:
    # Union members with the same JSON Schema are merged, but their labels remain in the location.
    kind = schema.get("type")
    return kind in _SCALARS or (kind == "array" and isinstance(part, str))


def _members(root: Schema, schema: Schema) -> list[dict[str, Any]]:
    members = [resolve(root, member) for member in schema.get("oneOf") or schema.get("anyOf") or ()]
    return [member for member in members if member.get("type") != "null"]


def _chosen(
    root: Schema, schema: Schema, members: list[dict[str, Any]], label: str, remaining: Sequence[str | int]
) -> Schema:
    mapping = schema.get("discriminator", {}).get("mapping", {})
    if label in mapping:
        return resolve(root, {"$ref": mapping[label]})
    titled = [member for member in members if member.get("title") == label]
    if titled:
        return titled[0]
    if not remaining:
        return schema
    return next((member for member in members if _child(root, member, remaining[0]) is not None), {})


def _child(root: Schema, schema: Schema, part: str | int) -> Schema | None:
    if isinstance(part, int):
        first = schema.get("prefixItems", ())
        child = first[part] if part < len(first) else schema.get("items")
    else:
        fallbacks = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
        child = schema.get("properties", {}).get(part) or next((fallback for fallback in fallbacks if fallback), None)
    return resolve(root, child) if isinstance(child, dict) else ({} if child is True else None)


def _names(root: Schema, parent: Schema) -> Schema:
    patterns = [{"pattern": pattern} for pattern in parent.get("patternProperties", ())]
    return resolve(root, {**(patterns[0] if patterns else {}), **parent.get("propertyNames", {})})


__all__ = ["FieldProblem", "input_error", "nearest", "problem_of", "problems"]


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """The problem with one field. `field` is its dotted path, or empty if the problem is with the whole input."""

    field: str
    text: str

    def __str__(self) -> str:
        return f"{self.field}: {self.text}" if self.field else self.text


def input_error(
    errors: ValidationError | Iterable[ErrorDetails], model: type[BaseModel], *, also_known: Iterable[str] = ()
) -> InvalidInput:
    """Return a single error that tells a caller what is wrong with its input.

    `errors` is the `ValidationError` of `model`, or its `errors()`. `also_known` are names that the input can contain
    in addition to the model's own; they are suggested for misspelt names. The error's `field` is the first invalid
    field; its message has a sentence for each of the first `MAX_PROBLEMS` problems.
    """
    field_problems = problems(errors, model, also_known=also_known)
    first, *others = field_problems[:MAX_PROBLEMS] or [FieldProblem("", "is not valid")]
    sentences = [
        first.text,
        *map(str, others),
        *(["There are more problems"] if len(field_problems) > MAX_PROBLEMS else []),
    ]
    ended = [text if text.endswith(("?", ".", "!")) else f"{text}." for text in sentences]
    return InvalidInput(first.field, " ".join(ended) if others else first.text)


def problems(
    errors: ValidationError | Iterable[ErrorDetails], model: type[BaseModel], *, also_known: Iterable[str] = ()
) -> list[FieldProblem]:
    """Return one problem for each field, in the order of the model's fields; unknown fields come last.

    Only the first 200 errors are considered.
    """
    details = errors.errors(include_url=False) if isinstance(errors, ValidationError) else errors
    return _explained([*islice(details, _MAX_ERRORS)], schema_of(model), tuple(also_known))


def problem_of(error: ErrorDetails, schema: Mapping[str, Any], *, also_known: Iterable[str] = ()) -> str:
    """Return the message of one error, without the name of its field.

    `schema` is the JSON Schema of the whole model that was validated.
    """
    return _explained([error], schema, tuple(also_known))[0].text


@dataclass(frozen=True, slots=True)
class _LocatedError:
    location: ErrorLocation
    error: ErrorDetails
    clause: Clause


def _explained(
    errors: Sequence[ErrorDetails], root: Mapping[str, Any], also_known: tuple[str, ...]
) -> list[FieldProblem]:
    inner = {error["loc"][:-1] for error in errors if error["loc"]}
    reported = [error for error in errors if not (error["loc"] in inner and _has_enough(error))]
    located = _without_repetition(_located(error, root, also_known) for error in reported)
    if any(failure.error["type"] != "default_factory_not_called" for failure in located):
        located = [failure for failure in located if failure.error["type"] != "default_factory_not_called"]
    return [problem for group in _grouped(located, 0) for problem in _problems_of(group, 0)]


def _has_enough(error: ErrorDetails) -> bool:
    """Return whether an array is only too short because pydantic does not count its invalid items."""
    given = error["input"]
    least = error.get("ctx", {}).get("min_length", 0)
    return error["type"] == "too_short" and isinstance(given, list | tuple) and len(given) >= least


def _located(error: ErrorDetails, root: Mapping[str, Any], also_known: tuple[str, ...]) -> _LocatedError:
    location = locate(root, error["loc"], may_be_name=error["type"] != "extra_forbidden")
    known = also_known if len(location.path) == 1 else ()
    clause = clause_of(error, location.schema, location.parent, known)
    if location.is_name and clause.must.startswith("must "):
        clause = replace(clause, must=f"its name {clause.must}")
    elif holds_secret(root, location.schema):
        clause = replace(clause, got="", hint="")
    return _LocatedError(location, error, clause)


def _without_repetition(located: Iterable[_LocatedError]) -> list[_LocatedError]:
    """Remove hints with known names that repeat those of an earlier problem."""
    known_hints: set[str] = set()
    failures = []
    for failure in located:
        is_repeated = failure.clause.hint in known_hints and failure.error["type"] == "extra_forbidden"
        failures.append(replace(failure, clause=replace(failure.clause, hint="")) if is_repeated else failure)
        known_hints.add(failure.clause.hint)
    return failures


def _grouped(located: Iterable[_LocatedError], level: int) -> list[list[_LocatedError]]:
    """Group the errors of each union, which has an error for each member that was tried."""
    groups: dict[object, list[_LocatedError]] = {}
    for number, failure in enumerate(located):
        choices = failure.location.choices
        key = failure.location.path[: choices[level][0]] if len(choices) > level else number
        groups.setdefault(key, []).append(failure)
    return list(groups.values())


def _problems_of(group: list[_LocatedError], level: int) -> list[FieldProblem]:
    choices = group[0].location.choices
    if len(choices) <= level:
        return [_problem_of_failure(failure) for failure in group]
    start = choices[level][0]
    members: dict[str, list[_LocatedError]] = {}
    for failure in group:
        members.setdefault(failure.location.choices[level][1], []).append(failure)
    tried = [failures for failures in members.values() if not any(_is_mismatch(failure, start) for failure in failures)]
    if any(len(failure.location.path) > start for failures in tried for failure in failures):
        likeliest = min(tried, key=len)
        return [problem for inner in _grouped(likeliest, level + 1) for problem in _problems_of(inner, level + 1)]
    return [FieldProblem(format_path(group[0].location.path), str(_either([failure.clause for failure in group])))]


def _is_mismatch(failure: _LocatedError, start: int) -> bool:
    return failure.clause.mismatch and len(failure.location.path) == start


def _either(clauses: list[Clause]) -> Clause:
    """Combine the clauses of the union members that were tried into one."""
    texts = list(dict.fromkeys(clause.must for clause in clauses))
    alternatives = [text.removeprefix("must be ") if text.startswith("must be ") else text for text in texts[1:]]
    closest = next((clause for clause in clauses if not clause.mismatch), clauses[0])
    hint = next((clause.hint for clause in clauses if clause.hint), "")
    *others, last = [texts[0], *alternatives]
    comma = "," if any(" or " in text for text in others) else ""
    return Clause(f"{', '.join(others)}{comma} or {last}" if others else last, closest.got, hint)


def _problem_of_failure(failure: _LocatedError) -> FieldProblem:
    path, context = failure.location.path, failure.error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, InvalidInput):
        return FieldProblem(_field_of(cause, failure.location), own_text(cause.problem))
    if failure.error["type"].startswith("union_tag_"):
        discriminator = str(context.get("discriminator", "")).strip("'")
        path = (*path, discriminator) if discriminator.isidentifier() else path
    return FieldProblem(format_path(path), str(failure.clause))


def _field_of(cause: InvalidInput, location: ErrorLocation) -> str:
    """Return the path of the field that a validator's error is about: its own field, a nested one, or a sibling."""
    field_path, field = format_path(location.path), printable(cause.field)
    first = field.partition(".")[0]
    if not field or (location.path and first == location.path[-1] and "." not in field):
        return field_path
    if not field_path or field.startswith(f"{field_path}."):
        return field
    if first not in location.schema.get("properties", {}) and first in location.parent.get("properties", {}):
        field_path = format_path(location.path[:-1])
    return f"{field_path}.{field}" if field_path else field
