"""Credentials of connections survive a rotation of their encryption keys."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from pressroom.host.loaded_app import LoadedApp
from pressroom.sdk import PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.vault import Vault
from pressroom_search_performance.connecting.store import SourceConnections
from pressroom_search_performance.tables import SourceConnectionRow
from sqlalchemy import select
from support.polling import eventually
from support.publishing_world import ADA, services

OLD, NEW = "old-" + "k" * 32, "new-" + "k" * 32
CREDENTIAL = {"api_key": "a key for Bing"}


def compiled(folder: Path, *keys: str) -> LoadedApp:
    config = {
        "plugins": {"content": {"config": {"credential_keys": keys}}, "search_performance": {}},
        "jobs": {"poll_interval": 0.1},
    }
    return LoadedApp(settings_for_test(config, folder))


async def credential(plugin: PluginContext) -> Mapping[str, str]:
    connections = SourceConnections(plugin)
    (connection,) = await connections.every(ADA)
    return await connections.credential(connection)


async def stored(plugin: PluginContext) -> str:
    async with plugin.services.database.reading() as session:
        return str(await session.scalar(select(SourceConnectionRow.credential)))


async def test_after_the_daily_job_the_old_key_can_be_removed(tmp_path: Path) -> None:
    async with services(compiled(tmp_path, OLD), works=False) as contexts:
        plugin = contexts["search_performance"]
        await SourceConnections(plugin).connect(
            ADA, "w_1", "bing", site_url="https://example.com/", credential=CREDENTIAL, fetched=False
        )
    async with services(compiled(tmp_path, NEW, OLD), works=True) as contexts:
        vault = Vault.of(contexts["content"])
        await eventually(lambda: stored(contexts["search_performance"]), vault.is_current)
    async with services(compiled(tmp_path, NEW), works=False) as contexts:
        assert await credential(contexts["search_performance"]) == CREDENTIAL


async def test_concurrent_jobs_count_a_credential_once(tmp_path: Path) -> None:
    async with services(compiled(tmp_path, OLD), works=False) as contexts:
        for number in range(10):
            await SourceConnections(contexts["search_performance"]).connect(
                ADA, f"w_{number}", "bing", site_url="https://example.com/", credential=CREDENTIAL, fetched=False
            )
    async with services(compiled(tmp_path, NEW, OLD), works=False) as contexts:
        connections = SourceConnections(contexts["search_performance"])
        assert sum(await asyncio.gather(*(connections.reseal() for _ in range(3)))) == 10
