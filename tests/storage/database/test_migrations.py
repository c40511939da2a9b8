"""Migrations of the host and of plugins, on every database."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pressroom.config import Settings
from pressroom.errors import BackendError
from pressroom.sdk import Models
from pressroom.storage.database import Migrator, SchemaError, SqlDatabase
from pressroom.storage.database.autogeneration import differences
from pressroom.storage.database.migrations import run_migrations
from pressroom.storage.database.tables import HOST_MODELS, Base
from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table, text
from support.installing import on_path
from support.migrations import revision_source, tables_of, write_migrations

HOST = ("pressroom", HOST_MODELS)


async def test_the_migrations_create_exactly_the_tables_of_the_models(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [HOST])
    assert [(state.plugin, state.current) for state in await migrator.migrate()] == [("pressroom", "")]
    assert await differences(empty_database, Base.metadata) == []
    assert await migrator.migrate() == []
    assert not (await migrator.state("pressroom")).behind


async def test_the_schema_can_be_downgraded_to_nothing_and_upgraded_again(empty_database: SqlDatabase) -> None:
    migrator = Migrator(empty_database, [HOST])
    await migrator.migrate()
    async with empty_database.migrating() as connection:
        await connection.run_sync(lambda sync: run_migrations(sync, *HOST, downgrade_to="base"))
    assert await tables_of(empty_database) == {"schema_version_pressroom"}
    await migrator.migrate()
    assert await differences(empty_database, Base.metadata) == []


async def test_many_concurrent_migrations(database_settings: Settings) -> None:
    databases = [SqlDatabase(database_settings) for _ in range(6)]
    for database in databases:
        await database.open()
    try:
        applied = await asyncio.gather(*(Migrator(database, [HOST]).migrate() for database in databases))
        assert sorted(map(len, applied)) == [0, 0, 0, 0, 0, 1]
        assert await differences(databases[0], Base.metadata) == []
    finally:
        for database in databases:
            await database.close()


async def test_a_database_of_a_newer_version_is_refused(database: SqlDatabase) -> None:
    async with database.writing() as session:
        await session.execute(text("UPDATE schema_version_pressroom SET version_num = '9999'"))
    before = await tables_of(database)
    migrator = Migrator(database, [HOST])
    for attempt in (migrator.state("pressroom"), migrator.upgrade("pressroom")):
        with pytest.raises(SchemaError, match="the tables of pressroom are at revision 9999") as raised:
            await attempt
        assert "upgrade, or restore a backup" in raised.value.hint
    assert await tables_of(database) == before


async def test_a_failed_migration_changes_nothing(database: SqlDatabase, tmp_path: Path) -> None:
    revisions = {
        "1": revision_source("1", "notes_a"),
        "2": revision_source("2", "notes_b", before="1", more="raise RuntimeError('the author slept')"),
    }
    metadata = MetaData()
    with on_path(tmp_path):
        notes = ("notes", Models(metadata, write_migrations(tmp_path, "failing_migrations", revisions)))
        migrator = Migrator(database, [HOST, notes])
        with pytest.raises(SchemaError, match=r"undone: RuntimeError: the author slept \(2\.py, line \d+\)$"):
            await migrator.migrate()
        assert not {"notes_a", "notes_b"} & await tables_of(database)
        assert (await migrator.state("notes")).current == ""

        write_migrations(tmp_path, "failing_migrations", {"2": revision_source("2", "notes_b", before="1")})
        assert [state.plugin for state in await migrator.migrate()] == ["notes"]
    assert {"notes_a", "notes_b"} <= await tables_of(database)


async def test_concurrently_written_revisions_are_named(database: SqlDatabase, tmp_path: Path) -> None:
    revisions = {
        "1": revision_source("1", "notes_a"),
        "2": revision_source("2", "notes_b", before="1"),
        "3": revision_source("3", "notes_c", before="1"),
    }
    with on_path(tmp_path):
        notes = ("notes", Models(MetaData(), write_migrations(tmp_path, "split_migrations", revisions)))
        migrator = Migrator(database, [notes])
        for attempt in (migrator.state("notes"), migrator.upgrade("notes")):
            with pytest.raises(SchemaError, match="notes have 2 ends: 2, 3; set the down_revision of one of them"):
                await attempt


async def test_a_failed_statement_is_rolled_back_too(database: SqlDatabase, tmp_path: Path) -> None:
    source = revision_source("1", "notes_a", more="op.execute('INSERT INTO no_such_table VALUES (1)')")
    with on_path(tmp_path):
        notes = ("notes", Models(MetaData(), write_migrations(tmp_path, "wrong_migrations", {"1": source})))
        with pytest.raises(SchemaError, match="no_such_table"):
            await Migrator(database, [notes]).migrate()
    assert "notes_a" not in await tables_of(database)


@pytest.mark.parametrize(
    ("revisions", "words"),
    [
        ({"1": "this is no Python"}, "SyntaxError"),
        ({"1": "raise SystemExit(3)"}, "SystemExit: 3"),
    ],
)
async def test_unreadable_migrations(
    database: SqlDatabase, tmp_path: Path, revisions: dict[str, str], words: str
) -> None:
    with on_path(tmp_path):
        notes = ("notes", Models(MetaData(), write_migrations(tmp_path, "unreadable_migrations", revisions)))
        with pytest.raises(SchemaError, match="the migrations of notes cannot be read") as raised:
            await Migrator(database, [notes]).migrate()
    assert words in raised.value.message


async def test_a_table_can_be_recreated_without_losing_rows_that_refer_to_it(
    database: SqlDatabase, tmp_path: Path
) -> None:
    """SQLite changes a column by recreating the table, which could trigger `ON DELETE CASCADE`."""
    metadata = MetaData()
    Table("notes_a", metadata, Column("id", Integer, primary_key=True), Column("text", Integer))
    Table("notes_b", metadata, Column("a", ForeignKey("notes_a.id", ondelete="CASCADE")))
    child = 'op.create_table("notes_b", sa.Column("a", sa.Integer, sa.ForeignKey("notes_a.id", ondelete="CASCADE")))'
    rows = 'op.execute("INSERT INTO notes_a VALUES (1, \'x\')")\nop.execute("INSERT INTO notes_b VALUES (1)")'
    change = 'with op.batch_alter_table("notes_a") as table:\n    table.alter_column("text", new_column_name="body")'
    second = revision_source("2", "notes_c", before="1", more=change)
    with on_path(tmp_path):
        package = write_migrations(
            tmp_path, "batch_migrations", {"1": revision_source("1", "notes_a", more=f"{child}\n{rows}"), "2": second}
        )
        await Migrator(database, [("notes", Models(metadata, package))]).migrate()
    async with database.reading() as session:
        result = await session.execute(text("SELECT body, a FROM notes_a JOIN notes_b ON notes_b.a = notes_a.id"))
        assert [tuple(row) for row in result] == [("x", 1)]


async def test_an_unreachable_database_is_not_a_failure_of_the_migrations(
    database: SqlDatabase, tmp_path: Path
) -> None:
    await database.close()
    with pytest.raises(BackendError) as raised:
        await Migrator(database, [HOST]).state("pressroom")
    assert not isinstance(raised.value, SchemaError)
