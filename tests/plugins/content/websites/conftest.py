"""A running server with the stand-in connector, and people who use it through browsers and AI clients."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.websites.store import Websites
from support.installing import on_path
from support.people import BrowserWithoutScreen
from support.publishing_world import QUICK
from support.standin_platform import TOKEN, StandInPlatform, standing_in
from support.standin_plugin import PLATFORM, distribution

from ..conftest import CONFIG, Client, client_of  # noqa: TID252 - the fixtures of the whole plugin

_numbers = count(1)

YEAR = datetime.now(UTC).year + 1
"""The year of planned posts, which must be at most five years ahead."""


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


def builtin(client: Client, name: str = "A blog") -> str:
    """Create a built-in site, and return its ID."""
    website = client.data("connect_website", platform="builtin", name=name)
    assert website["state"] == "connected"
    website_id: str = website["website_id"]
    return website_id


def standin(host: RunningHost, client: Client, platform: StandInPlatform) -> str:
    """Connect a website on the stand-in platform, and return its ID."""

    async def add() -> str:
        website = await Websites(client.plugin).add(
            client.user_id, PLATFORM, name="Stand-in", url=platform.url, credential={"token": TOKEN}
        )
        return website.id

    return host.run(add())


def article(host: RunningHost, client: Client, **fields: Any) -> str:
    """Create an article, and return its ID."""
    values = {"title": "Hello", "body": "Some **words** to read."}
    return host.run(Articles(client.plugin).create(client.user_id, Draft(**{**values, **fields}))).article.id
