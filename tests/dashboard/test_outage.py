"""The account pages while the database is unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.databases import postgresql_url, through
from support.migrations import migrate
from support.people import PASSWORD, BrowserWithoutScreen, Page, add_person
from support.polling import eventually
from support.proxy import proxy_to


@pytest.fixture
def url() -> Iterator[str]:
    with postgresql_url() as database_url:
        yield database_url


@asynccontextmanager
async def running(url: str, folder: Path) -> AsyncIterator[RunningHost]:
    storage = {"database": url, "database_timeout": 3}
    host = RunningHost(settings_for_test({"storage": storage}, folder))
    await asyncio.to_thread(host.__enter__)
    try:
        yield host
    finally:
        await asyncio.to_thread(host.__exit__, None, None, None)


def opened(browser: BrowserWithoutScreen, host: RunningHost) -> str:
    browser.enter(host, add_person(host))
    assert browser.get("/dashboard").status == 200
    return browser.session_cookie()


def sent_during_the_outage(browser: BrowserWithoutScreen, page: Page, members: Page) -> list[Page]:
    paths = (
        *("/dashboard", "/dashboard/connections", "/dashboard/account", "/dashboard/connections/c_1", "/sign-in"),
        *("/dashboard/members", "/dashboard/join/a-link", "/dashboard/activity"),
    )
    pages = [browser.get(path) for path in paths]
    pages.append(browser.submit(page, "/dashboard/connections", name="Meanwhile"))
    pages.append(browser.submit(members, "/dashboard/members", action="invite", role="editor", note="Meanwhile"))
    browser.client.cookies.clear()
    sign_in_page = browser.get("/sign-in")
    assert sign_in_page.status == 200
    pages.append(browser.submit(sign_in_page, "/sign-in", email="ada@example.org", password=PASSWORD))
    return pages


async def test_users_get_a_retry_notice_and_lose_nothing(url: str, tmp_path: Path) -> None:
    await migrate(settings_for_test({"storage": {"database": url}}, tmp_path))
    async with proxy_to(url) as proxy, running(through(url, proxy.endpoint), tmp_path) as host:
        with BrowserWithoutScreen(host) as browser:
            token = await asyncio.to_thread(opened, browser, host)
            page = await asyncio.to_thread(browser.get, "/dashboard/connections")
            members = await asyncio.to_thread(browser.get, "/dashboard/members")
            await proxy.cut()
            for refused in await asyncio.to_thread(sent_during_the_outage, browser, page, members):
                assert refused.status == 503, refused.path
                assert int(refused.response.headers["Retry-After"]) > 0
                assert "is not available right now; nothing was changed." in refused.text
                assert "127.0.0.1" not in refused.text
                assert "asyncpg" not in refused.text
            proxy.restore()
            browser.client.cookies.set("pressroom_session", token, domain="127.0.0.1", path="/")
            for path in ("/dashboard/connections", "/dashboard/members"):
                load = partial(asyncio.to_thread, browser.get, path)
                after = await eventually(load, lambda page: page.status == 200)
                assert after.path == path
                assert "Meanwhile" not in after.text
