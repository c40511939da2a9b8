"""The `inputSchema` of a tool: what models read of its parameters."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from pressroom.catalog.schema import input_schema
from pressroom.errors import PluginError
from pressroom.sdk import Generator, McpTool, Params

_FOR_PAGES: Final = ("examples", "contentMediaType", "format", "minLength", "maxLength")
"""What the schema of a generator has for its page and the catalog; the server checks lengths all the same."""


def mcp_schema(declaration: Generator | McpTool, params: type[Params]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's parameters as `tools/list` shows it.

    That of a generator has the descriptions that its `Mcp` record gives, and not the parameters that it hides.
    Sentences about models as a whole are left out: the descriptions of the tool and of the parameter say more.

    Raises:
        PluginError: the record names a parameter that does not exist, or hides a required one.
    """
    schema = deepcopy({"properties": {}, **input_schema(params)})
    schema.pop("description", None)
    _leave_out_the_obvious(schema)
    if not isinstance(declaration, Generator) or declaration.mcp is None:
        return schema
    _leave_out_what_pages_need(schema)
    for name, field in params.model_fields.items():
        if field.default is None:  # The model documents a default that depends on other parameters.
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
    """Return the schema of the object that a parameter belongs to, and its name there."""
    *parents, name = path.split(".")
    owner = schema
    for parent in parents:
        owner = owner.get("properties", {}).get(parent, {})
    if name not in owner.get("properties", {}):
        raise PluginError(f"mcp of {declaration.slug} names {path}, which is not a parameter")
    return owner, name


def _leave_out_what_pages_need(schema: dict[str, Any]) -> None:
    for one in schema.get("properties", {}).values():
        for key in _FOR_PAGES:
            one.pop(key, None)
        if {"type": "string"} in one.get("anyOf", ()):
            # Any text is accepted: the values beside it are what forms offer.
            del one["anyOf"]
            one["type"] = "string"
        _leave_out_what_pages_need(one)


def _leave_out_the_obvious(schema: dict[str, Any]) -> None:
    for one in schema.get("properties", {}).values():
        if one.get("default") in ("", []):
            del one["default"]
        items = one.get("items", {})
        items.pop("description", None)
        _leave_out_the_obvious(items)
        _leave_out_the_obvious(one)
