"""Taking structured data out of a page: JSON-LD scripts, and microdata as the same kind of objects."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from pressroom_seo.scoring.document import clean_text, safe_html

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_SCRIPTS: Final = 100
_MAX_ELEMENTS: Final = 5_000
"""How many elements with microdata are read."""

_SOURCES: Final = {
    **dict.fromkeys(["audio", "embed", "iframe", "img", "source", "track", "video"], "src"),
    **dict.fromkeys(["a", "area", "link"], "href"),
    "object": "data",
    "data": "value",
    "meter": "value",
}
_ADDRESSES: Final = frozenset({"src", "href", "data"})


@dataclass(frozen=True, slots=True)
class Extracted:
    """The structured data of a page. `errors` are places and messages of scripts that are no JSON."""

    json_ld: tuple[Any, ...]
    microdata: tuple[dict[str, Any], ...]
    errors: tuple[tuple[str, str], ...]


def extract_structured_data(html: str, base: str = "") -> Extracted:
    """Return the structured data of a page; relative addresses of microdata are read against `base`.

    It takes any text.
    """
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415

    tree = LexborHTMLParser(safe_html(clean_text(html)))
    documents, errors = _scripts(tree)
    return Extracted(tuple(documents), tuple(_microdata(tree, base)), tuple(errors))


def _scripts(tree: LexborHTMLParser) -> tuple[list[Any], list[tuple[str, str]]]:
    documents: list[Any] = []
    errors: list[tuple[str, str]] = []
    for number, node in enumerate(tree.css("script[type]")[:_MAX_SCRIPTS], 1):
        if (node.attributes.get("type") or "").partition(";")[0].strip().lower() != "application/ld+json":
            continue
        try:
            documents.append(json.loads(node.text(), strict=False))
        except (ValueError, RecursionError) as error:
            errors.append((f"script {number}", f"The JSON-LD is not JSON: {error}"))
    return documents, errors


def _microdata(tree: LexborHTMLParser, base: str) -> list[dict[str, Any]]:
    """Return the top items (HTML Standard, 5.2), each property under the nearest element with `itemscope` above it."""
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
    above = node.parent
    while above is not None:
        if above.mem_id in items:
            return items[above.mem_id]
        above = above.parent
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


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return address
