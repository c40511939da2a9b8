"""The phrases that an account follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pressroom.sdk import InvalidInput, PluginContext
from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError

from pressroom_search_performance.tables import KeywordRow

MAX_KEYWORDS: Final = 500


@dataclass(frozen=True, slots=True)
class FollowedKeyword:
    """A phrase, and the URL that ought to be found by it, which may be empty."""

    phrase: str
    target_url: str
    since: datetime


class FollowedKeywords:
    """Keeps the followed phrases of a website, which must be the caller's."""

    def __init__(self, plugin: PluginContext, user_id: str, website_id: str) -> None:
        self._database = plugin.services.database
        self._user_id = user_id
        self._website_id = website_id

    async def every(self) -> Sequence[FollowedKeyword]:
        """Return all phrases, by name."""
        wanted = select(KeywordRow).where(
            KeywordRow.website_id == self._website_id, KeywordRow.user_id == self._user_id
        )
        async with self._database.reading() as session:
            rows = await session.scalars(wanted.order_by(KeywordRow.phrase))
            return [FollowedKeyword(row.phrase, row.target_url, row.created_at) for row in rows]

    async def follow(self, phrase: str, target_url: str | None) -> FollowedKeyword:
        """Follow a phrase, or change its URL where one is given. Raises `InvalidInput` for too many."""
        try:
            return await self._follow(phrase, target_url)
        except IntegrityError:  # two at the same moment: it is there now
            return await self._follow(phrase, target_url)

    async def _follow(self, phrase: str, target_url: str | None) -> FollowedKeyword:
        async with self._database.writing() as session:
            row = await session.get(KeywordRow, (self._website_id, phrase))
            if row is None:
                counted = select(func.count()).where(KeywordRow.website_id == self._website_id)
                if int(await session.scalar(counted) or 0) >= MAX_KEYWORDS:
                    raise InvalidInput(
                        "phrase", f"a website follows at most {MAX_KEYWORDS} phrases; stop one with remove=true"
                    )
                row = KeywordRow(
                    website_id=self._website_id,
                    phrase=phrase,
                    user_id=self._user_id,
                    target_url="",
                    created_at=datetime.now(UTC),
                )
                session.add(row)
            if target_url is not None:
                row.target_url = target_url
            await session.flush()
            return FollowedKeyword(row.phrase, row.target_url, row.created_at)

    async def forget(self, phrase: str) -> None:
        """Stop to follow a phrase. Safe to repeat."""
        gone = delete(KeywordRow).where(KeywordRow.website_id == self._website_id, KeywordRow.phrase == phrase)
        async with self._database.writing() as session:
            await session.execute(gone)
