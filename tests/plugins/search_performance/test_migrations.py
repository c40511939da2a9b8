"""The plugin's tables on every database: created from scratch, and upgraded from an older version."""

from __future__ import annotations

from datetime import UTC, datetime

from pressroom.sdk import Models
from pressroom.storage.database import Migrator, SqlDatabase
from pressroom.storage.database.autogeneration import differences
from pressroom_search_performance.tables import KeywordRow, SearchPerformanceBase
from sqlalchemy import select
from support.migrations import downgrade, tables_of

PLUGIN = ("search_performance", Models(SearchPerformanceBase.metadata, "pressroom_search_performance.migrations"))


async def test_the_schema_can_be_downgraded_to_nothing_and_upgraded_again(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    assert await differences(empty_database, SearchPerformanceBase.metadata) == []
    await downgrade(empty_database, *PLUGIN, "base")
    assert await tables_of(empty_database) == {"schema_version_search_performance"}
    await migrator.migrate()
    assert await differences(empty_database, SearchPerformanceBase.metadata) == []


async def test_data_of_an_older_version_is_preserved(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [PLUGIN])
    await migrator.migrate()
    await downgrade(empty_database, *PLUGIN, "0001")
    assert "search_performance_keyword_data" not in await tables_of(empty_database)
    now = datetime.now(UTC)
    async with empty_database.writing() as session:
        session.add(KeywordRow(website_id="w_1", phrase="compost", user_id="u_1", target_url="", created_at=now))
    await migrator.migrate()
    assert await differences(empty_database, SearchPerformanceBase.metadata) == []
    async with empty_database.reading() as session:
        assert list(await session.scalars(select(KeywordRow.phrase))) == ["compost"]
