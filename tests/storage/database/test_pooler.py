"""A server whose database is behind PgBouncer in transaction pooling mode."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from pressroom.config import Settings
from pressroom.errors import BackendError
from pressroom.storage.database import SqlDatabase
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from support.commands import run_command
from support.content_client import client_of
from support.databases import postgresql_url
from support.migrations import migrate
from support.pgbouncer import pgbouncer
from support.server import command_environment

pytestmark = pytest.mark.services

POOLER = {"database_pooler": "transaction"}


@pytest.fixture
def direct() -> Iterator[str]:
    with postgresql_url() as url:
        yield url


@pytest.fixture
def pooled(direct: str, tmp_path: Path) -> Iterator[str]:
    with pgbouncer(tmp_path / "pgbouncer", direct) as url:
        yield url


def settings(url: str, folder: Path, **storage: Any) -> Settings:
    return settings_for_test({"plugins": {"content": {}}, "storage": {"database": url, **storage}}, folder)


def test_two_hosts_and_many_calls_share_two_connections(direct: str, pooled: str, tmp_path: Path) -> None:
    one, other = (settings(pooled, tmp_path / name, **POOLER) for name in ("one", "other"))
    asyncio.run(migrate(one))
    with RunningHost(one) as first:
        ada = client_of(first, "ada@example.org")
        # With separate connections to PgBouncer, whose prepared statements would have the same names.
        shutil.copytree(tmp_path / "one", tmp_path / "other")
        with RunningHost(other) as second, ThreadPoolExecutor(8) as pool:
            eve = client_of(second, "eve@example.org")

            def write(number: int) -> str:
                client = (ada, eve)[number % 2]
                article = client.data("create_content", title=f"Article {number}", body="Leaves fall. " * 50)
                return str(client.data("get_content", content_id=article["content_id"])["content"]["title"])

            titles = list(pool.map(write, range(40)))
    assert titles == [f"Article {number}" for number in range(40)]
    assert asyncio.run(_statements_left(pooled)) == 0


async def _statements_left(pooled: str) -> int:
    """Return the number of prepared statements on PgBouncer's connections to the server."""
    connection = await asyncpg.connect(pooled, statement_cache_size=0)
    try:
        async with connection.transaction():
            return int(await connection.fetchval("SELECT count(*) FROM pg_prepared_statements WHERE name <> ''"))
    finally:
        await connection.close()


@pytest.mark.parametrize("parameter", ["statement_cache_size=0", "prepared_statement_cache_size=0"])
def test_the_url_may_contain_it_too(pooled: str, tmp_path: Path, parameter: str) -> None:
    asyncio.run(_use(settings(f"{pooled}?{parameter}", tmp_path)))


async def _use(settings: Settings) -> None:
    """Open the database twice, and run transactions on all connections of both instances."""
    one, other = SqlDatabase(settings), SqlDatabase(settings)
    await one.open()
    await other.open()

    async def run(database: SqlDatabase, number: int) -> int:
        async with database.reading() as session:
            return int(await session.scalar(text("SELECT CAST(:number AS integer) + 1"), {"number": number}) or 0)

    try:
        calls = [run(database, number) for number in range(40) for database in (one, other)]
        results = await asyncio.gather(*calls, return_exceptions=True)  # none may keep a connection after this
        for result in results:
            if isinstance(result, BaseException):
                raise result
        assert results == [number + 1 for number in range(40) for _ in range(2)]
    finally:
        await one.close()
        await other.close()


def test_without_the_setting_a_pooler_breaks_it(pooled: str, tmp_path: Path) -> None:
    """This shows that the tests above prove something."""

    async def use() -> None:
        for _ in range(50):  # the pooler assigns its connections to ours at random
            await _use(settings(pooled, tmp_path))

    with pytest.raises((BackendError, DBAPIError), match="prepared statement"):
        asyncio.run(use())


def test_concurrent_migrations_wait_for_each_other(pooled: str, tmp_path: Path) -> None:
    async def both() -> None:
        await asyncio.gather(*(migrate(settings(pooled, tmp_path, **POOLER)) for _ in range(2)))

    asyncio.run(both())


def test_a_backup_through_a_pooler_is_refused(direct: str, pooled: str, tmp_path: Path) -> None:
    asyncio.run(migrate(settings(pooled, tmp_path, **POOLER)))
    pooler = {"PRESSROOM_STORAGE__DATABASE": pooled, "PRESSROOM_STORAGE__DATABASE_POOLER": "transaction"}
    refused = run_command(["backup", "backup.tar"], cwd=tmp_path, env=command_environment(tmp_path, **pooler))
    assert refused.returncode == 1
    assert "through a pooler" in refused.stderr
    straight = command_environment(tmp_path, PRESSROOM_STORAGE__DATABASE=direct)
    assert run_command(["backup", "backup.tar"], cwd=tmp_path, env=straight).returncode == 0
