"""The consent page in Chromium: the buttons work, the response reaches the client, and the page is accessible."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from typing import Any, Literal

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Request, async_playwright
from pressroom.accounts.records import AccessChoice
from pressroom.catalog.tool import allows
from pressroom.testing import RunningHost
from support.axe import violations
from support.needs import headless_chromium
from support.oauth import LOOPBACK, SESSION_COOKIE, Flow, Person

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SCHEMES: list[Literal["light", "dark"]] = ["light", "dark"]
CURSOR = "cursor://anysphere.cursor-retrieval/oauth/user-mcp/callback"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    """Headless Chromium."""
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=headless_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        await launched.close()


@pytest.fixture
def address(flow: Flow) -> str:
    """Return the URL of a client's consent page."""
    flow.register(client_name="My editor", redirect_uris=[LOOPBACK, CURSOR, "https://editor.example/callback"])
    return f"{flow.url}/oauth/authorize?{flow.query()}"


async def signed_in(chromium: Browser, host: RunningHost, person: Person, **options: Any) -> BrowserContext:
    context = await chromium.new_context(**options)
    await context.add_cookies([{"name": SESSION_COOKIE, "value": person.session, "url": host.url}])
    return context


async def decide(page: Page, button: str) -> str:
    """Press a button, and return the URL that the browser is redirected to. No server is listening there."""
    async with page.expect_request(lambda request: "state=the" in request.url and "/oauth/" not in request.url) as sent:
        await page.get_by_role("button", name=button, exact=True).click(no_wait_after=True)
    return (await sent.value).url


@pytest.mark.parametrize(("button", "outcome"), [("Allow", "code="), ("Deny", "error=access_denied")])
@pytest.mark.parametrize("target", [LOOPBACK, "https://editor.example/callback"])
async def test_the_buttons_redirect_to_the_client(
    chromium: Browser,
    host: RunningHost,
    flow: Flow,
    person: Person,
    address: str,
    button: str,
    outcome: str,
    target: str,
) -> None:
    context = await signed_in(chromium, host, person)
    page = await context.new_page()
    await page.goto(f"{flow.url}/oauth/authorize?{flow.query(redirect_uri=target)}")
    location = await decide(page, button)
    assert location.startswith(f"{target}?")
    assert outcome in location
    await context.close()


async def test_the_browser_follows_the_redirect_to_an_app(
    chromium: Browser, host: RunningHost, flow: Flow, person: Person, address: str
) -> None:
    """A Content-Security-Policy with `form-action` would block it, and Chromium would log that to the console."""
    context = await signed_in(chromium, host, person)
    page = await context.new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    await page.goto(f"{flow.url}/oauth/authorize?{flow.query(redirect_uri=CURSOR)}")
    async with page.expect_response(lambda response: response.request.method == "POST") as posted:
        await page.get_by_role("button", name="Allow", exact=True).click(no_wait_after=True)
    response = await posted.value
    assert (await response.all_headers())["location"].startswith(f"{CURSOR}?code=")
    assert not [text for text in messages if "Content Security Policy" in text]
    await context.close()


async def test_signing_in_returns_to_the_consent_page(chromium: Browser, host: RunningHost, address: str) -> None:
    email, password = f"{secrets.token_hex(6)}@example.com", "an unusual pass phrase 47"
    host.run(host.host.accounts.users.add(email, password=password))
    page = await chromium.new_page()
    await page.goto(address)
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("button", name="Allow", exact=True).wait_for()
    assert page.url == address
    assert (await decide(page, "Allow")).startswith(f"{LOOPBACK}?code=")
    await page.close()


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_axe_reports_no_serious_violations(
    chromium: Browser, host: RunningHost, person: Person, address: str, scheme: Literal["light", "dark"]
) -> None:
    context = await signed_in(chromium, host, person, color_scheme=scheme)
    page = await context.new_page()
    for path in (address, f"{host.url}/oauth/authorize?client_id=nobody"):
        await page.goto(path)
        assert await violations(page) == []
    await context.close()


