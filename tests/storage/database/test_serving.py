"""A complete server and its database: plugins with tables, outages while it serves, and outdated schemas."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.config import Settings
from pressroom.errors import BackendError
from pressroom.host.host import Host
from pressroom.host.loaded_app import LoadedApp
from pressroom.storage.database import SqlDatabase
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.databases import database_config, postgresql_url, through
from support.installing import on_path
from support.notes_plugin import notes_plugin
from support.plugin_distributions import healthy
from support.polling import eventually, wait_until
from support.proxy import proxy_to


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, object]]:
    """Yield the `[storage]` table for an empty database."""
    with database_config(request.param, tmp_path / "data") as table:
        yield table


def settings(storage: dict[str, object], tmp_path: Path, *plugins: str) -> Settings:
    config = {"storage": storage, "plugins": {id_: {} for id_ in plugins}}
    return settings_for_test(config, tmp_path / "data")


async def migrate(compiled: LoadedApp) -> None:
    database = SqlDatabase(compiled.settings)
    await database.open()
    try:
        with contextlib.suppress(BackendError):
            await compiled.migrator(database).migrate()
    finally:
        await database.close()


def add(client: httpx.Client, text: str) -> httpx.Response:
    return client.post("/tools/add-note/api/generate", json={"text": text, "response": "binary"})


def test_a_plugins_rows_and_jobs_survive_a_restart(storage: dict[str, object], tmp_path: Path) -> None:
    notes = notes_plugin(tmp_path / "site")
    with on_path(notes.folder):
        config = settings(storage, tmp_path, "notes")
        if "database" in storage:
            asyncio.run(migrate(LoadedApp(config)))
        with RunningHost(config) as host, httpx.Client(base_url=host.url) as client:
            assert add(client, "first").status_code == 200
            wait_until(lambda: client.get("/notes").json() == ["FIRST"])
        with RunningHost(config) as host, httpx.Client(base_url=host.url) as client:
            assert client.get("/notes").json() == ["FIRST"]
            job = add(client, "second").text
            wait_until(lambda: client.get("/notes").json() == ["FIRST", "SECOND"])
            wait_until(lambda: host.run(host.host.jobs.status(job)).result == {"shouted": "second"})


def test_a_failed_migration_disables_only_its_plugin(storage: dict[str, object], tmp_path: Path) -> None:
    notes, other = notes_plugin(tmp_path / "site", failing=True), healthy(tmp_path / "site")
    with on_path(notes.folder):
        config = settings(storage, tmp_path, "notes", *other.plugins)
        if "database" in storage:
            asyncio.run(migrate(LoadedApp(config)))
        with RunningHost(config) as host, httpx.Client(base_url=host.url) as client:
            response = client.post("/tools/healthy/api/generate", json={"text": "hello", "response": "binary"})
            assert (response.status_code, response.content) == (200, b"HELLO")
            assert add(client, "first").status_code == 404
            assert client.get("/notes").status_code == 404
            (record,) = (record for record in host.host.compiled.plugins.records if record.id == "notes")
            with pytest.raises(KeyError):
                host.run(host.host.jobs.enqueue("notes.shout", {}))
    assert (record.status, record.phase) == ("broken", "lifespan")
    if "database" in storage:
        assert "the tables of notes" in record.error
        assert "pressroom migrate" in record.hint
    else:
        assert "a migration of notes failed and was undone: RuntimeError: half-way" in record.error


@pytest.mark.services
async def test_a_shared_database_with_pending_migrations_is_refused(tmp_path: Path, url: str) -> None:
    compiled = LoadedApp(settings({"database": url}, tmp_path))
    with pytest.raises(BackendError, match="the tables of pressroom in PostgreSQL at") as raised:
        await Host(compiled).start()
    assert "`pressroom migrate`" in raised.value.hint
    await migrate(compiled)
    host = Host(compiled)
    await host.start()
    await host.close()


@pytest.fixture
def url() -> Iterator[str]:
    with postgresql_url() as database_url:
        yield database_url


@pytest.mark.services
@pytest.mark.parametrize("way", ["cut", "freeze"])
async def test_tools_work_while_the_database_is_down(way: str, tmp_path: Path, url: str) -> None:
    site = tmp_path / "site"
    notes_plugin(site)
    with on_path(site):
        await migrate(LoadedApp(settings({"database": url}, tmp_path, "notes")))
        async with proxy_to(url) as proxy:
            storage: dict[str, object] = {"database": through(url, proxy.endpoint), "database_timeout": 2}
            running = RunningHost(settings(storage, tmp_path, "notes"))
            host = await asyncio.to_thread(running.__enter__)
            try:
                async with httpx.AsyncClient(base_url=host.url, timeout=20) as client:
                    await check_outage(client, lambda: proxy.cut() if way == "cut" else freeze(proxy), proxy)
            finally:
                await asyncio.to_thread(running.__exit__, None, None, None)


async def freeze(proxy: Any) -> None:
    proxy.freeze()


async def check_outage(client: httpx.AsyncClient, break_: Callable[[], Any], proxy: Any) -> None:
    qr_code, note = "/tools/qr-code-generator/api/generate", "/tools/add-note/api/generate"
    assert (await client.post(note, json={"text": "before"})).status_code == 200
    await break_()
    for number in range(5):
        assert (await client.post(qr_code, json={"text": f"number {number}"})).status_code == 200
    assert (await client.get("/healthz")).status_code == 200
    unready = await eventually(lambda: client.get("/readyz"), lambda response: response.status_code == 503)
    assert unready.json()["problems"] == ["the database (PostgreSQL) does not respond"]
    failed = await client.post(note, json={"text": "meanwhile"})
    assert failed.status_code in (500, 503)
    assert "PostgreSQL" not in failed.text
    proxy.restore()
    proxy.thaw()
    await eventually(lambda: client.post(note, json={"text": "after"}), lambda response: response.status_code == 200)
    await eventually(lambda: client.get("/readyz"), lambda response: response.status_code == 200)
    listed = (await client.get("/notes")).json()
    assert {text.lower() for text in listed} == {"before", "after"}
