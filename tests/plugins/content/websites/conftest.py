"""A running server with the stand-in connector, and people who use it through browsers and AI clients."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.installing import on_path
from support.people import BrowserWithoutScreen
from support.publishing_world import QUICK
from support.standin_platform import StandInPlatform, standing_in
from support.standin_plugin import distribution

from ..conftest import CONFIG, Client, client_of  # noqa: TID252 - the fixtures of the whole plugin

_numbers = count(1)


@pytest.fixture(scope="package")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config: dict[str, Any] = {**CONFIG, "plugins": {"content": {"config": QUICK}, "standin": {}}}
    with on_path(distribution(tmp_path_factory.mktemp("site"))):
        settings = settings_for_test(config, tmp_path_factory.mktemp("data"))
        with RunningHost(settings) as running:
            yield running


@pytest.fixture
def platform() -> Iterator[StandInPlatform]:
    with standing_in() as serving:
        yield serving


@pytest.fixture
def ada(host: RunningHost) -> Client:
    return client_of(host, f"ada.{next(_numbers)}@example.net")


@pytest.fixture
def eve(host: RunningHost) -> Client:
    return client_of(host, f"eve.{next(_numbers)}@example.net")


def browser_of(host: RunningHost, client: Client) -> BrowserWithoutScreen:
    """Return a browser in which the client's person is signed in."""
    browser = BrowserWithoutScreen(host)
    user = host.run(host.host.accounts.users.get(client.user_id))
    browser.enter(host, user)
    return browser
