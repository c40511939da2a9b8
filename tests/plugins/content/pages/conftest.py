"""People who view their articles in a browser, and the AI clients that write them."""

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
from support.written_articles import Work, write_articles

from ..conftest import CONFIG, Client, client_of  # noqa: TID252 - the fixtures of the whole plugin

ARTICLES = "/dashboard/articles"
CALENDAR = "/dashboard/calendar"

_numbers = count(1)


def browser_of(host: RunningHost, client: Client) -> BrowserWithoutScreen:
    """Return a browser in which the client's person is signed in."""
    browser = BrowserWithoutScreen(host)
    browser.enter(host, host.run(host.host.accounts.users.get(client.user_id)))
    return browser


@pytest.fixture
def browser(host: RunningHost, ada: Client) -> Iterator[BrowserWithoutScreen]:
    """Return ada's browser."""
    with browser_of(host, ada) as fresh:
        yield fresh


@pytest.fixture(scope="package")
def full_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host that also scores articles, stores images and publishes to the stand-in platform."""
    plugins: dict[str, Any] = {"content": {"config": QUICK}, "images": {}, "seo": {}, "standin": {}}
    with on_path(distribution(tmp_path_factory.mktemp("site"))):
        settings = settings_for_test({**CONFIG, "plugins": plugins}, tmp_path_factory.mktemp("data"))
        with RunningHost(settings) as running:
            yield running


@pytest.fixture(scope="package")
def platform() -> Iterator[StandInPlatform]:
    with standing_in() as serving:
        yield serving


@pytest.fixture(scope="package")
def work(full_host: RunningHost, platform: StandInPlatform) -> Work:
    """Return an account's articles; tests may modify only articles that they add."""
    return write_articles(full_host, "writer@example.net", platform)


@pytest.fixture
def reader(full_host: RunningHost, work: Work) -> Iterator[BrowserWithoutScreen]:
    """Return the browser of the articles' owner."""
    with browser_of(full_host, work.client) as fresh:
        yield fresh


@pytest.fixture
def other_reader(full_host: RunningHost) -> Iterator[BrowserWithoutScreen]:
    """Return the browser of another person on the same host."""
    with browser_of(full_host, client_of(full_host, f"stranger.{next(_numbers)}@example.net")) as fresh:
        yield fresh
