"""A running server with the content plugin, on SQLite and on PostgreSQL, with clients of its accounts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support import databases
from support.content_client import Client, client_of, content_of
from support.migrations import migrate
from support.name_server import name_server

__all__ = ["Client", "client_of", "content_of"]

CONFIG: Mapping[str, Any] = {
    "plugins": {"content": {}, "seo": {"enabled": False}, "images": {"enabled": False}},
    "fetch": {"private_networks": ["127.0.0.0/8"]},
    "accounts": {"connections": 1000},
}

_numbers = count(1)


@pytest.fixture(scope="package", params=databases.KINDS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a shared host: one on SQLite, one on PostgreSQL."""
    folder = tmp_path_factory.mktemp("content")
    with databases.database_config(request.param, folder) as storage:
        content = {"config": {"dns_servers": [name_server().address]}}
        plugins = {**CONFIG["plugins"], "content": content}
        settings = settings_for_test({**CONFIG, "plugins": plugins, "storage": storage}, folder)
        if request.param == "postgresql":
            asyncio.run(migrate(settings))
        with RunningHost(settings) as running:
            broken = [record for record in running.host.compiled.plugins.failed if record.id in CONFIG["plugins"]]
            assert not broken, broken
            yield running


@pytest.fixture
def ada(host: RunningHost) -> Client:
    """Return a client of an account that no other test uses."""
    return client_of(host, f"ada.{next(_numbers)}@example.com")


@pytest.fixture
def eve(host: RunningHost) -> Client:
    """Return a client of another account."""
    return client_of(host, f"eve.{next(_numbers)}@example.com")
