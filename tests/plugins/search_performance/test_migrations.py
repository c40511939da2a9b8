"""The tables of the plugin, on every database: made from nothing, and from what an older version left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from pressroom.config import Settings
from pressroom.sdk import Models
from pressroom.storage.database import Migrator, SqlDatabase
from pressroom.storage.database.migrations import run_migrations
from pressroom_search_performance.tables import Base, KeywordRow
from sqlalchemy import select
from support.migrations import differences, tables_of

PLUGIN = ("search_performance", Models(Base.metadata, "pressroom_search_performance.migrations"))


@pytest.fixture
async def empty(database_settings: Settings) -> AsyncIterator[SqlDatabase]:
    """Return an open database without any table."""
    database = SqlDatabase(database_settings)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def downgrade(database: SqlDatabase, revision: str) -> None:
    async with database.migrating() as connection:
        await connection.run_sync(lambda sync: run_migrations(sync, *PLUGIN, downgrade_to=revision))


async def test_down_to_nothing_and_up_again(empty: SqlDatabase) -> None:
    migrator = Migrator(empty, [PLUGIN])
    await migrator.migrate()
    assert await differences(empty, Base.metadata) == []
    await downgrade(empty, "base")
    assert await tables_of(empty) == {"schema_version_search_performance"}
    await migrator.migrate()
    assert await differences(empty, Base.metadata) == []


async def test_what_an_older_version_kept_stays(empty: SqlDatabase) -> None:
    migrator = Migrator(empty, [PLUGIN])
    await migrator.migrate()
    await downgrade(empty, "0001")
    assert "search_performance_keyword_data" not in await tables_of(empty)
    now = datetime.now(UTC)
    async with empty.writing() as session:
        session.add(KeywordRow(website_id="w_1", phrase="compost", user_id="u_1", target_url="", created_at=now))
    await migrator.migrate()
    assert await differences(empty, Base.metadata) == []
    async with empty.reading() as session:
        assert list(await session.scalars(select(KeywordRow.phrase))) == ["compost"]
