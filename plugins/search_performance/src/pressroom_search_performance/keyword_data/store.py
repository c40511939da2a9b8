"""Keeping what providers told, so that a phrase is paid for once in a while only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from pressroom.sdk import PluginContext
from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.contract import Competition, KeywordFigures, KeywordQuestion
from pressroom_search_performance.tables import KeywordDataRow


@dataclass(frozen=True, slots=True)
class StoredKeyword:
    """Figures of a phrase, and when the provider gave them."""

    figures: KeywordFigures
    at: datetime


class KeywordData:
    """What a provider told of phrases in a country and language. All accounts share it: it is about nobody."""

    def __init__(self, plugin: PluginContext[SearchPerformanceConfig], source: str) -> None:
        self._plugin = plugin
        self._source = source
        self._age = timedelta(days=plugin.config.keyword_days)

    async def read(self, question: KeywordQuestion) -> Mapping[str, StoredKeyword]:
        """Return what is known and not too old, by phrase."""
        ids = [self._id(question, phrase) for phrase in question.phrases]
        wanted = select(KeywordDataRow).where(
            KeywordDataRow.id.in_(ids), KeywordDataRow.fetched_at > datetime.now(UTC) - self._age
        )
        async with self._plugin.services.database.reading() as session:
            return {row.phrase: _kept(row) for row in await session.scalars(wanted)}

    async def write(self, question: KeywordQuestion, figures: Iterable[KeywordFigures]) -> Mapping[str, StoredKeyword]:
        """Keep what was just told, forget what is too old, and return what was kept, by phrase.

        A phrase that the provider knows nothing of is kept too: asking again would cost as much.
        """
        now = datetime.now(UTC)
        told = {one.phrase: one for one in figures}
        found = {phrase: StoredKeyword(told.get(phrase) or KeywordFigures(phrase), now) for phrase in question.phrases}
        database = self._plugin.services.database
        insert = sqlite_insert if database.dialect == "sqlite" else postgresql_insert
        rows: Sequence[Mapping[str, object]] = [self._row(question, one) for one in found.values()]
        adding = insert(KeywordDataRow).values(rows)
        changed = {name: adding.excluded[name] for name in ("volume", "difficulty", "cpc", "competition", "fetched_at")}
        async with database.writing() as session:
            await session.execute(delete(KeywordDataRow).where(KeywordDataRow.fetched_at <= now - self._age))
            await session.execute(adding.on_conflict_do_update(index_elements=["id"], set_=changed))
        return found

    def _row(self, question: KeywordQuestion, kept: StoredKeyword) -> Mapping[str, object]:
        one = kept.figures
        return {
            "id": self._id(question, one.phrase),
            "source": self._source,
            "country": question.country,
            "language": question.language,
            "phrase": one.phrase,
            "volume": one.volume,
            "difficulty": one.difficulty,
            "cpc": one.cpc,
            "competition": one.competition or "",
            "fetched_at": kept.at,
        }

    def _id(self, question: KeywordQuestion, phrase: str) -> str:
        parts = (self._source, question.country, question.language, phrase)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _kept(row: KeywordDataRow) -> StoredKeyword:
    competition = cast("Competition", row.competition) if row.competition else None
    return StoredKeyword(KeywordFigures(row.phrase, row.volume, row.difficulty, row.cpc, competition), row.fetched_at)
