"""Output of a configuration with masked secrets, and the JSON Schema for editors."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Final

from pydantic import BaseModel, Secret, SecretBytes, SecretStr

from pressroom.config.models import Settings
from pressroom.config.origins import KeyPath, Origins, dotted
from pressroom.config.references import FILE, VARIABLE

_BOUNDS: Final = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"}


_REFERENCE: Final = {
    "type": "object",
    "description": "Where the value is: a file, or a variable of the environment.",
    "additionalProperties": False,
    "minProperties": 1,
    "maxProperties": 1,
    "properties": {
        FILE: {"type": "string", "minLength": 1, "description": "The file that holds the value."},
        VARIABLE: {"type": "string", "minLength": 1, "description": "The variable that holds the value."},
    },
}


def json_schema() -> dict[str, Any]:
    """Return the schema of `pressroom.toml`, in JSON Schema 2020-12. Any value can be replaced by a reference."""
    schema = _with_references(settings_schema())
    schema["$defs"]["Reference"] = _REFERENCE
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "pressroom.toml", **schema}


def settings_schema() -> dict[str, Any]:
    """Return the schema of the settings, without references."""
    return _clean(Settings.model_json_schema())


def _with_references(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in which every nested value, but not the schema's own, can be a reference."""
    converted = dict(schema)
    for key in ("properties", "patternProperties"):
        if key in schema:
            converted[key] = {name: _or_reference(child) for name, child in schema[key].items()}
    if "$defs" in schema:
        converted["$defs"] = {name: _with_references(child) for name, child in schema["$defs"].items()}
    if "anyOf" in schema:
        converted["anyOf"] = [_with_references(choice) for choice in schema["anyOf"]]
    if "items" in schema:
        converted["items"] = _or_reference(schema["items"])
    return converted


def _or_reference(schema: dict[str, Any]) -> dict[str, Any]:
    annotations: dict[str, Any] = {key: schema[key] for key in ("description", "default") if key in schema}
    value = {key: child for key, child in schema.items() if key not in annotations}
    reference: dict[str, Any] = {"$ref": "#/$defs/Reference"}
    return {"anyOf": [_with_references(value), reference], **annotations}


def _clean(schema: dict[str, Any]) -> dict[str, Any]:
    """Simplify a schema for editors.

    Remove titles, which only repeat the names; null, which TOML does not have; and defaults of whole tables, which only
    repeat those of their keys.
    """
    cleaned: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs", "patternProperties"):
            cleaned[key] = {name: _clean(child) for name, child in value.items()}
        elif key == "anyOf":
            choices = [_clean(choice) for choice in value if choice.get("type") != "null"]
            cleaned |= choices[0] if len(choices) == 1 else {"anyOf": choices}
        elif key in _BOUNDS:
            # For an optional number with a validator, pydantic leaves the bounds under its own names.
            cleaned[_BOUNDS[key]] = value
        elif key == "items":
            cleaned[key] = _clean(value)
        elif key != "title" and not (key == "default" and (value is None or isinstance(value, dict))):
            cleaned[key] = value
    if "patternProperties" in cleaned:
        cleaned["additionalProperties"] = False
    return cleaned


MASK: Final = "********"
"""Replaces every secret; its constant length reveals nothing."""

_PASSWORD = re.compile(r"(?<=://)[^/?#@\s]*(?=@)")


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """One setting: its dotted key, and its value as JSON-compatible data with secrets masked."""

    key: str
    value: Any

    @property
    def text(self) -> str:
        """The value for display: text unchanged, an empty string for `None`, anything else as JSON."""
        match self.value:
            case None:
                return ""
            case str():
                return self.value
        return json.dumps(self.value, ensure_ascii=False)


def as_data(
    settings: Settings, plugin_configs: Mapping[str, BaseModel] | None = None, origins: Origins | None = None
) -> dict[str, Any]:
    """Return the settings as a JSON-compatible dict with masked secrets. Unset values are `None`.

    `plugin_configs` are the validated configurations of plugins, by plugin ID. Without its model, it is unknown which
    values of a plugin are secret, so all its strings are masked. With `origins`, values from referenced files and
    variables are masked as well.
    """
    data = {name: _masked_value(value) for name, value in settings}
    for id_, plugin in settings.plugins.items():
        validated = (plugin_configs or {}).get(id_)
        data["plugins"][id_]["config"] = _masked(plugin.config) if validated is None else _masked_value(validated)
    for key in origins.hidden if origins is not None else ():
        _mask_at(data, key)
    return data


def _mask_at(data: dict[str, Any], key: str) -> None:
    """Mask the value at a dotted key."""
    for name, value in data.items():
        if dotted((name,)) == key:
            data[name] = MASK
        elif key.startswith(f"{dotted((name,))}."):
            inner_key = key.removeprefix(f"{dotted((name,))}.")
            if isinstance(value, dict):
                _mask_at(value, inner_key)
            else:
                data[name] = MASK


def listed(data: Mapping[str, Any]) -> list[ShownSetting]:
    """Flatten the result of `as_data`, in the order of the models; entries of a table are sorted by name."""
    return [ShownSetting(dotted(path), value) for path, value in _flat(data, ())]


def _flat(table: Mapping[str, Any], path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, (*path, name))
        else:
            yield (*path, name), value


def _masked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _masked(child) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(child) for child in value]
    return MASK if isinstance(value, str) else _masked_value(value)


def _masked_value(value: Any) -> Any:
    match value:
        case SecretStr() | SecretBytes() | Secret():
            return MASK
        case BaseModel():
            return {name: _masked_value(child) for name, child in value}
        case dict():
            return {str(name): _masked_value(value[name]) for name in sorted(value)}
        case list() | tuple() | set() | frozenset():
            return [_masked_value(child) for child in value]
        case float() if value.is_integer():
            return int(value)
        case float() if not math.isfinite(value):
            return str(value)
        case None | bool() | int() | float():
            return value
        case datetime() | date() | time():
            return value.isoformat()
    return _PASSWORD.sub(MASK, str(value))
