"""Readiness during a database outage: `/readyz` and the metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from pressroom.cli.diagnosis import diagnose
from pressroom.config import Settings
from pressroom.errors import BackendError
from pressroom.host.loaded_app import LoadedApp
from pressroom.storage.database import DatabaseProbe, SqlDatabase
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text
from support.databases import database_config, postgresql_url, through
from support.polling import eventually
from support.proxy import Proxy, proxy_to
from support.tool_client import client_of

TOKEN = "the operator's token"


@pytest.fixture
def url() -> Iterator[str]:
    with postgresql_url() as database_url:
        yield database_url


async def migrate(settings: Settings, *statements: str) -> None:
    """Create the tables, and run statements on them."""
    database = SqlDatabase(settings)
    await database.open()
    try:
        await LoadedApp(settings).migrator(database).migrate()
        async with database.writing() as session:
            for statement in statements:
                await session.execute(text(statement))
    finally:
        await database.close()


@asynccontextmanager
async def running(url: str, folder: Path) -> AsyncIterator[tuple[Proxy, RunningHost]]:
    """Run a host whose database is behind a proxy."""

    def settings(database_url: str) -> Any:
        storage = {"database": database_url, "database_timeout": 3}
        return settings_for_test({"storage": storage, "metrics": {"token": TOKEN}}, folder)

    await migrate(settings(url))
    async with proxy_to(url) as proxy:
        host = RunningHost(settings(through(url, proxy.endpoint)))
        await asyncio.to_thread(host.__enter__)
        try:
            yield proxy, host
        finally:
            await asyncio.to_thread(host.__exit__, None, None, None)


async def metric(client: httpx.AsyncClient, name: str, **labels: str) -> float:
    response = await client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    samples = [sample for family in text_string_to_metric_families(response.text) for sample in family.samples]
    (value,) = (sample.value for sample in samples if sample.name == name and sample.labels == labels)
    return value


async def failures(client: httpx.AsyncClient) -> float:
    return await metric(client, "pressroom_backend_failures_total", backend="database")


@pytest.mark.services
@pytest.mark.parametrize("way", ["cut", "freeze"])
async def test_readiness_and_metrics_show_an_outage_and_its_end(way: str, url: str, tmp_path: Path) -> None:
    async with running(url, tmp_path) as (proxy, host), httpx.AsyncClient(base_url=host.url, timeout=30) as client:
        person = await asyncio.to_thread(client_of, host, "ada@example.com")
        assert (await client.get("/readyz")).json() == {"status": "ready", "problems": []}
        assert await metric(client, "pressroom_database_up") == 1
        before = await failures(client)
        if way == "cut":
            await proxy.cut()
        else:
            proxy.freeze()

        unready = await eventually(lambda: client.get("/readyz"), lambda response: response.status_code == 503)
        assert unready.json() == {"status": "unready", "problems": ["the database (PostgreSQL) does not respond"]}
        assert await metric(client, "pressroom_database_up") == 0
        # Unless its credential is in the cache, a caller is refused before the tool look-up.
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"Authorization": f"Bearer {person.key}", "Accept": "application/json, text/event-stream"}
        await eventually(
            lambda: client.post("/api/mcp", json=call, headers=headers), lambda response: response.status_code == 503
        )
        assert await failures(client) > before
        # Requests do not pile up behind a response that never arrives.
        responses = await asyncio.gather(*(client.get("/readyz") for _ in range(50)))
        assert {response.status_code for response in responses} == {503}

        proxy.restore()
        proxy.thaw()
        await eventually(lambda: client.get("/readyz"), lambda response: response.status_code == 200)
        assert await metric(client, "pressroom_database_up") == 1


@pytest.mark.services
async def test_metrics_report_an_outage_without_a_request(url: str, tmp_path: Path) -> None:
    async with running(url, tmp_path) as (proxy, host), httpx.AsyncClient(base_url=host.url, timeout=30) as client:
        assert await metric(client, "pressroom_database_up") == 1
        await proxy.cut()
        await eventually(lambda: metric(client, "pressroom_database_up"), lambda value: value == 0)


@pytest.mark.services
async def test_calls_that_hold_all_connections_are_not_an_outage(url: str, tmp_path: Path) -> None:
    async with running(url, tmp_path) as (_, host):

        async def ready_while_all_are_held() -> int:
            async with AsyncExitStack() as stack:
                for _ in range(host.settings.storage.database_connections):
                    await stack.enter_async_context(host.host.database.reading())
                async with httpx.AsyncClient(base_url=host.url, timeout=30) as client:
                    return (await client.get("/readyz")).status_code

        assert await asyncio.to_thread(host.run, ready_while_all_are_held()) == 200


@pytest.mark.services
@pytest.mark.parametrize(("revision", "kind"), [("0099", "sqlite"), ("0099", "postgresql"), ("0001", "postgresql")])
def test_a_host_whose_plugin_has_tables_of_another_version_is_not_ready(
    revision: str, kind: str, tmp_path: Path
) -> None:
    versions = (files("pressroom_content.migrations") / "versions").iterdir()
    expected = max(path.name[:4] for path in versions if path.name[0] == "0")
    with database_config(kind, tmp_path / "data") as storage:
        config = {"storage": storage, "plugins": {"content": {}}, "metrics": {"token": TOKEN}}
        settings = settings_for_test(config, tmp_path / "data")
        asyncio.run(migrate(settings, f"UPDATE schema_version_content SET version_num = '{revision}'"))
        with structlog.testing.capture_logs() as logs, RunningHost(settings) as host:
            unready = httpx.get(f"{host.url}/readyz")
            metrics = httpx.get(f"{host.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
        diagnosis = asyncio.run(diagnose(LoadedApp(settings), lambda: None))
    problem = f"content: its tables are at revision {revision}, this version needs {expected}"
    assert (unready.status_code, unready.json()["problems"]) == (503, [problem])
    assert 'pressroom_schema_mismatch{plugin="content"} 1.0' in metrics
    assert 'pressroom_schema_mismatch{plugin="pressroom"} 0.0' in metrics
    (line,) = [line for line in logs if line["event"] == "a plugin failed"]
    (row,) = [entry.result for entry in diagnosis if entry.check == "tables of content"]
    assert (line["plugin"], row.status) == ("content", "error")
    for message in (line["error"], row.message):
        assert revision in message
        assert expected in message


async def test_concurrent_readers_share_one_query() -> None:
    query_count, silent = 0, asyncio.Event()

    async def ask() -> None:
        nonlocal query_count
        query_count += 1
        await silent.wait()
        raise BackendError("gone")

    probe = DatabaseProbe(ask, "PostgreSQL")
    assert not any(await asyncio.gather(*(probe.responds() for _ in range(100))))
    assert not await probe.responds()
    assert query_count == 1
    silent.set()
    await probe.close()


async def test_a_running_query_may_end_before_the_probe_closes() -> None:
    queried, may_respond, responded = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def ask() -> None:
        queried.set()
        await may_respond.wait()
        responded.set()

    probe = DatabaseProbe(ask, "PostgreSQL")
    await probe.open()
    await queried.wait()
    closing = asyncio.create_task(probe.close())
    await asyncio.sleep(0)
    may_respond.set()
    await closing
    assert responded.is_set()
