"""Fixtures: running hosts with the built-in plugins and the test tools, and HTTP clients for them."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test

from support.server import tools_distribution

Start = Callable[..., RunningHost]

RENDERING = ("code-to-image", "favicon-generator", "image-generator", "qr-code-generator")


@pytest.fixture(scope="package", autouse=True)
def test_tools_distribution(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install the test tools for this process, by adding a folder of distribution metadata to the path."""
    folder = tools_distribution(tmp_path_factory.mktemp("site"))
    sys.path.append(str(folder))
    yield
    sys.path.remove(str(folder))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a new host with the test tools. Keyword arguments are tables of the configuration.

    Most tests need no built-in plugins, which would take half of the time to start. Those that do say so.
    """
    running: list[RunningHost] = []

    def begin(folder: Path | None = None, **config: Any) -> RunningHost:
        plugins = {"test_tools": {}, **config.pop("plugins", {})}
        values = {"builtin_plugins": False, "plugins": plugins, **config}
        host = RunningHost(settings_for_test(values, folder or tmp_path / "data"))
        running.append(host.__enter__())
        return host

    yield begin
    for host in reversed(running):
        host.__exit__(None, None, None)


@pytest.fixture(scope="module")
def shared_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host shared by the tests of a module, with very high rate limits and long render timeouts."""
    tools: dict[str, dict[str, Any]] = {name: {"timeout": 60} for name in RENDERING}
    for name in ("qr-code-generator", "text-file", "unruly", "impatient"):
        tools.setdefault(name, {})["rate_limit"] = "100000/hour"
    config = {"plugins": {"test_tools": {}}, "tools": tools}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as host:
        yield host


@pytest.fixture
def api(shared_host: RunningHost) -> Iterator[httpx.Client]:
    """Return a client of the shared host."""
    with httpx.Client(base_url=shared_host.url, timeout=30) as client:
        yield client


@pytest.fixture
def client() -> Iterator[Callable[[RunningHost], httpx.Client]]:
    """Return a function that creates a client of a host."""
    clients: list[httpx.Client] = []

    def make(host: RunningHost, **options: Any) -> httpx.Client:
        clients.append(httpx.Client(base_url=host.url, timeout=30, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()
