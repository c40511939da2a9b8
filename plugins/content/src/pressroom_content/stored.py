"""How many bytes of an account's storage the content service uses, and for what."""

from __future__ import annotations

from typing import Final

from pressroom.sdk import StorageKind
from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.trash import make_room
from pressroom_content.tables import ArticleRow, BuiltinFileRow, BuiltinPostRow, ExportRow, WebsiteRow


async def _articles(session: AsyncSession, user_id: str) -> int:
    return int(await session.scalar(select(func.sum(ArticleRow.stored)).where(ArticleRow.user_id == user_id)) or 0)


async def _exports(session: AsyncSession, user_id: str) -> int:
    wanted = select(func.sum(func.length(ExportRow.content))).where(ExportRow.user_id == user_id)
    return int(await session.scalar(wanted) or 0)


async def _forget_exports(session: AsyncSession, user_id: str, needed: int) -> None:
    del needed
    await session.execute(delete(ExportRow).where(ExportRow.user_id == user_id))


async def _sites(session: AsyncSession, user_id: str) -> int:
    mine = select(WebsiteRow.id).where(WebsiteRow.user_id == user_id)
    total = 0
    for table in (BuiltinPostRow, BuiltinFileRow):
        total += int(await session.scalar(select(func.sum(table.size)).where(table.website_id.in_(mine))) or 0)
    return total


STORAGE: Final = (
    StorageKind("exports", "exports", _exports, "wait for an hour until exports are gone", _forget_exports),
    StorageKind(
        "articles", "articles with their versions", _articles, "delete articles with delete_content", make_room
    ),
    StorageKind(
        "sites",
        "built-in sites",
        _sites,
        "delete posts with unpublish_content, or a whole site with disconnect_website and delete_posts",
    ),
)
"""Exports come first, and give way first: they can be made again."""
