"""Empty databases for tests: SQLite in a file, and PostgreSQL, each test its own."""

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
from pressroom.models import HOST_MODELS
from pressroom.storage.database import Migrator, SqlDatabase
from pressroom.testing.databases import make_database
from pressroom.testing.running import settings_for_test

from support.needs import check_allowed, unavailable
from support.run import POSTGRESQL, database_name, run_id

KINDS: Final = ("sqlite", "postgresql")


_free: list[str] = []
"""Empty databases that this process made and that no test uses now: making one takes longer than most tests."""


@contextmanager
def postgresql_url() -> Iterator[str]:
    """Return the address of an empty database on the PostgreSQL server, which nobody else uses."""
    check_allowed("PostgreSQL")
    try:
        name = _free.pop() if _free else _new_database()
    except (OSError, asyncpg.PostgresError) as error:
        unavailable(f"PostgreSQL at {POSTGRESQL} cannot be used: {error}")
    try:
        yield _address(name)
    finally:
        asyncio.run(_empty(name))
        _free.append(name)


def drop_databases() -> None:
    """Remove the databases that this process made."""
    while _free:
        asyncio.run(_execute(POSTGRESQL, f"DROP DATABASE IF EXISTS {_free.pop()} WITH (FORCE)"))


def _new_database() -> str:
    name = database_name(run_id(), secrets.token_hex(6))
    asyncio.run(_execute(POSTGRESQL, f"CREATE DATABASE {name} TEMPLATE template0"))
    # Nothing here has to survive the end of the machine.
    asyncio.run(_execute(POSTGRESQL, f"ALTER DATABASE {name} SET synchronous_commit = off"))
    return name


async def _empty(name: str) -> None:
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    everything = "DROP SCHEMA public CASCADE; CREATE SCHEMA public"
    await _execute(_address(name), f"{others} AND pid <> pg_backend_pid()", everything)


def _address(name: str) -> str:
    return f"{POSTGRESQL.rpartition('/')[0]}/{name}"


async def _execute(server: str, *statements: str) -> None:
    connection = await asyncpg.connect(server, timeout=10)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


@contextmanager
def database_config(kind: str, folder: Path) -> Iterator[dict[str, object]]:
    """Return the `[storage]` table of a configuration with an empty database of that kind."""
    if kind == "sqlite":
        yield {"path": folder}
        return
    with postgresql_url() as url:
        yield {"path": folder, "database": url}


@asynccontextmanager
async def migrated(settings: Settings) -> AsyncIterator[SqlDatabase]:
    """Open the database of these settings, with the host's own tables in it."""
    models = [("pressroom", HOST_MODELS)]
    await make_database(settings, models)
    database = SqlDatabase(settings)
    await database.open()
    try:
        await Migrator(database, models).migrate()
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
    """Return the address of the same PostgreSQL database behind a proxy."""
    parts = urlsplit(url)
    user = f"{parts.username}:{password}" if password else parts.username
    return parts._replace(netloc=f"{user}@{urlsplit(endpoint).netloc}").geturl()
