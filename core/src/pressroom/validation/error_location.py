"""Where in a model an error of pydantic happened.

The location of an error mixes names of fields with labels of union members (`("shape", "Circle", "radius")`). The JSON
Schema of the model tells them apart, and holds the bounds that a message names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

Schema = Mapping[str, Any]

_KEY = "[key]"
_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})


class _Lenient(GenerateJsonSchema):
    """Describes what it can: a field of a type that JSON Schema cannot express has an empty schema."""

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
    """Return the JSON Schema of what a model takes, with `$defs` and references. It is made once for each model."""
    return model.model_json_schema(mode="validation", schema_generator=_Lenient)


@dataclass(frozen=True, slots=True)
class ErrorLocation:
    """What the location of an error stands for.

    `path` holds names and indexes only. `schema` describes the value at that path, `parent` the object or array around
    it; both are empty where the model says nothing. `is_name` tells that the name of a member is meant, not its value.
    `choices` lists the union members that were tried on the way: the length of the path there, and the member's label.
    """

    path: tuple[str | int, ...]
    schema: Schema
    parent: Schema
    is_name: bool = False
    choices: tuple[tuple[int, str], ...] = ()


def locate(root: Schema, location: Sequence[str | int], *, may_be_name: bool = True) -> ErrorLocation:
    """Return the place that an error's location stands for, in a model with the JSON Schema `root`.

    `may_be_name` tells whether the error may be about the name of a member; a client may call a field `[key]`, too.
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
    """Return a schema without its references, and without the choice of `null` where one other is left."""
    found = dict(schema)
    for _ in range(32):
        if "$ref" in found:
            target = root.get("$defs", {}).get(found.pop("$ref").rpartition("/")[2], {})
            found = {**target, **found}
            continue
        others = [member for member in found.get("anyOf", ()) if member.get("type") != "null"]
        if len(others) != 1:
            break
        del found["anyOf"]
        found = {**others[0], **found}
    return found


def holds_secret(root: Schema, schema: Schema) -> bool:
    """Tell whether a schema describes a secret (`SecretStr`), or something with a secret in it."""
    seen: set[str] = set()
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if current.get("writeOnly"):
            return True
        reference = current.get("$ref", "")
        if reference and reference not in seen:
            seen.add(reference)
            waiting.append(resolve(root, {"$ref": reference}))
        waiting += [*current.get("anyOf", ()), *current.get("oneOf", ()), *current.get("prefixItems", ())]
        waiting += current.get("properties", {}).values()
        waiting += [current[key] for key in ("items", "additionalProperties") if isinstance(current.get(key), dict)]
    return False


def _takes_any_name(schema: Schema) -> bool:
    return bool(schema.get("patternProperties") or schema.get("additionalProperties") or "propertyNames" in schema)


def _takes_no_name(schema: Schema, part: str | int) -> bool:
    # Members of a union that look alike in JSON Schema are one there, and their labels are left over.
    kind = schema.get("type")
    return kind in _SCALARS or (kind == "array" and isinstance(part, str))


def _members(root: Schema, schema: Schema) -> list[dict[str, Any]]:
    members = [resolve(root, member) for member in schema.get("oneOf") or schema.get("anyOf") or ()]
    return [member for member in members if member.get("type") != "null"]


def _chosen(
    root: Schema, schema: Schema, members: list[dict[str, Any]], label: str, rest: Sequence[str | int]
) -> Schema:
    mapping = schema.get("discriminator", {}).get("mapping", {})
    if label in mapping:
        return resolve(root, {"$ref": mapping[label]})
    named = [member for member in members if member.get("title") == label]
    if named:
        return named[0]
    if not rest:
        return schema
    return next((member for member in members if _child(root, member, rest[0]) is not None), {})


def _child(root: Schema, schema: Schema, part: str | int) -> Schema | None:
    if isinstance(part, int):
        first = schema.get("prefixItems", ())
        found = first[part] if part < len(first) else schema.get("items")
    else:
        others = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
        found = schema.get("properties", {}).get(part) or next((other for other in others if other), None)
    return resolve(root, found) if isinstance(found, dict) else ({} if found is True else None)


def _names(root: Schema, parent: Schema) -> Schema:
    patterns = [{"pattern": pattern} for pattern in parent.get("patternProperties", ())]
    return resolve(root, {**(patterns[0] if patterns else {}), **parent.get("propertyNames", {})})
