"""Parts of the OpenAPI document that are the same for every tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_INTEGER: Final = {"type": "integer", "minimum": 0}
_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_FLAG: Final = {"type": "boolean"}
_TIME: Final = {"type": "string", "format": "date-time"}

VERSION: Final = "1.0"
"""The version of the Tools API."""

LINK: Final = "/link"
IMAGE: Final = "/image"
"""Paths of permanent image URLs, below the URL of a tool's page: creating one, and fetching the image."""

SHOWN_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml"})
"""Media types that HTML pages can display as an image."""

HEADERS: Final[dict[str, Any]] = {
    "Allow": {"description": "The methods that the path takes.", "schema": _TEXT},
    "Cache-Control": {"description": "How long caches may keep the response.", "schema": _TEXT},
    "Content-Disposition": {"description": "A file name.", "schema": _TEXT},
    "ETag": {"description": "The id of the content, as a strong entity tag.", "schema": _TEXT},
    "Link": {
        "description": "An image of the file, with the relation `preview` (RFC 6903); not with `response: binary`.",
        "schema": _TEXT,
    },
    "RateLimit-Limit": {"description": "Requests that the window allows.", "schema": _INTEGER},
    "RateLimit-Remaining": {"description": "Whole requests that are left.", "schema": _INTEGER},
    "RateLimit-Reset": {"description": "Seconds until at least one more request is free.", "schema": _INTEGER},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}},
    "X-Cache": {
        "description": "Whether a render ran (`response: binary`).",
        "schema": {"type": "string", "enum": ["HIT", "MISS"]},
    },
    "X-Request-Id": {"description": "Identifies the request in the server's log.", "schema": _TEXT},
    "X-Warnings": {"description": "What the user should know about the file, as a JSON array.", "schema": _TEXT},
}

COMMON_HEADERS: Final[dict[str, Any]] = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}

RATE_LIMIT_HEADERS: Final[dict[str, Any]] = {
    name: {"$ref": f"#/components/headers/{name}"} for name in HEADERS if name.startswith("RateLimit-")
}


def success_envelope(brand_key: str, members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a success envelope with these members."""
    return {
        "type": "object",
        "required": ["ok", *members, brand_key],
        "properties": {
            "ok": {"const": True},
            **members,
            brand_key: {"$ref": "#/components/schemas/Brand"},
        },
    }


def error_envelope(brand_key: str, codes: Sequence[str]) -> dict[str, Any]:
    """Return the schema of the error envelope (interface contract, section 2.9)."""
    return {
        "type": "object",
        "required": ["ok", "error", "meta", brand_key],
        "properties": {
            "ok": {"const": False},
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": {"type": "string", "enum": list(codes)},
                    "message": {"type": "string", "description": "What is wrong, where, and what is allowed."},
                    "retryAfter": {"type": "integer", "minimum": 1, "description": "Seconds, as in `Retry-After`."},
                },
            },
            "meta": {"$ref": "#/components/schemas/Meta"},
            brand_key: {"$ref": "#/components/schemas/Brand"},
        },
    }


def envelope_meta(version: str) -> dict[str, Any]:
    """Return the schema of `meta` (interface contract, section 2.7)."""
    properties = {
        "tool": {"type": "string", "description": "The tool's slug."},
        "endpoint": {"type": "string", "examples": ["/generate"]},
        "version": {"type": "string", "const": version},
        "cached": _FLAG,
        "timestamp": _TIME,
        "rateLimit": {
            "type": "object",
            "required": ["limit", "remaining", "resetAt"],
            "properties": {"limit": _INTEGER, "remaining": _INTEGER, "resetAt": _TIME},
        },
    }
    return {"type": "object", "required": list(properties), "properties": properties}


def brand_schema(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of the promotional block, which clients can ignore."""
    return {
        "type": "object",
        "description": "A promotional block about the service. Clients may ignore it.",
        "properties": {name: _TEXT if isinstance(value, str) else {} for name, value in block.items()},
    }


def descriptor_schema() -> dict[str, Any]:
    """Return the schema of a tool's descriptor (interface contract, section 2.10)."""
    param = {
        "name": _TEXT,
        "type": {"type": "string", "enum": ["string", "number", "boolean", "object", "enum"]},
        "required": _FLAG,
        "description": _TEXT,
    }
    endpoint = {
        "path": _TEXT,
        "method": _TEXT,
        "summary": _TEXT,
        "description": _TEXT,
        "responseContentType": _TEXTS,
        "cacheDiscount": {"type": "number", "minimum": 0, "maximum": 1},
        "params": {
            "type": "array",
            "items": {
                "type": "object",
                "required": list(param),
                "properties": {
                    **param,
                    "default": {},
                    "min": {"type": "number"},
                    "max": {"type": "number"},
                    "enumValues": {"type": "array"},
                    "example": {},
                },
            },
        },
        "examples": {"type": "array", "items": {"type": "object"}},
    }
    tool = {
        **dict.fromkeys(("slug", "name", "description", "pageUrl", "apiBaseUrl"), _TEXT),
        "hasApi": _FLAG,
        "clientOnly": _FLAG,
        "tags": _TEXTS,
        "rateLimit": {
            "type": ["object", "null"],
            "required": ["requests", "windowSec"],
            "properties": {"requests": _INTEGER, "windowSec": _INTEGER},
            "description": "`null` if the tool has no limit.",
        },
        "endpoints": {
            "type": "array",
            "items": {"type": "object", "required": list(endpoint), "properties": endpoint},
        },
        "promo": {
            "type": "object",
            "properties": {
                **dict.fromkeys(("tagline", "description", "llmInstructions", "ctaUrl"), _TEXT),
                "useCases": _TEXTS,
                "relatedFeatures": _TEXTS,
            },
        },
    }
    return {
        "type": "object",
        "required": list(tool),
        "properties": {**tool, "notes": {**_TEXTS, "description": "Warnings to read before use; often absent."}},
    }
