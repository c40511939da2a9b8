"""A server with articles, and headless Chromium to test its pages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page
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

ARTICLES = "/dashboard/articles"


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


async def signed_in(browser: Browser, host: RunningHost, user_id: str, **options: Any) -> BrowserContext:
    """Return a browser context in which a person is signed in."""
    token = await asyncio.to_thread(lambda: host.run(host.host.accounts.sessions.start(user_id)))
    context = await browser.new_context(base_url=host.url, **options)
    await context.add_cookies([{"name": "pressroom_session", "value": token, "url": host.url}])
    return context


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, host: RunningHost, work: Work) -> AsyncIterator[Page]:
    """A page in a browser with scripts; console messages fail the test, except those about 40x responses."""
    context = await signed_in(browser, host, work.client.user_id)
    opened = await context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    yield opened
    await context.close()
    assert [complaint for complaint in complaints if not re.search(r"status of 40\d\b", complaint)] == []


@pytest_asyncio.fixture(loop_scope="module")
async def plain(browser: Browser, host: RunningHost, work: Work) -> AsyncIterator[Page]:
    """A page in a browser without JavaScript."""
    context = await signed_in(browser, host, work.client.user_id, java_script_enabled=False)
    yield await context.new_page()
    await context.close()


async def tool(work: Work, name: str, **arguments: Any) -> Any:
    """Call a tool as the person who wrote the articles, and return its structured content."""
    return await asyncio.to_thread(lambda: work.client.data(name, **arguments))
