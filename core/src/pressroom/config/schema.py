"""The JSON Schema of the configuration file, with which editors complete and check it."""

from __future__ import annotations

from typing import Any, Final

from pressroom.config.models import Settings

_BOUNDS: Final = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"}


def json_schema() -> dict[str, Any]:
    """Return the schema of `pressroom.toml`, in JSON Schema 2020-12."""
    schema = _clean(Settings.model_json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "pressroom.toml", **schema}


def _clean(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema as an editor wants it.

    Titles only repeat the names, TOML has no null, and the defaults of a whole table only repeat those of its keys.
    """
    cleaned: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs", "patternProperties"):
            cleaned[key] = {name: _clean(child) for name, child in value.items()}
        elif key == "anyOf":
            choices = [_clean(choice) for choice in value if choice.get("type") != "null"]
            cleaned |= choices[0] if len(choices) == 1 else {"anyOf": choices}
        elif key in _BOUNDS:
            # pydantic leaves the bounds of an optional number that has a validator under its own names.
            cleaned[_BOUNDS[key]] = value
        elif key == "items":
            cleaned[key] = _clean(value)
        elif key != "title" and not (key == "default" and (value is None or isinstance(value, dict))):
            cleaned[key] = value
    if "patternProperties" in cleaned:
        cleaned["additionalProperties"] = False
    return cleaned
