"""From the one-time link to a revoked key in a browser, and accessibility of the account pages."""

from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support import third_party
from support.axe import violations
from support.needs import program
from support.people import EMAIL, PASSWORD, PLANS, add_person, fill

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

Scheme = Literal["light", "dark"]
MANY_TOOLS = (
    third_party.HEAD
    + """
from support.twenty_tools import adding

@hookimpl
def pressroom_mcp_tools():
    return [adding(number) for number in range(1, 21)]
"""
)
SCHEMES: list[Scheme] = ["light", "dark"]
OPEN = ["/sign-in", "/sign-up", "/setup?token=none", "/password?token=none"]
PAGES = ["/dashboard", "/dashboard?show=errors", "/dashboard/connections", "/dashboard/account", "/dashboard/users"]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host with twenty extra tools."""
    site = tmp_path_factory.mktemp("site")
    plugin = third_party.write_plugin(site, MANY_TOOLS)
    accounts = {"sign_up": True, "operators": [EMAIL]}
    config = {"plans": PLANS, "accounts": accounts, "plugins": {plugin: {}}}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
            yield running


@pytest.fixture(scope="module")
def person(host: RunningHost) -> User:
    user = add_person(host)
    fill(host, user)
    return user


@pytest.fixture(scope="module")
def connection(host: RunningHost, person: User) -> str:
    """Return the path of the page of one of the person's connections."""
    connections = host.run(host.host.accounts.connections.list(person.id))
    (key,) = [key for key in connections if key.name.startswith("A name")]
    return f"/dashboard/connections/{key.id}"


@asynccontextmanager
async def signed_in(
    browser: Browser, host: RunningHost, person: User, *, scheme: Scheme = "light", scripting: bool = True
) -> AsyncIterator[Page]:
    context = await browser.new_context(color_scheme=scheme, java_script_enabled=scripting)
    token = await asyncio.to_thread(lambda: host.run(host.host.accounts.sessions.start(person.id)))
    await context.add_cookies([{"name": "pressroom_session", "value": token, "url": host.url}])
    yield await context.new_page()
    await context.close()


def mcp(host: RunningHost, command: str) -> str:
    """Run a curl command from the dashboard in a shell, and return the response body."""
    program("curl")
    words = shlex.split(command.replace("\\\n", ""))
    assert words[1] == f"{host.url}/api/mcp"
    completed = subprocess.run([*words, "-s"], capture_output=True, text=True, check=True, timeout=30)
    return completed.stdout


