"""The tags, categories and authors of posts, as their lists find them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.contract.articles import slug_of
from pressroom_content.tables import BuiltinPostRow, BuiltinTermRow

BlogTermKind = Literal["tag", "category", "author"]


def term_slug(name: str) -> str:
    """Return the segment of URLs for a tag, a category or an author; empty where the name has no letters."""
    return slug_of(name, 200)


def terms_of(fields: Mapping[str, Any]) -> Iterator[tuple[BlogTermKind, str, str]]:
    """Yield kind, slug and name of the terms in a post's fields, each slug of a kind once."""
    seen: set[tuple[str, str]] = set()
    author = str(fields.get("author") or "").strip()
    named: list[tuple[BlogTermKind, str]] = [
        *(("tag", str(name)) for name in fields.get("tags") or ()),
        *(("category", str(name)) for name in fields.get("categories") or ()),
    ]
    if author:
        named.append(("author", author))
    for kind, name in named:
        slug = term_slug(name)
        if slug and (kind, slug) not in seen:
            seen.add((kind, slug))
            yield kind, slug, name[:500]


async def note_terms(session: AsyncSession, row: BuiltinPostRow) -> None:
    """Keep the terms of a post that was just written."""
    await session.execute(delete(BuiltinTermRow).where(BuiltinTermRow.post_id == row.id))
    session.add_all(
        BuiltinTermRow(post_id=row.id, kind=kind, slug=slug, website_id=row.website_id, name=name)
        for kind, slug, name in terms_of(row.fields)
    )
