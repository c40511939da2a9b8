"""The catalog as clients read it: a descriptor for each generator (interface contract, section 2.10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pressroom.catalog.compile import GENERATE
from pressroom.catalog.schema import parameter_list
from pressroom.catalog.tool import PlanTool, PlanView
from pressroom.sdk import Branding, Generator, Promo

CATALOG_VERSION = "1.0"


def generator_of(entry: PlanTool) -> Generator:
    """Return the declaration of an entry that is known to be a generator."""
    declaration = entry.tool.declaration
    if not isinstance(declaration, Generator):
        raise TypeError(f"{entry.tool.name} is not a generator")
    return declaration


def describe_generator(entry: PlanTool) -> dict[str, Any]:
    """Return the descriptor of a generator, as its plan has it."""
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
                "examples": [{"title": one.title, "params": dict(one.params)} for one in generator.examples],
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
    """Return the catalog wrapper with the descriptors of every generator of a plan."""
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
            "credential is needed. The answer is a JSON envelope with a signed URL in data.url that expires after "
            'three hours; with "response": "binary" it is the file itself. Errors say which field is wrong. '
            "Equal requests are served from a cache and cost only a part of a request."
        ),
        "tools": descriptors,
        "stats": {"total": len(descriptors), "withApi": sum(1 for one in descriptors if one["hasApi"])},
    }


def _mcp_names(entries: Iterable[PlanTool]) -> list[str]:
    return [entry.tool.mcp_name for entry in entries if entry.tool.mcp_name]