async def copied(context: BrowserContext, page: Page, button: str) -> str:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.get_by_role("button", name=button, exact=True).click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    return str(await page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.parametrize("scripting", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_from_the_setup_link_to_a_revoked_key(browser: Browser, tmp_path: Path, scripting: bool) -> None:
    host = RunningHost(settings_for_test({}, tmp_path))
    await asyncio.to_thread(host.__enter__)
    context = await browser.new_context(java_script_enabled=scripting)
    try:
        token = await asyncio.to_thread(lambda: host.run(host.host.accounts.setup_links.create()))
        page = await context.new_page()
        await page.goto(f"{host.url}/setup?token={token}")
        await page.get_by_label("E-mail").fill(EMAIL)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Create account").click()
        await expect(page.get_by_text("Your account is ready.")).to_be_visible()

        await page.get_by_role("button", name="Sign out").click()
        await page.get_by_label("E-mail").fill(EMAIL)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", name="Overview")).to_be_visible()

        await page.get_by_role("link", name="Connect a client").click()
        await page.get_by_label("Name of the key").fill("Laptop")
        await page.get_by_role("button", name="Create key").click()
        displayed = (await page.locator("#key").inner_text()).strip()
        if scripting:
            assert await copied(context, page, "Copy the key") == displayed
        await page.locator("label[for=client-curl]").click()
        list_tools = await page.locator("#snippet-curl-2").inner_text()
        assert displayed in list_tools

        hello = json.loads(await asyncio.to_thread(mcp, host, await page.locator("#snippet-curl-1").inner_text()))
        assert hello["result"]["serverInfo"]["name"]
        tools = json.loads(await asyncio.to_thread(mcp, host, list_tools))["result"]["tools"]
        assert "create_content" in [tool["name"] for tool in tools]
        assert "generate_qr_code" not in [tool["name"] for tool in tools]

        await page.get_by_role("link", name="Change its access").click()
        await page.get_by_label("Generators", exact=True).check()
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_text("What the app may do changes at once")).to_be_visible()
        tools = json.loads(await asyncio.to_thread(mcp, host, list_tools))["result"]["tools"]
        assert "generate_qr_code" in [tool["name"] for tool in tools]

        await page.get_by_text("Switch single tools of Generators").click()
        await page.get_by_label("QR code generator").uncheck()
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_text("What the app may do changes at once")).to_be_visible()
        tools = json.loads(await asyncio.to_thread(mcp, host, list_tools))["result"]["tools"]
        assert "generate_qr_code" not in [tool["name"] for tool in tools]

        await page.get_by_text("Revoke this connection…").click()
        await page.get_by_role("button", name="Yes, revoke it").click()
        await expect(page.get_by_text("The connection is revoked.")).to_be_visible()
        refused = await asyncio.to_thread(mcp, host, list_tools)
        assert "result" not in json.loads(refused)
        assert displayed not in await page.content()
    finally:
        await context.close()
        await asyncio.to_thread(host.__exit__, None, None, None)


async def test_reloading_the_new_key_page_creates_no_second_key(
    browser: Browser, host: RunningHost, person: User
) -> None:
    async with signed_in(browser, host, person) as page:
        await page.goto(f"{host.url}/dashboard/connections")
        await page.get_by_label("Name of the key").fill("Reloaded")
        await page.get_by_role("button", name="Create key").click()
        await expect(page.locator("#key")).to_be_visible()
        await page.reload()
        await expect(page.get_by_text("You already have a key with this name.")).to_be_visible()
        assert await page.locator("#key").count() == 0
        assert await page.get_by_role("link", name="Reloaded").count() == 1


async def test_switches_are_filtered_and_set_together(
    browser: Browser, host: RunningHost, person: User, connection: str
) -> None:
    async with signed_in(browser, host, person) as page:
        await page.goto(host.url + connection)
        rows, count = page.locator("[data-switch]"), page.locator("[data-count]")
        total = await rows.count()
        await expect(count).to_have_text(f"{total} of {total} tools on")
        await page.get_by_label("Filter the tools").fill("Number 2")
        await expect(rows.filter(visible=True)).to_have_count(2)  # 2 and 20
        await page.get_by_role("button", name="All off").click()
        await expect(count).to_have_text(f"{total - 2} of {total} tools on")
        await page.get_by_label("Filter the tools").fill("no such tool")
        await expect(page.get_by_text("No tools match.")).to_be_visible()
        await page.get_by_label("Filter the tools").fill("")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_text("What the app may do changes at once")).to_be_visible()
        await expect(count).to_have_text(f"{total - 2} of {total} tools on")
        await page.get_by_label("Filter the tools").fill("number 20")
        await expect(page.get_by_label("Add, number 20")).not_to_be_checked()


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_axe_reports_no_serious_violations(
    browser: Browser, host: RunningHost, person: User, connection: str, scheme: Scheme
) -> None:
    async with signed_in(browser, host, person, scheme=scheme) as page:
        for path in [*PAGES, connection]:
            await page.goto(host.url + path)
            assert await violations(page) == [], path
        await page.get_by_text("Revoke this connection…").click()
        assert await violations(page) == []
        await page.goto(f"{host.url}/dashboard/connections")
        await page.get_by_label("Name of the key").fill(f"Axe {scheme}")
        await page.get_by_role("button", name="Create key").click()
        await expect(page.locator("#key")).to_be_visible()
        for client in ("claude-desktop", "claude-code", "cursor", "vs-code", "chatgpt", "curl"):
            await page.locator(f"label[for=client-{client}]").click()
            assert await violations(page) == [], client


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_connection_permissions_are_accessible_on_narrow_screens(
    browser: Browser, host: RunningHost, person: User, connection: str, scheme: Scheme
) -> None:
    cut_off = "blocks => blocks.filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText)"
    async with signed_in(browser, host, person, scheme=scheme) as page:
        for path in (connection, "/dashboard/connections"):
            await page.goto(host.url + path)
            await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert await violations(page) == [], path
            for width in (320, 390):
                await page.set_viewport_size({"width": width, "height": 800})
                assert await page.evaluate("document.documentElement.scrollWidth") == width, (path, width)
                assert await page.locator(".code").evaluate_all(cut_off) == [], (path, width)


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_axe_reports_no_serious_violations_when_signed_out(
    browser: Browser, host: RunningHost, scheme: Scheme
) -> None:
    page = await browser.new_page(color_scheme=scheme)
    for path in OPEN:
        await page.goto(host.url + path)
        assert await violations(page) == [], path
    await page.goto(f"{host.url}/sign-in")
    await page.get_by_label("E-mail").fill("nobody@example.org")
    await page.get_by_label("Password").fill("wrong wrong wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    assert await violations(page) == []
    await page.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 600), (1000, 400)])
