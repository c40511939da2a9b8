"""Who wrote a page and when, as its structured data says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from typing import Any, Final

from pressroom_seo.scoring.structured.types import ARTICLE_TYPES

_MAX_ITEMS: Final = 500
_MAX_AUTHORS: Final = 20
_MAX_NAME_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class Byline:
    """The names of the authors and the dates of a page; what it does not say is empty or `None`."""

    authors: tuple[str, ...] = ()
    published: datetime | date | None = None
    modified: datetime | date | None = None


def byline(documents: Sequence[Any]) -> Byline:
    """Return what documents of structured data say of the article; they may be anything."""
    items = list(islice(_items(documents), _MAX_ITEMS))
    named = {one["@id"]: one for one in reversed(items) if isinstance(one.get("@id"), str)}
    articles = [one for one in items if _is_article(one)]
    for one in [*articles, *(one for one in items if "datePublished" in one)]:
        authors = tuple(islice(_names(one.get("author"), named), _MAX_AUTHORS))
        found = Byline(authors, moment(one.get("datePublished")), moment(one.get("dateModified")))
        if found != Byline():
            return found
    return Byline()


def moment(value: Any) -> datetime | date | None:
    """Return a date of ISO 8601, with its time where it has one; `None` for anything else."""
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError:
        return None


def _items(documents: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield the items of documents and of their graphs."""
    for document in documents:
        for one in document if isinstance(document, list) else [document]:
            if not isinstance(one, dict):
                continue
            yield one
            graph = one.get("@graph")
            yield from (part for part in (graph if isinstance(graph, list) else []) if isinstance(part, dict))


def _is_article(item: dict[str, Any]) -> bool:
    kinds = item.get("@type")
    said = kinds if isinstance(kinds, list) else [kinds]
    return any(isinstance(kind, str) and kind.rstrip("/").rpartition("/")[2] in ARTICLE_TYPES for kind in said)


def _names(author: Any, named: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the names of authors: texts, items, or references to items by their `@id`."""
    for one in author if isinstance(author, list) else [author]:
        if isinstance(one, dict):
            reference = one.get("@id")
            there = named.get(reference, {}) if isinstance(reference, str) else {}
            one = one.get("name") or there.get("name")  # noqa: PLW2901 - what the author is called
        if isinstance(one, list):
            one = one[0] if one else None  # noqa: PLW2901
        if isinstance(one, str) and one.strip():
            yield " ".join(one.split())[:_MAX_NAME_LENGTH]
