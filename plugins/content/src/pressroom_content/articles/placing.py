"""Where an article belongs: its website, its slug there, and room for it in its account."""

from __future__ import annotations

from itertools import chain, islice, repeat
from typing import Final

from pressroom.columns import as_id
from pressroom.sdk import InvalidInput, NotFound
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.fields import Draft
from pressroom_content.contract.slugs import free_slugs, slug_of
from pressroom_content.tables import ArticleRow, WebsiteRow

_AT_ONCE: Final = 50
_MAX_NUMBER: Final = 25_000


async def check_room(session: AsyncSession, user_id: str, most: int) -> None:
    """Refuse one more article where an account has as many as it may. Raises `InvalidInput`."""
    count = await session.scalar(select(func.count()).select_from(ArticleRow).where(ArticleRow.user_id == user_id))
    if (count or 0) >= most:
        raise InvalidInput(
            "", f"this account has {count:,} articles, which is as many as it may keep; delete some that are not needed"
        )


async def check_website(session: AsyncSession, user_id: str, website_id: str | None) -> None:
    """Refuse a website that the account has not connected. Raises `NotFound`."""
    if website_id is None:
        return
    wanted = select(WebsiteRow.id).where(
        WebsiteRow.id == as_id(website_id), WebsiteRow.user_id == user_id, WebsiteRow.disconnected_at.is_(None)
    )
    if await session.scalar(wanted) is None:
        raise NotFound(f"this account has no website {website_id[:40]!r}; list_websites shows the ones it has")


async def free_slug(session: AsyncSession, user_id: str, draft: Draft) -> str:
    """Return the slug of a draft, or one made of its title, with a number at its end where it is taken."""
    candidates = free_slugs(draft.slug or slug_of(draft.title))
    # Most often the first is free; where it is not, its numbers are asked for many at a time.
    for count in chain((1,), repeat(_AT_ONCE, _MAX_NUMBER // _AT_ONCE)):
        some = list(islice(candidates, count))
        taken = await _taken(session, user_id, draft.website_id, some)
        for slug in some:
            if slug not in taken:
                return slug
    raise InvalidInput("slug", "is taken, with every number at its end; choose another one")


async def explicit_slug(session: AsyncSession, user_id: str, content_id: str, draft: Draft) -> None:
    """Refuse a slug that another article has there. Raises `InvalidInput`, which names one that is free."""
    taken = await _taken(session, user_id, draft.website_id, [draft.slug])
    holder = taken.get(draft.slug, content_id)
    if holder != content_id:
        free = await free_slug(session, user_id, draft)
        raise InvalidInput("fields.slug", f"{draft.slug} is taken by the article {holder}; {free} is free")


async def _taken(session: AsyncSession, user_id: str, website_id: str | None, slugs: list[str]) -> dict[str, str]:
    wanted = select(ArticleRow.slug, ArticleRow.id).where(
        ArticleRow.user_id == user_id, ArticleRow.slug_scope == (website_id or ""), ArticleRow.slug.in_(slugs)
    )
    return {row.slug: row.id for row in await session.execute(wanted)}
