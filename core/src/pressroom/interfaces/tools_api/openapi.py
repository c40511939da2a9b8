"""OpenAPI 3.1 document of the Tools API, generated from the models that validate its input."""

from __future__ import annotations

from typing import Any, Final

from pressroom.catalog.compile import GENERATE
from pressroom.catalog.descriptor import generator_of
from pressroom.catalog.schema import RESPONSE_SCHEMA, input_schema, output_schema
from pressroom.catalog.tool import ANONYMOUS, PlanTool
from pressroom.host.loaded_app import LoadedApp
from pressroom.http.errors import STATUS
from pressroom.interfaces.tools_api.openapi_parts import (
    COMMON_HEADERS,
    HEADERS,
    IMAGE,
    LINK,
    RATE_LIMIT_HEADERS,
    SHOWN_TYPES,
    VERSION,
    brand_schema,
    descriptor_schema,
    envelope_meta,
    error_envelope,
    success_envelope,
)
from pressroom.sdk import Generator

_FORBIDDEN: Final = 403

_REASONS: Final = {
    400: ("InvalidInput", "The body is not JSON, or a parameter is missing, unknown or out of bounds."),
    _FORBIDDEN: (
        "Forbidden",
        "The caller may not use the tool, the URL was altered, or the operator withdrew its image.",
    ),
    404: ("NotFound", "There is no such tool."),
    405: ("MethodNotAllowed", "The path does not allow this method."),
    413: ("PayloadTooLarge", "The body is too large."),
    415: ("UnsupportedMediaType", "The `Content-Type` is not JSON."),
    429: ("RateLimited", "The rate limit of the tool is used up."),
    500: ("InternalError", "Internal error. Quote the request ID to the operator."),
    503: ("Overloaded", "The server is busy, or rendering took too long."),
}


def openapi_document(compiled: LoadedApp) -> dict[str, Any]:
    """Return the OpenAPI document of the API for callers without a credential."""
    branding = compiled.branding
    entries = compiled.catalog.plans[ANONYMOUS].generators
    paths: dict[str, Any] = {
        "/tools/api": {
            "get": {
                "operationId": "listTools",
                "summary": "The catalog",
                "description": "Every tool with its parameters, limits and examples.",
                "tags": ["Catalog"],
                "responses": {"200": _json("The catalog.", {"$ref": "#/components/schemas/Catalog"})},
            }
        }
    }
    for entry in entries:
        paths |= _paths(entry, branding.key)
        if compiled.settings.image_links.enabled and SHOWN_TYPES & set(generator_of(entry).produces):
            paths |= _permanent_paths(entry, branding.key)
    return {
        "openapi": "3.1.1",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": f"{branding.name} Tools API",
            "version": "1.0.0",
            "summary": branding.tagline,
            "description": (
                "Free tools that make files. No credential is needed; requests are limited per tool and client IP "
                "address. Identical requests are served from a cache and count as a fraction of a request."
            ),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": compiled.settings.public_url}],
        "security": [{}],
        "tags": [
            {"name": "Catalog", "description": "Tools and their parameters."},
            *({"name": generator_of(entry).name, "description": generator_of(entry).summary} for entry in entries),
        ],
        "paths": paths,
        "components": {
            "headers": HEADERS,
            "responses": _error_responses(branding.key),
            "schemas": {
                "Brand": brand_schema(compiled.brand_block()),
                "Catalog": _catalog_schema(branding.key),
                "Descriptor": descriptor_schema(),
                "Error": error_envelope(branding.key, [*STATUS]),
                "Meta": envelope_meta(VERSION),
                **{_name(generator_of(entry)): _params_schema(generator_of(entry)) for entry in entries},
            },
        },
    }


