"""Database outages: unavailable, frozen, locked or full. Errors are clean meanwhile, and everything recovers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog
from pressroom.errors import BackendError
from pressroom.sdk import Job, JobRun
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import SetupLinkRow
from pressroom.testing.running import settings_for_test
from sqlalchemy import func, select, text
from support.databases import locked, migrated, postgresql_url, through
from support.disks import run_on_small_disk
from support.job_queues import reached, running
from support.polling import eventually
from support.proxy import Proxy, proxy_to

TIMEOUT = 1.5
HANGS = 40
"""Seconds after which a test reports a hang."""

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def url() -> Iterator[str]:
    with postgresql_url(tables=True) as database_url:
        yield database_url


@pytest.fixture
async def behind_proxy(url: str, tmp_path: Path) -> AsyncIterator[tuple[Proxy, SqlDatabase]]:
    """Return a proxy, and an open PostgreSQL database behind it."""
    async with proxy_to(url) as proxy:
        database_url = through(url, proxy.endpoint, password="hunter2")
        storage = {"database": database_url, "database_timeout": TIMEOUT, "database_connections": 4}
        async with migrated(settings_for_test({"storage": storage}, tmp_path)) as database:
            yield proxy, database


async def write(database: SqlDatabase, number: int) -> None:
    async with database.writing() as session:
        session.add(SetupLinkRow(token_hash=number.to_bytes(32, "big"), created_at=NOW, expires_at=NOW))


async def count(database: SqlDatabase) -> int:
    async with database.reading() as session:
        return await session.scalar(select(func.count()).select_from(SetupLinkRow)) or 0


async def recovered(database: SqlDatabase) -> int:
    async def attempt() -> int | None:
        try:
            return await count(database)
        except BackendError:
            return None

    total = await eventually(attempt, lambda value: value is not None)
    return total if total is not None else -1


def of_the_server(logs: list[MutableMapping[str, Any]]) -> list[str]:
    return [str(line["event"]) for line in logs if "server" in line]


async def break_by_cutting(proxy: Proxy) -> None:
    await proxy.cut()


async def break_by_freezing(proxy: Proxy) -> None:
    proxy.freeze()


def restore(proxy: Proxy) -> None:
    proxy.restore()
    proxy.thaw()


BREAKING = pytest.mark.parametrize("break_", [break_by_cutting, break_by_freezing])


@pytest.mark.services
@BREAKING
async def test_postgresql_goes_down_and_comes_back(
    break_: Callable[[Proxy], Any], behind_proxy: tuple[Proxy, SqlDatabase]
) -> None:
    proxy, database = behind_proxy
    await write(database, 1)
    with structlog.testing.capture_logs() as logs:
        await break_(proxy)
        async with asyncio.timeout(HANGS):
            results = await asyncio.gather(*(count(database) for _ in range(40)), return_exceptions=True)
            with pytest.raises(BackendError) as raised:
                await write(database, 2)
        assert all(isinstance(result, BackendError) for result in results)
        assert "PostgreSQL at 127.0.0.1:" in raised.value.message
        assert "hunter2" not in "".join(map(str, [*results, raised.value, logs]))
        restore(proxy)
        assert await recovered(database) == 1
        await write(database, 3)
    assert of_the_server(logs) == ["server is unavailable", "server is available again"]


@pytest.mark.services
@BREAKING
async def test_postgresql_goes_away_within_a_transaction(
    break_: Callable[[Proxy], Any], behind_proxy: tuple[Proxy, SqlDatabase]
) -> None:
    proxy, database = behind_proxy

    async def write_meanwhile() -> None:
        async with database.writing() as session:
            await session.execute(text("SELECT 1"))
            await break_(proxy)
            session.add(SetupLinkRow(token_hash=b"1", created_at=NOW, expires_at=NOW))

    async with asyncio.timeout(HANGS):
        with pytest.raises(BackendError, match="failed"):
            await write_meanwhile()
    restore(proxy)
    assert await recovered(database) == 0
    await write(database, 2)
    assert await count(database) == 1


@pytest.mark.services
@BREAKING
async def test_a_job_continues_after_a_short_outage(
    break_: Callable[[Proxy], Any], behind_proxy: tuple[Proxy, SqlDatabase]
) -> None:
    began, go = asyncio.Event(), asyncio.Event()
    runs = 0

    async def work(run: JobRun) -> dict[str, int]:
        nonlocal runs
        runs += 1
        began.set()
        await go.wait()
        await run.progress(0.9, "written when the database is there")
        return {"answer": 42}

    proxy, database = behind_proxy
    async with running(database, Job("work", work, lease=60)) as queue:
        job_id = await queue.enqueue("work", {})
        await began.wait()
        await break_(proxy)
        with pytest.raises(BackendError):
            await queue.enqueue("work", {})
        go.set()
        await asyncio.sleep(0)
        restore(proxy)
        await recovered(database)
        status = await reached(queue, job_id, "succeeded", seconds=40)
    assert (status.result, runs) == ({"answer": 42}, 1)


async def test_a_locked_file_can_be_read_but_not_written(tmp_path: Path) -> None:
    async with migrated(settings_for_test({"storage": {"database_timeout": TIMEOUT}}, tmp_path)) as database:
        await write(database, 1)
        with locked(tmp_path / "pressroom.sqlite"):
            assert await count(database) == 1
            async with asyncio.timeout(HANGS):
                results = await asyncio.gather(*(write(database, n) for n in range(2, 12)), return_exceptions=True)
            assert all(isinstance(result, BackendError) for result in results)
            assert any("locked" in str(result) for result in results)
            assert await count(database) == 1

        async def attempt() -> bool:
            try:
                await write(database, 99)
            except BackendError:
                return False
            return True

        await eventually(attempt, bool)
        assert await count(database) == 2


@pytest.mark.services
@pytest.mark.parametrize(
    ("scenario", "size"), [("full_disk_for_the_database", "1m"), ("start_on_full_disk_with_a_database", "256k")]
)
def test_a_full_disk(scenario: str, size: str, tmp_path: Path) -> None:
    run_on_small_disk(scenario, tmp_path / "disk", size=size)


async def test_a_file_that_is_not_a_database(tmp_path: Path) -> None:
    (tmp_path / "pressroom.sqlite").write_bytes(b"not a database, " * 100)
    with pytest.raises(BackendError, match="not a database") as raised:
        await SqlDatabase(settings_for_test({}, tmp_path)).open()
    assert "restore a backup" in raised.value.hint


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://pressroom:hunter2@127.0.0.1:1/pressroom", ("PostgreSQL at 127.0.0.1:1 is unavailable",)),
        ("postgresql://pressroom:hunter2@no-such-host.invalid/pressroom", ("no-such-host.invalid:5432",)),
        ("postgresql://postgres:hunter2@127.0.0.1:5432/no_such_database", ("no_such_database",)),
        ("postgresql://postgres:hunter2@127.0.0.1:5432/test?colour=red", ("colour",)),
        ("postgresql://postgres:hunter2@127.0.0.1:5432/test?sslmode=verify-full", ("127.0.0.1:5432",)),
        ("sqlite:////proc/no/such/folder/file.sqlite", ("/proc/no/such/folder",)),
    ],
)
async def test_a_database_that_cannot_be_opened_is_one_clear_error(
    address: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    settings = settings_for_test({"storage": {"database": address, "database_timeout": 2}}, tmp_path)
    with structlog.testing.capture_logs() as logs, pytest.raises(BackendError) as raised:
        await SqlDatabase(settings).open()
    assert all(word in raised.value.message for word in words), raised.value.message
    assert raised.value.hint
    assert "hunter2" not in f"{raised.value.message} {raised.value.hint}"
    assert logs == []
