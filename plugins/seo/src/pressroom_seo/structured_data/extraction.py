"""Extraction of structured data from a page: its items, author and dates, and the summary that a crawl keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from typing import Any, Final
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from pressroom_seo.document import clean_text, safe_html
from pressroom_seo.document.model import StructuredData
from pressroom_seo.structured_data.types import ARTICLE_TYPES, required_in_crawls

_MAX_SCRIPTS: Final = 100
_MAX_ELEMENTS: Final = 5_000
"""Maximum number of microdata elements to read."""

_SOURCES: Final = {
    **dict.fromkeys(["audio", "embed", "iframe", "img", "source", "track", "video"], "src"),
    **dict.fromkeys(["a", "area", "link"], "href"),
    "object": "data",
    "data": "value",
    "meter": "value",
}
_ADDRESSES: Final = frozenset({"src", "href", "data"})


@dataclass(frozen=True, slots=True)
class PageStructuredData:
    """The structured data of a page. `errors` are pairs of position and message for scripts with invalid JSON."""

    json_ld: tuple[Any, ...]
    microdata: tuple[dict[str, Any], ...]
    errors: tuple[tuple[str, str], ...]


def extract_structured_data(html: str, base: str = "") -> PageStructuredData:
    """Extract the structured data of a page; `base` is its URL, against which relative URLs in microdata are resolved.

    Accepts any text.
    """
    tree = LexborHTMLParser(safe_html(clean_text(html)))
    documents, errors = _scripts(tree)
    declared = tree.css_first("base[href]")
    if declared is not None:
        base = _joined(base, (declared.attributes.get("href") or "").strip())
    return PageStructuredData(tuple(documents), tuple(_microdata(tree, base)), tuple(errors))


def _scripts(tree: LexborHTMLParser) -> tuple[list[Any], list[tuple[str, str]]]:
    documents: list[Any] = []
    errors: list[tuple[str, str]] = []
    for number, node in enumerate(islice(filter(_is_json_ld, tree.css("script[type]")), _MAX_SCRIPTS), 1):
        try:
            documents.append(json.loads(_json_text(node.text()), strict=False))
        except (ValueError, RecursionError) as error:
            errors.append((f"script {number}", f"The JSON-LD is not JSON: {error}"))
    return documents, errors


def _json_text(text: str) -> str:
    """Return the JSON of a script, which can be in an HTML comment."""
    return text.strip().removeprefix("<!--").removesuffix("-->").strip()


def _is_json_ld(script: LexborNode) -> bool:
    return (script.attributes.get("type") or "").partition(";")[0].strip().lower() == "application/ld+json"


def _microdata(tree: LexborHTMLParser, base: str) -> list[dict[str, Any]]:
    """Return the top-level items (HTML Standard, 5.2). Properties belong to the nearest ancestor with `itemscope`."""
    scopes = tree.css("[itemscope]")[:_MAX_ELEMENTS]
    items = {node.mem_id: _typed(node) for node in scopes}
    for node in tree.css("[itemprop]")[:_MAX_ELEMENTS]:
        attributes = node.attributes
        owner = _owner(node, items)
        value = items.get(node.mem_id) or _value(node, attributes, base)
        for name in (attributes.get("itemprop") or "").split():
            _add(owner, name, value)
    return [items[node.mem_id] for node in scopes if "itemprop" not in node.attributes]


def _typed(node: LexborNode) -> dict[str, Any]:
    return {"@type": (node.attributes.get("itemtype") or "").split()}


def _owner(node: LexborNode, items: dict[int, dict[str, Any]]) -> dict[str, Any] | None:
    ancestor = node.parent
    while ancestor is not None:
        if ancestor.mem_id in items:
            return items[ancestor.mem_id]
        ancestor = ancestor.parent
    return None


def _add(owner: dict[str, Any] | None, name: str, value: object) -> None:
    if owner is None or name.startswith("@"):
        return
    if name not in owner:
        owner[name] = value
    elif isinstance(owner[name], list):
        owner[name].append(value)
    else:
        owner[name] = [owner[name], value]


def _value(node: LexborNode, attributes: dict[str, str | None], base: str) -> str:
    if "content" in attributes:
        return attributes["content"] or ""
    if node.tag == "time" and "datetime" in attributes:
        return attributes["datetime"] or ""
    source = _SOURCES.get(node.tag or "")
    if source is None:
        return " ".join(node.text().split())
    raw = (attributes.get(source) or "").strip()
    return _joined(base, raw) if source in _ADDRESSES and base else raw


def _joined(base: str, url: str) -> str:
    try:
        return urljoin(base, url)
    except ValueError:
        return url


_MAX_BYLINE_ITEMS: Final = 500
_MAX_AUTHORS: Final = 20
_MAX_NAME_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class Byline:
    """Author names and dates of a page; missing ones are empty or `None`."""

    authors: tuple[str, ...] = ()
    published: datetime | date | None = None
    modified: datetime | date | None = None


def byline(documents: Sequence[Any]) -> Byline:
    """Return authors and dates of the main article in structured data. Accepts any values."""
    items = list(islice(_byline_items(documents), _MAX_BYLINE_ITEMS))
    items_by_id = {item["@id"]: item for item in reversed(items) if isinstance(item.get("@id"), str)}
    articles = [
        candidate for item in items if _is_article(item) and (candidate := _byline_of(item, items_by_id)) != Byline()
    ]
    pages = [_byline_of(item, items_by_id) for item in items if "datePublished" in item and not _is_article(item)]
    # Page items fill in what the first article omits; other articles have their own authors and dates.
    bylines = [*articles[:1], *pages]
    return Byline(
        next((entry.authors for entry in bylines if entry.authors), ()),
        next((entry.published for entry in bylines if entry.published), None),
        next((entry.modified for entry in bylines if entry.modified), None),
    )


def _byline_of(item: dict[str, Any], items_by_id: dict[str, dict[str, Any]]) -> Byline:
    authors = tuple(islice(_names(item.get("author"), items_by_id), _MAX_AUTHORS))
    return Byline(authors, moment(item.get("datePublished")), moment(item.get("dateModified")))


def moment(value: Any) -> datetime | date | None:
    """Parse an ISO 8601 date or date with time; `None` for anything else."""
    value = _plain(value)
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError:
        return None


def _plain(value: Any) -> Any:
    """Return the first of several values, unwrapping a typed value (JSON-LD 1.1, section 4.2)."""
    if isinstance(value, list):
        value = value[0] if value else None
    return value.get("@value") if isinstance(value, dict) else value


def _byline_items(documents: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield the items of documents and their graphs, each followed by its `mainEntity` items."""
    for document in documents:
        for item in document if isinstance(document, list) else [document]:
            if not isinstance(item, dict):
                continue
            for part in (item, *_graph(item)):
                if isinstance(part, dict):
                    yield part
                    main = part.get("mainEntity")
                    yield from (
                        about for about in (main if isinstance(main, list) else [main]) if isinstance(about, dict)
                    )