def _paths(entry: PlanTool, brand_key: str) -> dict[str, Any]:
    generator = generator_of(entry)
    base = f"/tools/{generator.slug}/api"
    descriptor = {"$ref": "#/components/schemas/Descriptor"}
    return {
        base: {
            "get": {
                "operationId": f"describe{_name(generator)}",
                "summary": f"Descriptor: {generator.name}",
                "tags": [generator.name],
                "responses": {
                    "200": _json("The tool's descriptor.", success_envelope(brand_key, {"data": descriptor})),
                    "404": {"$ref": "#/components/responses/NotFound"},
                },
            }
        },
        f"{base}{GENERATE}": {
            "post": {
                "operationId": f"generate{_name(generator)}",
                "summary": generator.summary,
                "description": "\n\n".join([generator.description, *(f"Note: {note}" for note in generator.notes)]),
                "tags": [generator.name],
                "requestBody": _body(generator),
                "responses": {"200": _success(entry, brand_key), **_refusals()},
            }
        },
    }


def _permanent_paths(entry: PlanTool, brand_key: str) -> dict[str, Any]:
    """Return the paths of an image's permanent URL: creating it, and fetching the image."""
    generator = generator_of(entry)
    data = _data_schema(generator)
    permanent = {
        "url": {"type": "string", "format": "uri", "description": "URL of the image; it does not expire."},
        "expiresAt": {"type": "null"},
    }
    permanent_data = {
        "data": {**data, "properties": {**data["properties"], **permanent}},
        "meta": {"$ref": "#/components/schemas/Meta"},
    }
    query = {"design": "What is drawn, compressed.", "signature": "The server's signature of it."}
    cache_headers = {name: {"$ref": f"#/components/headers/{name}"} for name in ("ETag", "Cache-Control")}
    image = {
        "description": "The image.",
        "headers": {**COMMON_HEADERS, **cache_headers},
        "content": {
            media_type: {"schema": {"type": "string", "format": "binary"}}
            for media_type in generator.produces
            if media_type in SHOWN_TYPES
        },
    }
    link = _json("The file, with a URL that lasts.", success_envelope(brand_key, permanent_data))
    return {
        f"/tools/{generator.slug}{LINK}": {
            "post": {
                "operationId": f"link{_name(generator)}",
                "summary": f"Permanent URL: {generator.name}",
                "description": (
                    "Makes the image, and returns a URL that draws it whenever somebody fetches it, such as for "
                    "`og:image`. `response` is ignored. A design that is too long for a URL is refused."
                ),
                "tags": [generator.name],
                "requestBody": _body(generator),
                "responses": {
                    "200": {**link, "headers": {**COMMON_HEADERS, **RATE_LIMIT_HEADERS}},
                    **_refusals(*_REASONS),
                },
            }
        },
        f"/tools/{generator.slug}{IMAGE}": {
            "get": {
                "operationId": f"image{_name(generator)}",
                "summary": f"Image of a permanent URL: {generator.name}",
                "description": "The whole URL comes from the response of the operation above.",
                "tags": [generator.name],
                "parameters": [
                    {"name": name, "in": "query", "required": True, "description": text, "schema": {"type": "string"}}
                    for name, text in query.items()
                ],
                "responses": {
                    "200": image,
                    "304": {"description": "The image is what `If-None-Match` names.", "headers": cache_headers},
                    **_refusals(400, _FORBIDDEN, 404, 405, 429, 500, 503),
                },
            }
        },
    }


def _body(generator: Generator) -> dict[str, Any]:
    examples = {
        f"example{number}": {"summary": example.title, "value": dict(example.params)}
        for number, example in enumerate(generator.examples, start=1)
    }
    schema = {"$ref": f"#/components/schemas/{_name(generator)}"}
    return {"required": True, "content": {"application/json": {"schema": schema, "examples": examples}}}


def _refusals(*statuses: int) -> dict[str, Any]:
    """Return the responses with these statuses, or by default those of generating a file."""
    return {
        str(status): {"$ref": f"#/components/responses/{name}"}
        for status, (name, _) in _REASONS.items()
        if (status in statuses if statuses else status != _FORBIDDEN)
    }


