"""Parameters that no client can send: strict types that JSON has no values for, such as dates, enums and sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from pydantic import BaseModel, ValidationError

_TEXTS: Final = {
    "date-time": "2026-12-01T09:00:00Z",
    "date": "2026-12-01",
    "time": "09:00:00Z",
    "duration": "PT1H",
    "uuid": "01234567-89ab-4def-8123-456789abcdef",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}
"""Sample values for formats of JSON strings."""

_KINDS: Final[Mapping[tuple[str, type[Any]], str]] = {
    ("datetime_type", str): "date-time",
    ("date_type", str): "date",
    ("time_type", str): "time",
    ("time_delta_type", str): "duration",
    ("bytes_type", str): "bytes",
    ("set_type", list): "set",
    ("frozen_set_type", list): "frozenset",
    ("tuple_type", list): "tuple",
    ("deque_type", list): "deque",
    ("dataclass_exact_type", dict): "dataclass",
}
"""The errors of pydantic for strict types, with the type of the JSON value that a type that is not strict accepts."""

_CLASSES: Final = frozenset(
    {
        "Decimal", "IPv4Address", "IPv4Interface", "IPv4Network", "IPv6Address", "IPv6Interface", "IPv6Network", "Path",
        "PurePath", "UUID", "complex",
    }
)  # fmt: skip
"""Classes whose instances pydantic creates from strings or numbers, unless they are strict."""

_SENT: Final[Mapping[type[Any], str]] = {str: "text", int: "number", float: "number", list: "array", dict: "object"}
_KEY: Final = "[key]"
_MAX_SAMPLES: Final = 50


def unsendable_problems(model: type[BaseModel], schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the parameters of a model that do not accept what its JSON Schema describes."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    for name, declared in schema.get("properties", {}).items():
        problems: dict[str, str] = {}
        choices = _choices(declared, definitions)
        for sample in islice(_samples(declared, definitions), _MAX_SAMPLES):
            for path, problem in _refusals(model, name, sample, choices):
                problems.setdefault(path, f"{path} {problem}")
        yield from problems.values()


def _refusals(model: type[BaseModel], name: str, sample: Any, choices: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the path and the problem of each part of a sample that a strict type refuses."""
    try:
        model.model_validate({name: sample})
    except ValidationError as error:
        for details in error.errors(include_url=False):
            if details["loc"][:1] == (name,):
                yield from _problem(details, choices)
    except Exception:  # noqa: BLE001 - a validator of the plugin, which may refuse the sample as it likes
        return


def _problem(details: Any, choices: list[Any]) -> Iterator[tuple[str, str]]:
    sent, where = details["input"], [str(part) for part in details["loc"]]
    if _KEY in where:
        if isinstance(sent, str) and (details["type"].endswith("_type") or details["type"] == "is_instance_of"):
            path = ".".join(where[: where.index(_KEY) - 1])
            yield path, "has keys that are texts in JSON: declare them as str, or as Annotated[…, Field(strict=False)]"
        return
    kind = _KINDS.get((details["type"], type(sent)), "")
    if details["type"] == "is_instance_of" and isinstance(sent, str | int | float):
        required = str(details["ctx"]["class"])
        kind = required if required in _CLASSES else "enum" if sent in choices else ""
    if kind:
        fix = (
            "add strict=False to its Field"
            if len(where) == 1
            else "write Annotated[…, Field(strict=False)] as its type"
        )
        yield ".".join(where), f"takes no {_SENT[type(sent)]}, and JSON has no {kind}: {fix}"


def _samples(node: Any, definitions: Mapping[str, Any]) -> Iterator[Any]:
    """Yield JSON values that a schema describes, at least one for each of its types."""
    node = _resolved(node, definitions)
    alternatives = node.get("anyOf") or node.get("oneOf")
    if alternatives:
        for alternative in alternatives:
            yield from _samples(alternative, definitions)
    elif node.get("enum"):
        yield node["enum"][0]
    elif "const" in node:
        yield node["const"]
    elif node.get("type") == "array":
        yield from _arrays(node, definitions)
    elif node.get("type") == "object":
        yield from _objects(node, definitions)
    elif node.get("type") == "string":
        yield _TEXTS.get(node.get("format", ""), "a" * node.get("minLength", 1))
    elif node.get("type") in ("number", "integer"):
        yield node.get("minimum", 1)


def _arrays(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[list[Any]]:
    if "prefixItems" in node:
        yield [_first(item, definitions) for item in node["prefixItems"]]
        return
    samples = list(islice(_samples(node.get("items", {}), definitions), _MAX_SAMPLES))
    yield from ([sample] * max(1, node.get("minItems", 1)) for sample in samples or ["a"])


def _objects(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    whole = {name: _first(declared, definitions) for name, declared in node.get("properties", {}).items()}
    yield whole
    for name, declared in node.get("properties", {}).items():
        yield from ({**whole, name: sample} for sample in islice(_samples(declared, definitions), 1, _MAX_SAMPLES))
    if isinstance(node.get("additionalProperties"), dict):
        key = str(_first(node.get("propertyNames", {"type": "string"}), definitions))
        yield from ({**whole, key: sample} for sample in _samples(node["additionalProperties"], definitions))


def _first(node: Any, definitions: Mapping[str, Any]) -> Any:
    return next(_samples(node, definitions), None)


def _choices(node: Any, definitions: Mapping[str, Any]) -> list[Any]:
    """Return the values that a schema lists, including those of its parts."""
    if isinstance(node, list):
        return [value for item in node for value in _choices(item, definitions)]
    if not isinstance(node, dict):
        return []
    node = _resolved(node, definitions)
    parts = [
        node.get(name) for name in ("anyOf", "oneOf", "items", "prefixItems", "additionalProperties", "propertyNames")
    ]
    own = [*node.get("enum", ()), *([node["const"]] if "const" in node else ())]
    return own + _choices([*parts, *node.get("properties", {}).values()], definitions)


def _resolved(node: Any, definitions: Mapping[str, Any]) -> dict[str, Any]:
    while isinstance(node, dict) and "$ref" in node:
        node = definitions.get(node["$ref"].rpartition("/")[2], {})
    return node if isinstance(node, dict) else {}
