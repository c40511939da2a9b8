"""Render the configuration reference from the settings models, as Markdown."""

from __future__ import annotations

import inspect
import re
import typing
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

from pressroom.config.display import as_data, settings_schema
from pressroom.config.models import Settings
from pydantic import BaseModel

_PLACEHOLDERS: Final = {"plans": "<name>", "tools": "<tool>", "plugins": "<id>"}


def settings() -> str:
    """Return a table for each section of the configuration."""
    schema = settings_schema()
    return "\n".join(_sections(Settings, schema, schema, ()))


def plugin_settings() -> str:
    """Return a table for each plugin of this repository that has its own settings."""
    lines: list[str] = []
    without = []
    for name, model in sorted(plugin_models().items()):
        if model is None:
            without.append(f"`{name}`")
            continue
        schema = model.model_json_schema()
        lines += [f"## `[plugins.{name}.config]`", "", code_brackets(inspect.getdoc(model) or ""), ""]
        lines += ["| Setting | Type | Default | What it is |", "|---|---|---|---|"]
        for setting, node in schema["properties"].items():
            prop = _resolved(node, schema)
            description = cell(prop.get("description", ""))
            lines.append(
                f"| `{setting}` | {_plugin_type(prop, schema)} | {_plugin_default(model, setting)} | {description} |"
            )
        lines.append("")
    lines.append(f"Without settings of their own: {', '.join(without)}.")
    return "\n".join(lines)


def plugin_models() -> dict[str, type[BaseModel] | None]:
    """Return the configuration models of this repository's plugins by id; None for plugins without settings."""
    folder = Path(__file__).parents[2] / "plugins"
    points = {point.name: point for point in entry_points(group="pressroom.plugins")}
    return {path.name: points[path.name].load().PLUGIN.config for path in folder.iterdir() if path.name in points}


def _plugin_type(prop: dict[str, Any], root: dict[str, Any]) -> str:
    if prop.get("type") == "object":
        return "table"
    choices = [_resolved(choice, root) for choice in prop.get("anyOf", ())]
    types = [choice for choice in choices if choice.get("type") != "null"]
    if len(types) == 1:
        return _type(types[0], root)
    return _type(prop, root)


def _plugin_default(model: type[BaseModel], name: str) -> str:
    value = model.model_fields[name].get_default(call_default_factory=True)
    if isinstance(value, str) and value:
        return f"`{value}`"
    if value in (None, (), {}, [], ""):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{_number(value)}`" if isinstance(value, int | float) else f"`{list(value)!r}`".replace("'", '"')


def _sections(model: type[BaseModel], node: dict[str, Any], root: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    names = [name for name in node["properties"] if _table(node["properties"][name], root) is None]
    heading = f"`[{'.'.join(path)}]`" if path else "Top of the file"
    lines = [f"## {heading}", ""]
    if path:
        summary = (inspect.getdoc(model) or "").partition(": ")[2]
        lines += [code_brackets(summary[:1].upper() + summary[1:]), ""]
    lines += ["| Setting | Type | Default | What it is |", "|---|---|---|---|"]
    for name in names:
        prop = _resolved(node["properties"][name], root)
        lines.append(
            f"| `{name}` | {_type(prop, root)} | {_default(model, name)} | {cell(prop.get('description', ''))} |"
        )
    lines.append("")
    for name in node["properties"]:
        table = _table(node["properties"][name], root)
        if table is not None:
            placeholder = _PLACEHOLDERS.get(name)
            child = _model_of(model, name)
            lines += _sections(child, table, root, (*path, name, *([placeholder] if placeholder else [])))
    return lines


def _model_of(model: type[BaseModel], name: str) -> type[BaseModel]:
    annotation = model.model_fields[name].annotation
    model_class = typing.get_args(annotation)[1] if typing.get_args(annotation) else annotation
    assert isinstance(model_class, type)
    assert issubclass(model_class, BaseModel)
    return model_class


def _resolved(node: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    rest = {key: value for key, value in node.items() if key != "$ref"}
    return {**root["$defs"][node["$ref"].rpartition("/")[2]], **rest}


def _table(node: dict[str, Any], root: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema of a table of settings, or `None` if the setting is not a table."""
    node = _resolved(node, root)
    if "properties" in node:
        return node
    values = [*node.get("patternProperties", {}).values()]
    return _table(values[0], root) if values and "$ref" in values[0] else None


def _type(node: dict[str, Any], root: dict[str, Any]) -> str:
    text = _kind(node, root)
    bounds = [
        f"{word} {_number(node[key])}"
        for key, word in (
            ("minimum", "at least"),
            ("exclusiveMinimum", "above"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "below"),
        )
        if key in node
    ]
    if node.get("maxLength"):
        bounds.append(f"at most {node['maxLength']} characters")
    if node.get("minLength"):
        bounds.append("not empty")
    return ", ".join([text, *bounds])


def _kind(node: dict[str, Any], root: dict[str, Any]) -> str:
    node = _resolved(node, root)
    if "enum" in node:
        return " or ".join(f"`{value}`" for value in node["enum"])
    if "anyOf" in node and all(choice.get("format", "").endswith("network") for choice in node["anyOf"]):
        return "network"
    if "anyOf" in node:
        pattern = next((choice.get("pattern", "") for choice in node["anyOf"] if "pattern" in choice), "")
        return "duration" if "ms" in pattern else "size"
    match node.get("type"):
        case "array":
            kind = _kind(node["items"], root)
            return "list of networks" if kind == "network" else f"list of {kind}"
        case "object" if "patternProperties" in node:
            return f"table of tool names, each with a {_kind(next(iter(node['patternProperties'].values())), root)}"
        case "object":
            return "table"
        case "string" if node.get("format") == "password" or node.get("writeOnly"):
            return "secret"
        case "string":
            return _text_kind(node.get("pattern", ""))
        case other:
            return {"integer": "whole number", "number": "number", "boolean": "`true` or `false`"}.get(
                str(other), "text"
            )


def _text_kind(pattern: str) -> str:
    if "Pp" in pattern:
        return "rate" if "Ee" in pattern else "http or https URL"
    if pattern == "^#[0-9a-fA-F]{6}$":
        return "colour of six hex digits"
    return "text" if not pattern or pattern.startswith("^([a-z]") else f"text that matches `{pattern}`"


def _number(value: float) -> str:
    return f"{int(value)}" if float(value).is_integer() else f"{value:g}"


def _default(model: type[BaseModel], name: str) -> str:
    if name == "path":
        return "the platform's folder for user data"
    data: Any = as_data_of(model).get(name)
    match data:
        case None | [] | {}:
            return "none"
        case bool():
            return f"`{str(data).lower()}`"
        case "":
            return "empty"
        case list():
            return f"`{data!r}`".replace("'", '"')
        case int() | float():
            return f"`{_number(data)}`"
    return f"`{data}`"


def as_data_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the defaults of a section as JSON values."""
    if model is Settings:
        return as_data(Settings())
    return {name: value if not isinstance(value, tuple) else list(value) for name, value in model()}


def code_brackets(text: str) -> str:
    """Put section names such as [branding] into backticks, to prevent Markdown links."""
    return re.sub(r"(?<!`)(\[[a-z.]+\](?: [a-z_]+)?)(?!`)", r"`\1`", text)


def cell(text: str) -> str:
    """Return a text escaped for a table cell."""
    return code_brackets(text.replace("|", "\\|").replace("\n", " "))
