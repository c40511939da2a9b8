"""A running server with the SEO plugin, on SQLite and on PostgreSQL, and local sites for it to check."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from pressroom.host.loaded_app import LoadedApp
from pressroom.sdk import PluginContext
from pressroom.storage.database import SqlDatabase
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.contract import content_services
from pressroom_content.websites.store import Websites
from support import databases
from support.origins import origin
from support.tool_client import ToolClient, client_of

from ..crawler.sites import Handler, Reply, Site  # noqa: TID252 - the sites of the crawler's own tests

PLAN = {
    "tools": ["*"],
    "quotas": {"seo_reports": 3},
}
SEO = {"own_hosts": ["127.0.0.1"], "crawl_pages": {"small": 3}}
CONFIG: Mapping[str, Any] = {
    "plugins": {"content": {}, "account": {}, "images": {}, "seo": {"config": SEO}},
    "fetch": {"private_networks": ["127.0.0.0/8"]},
    "accounts": {"connections": 1000},
    "plans": {
        "free": {"title": "Free", "tools": ["*"]},
        "small": {"title": "Small", **PLAN},
    },
    "jobs": {"poll_interval": 0.1},
}

_numbers = count(1)


class LocalSite(Site):
    """A site on 127.0.0.1, served over plain HTTP."""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.running.port}"


@contextmanager
def serving(pages: Mapping[str, Reply | Handler]) -> Iterator[LocalSite]:
    """Serve a site from a separate thread."""
    site, loop = LocalSite(pages), asyncio.new_event_loop()
    stop, ready = asyncio.Event(), threading.Event()

    async def serve() -> None:
        async with origin(site.reply, None) as running:
            site.running = running
            ready.set()
            await stop.wait()
        unfinished = asyncio.all_tasks() - {asyncio.current_task()}
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        await asyncio.sleep(0)  # aborted connections are closed in the next iteration of the loop

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield site
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


async def migrate(compiled: LoadedApp) -> None:
    """Create the tables in a database that is not the server's own file."""
    database = SqlDatabase(compiled.settings)
    await database.open()
    try:
        await compiled.migrator(database).migrate()
    finally:
        await database.close()


@pytest.fixture(scope="package", params=databases.KINDS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a shared host: one on SQLite, one on PostgreSQL."""
    folder = tmp_path_factory.mktemp("seo")
    with databases.database_config(request.param, folder) as storage:
        settings = settings_for_test({**CONFIG, "storage": storage}, folder)
        if request.param == "postgresql":
            asyncio.run(migrate(LoadedApp(settings)))
        with RunningHost(settings) as running:
            broken = [record for record in running.host.compiled.plugins.failed if record.id in CONFIG["plugins"]]
            assert not broken, broken
            yield running


@pytest.fixture
def ada(host: RunningHost) -> ToolClient:
    """Return a client of an account that no other test uses."""
    return client_of(host, f"ada.{next(_numbers)}@example.com")


@pytest.fixture
def eve(host: RunningHost) -> ToolClient:
    """Return a client of another account."""
    return client_of(host, f"eve.{next(_numbers)}@example.com")


def content_of(host: RunningHost) -> PluginContext:
    """Return the context of the content plugin on a host."""
    return host.host.compiled.plugins.contexts["content"]


def wait_until_live(client: ToolClient, content_id: str) -> None:
    """Wait until an article is published."""
    posts = content_services(client.host.host.compiled.plugins.contexts["seo"]).publications

    async def live() -> None:
        async with asyncio.timeout(30):
            while not any(post.status == "published" for post in await posts.of_article(client.user_id, content_id)):  # noqa: ASYNC110 - it is in a database
                await asyncio.sleep(0.05)

    client.host.run(live())


def connect(client: ToolClient, url: str, platform: str = "wordpress") -> str:
    """Connect a website and return its ID."""
    websites = Websites(content_of(client.host))
    website = client.host.run(websites.add(client.user_id, platform, name="Site", url=url, credential={}))
    return website.id
