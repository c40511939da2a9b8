"""The versions of articles."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pressroom.sdk import NotFound
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.differences import line_counts
from pressroom_content.articles.fields import Draft
from pressroom_content.tables import ArticleRow, PublicationRow, VersionRow

_MAX_ORIGIN_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Version:
    """What is known of a version. `origin` is the client that wrote it; `added` and `removed` are lines of the body."""

    version: int
    created_at: datetime
    origin: str
    author: str
    changed: tuple[str, ...]
    added: int
    removed: int


async def add(
    session: AsyncSession, row: ArticleRow, draft: Draft, before: Draft | None, origin: str, *, most: int = 0
) -> None:
    """Keep the newest version of an article. With `most`, older ones than so many go, but none that is published.

    The bytes that the article has with its versions are noted in its row, unless this is the first version.
    """
    added, removed = line_counts(before.body if before else "", draft.body)
    size = size_of(draft)
    if before is not None:
        row.stored += size + len(as_bytes(draft.body)) - len(as_bytes(before.body))
    session.add(
        VersionRow(
            article_id=row.id,
            version=row.version,
            size=size,
            fields=draft.stored(),
            body=draft.body,
            origin=origin[:_MAX_ORIGIN_LENGTH],
            changed=list(draft.changed_from(before)) if before else [],
            added=added,
            removed=removed,
            created_at=row.updated_at,
        )
    )
    if most and row.version > most:
        published = select(PublicationRow.article_version).where(PublicationRow.article_id == row.id)
        old = delete(VersionRow).where(
            VersionRow.article_id == row.id,
            VersionRow.version <= row.version - most,
            VersionRow.version.not_in(published),
        )
        row.stored -= sum(await session.scalars(old.returning(VersionRow.size)))


def size_of(draft: Draft) -> int:
    """Return how many bytes a version of an article takes."""
    return len(as_bytes(draft.body)) + len(json.dumps(draft.stored()))


def as_bytes(text: str) -> bytes:
    """Return a text as it is stored."""
    return text.encode("utf-8", "replace")


async def read(session: AsyncSession, article_id: str, version: int) -> Draft:
    """Return what a version says. Raises `NotFound`."""
    wanted = select(VersionRow).where(VersionRow.article_id == article_id, VersionRow.version == version)
    row = await session.scalar(wanted)
    if row is None:
        raise NotFound(f"there is no version {version} of this article; list_content_versions shows the ones there are")
    return Draft.of_version(row.fields, row.body)


async def listed(session: AsyncSession, article_id: str) -> Sequence[Version]:
    """Return all versions of an article that are kept, the newest first."""
    columns = (
        VersionRow.version,
        VersionRow.created_at,
        VersionRow.origin,
        VersionRow.fields,
        VersionRow.changed,
        VersionRow.added,
        VersionRow.removed,
    )
    wanted = select(*columns).where(VersionRow.article_id == article_id).order_by(VersionRow.version.desc())
    return [
        Version(version, created_at, origin, fields.get("author", ""), tuple(changed), added, removed)
        for version, created_at, origin, fields, changed, added, removed in await session.execute(wanted)
    ]
