"""What the URLs of a built-in site answer that show no post: they lead elsewhere, or their page is gone.

A rule is a row of the table of redirects. One without a target says that its page was taken down (410 Gone).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from pressroom.columns import new_id
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.builtin_site.tables import BuiltinRedirectRow
from pressroom_content.contract import SiteRefused

MAX_REDIRECTS: Final = 10_000
MAX_GONE: Final = 10_000
"""How many pages that were taken down a site remembers; those before answer 404."""

GONE: Final = ""
"""The target of a page that was taken down."""


async def rule_at(session: AsyncSession, website_id: str, source: str) -> BuiltinRedirectRow | None:
    """Return the rule of a path such as `/old`, or `None`."""
    found: BuiltinRedirectRow | None = await session.scalar(
        select(BuiltinRedirectRow).where(
            BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.source == source[:500]
        )
    )
    return found


async def redirect(
    session: AsyncSession, website_id: str, source: str, target: str, *, permanent: bool
) -> BuiltinRedirectRow:
    """Make a path lead to a target, whatever its rule was. Raises `SiteRefused` where the site has too many."""
    row = await rule_at(session, website_id, source)
    if row is None or row.target == GONE:
        await _make_room(session, website_id)
    return await _put(session, website_id, source, row, target=target, permanent=permanent)


async def mark_gone(session: AsyncSession, website_id: str, slug: str) -> None:
    """Remember that there was a post at a slug. Where the site remembers too many, it forgets the oldest."""
    source = f"/{slug}"
    row = await rule_at(session, website_id, source)
    if row is None:
        of_site = select(BuiltinRedirectRow.id).where(
            BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.target == GONE
        )
        oldest = of_site.order_by(BuiltinRedirectRow.created_at.desc()).offset(MAX_GONE - 1)
        surplus = list(await session.scalars(oldest.limit(100)))
        if surplus:
            await session.execute(delete(BuiltinRedirectRow).where(BuiltinRedirectRow.id.in_(surplus)))
    await _put(session, website_id, source, row, target=GONE, permanent=True)


async def forget(session: AsyncSession, website_id: str, slug: str) -> None:
    """Remove the rule of a slug: there is a post."""
    await session.execute(
        delete(BuiltinRedirectRow).where(
            BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.source == f"/{slug}"
        )
    )


async def move(session: AsyncSession, website_id: str, old: str, new: str) -> None:
    """Make the old slug of a post lead to its new one, and whatever led to the old one lead there at once.

    Raises `SiteRefused` where the site has too many redirects.
    """
    await forget(session, website_id, new)  # it may have been an old slug once, and must not lead away from itself
    await session.execute(
        update(BuiltinRedirectRow)
        .where(BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.target == f"/{old}")
        .values(target=f"/{new}")
    )
    await redirect(session, website_id, f"/{old}", f"/{new}", permanent=True)


async def _put(
    session: AsyncSession, website_id: str, source: str, row: BuiltinRedirectRow | None, *, target: str, permanent: bool
) -> BuiltinRedirectRow:
    if row is None:
        row = BuiltinRedirectRow(id=new_id("r"), website_id=website_id, source=source)
        session.add(row)
    row.target, row.permanent, row.created_at = target, permanent, datetime.now(UTC)
    return row


async def _make_room(session: AsyncSession, website_id: str) -> None:
    counted = select(func.count()).where(BuiltinRedirectRow.website_id == website_id, BuiltinRedirectRow.target != GONE)
    if int(await session.scalar(counted) or 0) >= MAX_REDIRECTS:
        raise SiteRefused(f"the site has {MAX_REDIRECTS:,} redirects, as many as it may; remove some first")