def _graph(document: dict[str, Any]) -> list[Any]:
    """Return the items of a `@graph`, which may be a list or a single item."""
    graph = document.get("@graph")
    return graph if isinstance(graph, list) else [] if graph is None else [graph]


def types_of(documents: Sequence[Any]) -> frozenset[str]:
    """Return the types of all items in documents and their graphs, without URL prefixes."""
    return frozenset().union(*map(_types, islice(_byline_items(documents), _MAX_BYLINE_ITEMS)))


def _types(item: dict[str, Any]) -> frozenset[str]:
    kinds = item.get("@type")
    names = kinds if isinstance(kinds, list) else [kinds]
    return frozenset(kind.rstrip("/").rpartition("/")[2] for kind in names if isinstance(kind, str))


def _is_article(item: dict[str, Any]) -> bool:
    return not _types(item).isdisjoint(ARTICLE_TYPES)


def _names(author: Any, items_by_id: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the names of authors, given as strings, items, or references to items by `@id`."""
    for entry in author if isinstance(author, list) else [author]:
        if isinstance(entry, dict):
            reference = entry.get("@id")
            referenced = items_by_id.get(reference, {}) if isinstance(reference, str) else {}
            entry = _plain(entry.get("name") or referenced.get("name"))  # noqa: PLW2901 - what the author is called
        if isinstance(entry, list):
            entry = entry[0] if entry else None  # noqa: PLW2901
        if isinstance(entry, str) and entry.strip():
            yield " ".join(entry.split())[:_MAX_NAME_LENGTH]


_MAX_ITEMS = 50
_MAX_MARKED = 20
_MAX_LENGTH = 500_000
"""Longest JSON-LD script to parse, in characters; a longer one yields no types and no problem."""


def crawled_structured_data(tree: LexborHTMLParser) -> tuple[StructuredData, ...]:
    """Return up to 50 items of a page: JSON-LD with problems, microdata and RDFa only with types."""
    items: list[StructuredData] = []
    for script in tree.css('script[type="application/ld+json" i]'):
        items.extend(_json_ld(script.text()))
        if len(items) >= _MAX_ITEMS:
            break
    microdata = tree.css("[itemscope][itemtype]")[:_MAX_MARKED]
    items += [StructuredData("microdata", _type_names(node.attributes.get("itemtype"))) for node in microdata]
    rdfa = tree.css("[typeof][vocab], [vocab] [typeof]")[:_MAX_MARKED]
    items += [StructuredData("rdfa", _type_names(node.attributes.get("typeof"))) for node in rdfa]
    return tuple(items[:_MAX_ITEMS])


def _type_names(value: str | None) -> tuple[str, ...]:
    return tuple(name.rstrip("/").rpartition("/")[2][:60] for name in (value or "").split()[:5])


def _json_ld(text: str) -> Iterator[StructuredData]:
    text = _json_text(text)
    if not text:
        yield StructuredData("json-ld", (), "it is empty")
        return
    if len(text) > _MAX_LENGTH:
        yield StructuredData("json-ld", ())
        return
    try:
        data = json.loads(text, strict=False)  # search engines accept line breaks in strings
    except RecursionError:
        yield StructuredData("json-ld", (), "it is nested too deep")
    except ValueError as error:
        yield StructuredData("json-ld", (), f"it is not valid JSON: {error}"[:160])
    else:
        yield from _crawled_items(data)


def _crawled_items(data: Any) -> Iterator[StructuredData]:
    items = data if isinstance(data, list) else [data]
    for item in items[:_MAX_ITEMS]:
        if item is None:
            continue  # some plugins write null for empty data
        if not isinstance(item, dict):
            yield StructuredData("json-ld", (), "it is not an object")
            continue
        has_context = _is_schema_org(item.get("@context"))
        for part in (_graph(item) if "@graph" in item else [item])[:_MAX_ITEMS]:
            if isinstance(part, dict):
                yield _crawled_item(part, has_context=has_context)


def _is_schema_org(context: Any) -> bool:
    """Return whether a context, or one of several, is schema.org."""
    parts = context if isinstance(context, list) else context.values() if isinstance(context, dict) else [context]
    return any(isinstance(part, str) and "schema.org" in part for part in parts)


def _crawled_item(part: dict[str, Any], *, has_context: bool) -> StructuredData:
    declared = part.get("@type")
    names = declared if isinstance(declared, list) else [declared]
    types = tuple(name.rpartition("/")[2][:60] for name in names[:5] if isinstance(name, str))
    problem = "" if types or "@id" in part else "it has no @type"  # an @id may refer to another item
    if types and not has_context:
        problem = "its @context is not https://schema.org"
    required = dict.fromkeys(name for kind in types for name in required_in_crawls(kind))
    missing = tuple(name for name in required if part.get(name) in (None, "", [], {}))
    return StructuredData("json-ld", types, problem, missing)
