"""A running host with the test tools, without a fixture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test

from support.installing import on_path
from support.server import tools_distribution


@contextmanager
def tool_host(folder: Path, **config: Any) -> Iterator[RunningHost]:
    """Run a host with the test tools, and its data in a folder. Keyword arguments are tables of the configuration."""
    plugins = {"test_tools": {}, **config.pop("plugins", {})}
    with (
        on_path(tools_distribution(folder / "site")),
        RunningHost(settings_for_test({"plugins": plugins, **config}, folder / "data")) as host,
    ):
        yield host
