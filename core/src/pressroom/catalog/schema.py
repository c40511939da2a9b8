"""JSON Schemas of tools: the flat parameter list in the catalog, and the `inputSchema` for models."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from pressroom.errors import PluginError
from pressroom.plugins.validating import model_schema
from pressroom.sdk import Generator, McpTool, Params
from pressroom.sdk.declaration import sent_fields

RESPONSE_PARAM: Final[dict[str, Any]] = {
    "name": "response",
    "type": "enum",
    "required": False,
    "description": "`url` returns JSON with a signed URL, `binary` the file itself.",
    "default": "url",
    "enumValues": ["url", "binary"],
}
"""The parameter that the host adds to every generator."""

RESPONSE_SCHEMA: Final[dict[str, Any]] = {
    "type": "string",
    "enum": ["url", "binary"],
    "default": "url",
    "description": RESPONSE_PARAM["description"],
}


_BOUNDS: Final = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}
"""Keys that pydantic writes for bounds on optional numbers with a validator, and their JSON Schema keywords."""

_COMPOSITIONS: Final = {"oneOf", "anyOf", "allOf"}

_FILE_MEMBERS: Final[dict[str, Any]] = {
    "id": {"type": "string", "description": "Identifies the content: the same parameters give the same id."},
    "url": {"type": "string", "format": "uri", "description": "URL of the file; anyone who has it can fetch it."},
    "expiresAt": {"type": "string", "format": "date-time", "description": "When the URL stops working."},
    "cached": {"type": "boolean", "description": "Whether the file came from the cache."},
    "warnings": {
        "type": "array",
        "items": {"type": "string"},
        "description": "What the user should know about the file; absent if there is nothing.",
    },
}
"""Members of every file response (interface contract, section 2.8)."""

_FILE_REQUIRED: Final = ("id", "url", "expiresAt", "cached")

_FORM_KEYWORDS: Final = {"mediaType": "contentMediaType", "format": "format", "thumbnails": "thumbnails"}
_PAGE_KEYWORDS: Final = ("examples", "contentMediaType", "format", "minLength", "maxLength")
"""Keywords of a generator's schema that only its page and the catalog need; the server still checks lengths."""


