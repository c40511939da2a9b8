"""A running server with two people, and their AI clients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.installing import on_path
from support.server import tools_distribution
from support.tool_client import ToolClient, client_of

CONFIG: Mapping[str, Any] = {
    "plugins": {"test_tools": {}, "content": {"enabled": False}},
    "plans": {
        "free": {"tools": ["get_*", "list_activity", "generate_*"], "quotas": {"images_generated": 2}},
        "pro": {"title": "Professional"},
        "team": {},
    },
}


@pytest.fixture(scope="package")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with on_path(tools_distribution(tmp_path_factory.mktemp("site"))):
        settings = settings_for_test(CONFIG, tmp_path_factory.mktemp("data"))
        with RunningHost(settings) as running:
            yield running


@pytest.fixture
def ada(host: RunningHost, request: pytest.FixtureRequest) -> ToolClient:
    """Return a client of an account that no other test uses."""
    return client_of(host, f"ada.{abs(hash(request.node.nodeid))}@example.com")


@pytest.fixture
def eve(host: RunningHost, request: pytest.FixtureRequest) -> ToolClient:
    return client_of(host, f"eve.{abs(hash(request.node.nodeid))}@example.com")