async def test_it_fits_small_screens_is_small_and_makes_no_external_requests(
    chromium: Browser, host: RunningHost, flow: Flow, person: Person
) -> None:
    long_url = f"https://{'long-' * 11}name.example/callback"
    flow.register(client_name="W" * 200, redirect_uris=[long_url])
    context = await signed_in(chromium, host, person, viewport={"width": 320, "height": 640})
    page = await context.new_page()
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 - it marks its handlers
    await page.goto(f"{flow.url}/oauth/authorize?{flow.query(redirect_uri=None)}", wait_until="networkidle")
    assert await page.evaluate("document.documentElement.scrollWidth") == 320
    assert [request.url for request in requests if not request.url.startswith(host.url)] == []
    # The compressed size, fonts included.
    assert sum([(await request.sizes())["responseBodySize"] for request in requests]) < 100_000
    await context.close()


async def option(page: Page, title: str) -> str:
    """Return the full text of an option."""
    return " ".join((await page.locator(".option", has_text=title).first.inner_text()).split())


@pytest.fixture
def websites(host: RunningHost, person: Person) -> str:
    """Connect two websites, and return the common prefix of their URLs without the scheme."""
    key = host.run(host.host.accounts.api_keys.create(person.id, "setting up"))[1]
    for name in ("Garden", "Kitchen"):
        call = {"name": "connect_website", "arguments": {"platform": "builtin", "name": name}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
        assert "isError" not in httpx.post(f"{host.url}/api/mcp", json=message, headers=headers).json()["result"]
    return f"{host.url.partition('://')[2]}/sites"


async def test_it_lists_what_the_app_may_do_and_on_which_websites(
    chromium: Browser, host: RunningHost, person: Person, address: str, websites: str
) -> None:
    context = await signed_in(chromium, host, person)
    page = await context.new_page()
    await page.goto(address)
    publishing = await option(page, "Write and publish")
    assert publishing.endswith(f"on your live websites: {websites}/kitchen and {websites}/garden.")
    assert await page.get_by_label("Write drafts").is_checked()
    plan = host.host.compiled.catalog.plans["free"].mcp_tools
    assert f"Everything {len(plan)} tools" in await option(page, "Everything")
    read_count = sum(allows("read", entry.tool) for entry in plan.values())
    assert f"Read only {read_count} tools" in await option(page, "Read only")
    await context.close()


@pytest.mark.parametrize("scripting", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_a_choice_is_saved_and_preselected_the_next_time(
    chromium: Browser, host: RunningHost, person: Person, address: str, scripting: bool
) -> None:
    context = await signed_in(chromium, host, person, java_script_enabled=scripting)
    page = await context.new_page()
    await page.goto(address)
    await page.get_by_label("Write and publish").check()
    await page.get_by_text("Choose the tools it lists").click()
    await page.get_by_label("SEO", exact=True).check()
    assert "code=" in await decide(page, "Allow")
    [connection] = host.run(host.host.accounts.connections.list(person.id))
    assert connection.choice == AccessChoice("publish", frozenset({"core", "seo"}))

    page = await context.new_page()
    await page.goto(address)
    assert await page.get_by_label("Write and publish").is_checked()
    await page.get_by_text("Choose the tools it lists").click()
    assert await page.get_by_label("SEO", exact=True).is_checked()
    assert not await page.get_by_label("Writing", exact=True).is_checked()
    assert await page.get_by_text("You have connected this app before.").is_visible()
    assert "code=" in await decide(page, "Allow")
    [reconnected] = host.run(host.host.accounts.connections.list(person.id))
    assert reconnected.choice == connection.choice
    await context.close()


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_the_toolsets_are_accessible(
    chromium: Browser, host: RunningHost, person: Person, address: str, scheme: Literal["light", "dark"]
) -> None:
    context = await signed_in(chromium, host, person, color_scheme=scheme, viewport={"width": 390, "height": 800})
    page = await context.new_page()
    await page.goto(address)
    await page.get_by_text("Choose the tools it lists").click()
    assert await violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    await context.close()
