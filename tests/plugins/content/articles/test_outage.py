"""Writing while the database is unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pressroom.config import Settings
from pressroom.errors import BackendError
from pressroom.sdk import PluginContext
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from support.content_client import client_of, content_of
from support.databases import postgresql_url, through
from support.migrations import migrate
from support.polling import eventually
from support.proxy import proxy_to


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[RunningHost]:
    """Run a host without blocking this event loop, which the proxy needs while the host starts."""
    host = RunningHost(settings)
    await asyncio.to_thread(host.__enter__)
    try:
        yield host
    finally:
        await asyncio.to_thread(host.__exit__, None, None, None)


def in_host(host: RunningHost, user_id: str) -> bool:
    return host.run(stored(content_of(host), user_id))


async def stored(plugin: PluginContext, user_id: str) -> bool:
    try:
        await Articles(plugin).create(user_id, Draft("After", "Text."))
    except BackendError:
        return False
    return True


@pytest.fixture
def url() -> Iterator[str]:
    with postgresql_url() as url:
        yield url


async def test_nothing_is_half_written_and_the_message_is_clear(url: str, tmp_path: Path) -> None:
    config: dict[str, Any] = {"plugins": {"content": {}}, "storage": {"database": url, "database_timeout": 3}}
    await migrate(settings_for_test(config, tmp_path))
    async with proxy_to(url) as proxy:
        config["storage"] = {"database": through(url, proxy.endpoint), "database_timeout": 3}
        async with running(settings_for_test(config, tmp_path)) as host:
            client = await asyncio.to_thread(client_of, host, "ada@example.com")
            article = await asyncio.to_thread(client.data, "create_content", title="Before", body="Text.")
            await asyncio.to_thread(client.data, "list_content")  # credentials are cached for seconds
            await proxy.cut()
            text = await asyncio.to_thread(client.refusal, "create_content", title="Meanwhile", body="Text.")
            assert "try again" in text
            proxy.restore()
            attempt = partial(asyncio.to_thread, in_host, host, client.user_id)
            assert await eventually(attempt, bool)
            items = (await asyncio.to_thread(client.data, "list_content"))["items"]
            assert [item["title"] for item in items] == ["After", "Before"]
            assert items[1]["content_id"] == article["content_id"]
