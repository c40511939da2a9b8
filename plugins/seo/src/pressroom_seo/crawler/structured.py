"""Structured data: whether it can be read, and has what search engines require of its type.

The required properties are those of Google's documentation of rich results.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from pressroom_seo.crawler.records import StructuredData
from pressroom_seo.scoring.structured import required_in_crawls

_MAX_ITEMS = 50
_MAX_MARKED = 20
_MAX_LENGTH = 500_000


def structured_data(tree: LexborHTMLParser) -> tuple[StructuredData, ...]:
    """Return the items of a page: JSON-LD in full, of microdata and RDFa the types. At most 50."""
    found: list[StructuredData] = []
    for script in tree.css('script[type="application/ld+json" i]'):
        found.extend(_json_ld(script.text()))
        if len(found) >= _MAX_ITEMS:
            break
    microdata = tree.css("[itemscope][itemtype]")[:_MAX_MARKED]
    found += [StructuredData("microdata", _names(node.attributes.get("itemtype"))) for node in microdata]
    rdfa = tree.css("[typeof][vocab]")[:_MAX_MARKED]
    found += [StructuredData("rdfa", _names(node.attributes.get("typeof"))) for node in rdfa]
    return tuple(found[:_MAX_ITEMS])


def _names(value: str | None) -> tuple[str, ...]:
    return tuple(name.rstrip("/").rpartition("/")[2][:60] for name in (value or "").split()[:5])


def _json_ld(text: str) -> Iterator[StructuredData]:
    text = text.strip().removeprefix("<!--").removesuffix("-->").strip()
    if not text:
        yield StructuredData("json-ld", (), "it is empty")
        return
    try:
        data = json.loads(text[:_MAX_LENGTH])
    except RecursionError:
        yield StructuredData("json-ld", (), "it is nested too deep")
    except ValueError as error:
        yield StructuredData("json-ld", (), f"it is no JSON: {error}"[:160])
    else:
        yield from _items(data)


def _items(data: Any) -> Iterator[StructuredData]:
    whole = data if isinstance(data, list) else [data]
    for one in whole[:_MAX_ITEMS]:
        if not isinstance(one, dict):
            yield StructuredData("json-ld", (), "it is not an object")
            continue
        known = _is_schema_org(one.get("@context"))
        graph = one.get("@graph")
        parts = graph if isinstance(graph, list) else [one]
        for part in parts[:_MAX_ITEMS]:
            if isinstance(part, dict):
                yield _item(part, known=known)


def _is_schema_org(context: Any) -> bool:
    """Return whether a context, or one of several, is that of schema.org."""
    parts = context if isinstance(context, list) else context.values() if isinstance(context, dict) else [context]
    return any(isinstance(part, str) and "schema.org" in part for part in parts)


def _item(part: dict[str, Any], *, known: bool) -> StructuredData:
    said = part.get("@type")
    names = said if isinstance(said, list) else [said]
    types = tuple(name.rpartition("/")[2][:60] for name in names[:5] if isinstance(name, str))
    problem = "" if types else "it has no @type"
    if types and not known:
        problem = "its @context is not https://schema.org"
    required = dict.fromkeys(name for kind in types for name in required_in_crawls(kind))
    missing = tuple(name for name in required if part.get(name) in (None, "", [], {}))
    return StructuredData("json-ld", types, problem, missing)