@cache
def input_schema(params: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a model, self-contained and without the titles that pydantic generates."""
    schema = model_schema(params, "validation")
    definitions = schema.pop("$defs", {})
    cleaned: dict[str, Any] = _clean(schema, definitions, keep_null=False)
    return cleaned


@cache
def output_schema(result: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a model's serialised form, self-contained and without titles. Nullability is kept.

    Raises:
        PluginError: The model is not serialised as a plain object, so clients could not read it.
    """
    schema = model_schema(result, "serialization")
    definitions = schema.pop("$defs", {})
    cleaned: dict[str, Any] = _clean(schema, definitions, keep_null=True)
    if cleaned.get("type") != "object" or _COMPOSITIONS & cleaned.keys():
        raise PluginError(f"{result.__name__} must be written as one plain object")
    return cleaned


def file_schema(details: type[BaseModel] | None) -> dict[str, Any]:
    """Return the JSON Schema of a generator's file response: the host's members and the generator's own."""
    details_schema = output_schema(details) if details is not None else {}
    return {
        "type": "object",
        "properties": {**_FILE_MEMBERS, **details_schema.get("properties", {})},
        "required": [
            *_FILE_REQUIRED,
            *(name for name in details_schema.get("required", ()) if name not in _FILE_REQUIRED),
        ],
    }


def _clean(node: Any, definitions: dict[str, Any], *, keep_null: bool) -> Any:
    if isinstance(node, list):
        return [_clean(item, definitions, keep_null=keep_null) for item in node]
    if not isinstance(node, dict):
        return node
    while "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    cleaned = {}
    for key, value in node.items():
        if key == "discriminator" or (key == "title" and isinstance(value, str)):
            continue
        if key == "properties":
            cleaned[key] = {name: _clean(schema, definitions, keep_null=keep_null) for name, schema in value.items()}
        elif key in _BOUNDS:
            cleaned[_BOUNDS[key]] = value
        elif key in ("default", "examples", "enum", "const"):
            cleaned[key] = value
        else:
            cleaned[key] = _clean(value, definitions, keep_null=keep_null)
    return cleaned if keep_null else _without_null(cleaned)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the `null` of an optional parameter, since clients omit the parameter instead."""
    variants = [variant for variant in schema.get("anyOf", []) if variant.get("type") != "null"]
    if len(variants) != 1:
        return schema
    remaining = {key: value for key, value in schema.items() if key != "anyOf"}
    if remaining.get("default", ...) is None:
        del remaining["default"]
    return {**variants[0], **remaining}


def parameter_list(params: type[Params]) -> list[dict[str, Any]]:
    """Return a record for each parameter of a generator (interface contract, section 2.10), with `response` last."""
    schema = input_schema(params)
    required = set(schema.get("required", ()))
    parameters = [_parameter(name, field, name in required) for name, field in schema.get("properties", {}).items()]
    return [*parameters, dict(RESPONSE_PARAM)]


def form_parameters(params: type[Params]) -> list[dict[str, Any]]:
    """Return the records of `parameter_list` with additional keys for forms, which are not part of the catalog.

    `members` holds the records of an object's members, `mediaType` the media type of a text (JSON Schema's
    `contentMediaType`), and `format` its JSON Schema format. `list` marks a list of at most `maxItems` texts. `assumed`
    means that omitting the parameter differs from sending its default, which the model only documents.
    """
    schema = input_schema(params)["properties"]
    records, fields = parameter_list(params), sent_fields(params)
    for record in records[:-1]:
        name = record["name"]
        record.update(_for_forms(schema[name]))
        field = fields.get(name)
        if "default" in record and field is not None and field.default is None:
            record["assumed"] = True
    return records


def _for_forms(schema: dict[str, Any]) -> dict[str, Any]:
    record = {
        record_key: schema[schema_key] for record_key, schema_key in _FORM_KEYWORDS.items() if schema_key in schema
    }
    members = schema.get("properties", {})
    required = set(schema.get("required", ()))
    if schema.get("type") == "object" and members and not required:
        record["members"] = [_parameter(name, member, False) | _for_forms(member) for name, member in members.items()]
    if schema.get("type") == "array" and schema.get("items", {}).get("type") == "string":
        record["list"] = True
        if "maxItems" in schema:
            record["maxItems"] = schema["maxItems"]
    return record


def _parameter(name: str, schema: dict[str, Any], required: bool) -> dict[str, Any]:
    values = _values(schema)
    record: dict[str, Any] = {
        "name": name,
        "type": _type(schema, values),
        "required": required,
        "description": schema.get("description", ""),
    }
    if "default" in schema:
        record["default"] = schema["default"]
    for record_key, schema_keys in (("min", ("minimum", "minLength")), ("max", ("maximum", "maxLength"))):
        bound = next((schema[key] for key in schema_keys if key in schema), None)
        if bound is not None:
            record[record_key] = bound
    if values is not None:
        record["enumValues"] = values
    if schema.get("examples"):
        record["example"] = schema["examples"][0]
    return record


def _values(schema: dict[str, Any]) -> list[Any] | None:
    """Return the allowed values, or `None`. If a text can also be something else, they are in a branch of `anyOf`."""
    if "const" in schema:
        return [schema["const"]]
    for variant in (schema, *schema.get("anyOf", ())):
        if "enum" in variant:
            values: list[Any] = variant["enum"]
            return values
    return None


def _type(schema: dict[str, Any], values: list[Any] | None) -> str:
    if values is not None and all(isinstance(value, str) for value in values):
        return "enum"
    return {"integer": "number", "number": "number", "boolean": "boolean", "object": "object"}.get(
        schema.get("type", ""), "string"
    )


def mcp_schema(declaration: Generator | McpTool, params: type[Params]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's parameters for `tools/list`.

    A generator's schema has the descriptions of its `Mcp` record, without the parameters hidden there. Descriptions of
    whole models are dropped, since those of the tool and the parameter are more specific.

    Raises:
        PluginError: The record contains an unknown parameter, or hides a required one.
    """
    # A copy through JSON takes a fifth of the time of `deepcopy`.
    schema: dict[str, Any] = json.loads(json.dumps({"properties": {}, **input_schema(params)}))
    schema.pop("description", None)
    _drop_obvious_keywords(schema)
    if not isinstance(declaration, Generator) or declaration.mcp is None:
        return schema
    _drop_page_keywords(schema)
    for name, field in sent_fields(params).items():
        if field.default is None:  # The model only documents a default that depends on other parameters.
            schema["properties"][name].pop("default", None)
    for path, description in declaration.mcp.descriptions.items():
        owner, name = _owner(schema, path, declaration)
        owner["properties"][name]["description"] = description
    for path in declaration.mcp.hide:
        owner, name = _owner(schema, path, declaration)
        if name in owner.get("required", ()):
            raise PluginError(f"mcp of {declaration.slug} hides {path}, which is required")
        del owner["properties"][name]
    return schema


def _owner(schema: dict[str, Any], path: str, declaration: Generator) -> tuple[dict[str, Any], str]:
    """Return the schema of the object that contains a parameter, and the parameter's name in it."""
    *parents, name = path.split(".")
    owner = schema
    for parent in parents:
        owner = owner.get("properties", {}).get(parent, {})
    if name not in owner.get("properties", {}):
        raise PluginError(f"mcp of {declaration.slug} names {path}, which is not a parameter")
    return owner, name


def _drop_page_keywords(schema: dict[str, Any]) -> None:
    for property_schema in schema.get("properties", {}).values():
        for key in _PAGE_KEYWORDS:
            property_schema.pop(key, None)
        if {"type": "string"} in property_schema.get("anyOf", ()):
            # Any text is accepted; the listed values are only suggestions for forms.
            del property_schema["anyOf"]
            property_schema["type"] = "string"
        _drop_page_keywords(property_schema)


def _drop_obvious_keywords(schema: dict[str, Any]) -> None:
    for property_schema in schema.get("properties", {}).values():
        if property_schema.get("default") in ("", []):
            del property_schema["default"]
        items = property_schema.get("items", {})
        items.pop("description", None)
        _drop_obvious_keywords(items)
        _drop_obvious_keywords(property_schema)
