"""A host with the content plugin, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from pressroom.host.loaded_app import LoadedApp
from pressroom.storage.database import SqlDatabase
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support import databases


async def migrate(compiled: LoadedApp) -> None:
    database = SqlDatabase(compiled.settings)
    await database.open()
    try:
        await compiled.migrator(database).migrate()
    finally:
        await database.close()


@pytest.fixture(scope="module", params=databases.KINDS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    folder = tmp_path_factory.mktemp("content")
    with databases.database_config(request.param, folder) as storage:
        settings = settings_for_test({"plugins": {"content": {}}, "storage": storage}, folder)
        if request.param == "postgresql":
            asyncio.run(migrate(LoadedApp(settings)))
        with RunningHost(settings) as running:
            yield running
