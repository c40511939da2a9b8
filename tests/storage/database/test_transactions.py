"""Transactions on every database."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from stat import S_IMODE

import pytest
from pressroom.config import Settings, load
from pressroom.errors import BackendError, ConfigError
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import ApiKeyRow, SetupLinkRow, UserRow
from pressroom.testing.plugin import settings_for_test
from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from support.databases import migrated, settings_with_database
from support.polling import eventually

NOW = datetime(2026, 11, 21, 1, 2, 3, 4, UTC)


def link(number: int) -> SetupLinkRow:
    return SetupLinkRow(token_hash=number.to_bytes(32, "big"), created_at=NOW, expires_at=NOW)


async def links(session: AsyncSession) -> int:
    return await session.scalar(select(func.count()).select_from(SetupLinkRow)) or 0


async def count(database: SqlDatabase) -> int:
    async with database.reading() as session:
        return await links(session)


async def test_values_are_read_exactly_as_written(database: SqlDatabase) -> None:
    async with database.writing() as session:
        session.add(link(1))
    async with database.reading() as session:
        row = await session.scalar(select(SetupLinkRow))
    assert row is not None
    assert row.created_at == NOW


async def test_a_failure_inside_rolls_back(database: SqlDatabase) -> None:
    async def fail() -> None:
        async with database.writing() as session:
            session.add(link(1))
            await session.flush()
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        await fail()
    assert await count(database) == 0


async def test_a_file_that_is_missing_is_not_an_outage_of_the_database(database: SqlDatabase, tmp_path: Path) -> None:
    failures: list[str] = []
    database.on_failure(lambda: failures.append("counted"))

    async def fail() -> None:
        async with database.writing() as session:
            session.add(link(1))
            await session.flush()
            (tmp_path / "missing").read_bytes()

    with pytest.raises(FileNotFoundError):
        await fail()
    assert await count(database) == 0
    assert failures == []


OTHER_PROCESS = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as connection:
    connection.execute("INSERT INTO setup_links SELECT randomblob(32), created_at, expires_at, NULL FROM setup_links")
connection.close()
"""


async def test_a_process_that_opens_a_database_twice_shares_it_with_other_processes(tmp_path: Path) -> None:
    """Without its locks, the other process would remove the write-ahead log that this one continues to use."""
    settings = settings_for_test({}, tmp_path)
    async with migrated(settings) as first:
        async with first.writing() as session:
            session.add(link(1))
        second = SqlDatabase(settings)
        await second.open()
        try:
            for expected in (2, 4, 8):
                await asyncio.to_thread(
                    subprocess.run, [sys.executable, "-c", OTHER_PROCESS, str(first.url.database)], check=True
                )
                assert [await count(first), await count(second)] == [expected, expected]
        finally:
            await second.close()


async def test_fifty_concurrent_writers(database: SqlDatabase) -> None:
    async def write(number: int) -> None:
        async with database.writing() as session:
            session.add(link(number))

    await asyncio.gather(*(write(number) for number in range(50)))
    assert await count(database) == 50


async def test_a_reader_sees_a_consistent_snapshot_during_writes(database: SqlDatabase) -> None:
    async with database.reading() as session:
        assert await links(session) == 0
        async with database.writing() as other:
            other.add(link(1))
        assert await count(database) == 1
        assert await links(session) == 0
    assert await count(database) == 1


async def test_a_reader_that_reads_nothing_leaves_nothing_open(database: SqlDatabase) -> None:
    async with database.reading():
        pass
    async with database.writing() as session:
        session.add(link(1))
    assert await count(database) == 1


