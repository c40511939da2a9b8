"""Isolated databases for tests: SQLite in a file, and PostgreSQL.

Migrations and creating PostgreSQL's files take longer than most tests. So tests reuse PostgreSQL databases one after
another, and if a test left the schema as migrations created it, the next test skips them.
"""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import asyncpg
from pressroom.config import Settings
from pressroom.storage.database import Migrator, SqlDatabase
from pressroom.storage.database.migrations import version_table
from pressroom.storage.database.tables import HOST_MODELS, Base
from pressroom.testing.databases import make_database
from pressroom.testing.running import settings_for_test

from support.needs import check_allowed, unavailable
from support.run import POSTGRESQL, database_name, run_id

KINDS: Final = ("sqlite", "postgresql")


_free: list[str] = []
"""Idle databases that this process created. Creating one takes longer than most tests."""

_schemas: dict[str, str] = {}
"""Databases in which the host's migrations ran, with the result of `_schema` right after."""

_ready: set[str] = set()
"""Databases in `_schemas` that a test received with their tables and has not opened yet."""

_OBJECTS: Final = """
    SELECT concat_ws(' ', string_agg(kind || oid || '/' || changed, ',' ORDER BY kind, oid, changed),
                     (SELECT max(reltuples) < 0 AND sum(pg_relation_size(oid)) < 1e6 FROM pg_class
                      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'))
    FROM (
        SELECT 'class' AS kind, oid, xmin::text AS changed FROM pg_class WHERE relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT 'attribute', attrelid, pg_attribute.xmin::text FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid
        WHERE relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT 'constraint', oid, xmin::text FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL
        SELECT 'proc', oid, xmin::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL
        SELECT 'type', oid, xmin::text FROM pg_type WHERE typnamespace = 'public'::regnamespace
        UNION ALL
        SELECT 'trigger', oid, xmin::text FROM pg_trigger WHERE NOT tgisinternal
    ) AS objects
"""
"""Changes with every change of the schema, and when tables are large or have been analysed."""

_REVISION: Final = f"SELECT string_agg(version_num, ',') FROM {version_table('pressroom')}"

_NO_ROWS: Final = "; ".join(
    [
        *(f"DELETE FROM {table.name}" for table in reversed(Base.metadata.sorted_tables)),
        "SELECT setval(seqrelid, seqstart, false) FROM pg_sequence",
    ]
)

_NO_TABLES: Final = "DROP SCHEMA public CASCADE; CREATE SCHEMA public"

_DISCONNECT_OTHERS: Final = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@contextmanager
def postgresql_url(*, tables: bool = False) -> Iterator[str]:
    """Yield the URL of a PostgreSQL database for exclusive use.

    It is empty. With `tables` it can contain the host's tables, without rows, and must be opened with `migrated`.
    """
    check_allowed("PostgreSQL")
    try:
        name = _take(tables=tables) or _take(tables=False) or _new_database()
    except (OSError, asyncpg.PostgresError) as error:
        unavailable(f"PostgreSQL at {POSTGRESQL} cannot be used: {error}")
    if name in _schemas:
        _ready.add(name)
    try:
        yield _url(name)
    finally:
        _ready.discard(name)
        asyncio.run(_clear(name))
        _free.append(name)


def _take(*, tables: bool) -> str | None:
    name = next((name for name in _free if (name in _schemas) == tables), None)
    if name is not None:
        _free.remove(name)
    return name


def drop_databases() -> None:
    """Remove the idle databases that this process created."""
    while _free:
        asyncio.run(_execute(POSTGRESQL, f"DROP DATABASE IF EXISTS {_free.pop()} WITH (FORCE)"))


def _new_database() -> str:
    name = database_name(run_id(), secrets.token_hex(6))
    asyncio.run(_execute(POSTGRESQL, f"CREATE DATABASE {name} TEMPLATE template0"))
    # Test data need not survive a crash of the machine.
    asyncio.run(_execute(POSTGRESQL, f"ALTER DATABASE {name} SET synchronous_commit = off"))
    return name


async def _clear(name: str) -> None:
    """Delete all rows, and drop the tables unless the schema is as the host's migrations created it."""
    connection = await asyncpg.connect(_url(name), timeout=10)
    try:
        await connection.execute(_DISCONNECT_OTHERS)
        if name in _schemas and await _schema(connection) == _schemas[name]:
            await connection.execute(_NO_ROWS)
        else:
            _schemas.pop(name, None)
            await connection.execute(_NO_TABLES)
    finally:
        await connection.close()


async def _schema(connection: asyncpg.Connection) -> str:
    try:
        return f"{await connection.fetchval(_REVISION)} {await connection.fetchval(_OBJECTS)}"
    except asyncpg.UndefinedTableError:
        return ""


async def _note_schema(name: str) -> None:
    connection = await asyncpg.connect(_url(name), timeout=10)
    try:
        _schemas[name] = await _schema(connection)
    finally:
        await connection.close()


def _url(name: str) -> str:
    return f"{POSTGRESQL.rpartition('/')[0]}/{name}"


async def _execute(server: str, *statements: str) -> None:
    connection = await asyncpg.connect(server, timeout=10)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


@contextmanager
def database_config(kind: str, folder: Path, *, tables: bool = False) -> Iterator[dict[str, object]]:
    """Yield the `[storage]` table of a configuration for a database of that kind; `tables` as in `postgresql_url`."""
    if kind == "sqlite":
        yield {"path": folder}
        return
    with postgresql_url(tables=tables) as url:
        yield {"path": folder, "database": url}


@asynccontextmanager
async def migrated(settings: Settings) -> AsyncIterator[SqlDatabase]:
    """Open the database of these settings and create the host's tables in it."""
    models = [("pressroom", HOST_MODELS)]
    await make_database(settings, models)
    database = SqlDatabase(settings)
    await database.open()
    name = str(database.url.database)
    try:
        if name in _ready:
            _ready.remove(name)
        else:
            before = await Migrator(database, models).migrate()
            if name.startswith(database_name(run_id(), "")) and [state.current for state in before] == [""]:
                await _note_schema(name)
        yield database
    finally:
        await database.close()


def settings_with_database(kind_config: dict[str, object], folder: Path) -> Settings:
    """Return settings for a test with that `[storage]` table."""
    return settings_for_test({"storage": kind_config}, folder)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Keep an SQLite file locked by another process until the block ends."""
    script = (
        "import sqlite3, sys; connection = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "connection.execute('BEGIN EXCLUSIVE'); print('locked', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(file)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    try:
        yield
    finally:
        process.communicate("", 20)


def through(url: str, endpoint: str, *, password: str = "") -> str:
    """Return the URL of the same PostgreSQL database behind a proxy at `endpoint`."""
    parts = urlsplit(url)
    user = f"{parts.username}:{password}" if password else parts.username
    return parts._replace(netloc=f"{user}@{urlsplit(endpoint).netloc}").geturl()
