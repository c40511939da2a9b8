"""A server with articles, and headless Chromium to test its pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.browser_fixtures import browser, shared_page
from support.installing import on_path
from support.people import EMAIL, add_person
from support.publishing_world import QUICK
from support.standin_platform import StandInPlatform, standing_in
from support.standin_plugin import distribution
from support.written_articles import Work, write_articles

__all__ = ["browser", "shared_page"]


@pytest.fixture(scope="module")
def platform() -> Iterator[StandInPlatform]:
    """Run a stand-in platform."""
    with standing_in() as serving:
        yield serving


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Run a server with the content plugins."""
    config: dict[str, Any] = {
        "builtin_plugins": False,
        "plugins": {"content": {"config": QUICK}, "images": {}, "seo": {}, "standin": {}},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
    }
    folder = tmp_path_factory.mktemp("data")
    with on_path(distribution(folder / "site")), RunningHost(settings_for_test(config, folder)) as running:
        yield running


@pytest.fixture(scope="module")
def work(host: RunningHost, platform: StandInPlatform) -> Work:
    """Return a person's written and published articles."""
    add_person(host)
    return write_articles(host, EMAIL, platform)
