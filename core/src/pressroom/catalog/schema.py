"""JSON Schema of a tool's parameters, and the flat list of parameters that the catalog shows."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from pressroom.sdk import Params

RESPONSE_PARAM: Final[dict[str, Any]] = {
    "name": "response",
    "type": "enum",
    "required": False,
    "description": "`url` answers with JSON and a signed address, `binary` with the file itself.",
    "default": "url",
    "enumValues": ["url", "binary"],
}
"""The host's own parameter of every generator."""

RESPONSE_SCHEMA: Final[dict[str, Any]] = {
    "type": "string",
    "enum": ["url", "binary"],
    "default": "url",
    "description": RESPONSE_PARAM["description"],
}


_BOUNDS: Final = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}
"""What pydantic writes for a bound on an optional number with a validator of its own, and what it is called."""


@cache
def input_schema(params: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a model, self-contained and without pydantic's generated titles."""
    schema = params.model_json_schema()
    definitions = schema.pop("$defs", {})
    cleaned: dict[str, Any] = _clean(schema, definitions)
    return cleaned


def _clean(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_clean(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    cleaned = {}
    for key, value in node.items():
        if key == "title" and isinstance(value, str):
            continue
        if key == "properties":
            cleaned[key] = {name: _clean(schema, definitions) for name, schema in value.items()}
        elif key in _BOUNDS:
            cleaned[_BOUNDS[key]] = value
        elif key in ("default", "examples", "enum", "const"):
            cleaned[key] = value
        else:
            cleaned[key] = _clean(value, definitions)
    return _without_null(cleaned)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the `null` of a parameter that may be left out: leaving it out is how clients say it."""
    variants = [variant for variant in schema.get("anyOf", []) if variant.get("type") != "null"]
    if len(variants) != 1:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    if rest.get("default", ...) is None:
        del rest["default"]
    return {**variants[0], **rest}


def parameter_list(params: type[Params]) -> list[dict[str, Any]]:
    """Return a record for each parameter of a generator (interface specification, 2.10), `response` last."""
    schema = input_schema(params)
    required = set(schema.get("required", ()))
    own = [_parameter(name, field, name in required) for name, field in schema.get("properties", {}).items()]
    return [*own, dict(RESPONSE_PARAM)]


def _parameter(name: str, schema: dict[str, Any], required: bool) -> dict[str, Any]:
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    record: dict[str, Any] = {
        "name": name,
        "type": _type(schema, values),
        "required": required,
        "description": schema.get("description", ""),
    }
    if "default" in schema:
        record["default"] = schema["default"]
    for ours, theirs in (("min", ("minimum", "minLength")), ("max", ("maximum", "maxLength"))):
        bound = next((schema[key] for key in theirs if key in schema), None)
        if bound is not None:
            record[ours] = bound
    if values is not None:
        record["enumValues"] = values
    if schema.get("examples"):
        record["example"] = schema["examples"][0]
    return record


def _type(schema: dict[str, Any], values: list[Any] | None) -> str:
    if values is not None and all(isinstance(value, str) for value in values):
        return "enum"
    return {"integer": "number", "number": "number", "boolean": "boolean", "object": "object"}.get(
        schema.get("type", ""), "string"
    )