async def test_a_read_of_sqlite_takes_two_steps_of_its_thread(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with migrated(settings_for_test({}, tmp_path)) as database:
        await count(database)
        caplog.set_level(logging.DEBUG, "aiosqlite")
        caplog.clear()
        await count(database)
        steps = [record.message for record in caplog.records if record.message.startswith("executing")]
    # The query together with the start of its transaction, and the end of the transaction.
    assert len(steps) == 2, steps


async def test_a_reader_cannot_write(database: SqlDatabase) -> None:
    with pytest.raises(BackendError, match=r"read-?only"):
        async with database.reading() as session:
            await session.execute(insert(SetupLinkRow).values(token_hash=b"1", created_at=NOW, expires_at=NOW))
    # The next transaction on that connection can write.
    async with database.writing() as session:
        session.add(link(2))
    assert await count(database) == 1


async def test_an_error_in_a_statement_is_not_an_outage(database: SqlDatabase) -> None:
    with pytest.raises(IntegrityError):
        async with database.writing() as session:
            session.add(ApiKeyRow(key_hash=b"k" * 32, connection_id="c_unknown", hint="abcd"))
    with pytest.raises(DBAPIError, match="no_such_table"):
        async with database.reading() as session:
            await session.execute(text("SELECT * FROM no_such_table"))


@pytest.mark.parametrize("database_settings", ["postgresql"], indirect=True)
async def test_a_value_that_does_not_fit_is_not_an_outage(database: SqlDatabase) -> None:
    with pytest.raises(DBAPIError, match="too long"):
        async with database.writing() as session:
            session.add(UserRow(id="u_1", email="a@example.org", plan="p" * 33, created_at=NOW))
    with pytest.raises(DBAPIError, match="out of int32 range"):
        async with database.reading() as session:
            await session.execute(text("SELECT CAST(:n AS INTEGER)"), {"n": 2**40})


async def test_a_file_with_hashes_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    async with migrated(settings_with_database({"path": tmp_path / "data"}, tmp_path)) as database:
        async with database.writing() as session:
            session.add(link(1))
        modes = {path.name: S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").iterdir()}
        assert modes == dict.fromkeys(("pressroom.sqlite", "pressroom.sqlite-shm", "pressroom.sqlite-wal"), 0o600)


async def test_connections_are_shared_by_turns(database_settings: Settings) -> None:
    storage = database_settings.storage.model_copy(update={"database_connections": 1, "database_timeout": 1.0})
    settings = database_settings.model_copy(update={"storage": storage})
    async with migrated(settings) as database:
        async with database.writing() as session:
            await session.execute(text("SELECT 1"))
            with pytest.raises(BackendError, match=r"no connection was free within 1 s") as raised:
                async with database.writing():
                    pass
            assert "database_connections" in raised.value.hint
        assert await count(database) == 0


async def test_using_a_closed_database_is_a_clear_error(database_settings: Settings) -> None:
    with pytest.raises(BackendError, match="not open"):
        async with SqlDatabase(database_settings).reading():
            pass


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("sqlite://", "must name a file"),
        ("sqlite:///:memory:", "must name a file"),
        ("mysql://pressroom:hunter2@db/pressroom", "begins with postgresql://"),
        ("postgresql://pressroom:hunter2@db:port/pressroom", "its port is not a number"),
        ("postgresql://pressroom:hunter2/4@db/pressroom", "its port is not a number"),
    ],
)
def test_an_invalid_url_is_refused(address: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text(f"[storage]\ndatabase = '{address}'\n")
    with pytest.raises(ConfigError, match=words) as raised:
        load(tmp_path / "pressroom.toml")
    assert "hunter2" not in str(raised.value)


def test_the_names_of_libpq_are_understood(tmp_path: Path) -> None:
    settings = settings_with_database({"database": "postgresql://db/pressroom?sslmode=require"}, tmp_path)
    assert SqlDatabase(settings).url.query == {"ssl": "require"}


def open_files() -> Iterator[str]:
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the descriptor of the listing itself
            yield str(descriptor.readlink())


async def connections() -> set[str]:
    """Return the sockets and database files that this process has open."""
    return {name for name in open_files() if name.startswith("socket:") or ".sqlite" in name}


async def test_a_connection_in_use_when_the_database_closes_is_closed_by_its_holder(
    database_settings: Settings,
) -> None:
    before = await connections()
    async with migrated(database_settings) as database:
        async with database.reading() as reader, database.writing() as session:
            assert await links(reader) == 0
            session.add(link(1))
            await session.flush()
            await database.close()
        await eventually(connections, before.issuperset, seconds=10)
        await database.open()
        assert await count(database) == 1
