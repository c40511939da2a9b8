"""From the errors of pydantic to messages that people and models can act on.

A message names the field, what it must be, and what it was: `width: must be between 200 and 2400 (got 9000)`. It never
repeats more than a few dozen characters of the input, never control characters, and never a secret. Nothing here knows
of HTTP: the operator's configuration is explained with the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pressroom.errors import InvalidInput
from pressroom.validation.clauses import Clause, clause_of, own_text
from pressroom.validation.echo import nearest, printable, shown_path
from pressroom.validation.error_location import ErrorLocation, holds_secret, locate, schema_of

__all__ = ["FieldProblem", "input_error", "nearest", "problem_of", "problems"]

MAX_PROBLEMS = 5
"""How many problems one message names."""

_MAX_ERRORS = 200


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with one field. `field` is its dotted path, or empty where the whole input is meant."""

    field: str
    text: str

    def __str__(self) -> str:
        return f"{self.field}: {self.text}" if self.field else self.text


def input_error(
    errors: ValidationError | Iterable[ErrorDetails], model: type[BaseModel], *, also_known: Iterable[str] = ()
) -> InvalidInput:
    """Return the one error that tells a caller what is wrong with its input.

    `errors` are what `model` raised, or its `errors()`. `also_known` are names that the input may hold beside the
    model's own; they are offered where a name is misspelt. The error's `field` is the first field that is wrong; its
    message is a sentence for each of the first `MAX_PROBLEMS`.
    """
    found = problems(errors, model, also_known=also_known)
    first, *others = found[:MAX_PROBLEMS] or [FieldProblem("", "is not valid")]
    sentences = [first.text, *map(str, others), *(["There are more problems"] if len(found) > MAX_PROBLEMS else [])]
    ended = [text if text.endswith(("?", ".", "!")) else f"{text}." for text in sentences]
    return InvalidInput(first.field, " ".join(ended) if others else first.text)


def problems(
    errors: ValidationError | Iterable[ErrorDetails], model: type[BaseModel], *, also_known: Iterable[str] = ()
) -> list[FieldProblem]:
    """Return what is wrong, a problem for each field, in the order of the model's fields; unknown fields come last.

    Of very many errors only the first hundreds are looked at.
    """
    details = errors.errors(include_url=False) if isinstance(errors, ValidationError) else errors
    return _explained([*islice(details, _MAX_ERRORS)], schema_of(model), tuple(also_known))


def problem_of(error: ErrorDetails, schema: Mapping[str, Any], *, also_known: Iterable[str] = ()) -> str:
    """Return what one error says, without the name of its field.

    `schema` is the JSON Schema of the whole model that was validated.
    """
    return _explained([error], schema, tuple(also_known))[0].text


@dataclass(frozen=True, slots=True)
class _Located:
    place: ErrorLocation
    error: ErrorDetails
    clause: Clause


def _explained(
    errors: Sequence[ErrorDetails], root: Mapping[str, Any], also_known: tuple[str, ...]
) -> list[FieldProblem]:
    located = _without_repetition(_located(error, root, also_known) for error in errors)
    if any(one.error["type"] != "default_factory_not_called" for one in located):
        located = [one for one in located if one.error["type"] != "default_factory_not_called"]
    return [problem for group in _grouped(located, 0) for problem in _problems_of(group, 0)]


def _located(error: ErrorDetails, root: Mapping[str, Any], also_known: tuple[str, ...]) -> _Located:
    place = locate(root, error["loc"], may_be_name=error["type"] != "extra_forbidden")
    known = also_known if len(place.path) == 1 else ()
    clause = clause_of(error, place.schema, place.parent, known)
    if place.is_name and clause.must.startswith("must "):
        clause = replace(clause, must=f"its name {clause.must}")
    elif holds_secret(root, place.schema):
        clause = replace(clause, got="", hint="")
    return _Located(place, error, clause)


def _without_repetition(located: Iterable[_Located]) -> list[_Located]:
    """Leave out a list of known names that an earlier problem has shown."""
    seen: set[str] = set()
    found = []
    for one in located:
        again = one.clause.hint in seen and one.error["type"] == "extra_forbidden"
        found.append(replace(one, clause=replace(one.clause, hint="")) if again else one)
        seen.add(one.clause.hint)
    return found


def _grouped(located: Iterable[_Located], level: int) -> list[list[_Located]]:
    """Put the errors of one union side by side: there is one for each member that was tried."""
    groups: dict[object, list[_Located]] = {}
    for number, one in enumerate(located):
        choices = one.place.choices
        key = one.place.path[: choices[level][0]] if len(choices) > level else number
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _problems_of(group: list[_Located], level: int) -> list[FieldProblem]:
    choices = group[0].place.choices
    if len(choices) <= level:
        return [_problem_of_one(one) for one in group]
    start = choices[level][0]
    members: dict[str, list[_Located]] = {}
    for one in group:
        members.setdefault(one.place.choices[level][1], []).append(one)
    tried = [found for found in members.values() if not any(_is_mismatch(one, start) for one in found)]
    if any(len(one.place.path) > start for found in tried for one in found):
        likeliest = min(tried, key=len)
        return [problem for inner in _grouped(likeliest, level + 1) for problem in _problems_of(inner, level + 1)]
    return [FieldProblem(shown_path(group[0].place.path), str(_either([one.clause for one in group])))]


def _is_mismatch(one: _Located, start: int) -> bool:
    return one.clause.mismatch and len(one.place.path) == start


def _either(clauses: list[Clause]) -> Clause:
    """Return what a value must be where it may be one of several things."""
    texts = list(dict.fromkeys(clause.must for clause in clauses))
    rest = [text.removeprefix("must be ") if text.startswith("must be ") else text for text in texts[1:]]
    closest = next((clause for clause in clauses if not clause.mismatch), clauses[0])
    hint = next((clause.hint for clause in clauses if clause.hint), "")
    *others, last = [texts[0], *rest]
    comma = "," if any(" or " in text for text in others) else ""
    return Clause(f"{', '.join(others)}{comma} or {last}" if others else last, closest.got, hint)


def _problem_of_one(one: _Located) -> FieldProblem:
    path, context = one.place.path, one.error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, InvalidInput):
        return FieldProblem(_field_of(cause, one.place), own_text(cause.problem))
    if one.error["type"].startswith("union_tag_"):
        discriminator = str(context.get("discriminator", "")).strip("'")
        path = (*path, discriminator) if discriminator.isidentifier() else path
    return FieldProblem(shown_path(path), str(one.clause))


def _field_of(cause: InvalidInput, place: ErrorLocation) -> str:
    """Return the path of the field that a validator named: its own, one inside, or one beside."""
    here, named = shown_path(place.path), printable(cause.field)
    first = named.partition(".")[0]
    if not named or (place.path and first == place.path[-1] and "." not in named):
        return here
    if not here or named.startswith(f"{here}."):
        return named
    if first not in place.schema.get("properties", {}) and first in place.parent.get("properties", {}):
        here = shown_path(place.path[:-1])
    return f"{here}.{named}" if here else named
