"""The list of all calls in a browser: without scripts, in both colour schemes, on phones, and accessible."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, expect
from pressroom.accounts.records import User
from pressroom.storage.database.tables import ActivityRow
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.axe import violations
from support.people import add_person, fill

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

Scheme = Literal["light", "dark"]
PATH = "/dashboard/activity"
WIDTHS = (320, 390, 768, 1280)
_CUT = """Array.from(document.querySelectorAll('.audit td, .audit th'))
  .filter(cell => cell.scrollWidth > cell.clientWidth + 1 && getComputedStyle(cell).overflowX !== 'visible')
  .map(cell => cell.innerText)"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with RunningHost(settings_for_test({"builtin_plugins": False}, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def person(host: RunningHost) -> User:
    """Return a person with more than one page of calls, one with long values throughout, and a change by a member."""
    user = add_person(host)
    member = add_person(host, "somebody.with.a.long.name@a-host-with-a-long-name.example.org", name="Grace " + "x" * 60)
    fill(host, user, calls=60)

    async def add() -> None:
        key, _ = await host.host.accounts.api_keys.create(user.id, "x" * 100)
        async with host.host.database.writing() as session:
            session.add(
                ActivityRow(
                    user_id=user.id,
                    connection_id=key.id,
                    at=datetime.now(UTC) - timedelta(days=2),
                    tool="t" * 64,
                    code="a_code_that_goes_on_and_on_as_if",
                    duration=4321.0,
                    address="2001:0db8:85a3:0000:0000:8a2e:0370:7334%interface",
                )
            )
            session.add(
                ActivityRow(
                    user_id=user.id,
                    connection_id=member.id,
                    at=datetime.now(UTC) - timedelta(days=3),
                    tool=f"/dashboard/content/articles/a_{'x' * 22}/edit",
                    code="ok",
                    duration=0.1,
                )
            )

    host.run(add())
    return user


@asynccontextmanager
async def signed_in(
    browser: Browser, host: RunningHost, person: User, *, scheme: Scheme = "light", scripting: bool = True
) -> AsyncIterator[Page]:
    context = await browser.new_context(color_scheme=scheme, java_script_enabled=scripting)
    token = await asyncio.to_thread(lambda: host.run(host.host.accounts.sessions.start(person.id)))
    await context.add_cookies([{"name": "pressroom_session", "value": token, "url": host.url}])
    yield await context.new_page()
    await context.close()


async def test_a_call_can_be_found_without_scripts(browser: Browser, host: RunningHost, person: User) -> None:
    async with signed_in(browser, host, person, scripting=False) as page:
        await page.goto(f"{host.url}/dashboard")
        await page.get_by_role("navigation", name="Dashboard").get_by_role("link", name="Activity").click()
        table = page.get_by_role("table")
        await expect(table.get_by_role("row")).to_have_count(51)
        await page.get_by_role("link", name="Older calls").click()
        await expect(table.get_by_role("row")).to_have_count(13)
        await page.get_by_role("link", name="Back to the latest").click()

        await page.get_by_label("Outcome").select_option("Any error")
        await page.get_by_label("Made by").select_option("ChatGPT")
        await page.get_by_role("button", name="Filter").click()
        for row in (await table.get_by_role("row").all())[1:]:
            await expect(row).to_contain_text("ChatGPT")
            await expect(row.locator(".badge.bad")).to_be_visible()
        await page.get_by_role("link", name="Show all").click()
        day = f"{datetime.now(UTC) - timedelta(days=2):%Y-%m-%d}"
        await page.get_by_label("Day (UTC)").fill(day)
        await page.get_by_role("button", name="Filter").click()
        await expect(table.get_by_role("row")).to_have_count(2)
        await expect(table).to_contain_text("2001:0db8:85a3")
        await expect(page.get_by_label("Day (UTC)")).to_have_value(day)
        await page.get_by_label("Day (UTC)").fill(f"{datetime.now(UTC) - timedelta(days=3):%Y-%m-%d}")
        await page.get_by_role("button", name="Filter").click()
        await expect(table.get_by_role("row").nth(1)).to_contain_text("somebody.with.a.long.name@")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_is_accessible_at_every_width(
    browser: Browser, host: RunningHost, person: User, scheme: Scheme
) -> None:
    async with signed_in(browser, host, person, scheme=scheme) as page:
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        for query in ("", f"?tool={'t' * 64}", "?outcome=timeout"):
            await page.goto(f"{host.url}{PATH}{query}")
            for width in WIDTHS:
                await page.set_viewport_size({"width": width, "height": 900})
                assert await page.evaluate("document.documentElement.scrollWidth") == width, (query, width)
                assert await violations(page) == [], (query, width)
                assert await page.evaluate(_CUT) == [], (query, width)
        assert complaints == []
        await page.goto(f"{host.url}{PATH}?day=nonsense")
        assert await violations(page) == []


async def test_the_page_fits_the_window_at_twice_the_text_size(
    browser: Browser, host: RunningHost, person: User
) -> None:
    async with signed_in(browser, host, person) as page:
        await page.goto(host.url + PATH)
        await page.evaluate("document.documentElement.style.setProperty('font-size', '200%', 'important')")
        for width in (360, 960, 1280):
            await page.set_viewport_size({"width": width, "height": 900})
            assert await page.evaluate("document.documentElement.scrollWidth") == width, width
            assert await page.evaluate(_CUT) == [], width


async def test_an_account_without_calls_learns_how_to_make_some(browser: Browser, host: RunningHost) -> None:
    newcomer = await asyncio.to_thread(add_person, host, "grace@example.org")
    async with signed_in(browser, host, newcomer) as page:
        await page.goto(host.url + PATH)
        await expect(page.get_by_role("heading", name="No calls yet")).to_be_visible()
        assert await violations(page) == []
        await page.get_by_role("link", name="Connect a client").click()
        await expect(page.get_by_role("heading", name="Connections", exact=True)).to_be_visible()
