"""Running hosts with the tools for MCP tests."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.mcp_peer import Peer, account
from support.server import tools_distribution

Start = Callable[..., RunningHost]

CONFIG: dict[str, Any] = {
    "builtin_plugins": False,
    "plugins": {"test_tools": {}, "mcp_tools": {}, "qr_code_generator": {}},
}
"""The tools of these tests and one built-in plugin; the set of other built-in plugins may change."""


def _mcp_tools_distribution(folder: Path) -> None:
    metadata = folder / "pressroom_mcp_tools-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pressroom-mcp-tools\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[pressroom.plugins]\nmcp_tools = support.mcp_tools\n")


@pytest.fixture(scope="package")
def mcp_tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install the plugins of these tests in this process."""
    folder = tools_distribution(tmp_path_factory.mktemp("site"))
    _mcp_tools_distribution(folder)
    sys.path.append(str(folder))
    yield
    sys.path.remove(str(folder))


@pytest.fixture
def start(tmp_path: Path, mcp_tools: None) -> Iterator[Start]:
    """Return a function that starts a separate host; keyword arguments are configuration tables."""
    running: list[RunningHost] = []

    def begin(**config: Any) -> RunningHost:
        plugins = {**CONFIG["plugins"], **config.pop("plugins", {})}
        folder = tmp_path / f"data{len(running)}"
        running.append(RunningHost(settings_for_test({**CONFIG, "plugins": plugins, **config}, folder)).__enter__())
        return running[-1]

    yield begin
    for host in reversed(running):
        host.__exit__(None, None, None)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, mcp_tools: None) -> Iterator[RunningHost]:
    """Return a host shared by the tests of a module."""
    with RunningHost(settings_for_test(CONFIG, tmp_path_factory.mktemp("data"))) as host:
        yield host


@pytest.fixture(scope="module")
def peer(shared: RunningHost) -> Peer:
    """Return an authenticated client of the shared host."""
    return Peer(shared, account(shared))


@pytest.fixture(scope="module")
def anonymous(shared: RunningHost) -> Peer:
    """Return a client of the shared host without a credential."""
    return Peer(shared)