def _success(entry: PlanTool, brand_key: str) -> dict[str, Any]:
    generator = generator_of(entry)
    binary = {media_type: {"schema": {"type": "string", "format": "binary"}} for media_type in generator.produces}
    own_headers = ["ETag", "X-Cache", "X-Warnings", "Content-Disposition"]
    if set(generator.produces) - SHOWN_TYPES:
        own_headers.append("Link")
    return {
        "description": "The file: its signed URL, or with `response: binary` its bytes.",
        "headers": {
            **COMMON_HEADERS,
            **RATE_LIMIT_HEADERS,
            **{name: {"$ref": f"#/components/headers/{name}"} for name in own_headers},
        },
        "content": {
            "application/json": {
                "schema": success_envelope(
                    brand_key, {"data": _data_schema(generator), "meta": {"$ref": "#/components/schemas/Meta"}}
                )
            },
            **binary,
        },
    }


def _data_schema(generator: Generator) -> dict[str, Any]:
    details = output_schema(generator.details) if generator.details else {}
    return {
        "type": "object",
        "required": ["id", "url", "expiresAt", "cached", *details.get("properties", {})],
        "properties": {
            "id": {"type": "string", "pattern": "^[0-9a-f]{32}$", "description": "Hash of the request."},
            "url": {"type": "string", "format": "uri", "description": "Signed URL; it expires after 3 hours."},
            "expiresAt": {"type": "string", "format": "date-time"},
            "cached": {"type": "boolean", "description": "Whether the result came from the cache."},
            **details.get("properties", {}),
            "warnings": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Warnings to read before use; often absent.",
            },
        },
    }


def _params_schema(generator: Generator) -> dict[str, Any]:
    schema = dict(input_schema(generator.params))
    schema["properties"] = {**schema.get("properties", {}), "response": RESPONSE_SCHEMA}
    return schema


def _error_responses(brand_key: str) -> dict[str, Any]:
    codes = {status: code for code, status in reversed(list(STATUS.items()))}
    responses = {}
    for status, (name, description) in _REASONS.items():
        headers: dict[str, Any] = {**COMMON_HEADERS, **RATE_LIMIT_HEADERS}
        error: dict[str, Any] = {"code": codes[status], "message": description}
        if status in (429, 503):
            headers["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
            error["retryAfter"] = 12
        if status == 405:
            headers["Allow"] = {"$ref": "#/components/headers/Allow"}
        responses[name] = {
            "description": description,
            "headers": headers,
            "content": {
                "application/json": {
                    "schema": {"$ref": "#/components/schemas/Error"},
                    "example": {
                        "ok": False,
                        "error": error,
                        "meta": {
                            "tool": "qr-code-generator",
                            "endpoint": GENERATE,
                            "version": VERSION,
                            "cached": False,
                            "timestamp": "2026-01-31T12:00:00.000Z",
                            "rateLimit": {"limit": 300, "remaining": 299, "resetAt": "2026-01-31T13:00:00Z"},
                        },
                        brand_key: {},
                    },
                }
            },
        }
    return responses


def _catalog_schema(brand_key: str) -> dict[str, Any]:
    texts = {name: {"type": "string"} for name in ("version", "baseUrl", "llmInstructions")}
    count = {"type": "integer", "minimum": 0}
    return {
        "type": "object",
        "required": [*texts, "platform", "mcp", "tools", "stats", brand_key],
        "properties": {
            **texts,
            "platform": {"type": "object"},
            "mcp": {"type": "object"},
            "tools": {"type": "array", "items": {"$ref": "#/components/schemas/Descriptor"}},
            "stats": {
                "type": "object",
                "required": ["total", "withApi"],
                "properties": {"total": count, "withApi": count},
            },
            brand_key: {"$ref": "#/components/schemas/Brand"},
        },
    }


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "headers": COMMON_HEADERS, "content": {"application/json": {"schema": schema}}}


def _name(generator: Generator) -> str:
    return "".join(word.capitalize() for word in generator.slug.split("-"))
