"""Test databases: a copy equals a migrated database, and never has outdated migrations."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from pressroom.config import Settings
from pressroom.sdk import Models
from pressroom.storage.database import Migrator, SqlDatabase
from pressroom.storage.database.engine import FILE_NAME
from pressroom.storage.database.tables import HOST_MODELS
from pressroom.testing import RunningHost, settings_for_test
from pressroom.testing.databases import make_database
from sqlalchemy import MetaData
from support.migrations import revision_source, tables_of, write_migrations

Pairs = Sequence[tuple[str, Models]]
HOST: Pairs = [("pressroom", HOST_MODELS)]
METADATA = MetaData()


def settings_in(folder: Path) -> Settings:
    return settings_for_test({}, folder)


def dump(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        return [*connection.iterdump(), str(connection.execute("PRAGMA journal_mode").fetchone())]


async def migrate(settings: Settings, models: Pairs) -> set[str]:
    """Migrate the database of these settings, and return its tables."""
    database = SqlDatabase(settings)
    await database.open()
    try:
        await Migrator(database, models).migrate()
        return await tables_of(database)
    finally:
        await database.close()


async def behind(settings: Settings, models: Pairs) -> list[str]:
    """Return the plugins whose tables are behind."""
    database = SqlDatabase(settings)
    await database.open()
    try:
        migrator = Migrator(database, models)
        return [plugin for plugin in migrator.plugins if (await migrator.state(plugin)).behind]
    finally:
        await database.close()


async def test_a_copy_is_the_same_as_a_migrated_database(tmp_path: Path) -> None:
    await migrate(settings_in(tmp_path / "migrated"), HOST)
    for name in ("first", "second"):
        await make_database(settings_in(tmp_path / name), HOST)
        assert stat.S_IMODE((tmp_path / name / FILE_NAME).stat().st_mode) == 0o600
        assert await behind(settings_in(tmp_path / name), HOST) == []
        assert dump(tmp_path / name) == dump(tmp_path / "migrated")


async def test_an_existing_database_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).touch()
    await make_database(settings_in(tmp_path), HOST)
    assert (tmp_path / FILE_NAME).read_bytes() == b""


def test_a_database_named_in_the_settings_is_not_created(tmp_path: Path) -> None:
    settings = settings_for_test({"storage": {"database": "postgresql://postgres@127.0.0.1:1/none"}}, tmp_path)
    asyncio.run(make_database(settings, HOST))
    assert list(tmp_path.iterdir()) == []


async def test_edited_migrations_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    package = write_migrations(tmp_path, "edited_migrations", {"0001": revision_source("0001", "notes")})
    models = [("notes", Models(METADATA, package))]
    await make_database(settings_in(tmp_path / "first"), models)
    write_migrations(tmp_path, package, {"0001": revision_source("0001", "letters")})  # the same length as before
    await make_database(settings_in(tmp_path / "second"), models)
    write_migrations(tmp_path, package, {"0002": revision_source("0002", "replies", before="0001")})
    await make_database(settings_in(tmp_path / "third"), models)
    table_sets = [await migrate(settings_in(tmp_path / name), models) for name in ("first", "second", "third")]
    assert [tables - {"schema_version_notes"} for tables in table_sets] == [
        {"notes", "replies"},
        {"letters", "replies"},
        {"letters", "replies"},
    ]
    # The first two were created before the second revision, so only they had to be migrated to it.
    await make_database(settings_in(tmp_path / "fourth"), models)
    assert await behind(settings_in(tmp_path / "fourth"), models) == []


async def test_migrations_run_again_if_a_file_that_they_read_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    reading = "from pathlib import Path\nop.execute((Path(__file__).parents[1] / 'tables.sql').read_text())"
    package = write_migrations(tmp_path, "reading_migrations", {"0001": revision_source("0001", "notes", more=reading)})
    models = [("notes", Models(METADATA, package))]
    for table in ("letters", "replies"):
        (tmp_path / package / "tables.sql").write_text(f"CREATE TABLE {table} (id INTEGER)")
        await make_database(settings_in(tmp_path / table), models)
        assert table in await migrate(settings_in(tmp_path / table), models)


async def test_tables_of_a_reimported_plugin_are_recreated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    migration = "from alembic import context\n\nrevision = '0001'\ndown_revision = None\n\n\ndef upgrade():\n"
    migration += (
        "    config = context.get_context().opts['target_metadata']\n    config.create_all(context.get_bind())\n"
    )
    package = write_migrations(tmp_path, "following_migrations", {"0001": migration})
    for table in ("early", "late"):
        metadata = MetaData()
        monkeypatch.setattr(metadata, "create_all", lambda bind, table=table: bind.exec_driver_sql(
            f"CREATE TABLE {table} (id INTEGER)"))  # fmt: skip
        models = [("following", Models(metadata, package))]
        await make_database(settings_in(tmp_path / table), models)
        assert table in await migrate(settings_in(tmp_path / table), models)


async def test_a_failed_migration_leaves_no_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    source = revision_source("0001", "notes", more="raise ValueError('no')")
    package = write_migrations(tmp_path, "failing_migrations", {"0001": source})
    await make_database(settings_in(tmp_path / "data"), [*HOST, ("notes", Models(METADATA, package))])
    assert not (tmp_path / "data" / FILE_NAME).exists()


def test_hosts_do_not_share_what_they_write(tmp_path: Path) -> None:
    with RunningHost(settings_in(tmp_path / "first")) as host:
        host.run(host.host.accounts.users.add("ada@example.org", name="Ada"))
    with RunningHost(settings_in(tmp_path / "second")) as host:
        assert host.run(host.host.accounts.users.by_email("ada@example.org")) is None
