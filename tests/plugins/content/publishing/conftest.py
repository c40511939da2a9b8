"""Publishing to a strict stand-in platform, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pressroom.sdk import PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.publishing import publish_requests as patience
from support import databases
from support.installing import on_path
from support.job_processes import Forker, forker
from support.publishing_world import configuration, world
from support.standin_platform import StandInPlatform, standing_in
from support.standin_plugin import distribution


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the retry delays for unavailable sites."""
    monkeypatch.setattr(patience, "WAIT_SECONDS", (0.05, 0.05, 0.05))


@pytest.fixture
def platform() -> Iterator[StandInPlatform]:
    with standing_in() as serving:
        yield serving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("publishing")


@pytest.fixture(scope="module", params=databases.KINDS)
def config(request: pytest.FixtureRequest, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a configuration with a database shared by the tests of a module: one for SQLite, one for PostgreSQL.

    The lease has its default duration, which holds on a busy machine. A module that tests takeover from a dead process
    sets a shorter one in the constant `LEASE_SECONDS`.
    """
    lease = {"lease_seconds": seconds} if (seconds := getattr(request.module, "LEASE_SECONDS", 0)) else {}
    with databases.database_config(request.param, folder / request.param) as storage:
        yield configuration(storage, **lease)


@pytest.fixture(scope="package")
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with on_path(distribution(tmp_path_factory.mktemp("site"))):
        yield


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forker]:
    """Return a forker that starts processes which work on publications."""
    with forker(tmp_path_factory.mktemp("processes")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plugin(config: dict[str, Any], folder: Path, _installed: None) -> AsyncIterator[PluginContext]:
    """Return the content plugin in a process that works on publications."""
    async with world(settings_for_test(config, folder)) as context:
        yield context


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def idle(config: dict[str, Any], folder: Path, _installed: None) -> AsyncIterator[PluginContext]:
    """Return the content plugin in a process that leaves all work to others."""
    async with world(settings_for_test(config, folder), works=False) as context:
        yield context
