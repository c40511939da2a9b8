"""The fixtures. This module is imported only where a `conftest.py` asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.config import Settings
from pressroom.testing.running import RunningHost


@pytest.fixture(scope="session")
def pressroom_config() -> dict[str, Any]:
    """Return the configuration of the host, as the TOML file would hold it. Override it to name your plugin."""
    return {}


@pytest.fixture(scope="session")
def host(pressroom_config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a running host with a data folder of its own."""
    with RunningHost(settings_for_test(pressroom_config, tmp_path_factory.mktemp("pressroom"))) as running:
        yield running


@pytest.fixture
def http(host: RunningHost) -> Iterator[httpx.Client]:
    """Return an HTTP client whose base address is the host's."""
    with httpx.Client(base_url=host.url, timeout=30) as client:
        yield client


@pytest.fixture
def call_tool(host: RunningHost) -> Callable[..., Any]:
    """Return a function that calls a tool by its MCP name: `call_tool("count_words", text="one two")`."""

    def call(name: str, /, **arguments: Any) -> Any:
        return host.call_tool(name, arguments)

    return call


def settings_for_test(config: dict[str, Any], folder: Path) -> Settings:
    """Return settings for a test: the given ones, with data in `folder` and one worker process."""
    storage = {"path": folder, **config.get("storage", {})}
    lanes = {"processes": 1, **config.get("lanes", {})}
    return Settings.model_validate({**config, "storage": storage, "lanes": lanes})
