"""Two people in one account, each in their own browser: invite, join, write, be refused, switch back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.axe import violations
from support.members import invite
from support.people import PASSWORD, add_person

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config: dict[str, Any] = {"plugins": {"content": {}, "images": {}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def ada(host: RunningHost) -> User:
    return add_person(host)


@asynccontextmanager
async def opened(browser: Browser, host: RunningHost, person: User | None, **options: Any) -> AsyncIterator[Page]:
    context = await browser.new_context(**options)
    if person is not None:
        token = await asyncio.to_thread(lambda: host.run(host.host.accounts.sessions.start(person.id)))
        await context.add_cookies([{"name": "pressroom_session", "value": token, "url": host.url}])
    yield await context.new_page()
    await context.close()


async def check(page: Page) -> None:
    """Assert that a page is accessible and no wider than the window."""
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_two_people_work_in_one_account(browser: Browser, host: RunningHost, ada: User) -> None:
    phone: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
    async with (
        opened(browser, host, ada) as owner,
        opened(browser, host, None, java_script_enabled=False, **phone) as member,
    ):
        await owner.goto(f"{host.url}/dashboard/members")
        await owner.get_by_role("radio", name="Editor").check()
        await owner.get_by_label("Who is it for?").fill("Bob")
        await owner.get_by_role("button", name="Create an invitation link").press("Enter")
        link = (await owner.locator("#invitation-link").inner_text()).strip()
        await expect(owner.get_by_role("button", name="Copy the invitation")).to_be_visible()
        await check(owner)

        await member.goto(link)
        await expect(member.get_by_text("Ada Lovelace (ada@example.org)")).to_be_visible()
        await member.get_by_label("E-mail").fill("bob@example.org")
        await member.get_by_label("Password").fill(PASSWORD)
        await member.get_by_role("button", name="Create account and accept").click()
        await expect(member.get_by_text("You are now a member.")).to_be_visible()

        await member.goto(f"{host.url}/dashboard/articles/new/edit")
        await member.get_by_label("Title", exact=True).fill("Written by Bob")
        await member.get_by_role("button", name="Save").first.click()
        await expect(member.get_by_role("heading", name="Written by Bob")).to_be_visible()
        article = member.url.partition("?")[0]
        await owner.goto(article)
        await expect(owner.get_by_role("heading", name="Written by Bob")).to_be_visible()

        await owner.goto(f"{host.url}/dashboard/members")
        await owner.get_by_label("Role of bob@example.org").select_option("reader")
        await owner.get_by_role("button", name="Save the role of bob@example.org").click()
        await expect(owner.get_by_text("The role is changed, effective immediately.")).to_be_visible()
        await check(owner)

        # A tab opened while Bob could still write keeps its content.
        await member.get_by_label("Title", exact=True).fill("Written too late")
        await member.get_by_role("button", name="Save").first.click()
        await expect(member.get_by_text("to make you an editor")).to_be_visible()
        assert await member.locator("input[name=title]").get_attribute("value") == "Written too late"
        await member.goto(article.removesuffix("/edit"))
        await expect(member.get_by_text("can only read this page")).to_be_visible()
        await expect(member.locator(".account-main").get_by_role("button")).to_have_count(0)
        await member.goto(f"{host.url}/dashboard/connections")
        await expect(member.get_by_text("ask Ada Lovelace (ada@example.org)")).to_be_visible()

        await member.goto(f"{host.url}/dashboard")
        await member.locator("details.switcher summary").click()
        await member.get_by_role("button", name="Your own account").click()
        await expect(member.get_by_role("link", name="Connections", exact=True)).to_be_visible()
        await expect(member.get_by_text("Written by Bob")).to_have_count(0)

    bob = await asyncio.to_thread(lambda: host.run(host.host.accounts.users.by_email("bob@example.org")))
    path = await asyncio.to_thread(lambda: invite(host, ada, "editor"))
    async with opened(browser, host, bob, **phone) as member, opened(browser, host, None, **phone) as anonymous:
        await anonymous.goto(host.url + path)
        await check(anonymous)
        await member.goto(host.url + path)
        await check(member)
        await member.goto(f"{host.url}/dashboard")
        await member.locator("details.switcher summary").press("Enter")
        await check(member)
        await member.get_by_role("button", name="ada@example.org").press("Enter")
        await expect(member.get_by_text("You are working in the account of Ada Lovelace")).to_be_visible()
        for dashboard_path in ("/dashboard", "/dashboard/members", "/dashboard/websites", "/dashboard/calendar"):
            await member.goto(host.url + dashboard_path)
            await check(member)
