"""The catalog in the form that clients read, and the schemas that models see.

A client sends the names, descriptions and input schemas of all tools to its model with every conversation. Bounds that
only protect the server, such as the maximum length of an ID, are left out: they do not help a model, and a call that
violates one is refused with the bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pressroom.catalog.compile import GENERATE
from pressroom.catalog.schema import parameter_list
from pressroom.catalog.tool import PlanTool, PlanView
from pressroom.sdk import Branding, Generator, Promo

CATALOG_VERSION = "1.0"


def generator_of(entry: PlanTool) -> Generator:
    """Return the declaration of an entry that is a generator. Raises `TypeError` if it is not one."""
    declaration = entry.tool.declaration
    if not isinstance(declaration, Generator):
        raise TypeError(f"{entry.tool.name} is not a generator")
    return declaration


def describe_generator(entry: PlanTool) -> dict[str, Any]:
    """Return the descriptor of a generator, with the limits of the entry's plan."""
    generator = generator_of(entry)
    rate = entry.advertised_rate
    descriptor: dict[str, Any] = {
        "slug": generator.slug,
        "name": generator.name,
        "description": generator.description,
        "pageUrl": f"/tools/{generator.slug}",
        "apiBaseUrl": f"/tools/{generator.slug}/api",
        "hasApi": True,
        "clientOnly": False,
        "tags": list(generator.tags),
        "rateLimit": {"requests": rate.requests, "windowSec": rate.window_seconds} if rate else None,
        "endpoints": [
            {
                "path": GENERATE,
                "method": "POST",
                "summary": generator.summary,
                "description": generator.description,
                "responseContentType": ["application/json", *generator.produces],
                "cacheDiscount": generator.cache_discount,
                "params": parameter_list(generator.params),
                "examples": [
                    {"title": example.title, "params": dict(example.params)} for example in generator.examples
                ],
            }
        ],
        "promo": _promo(generator),
    }
    if generator.notes:
        descriptor["notes"] = list(generator.notes)
    return descriptor


def _promo(generator: Generator) -> dict[str, Any]:
    promo = generator.promo or Promo(tagline=generator.summary)
    return {
        "tagline": promo.tagline,
        "description": promo.description or generator.description,
        "useCases": list(promo.use_cases),
        "llmInstructions": promo.llm_instructions,
        "ctaUrl": promo.cta_url or f"/tools/{generator.slug}",
        "relatedFeatures": list(promo.related_features),
    }


def describe_catalog(view: PlanView, branding: Branding, base_url: str) -> dict[str, Any]:
    """Return the catalog document with the descriptors of all generators of a plan."""
    descriptors = [describe_generator(entry) for entry in view.generators]
    return {
        "version": CATALOG_VERSION,
        "baseUrl": base_url,
        "platform": {
            "name": branding.name,
            "tagline": branding.tagline,
            "url": branding.url,
            "docsUrl": branding.docs_url,
        },
        "mcp": {"url": branding.mcp_url, "transport": "streamable-http", "tools": _mcp_names(view.generators)},
        "llmInstructions": (
            f"Each tool is called with POST {base_url}/tools/<slug>/api/generate and a JSON body of its params; no "
            "credential is needed. The response is a JSON envelope with a signed URL in data.url that expires after "
            'three hours; with "response": "binary" it is the file itself. Errors say which field is wrong. '
            "Identical requests are served from a cache and count as a fraction of a request."
        ),
        "tools": descriptors,
        "stats": {"total": len(descriptors), "withApi": sum(1 for descriptor in descriptors if descriptor["hasApi"])},
    }


def _mcp_names(entries: Iterable[PlanTool]) -> list[str]:
    return [entry.tool.mcp_name for entry in entries if entry.tool.mcp_name]


MAX_SHOWN_LENGTH: Final = 60
"""Length bounds above this are hidden from models, since a writer need not mind them."""

MAX_SHOWN_ITEMS: Final = 20
MAX_SHOWN_NUMBER: Final = 100_000

_HIDDEN: Final = frozenset({"propertyNames", "maxProperties", "pattern", "contentMediaType", "examples"})
_OUTPUT_KEYWORDS: Final = frozenset(
    {
        "description",
        "additionalProperties",
        "required",
        "format",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
    }
)
"""Keywords dropped from output schemas, which describe only names and types. The top level keeps `required`."""

_VALUES: Final = frozenset({"default", "enum", "const"})
_EMPTY_DEFAULTS: Final[tuple[Any, ...]] = ("", [], {}, None)


def model_input_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an input schema without empty defaults and without bounds that only protect the server.

    The top-level description is dropped as well, since the tool has its own.
    """
    cleaned = _input(schema)
    cleaned.pop("description", None)
    return {"properties": {}, **cleaned}


def model_output_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output schema without prose: clients use it for validation, and few show it to a model."""
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"properties": {}, **_output(schema), **required}


def _input(schema: Mapping[str, Any]) -> dict[str, Any]:
    cleaned: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            cleaned[key] = {name: _input(child) for name, child in value.items()}
        elif key in _VALUES:
            if key != "default" or value not in _EMPTY_DEFAULTS:
                cleaned[key] = value
        elif key == "items" and isinstance(value, Mapping):
            cleaned[key] = _item(_input(value), described="description" in schema)
        elif not _guards(key, value, schema):
            cleaned[key] = _nested(value, _input)
    return cleaned


def _item(schema: dict[str, Any], *, described: bool) -> dict[str, Any]:
    """Return the schema of an item, without its description if the list has one."""
    return {key: value for key, value in schema.items() if not described or key != "description"}


def _guards(key: str, value: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether a model does not need a keyword to write a valid call."""
    match key:
        case "minLength" | "maxLength":
            fixed = schema.get("minLength") == schema.get("maxLength")
            return bool(fixed or value <= 1 or value > MAX_SHOWN_LENGTH)
        case "minItems" | "maxItems":
            return bool(value > MAX_SHOWN_ITEMS or value == 0)
        case "minimum" | "exclusiveMinimum":
            return schema.get("type") == "integer" and value in (0, 1)
        case "maximum" | "exclusiveMaximum":
            return isinstance(value, int | float) and value > MAX_SHOWN_NUMBER
        case "additionalProperties":
            return value is True or (isinstance(value, Mapping) and value.get("type") == "string")
    return key in _HIDDEN


def _output(schema: Mapping[str, Any]) -> dict[str, Any]:
    cleaned: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            cleaned[key] = {name: _output(child) for name, child in value.items()}
        elif key in _VALUES:
            if key != "default":
                cleaned[key] = value
        elif key not in _OUTPUT_KEYWORDS and key not in _HIDDEN:
            cleaned[key] = _nested(value, _output)
    return _with_null_as_type(cleaned)


def _with_null_as_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with a nullable value written as `type: [string, null]`, if that is equivalent."""
    variants = schema.get("anyOf")
    if not isinstance(variants, list) or len(variants) != 2 or {"type": "null"} not in variants:
        return schema
    (variant,) = (variant for variant in variants if variant != {"type": "null"})
    if not isinstance(variant.get("type"), str) or {"enum", "const"} & variant.keys():
        return schema
    remaining = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**variant, "type": [variant["type"], "null"], **remaining}


def _nested(value: Any, clean: Any) -> Any:
    if isinstance(value, Mapping):
        return clean(value)
    if isinstance(value, list):
        return [_nested(element, clean) for element in value]
    return value