async def test_all_navigation_is_reachable_in_a_low_window(
    browser: Browser, host: RunningHost, person: User, width: int, height: int
) -> None:
    async with signed_in(browser, host, person) as page:
        await page.set_viewport_size({"width": width, "height": height})
        await page.goto(f"{host.url}/dashboard/users")
        assert await page.evaluate("scrollY") == 0
        await expect(page.locator(".account-nav [aria-current]")).to_be_in_viewport(ratio=1)
        links = page.locator(".account-nav a")
        await links.last.focus()
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("button", name="Sign out")).to_be_focused()
        await expect(page.get_by_role("button", name="Sign out")).to_be_in_viewport(ratio=1)
        assert await page.evaluate("scrollY + innerHeight < document.body.scrollHeight")
        await links.first.focus()
        await expect(links.first).to_be_in_viewport(ratio=1)


async def test_no_page_scrolls_sideways(browser: Browser, host: RunningHost, person: User, connection: str) -> None:
    async with signed_in(browser, host, person) as page:
        for path in [*PAGES, connection]:
            await page.goto(host.url + path)
            for width in (320, 390, 768, 1280):
                await page.set_viewport_size({"width": width, "height": 800})
                assert await page.evaluate("document.documentElement.scrollWidth") == width, (path, width)


async def test_the_dashboard_is_usable_with_the_keyboard_alone(
    browser: Browser, host: RunningHost, person: User
) -> None:
    async with signed_in(browser, host, person) as page:
        await page.goto(f"{host.url}/dashboard/connections")
        await page.get_by_label("Name of the key").focus()
        await page.keyboard.type("By hand")
        await page.keyboard.press("Tab")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert await page.evaluate(outline) == "solid"
        await page.keyboard.press("Enter")
        await expect(page.locator("#key")).to_be_visible()
        await page.get_by_label("Claude Desktop").focus()
        await page.keyboard.press("ArrowRight")
        await expect(page.locator("#snippet-claude-code-1")).to_be_visible()
        await expect(page.locator("#snippet-claude-desktop-1")).to_be_hidden()


async def test_nothing_is_loaded_from_other_sites_or_blocked(browser: Browser, host: RunningHost, person: User) -> None:
    async with signed_in(browser, host, person) as page:
        complaints: list[str] = []
        urls: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda request: urls.append(request.url))
        for path in PAGES:
            await page.goto(host.url + path)
        assert complaints == []
        assert [url for url in urls if not url.startswith(host.url)] == []
