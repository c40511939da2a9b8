"""The stored state of posts on their websites, and which posts copies can declare as their original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pressroom.sdk import NotFound, PluginContext
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.contract import ControlNotProven, RemotePost, require_control
from pressroom_content.contract.site_errors import storable
from pressroom_content.publishing.bodies import MAX_RAW_LENGTH, SiteBody
from pressroom_content.tables import PublicationRow, SiteBodyRow

_MAX_FIELD_LENGTH: Final = 10_000
_KEPT_FIELDS: Final = "kept"
"""The key under which the names of kept fields are stored with the sent fields."""


@dataclass(frozen=True, slots=True)
class KnownBody:
    """A body as its website had it, and the other fields of the post as they were sent.

    `bound` is true if the post existed before its article. `fields` are the fields as the website showed them, with
    `audience` if the post is not public. `kept` lists the fields of a post of ours that retain the site owner's values
    as long as the article's values equal those in `sent`.
    """

    body: SiteBody
    bound: bool
    fields: Mapping[str, Any]
    sent: Mapping[str, Any]
    kept: frozenset[str] = frozenset()


def can_be_stored(raw: str) -> bool:
    """Check whether a body can be stored: it is not too long and every database can store its characters."""
    return len(raw) <= MAX_RAW_LENGTH and storable(raw) == raw


def displayed_fields(post: RemotePost) -> dict[str, Any]:
    """Return the fields of a post as its website shows them, as JSON, with `audience` if the post is not public.

    `featured` is the featured image, or a boolean if the platform only reports whether there is one.
    """
    fields = {
        name: [storable(str(term)) for term in value] if isinstance(value, list | tuple) else _text(value)
        for name, value in post.fields.items()
    }
    fields.setdefault("featured", post.featured)
    return {**fields, "audience": _text(post.audience)} if post.audience else fields


async def known_body(session: AsyncSession, publication_id: str) -> KnownBody | None:
    """Return the stored body of a publication, or `None`."""
    row = await session.get(SiteBodyRow, publication_id)
    if row is None:
        return None
    sent = {name: value for name, value in row.sent.items() if name != _KEPT_FIELDS}
    kept_fields = frozenset(row.sent.get(_KEPT_FIELDS, ()))
    return KnownBody(SiteBody.of(row.raw, row.segments), row.bound is not None, row.fields, sent, kept_fields)


async def remember_body(
    session: AsyncSession,
    publication_id: str,
    body: SiteBody,
    post: RemotePost,
    sent: Mapping[str, Any],
    kept_fields: frozenset[str] = frozenset(),
) -> None:
    """Store the body of a post that was just read or written, its sent fields and its `kept_fields`.

    If the body cannot be stored, the previous one is deleted, unless the post is bound.
    """
    row = await session.get(SiteBodyRow, publication_id)
    if not can_be_stored(body.raw):
        if row is not None and row.bound is None:
            await session.delete(row)
        return
    if row is None:
        row = SiteBodyRow(publication_id=publication_id)
        session.add(row)
    row.raw, row.segments = body.raw, body.stored()
    row.sent = {**sent, _KEPT_FIELDS: sorted(kept_fields)} if kept_fields else dict(sent)
    row.fields, row.read_at = displayed_fields(post), datetime.now(UTC)


async def unbind(session: AsyncSession, publication_id: str) -> None:
    """Mark a post as one of ours, because it is created again."""
    condition = SiteBodyRow.publication_id == publication_id
    await session.execute(update(SiteBodyRow).where(condition).values(bound=None))


async def forget_body(session: AsyncSession, publication_id: str) -> None:
    """Delete the stored body of a post that is no longer on its website."""
    await session.execute(delete(SiteBodyRow).where(SiteBodyRow.publication_id == publication_id))


def _text(value: Any) -> Any:
    return value if isinstance(value, bool | int | float) or value is None else storable(str(value))[:_MAX_FIELD_LENGTH]


async def original_of(plugin: PluginContext, user_id: str, canonical_of: str | None) -> tuple[str, str] | None:
    """Return the URL and website ID of the publication that a copy declares as its original, or `None`."""
    if canonical_of is None:
        return None
    query = select(PublicationRow.url, PublicationRow.website_id).where(
        PublicationRow.id == canonical_of, PublicationRow.user_id == user_id
    )
    async with plugin.services.database.reading() as session:
        row = (await session.execute(query)).first()
    return (str(row.url), str(row.website_id)) if row is not None and row.url else None


async def canonical_of_copy(plugin: PluginContext, user_id: str, canonical_of: str | None) -> str:
    """Return the URL of a copy's original, which becomes its canonical URL; "" for a publication that is not a copy.

    Raises the same exceptions as `check_original`, and `NotFound` if the original has no URL any more.
    """
    if canonical_of is None:
        return ""
    original = await original_of(plugin, user_id, canonical_of)
    if original is None:
        raise NotFound(
            "this is a copy, and its original is no longer live: publish the original again, or give the copy another "
            "canonical_url in options"
        )
    url, website_id = original
    await check_original(plugin, user_id, website_id, url)
    return url


async def check_original(plugin: PluginContext, user_id: str, website_id: str, url: str) -> None:
    """Check that a URL can be the canonical URL of copies: the original's website must be proven to control it.

    Otherwise a site could pass the search ranking of the copies to any URL it reports.

    Raises `NotFound` and `ControlNotProven`.
    """
    control = await require_control(plugin, user_id, website_id, "A publication as the original of copies")
    if not control.covers(url):
        raise ControlNotProven(
            f"the website says that the original is at {url[:200]}, which is not below {control.url}; copies cannot "
            "name it as their original"
        )
