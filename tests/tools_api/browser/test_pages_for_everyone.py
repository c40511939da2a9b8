"""Accessibility of the pages: small screens, dark mode, keyboard, screen readers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Request, expect
from support.axe import violations
from support.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

Scheme = Literal["light", "dark"]
Action = Callable[[Page], Awaitable[None]]

SCHEMES: list[Scheme] = ["light", "dark"]
QR = "/tools/qr-code-generator"
PATHS = ["/tools", QR, "/tools/favicon-generator", "/tools/code-to-image", "/tools/image-generator", "/tools/none-such"]


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def page(shared_page: Page) -> Page:
    """An empty page in light mode, at the default window size."""
    await shared_page.goto("about:blank")
    await shared_page.emulate_media(color_scheme="light")
    await shared_page.set_viewport_size({"width": 1280, "height": 720})
    return shared_page


async def load(page: Page, url: str, scheme: Scheme) -> None:
    await page.emulate_media(color_scheme=scheme)
    await page.goto(url)


async def run_an_example(page: Page) -> None:
    await page.get_by_role("button", name="Wi-Fi", exact=True).click()
    await expect(page.locator("img[data-canvas]")).to_have_attribute("src", re.compile("^blob:"))


async def provoke_an_error(page: Page) -> None:
    await page.get_by_label("Text").fill("")
    await page.get_by_role("button", name="Download").click()
    await expect(page.get_by_label("Text")).to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("path", PATHS)
async def test_axe_reports_no_serious_violations(page: Page, server: PageServer, path: str, scheme: Scheme) -> None:
    await load(page, server.url + path, scheme)
    assert await violations(page) == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("action", [run_an_example, provoke_an_error])
async def test_axe_reports_nothing_serious_after_a_call(
    page: Page, server: PageServer, action: Action, scheme: Scheme
) -> None:
    await load(page, server.url + QR, scheme)
    await action(page)
    assert await violations(page) == []


@pytest.mark.parametrize("accent", ["#ffe600", "#00ff9d", "#808080", "#0b0b0b", "#ffffff", "#7a00ff"])
async def test_any_accent_stays_readable(page: Page, accent: str) -> None:
    with PageServer(accent=accent, accent_dark=accent) as server:
        for scheme in SCHEMES:
            await load(page, server.url + QR, scheme)
            assert await violations(page) == []


@pytest.mark.parametrize("path", PATHS)
async def test_no_page_scrolls_sideways(page: Page, server: PageServer, path: str) -> None:
    await page.goto(server.url + path)
    for width in (320, 360, 768, 1280):
        await page.set_viewport_size({"width": width, "height": 800})
        assert await page.evaluate("document.documentElement.scrollWidth") == width


async def test_a_result_fits_a_small_screen(page: Page, server: PageServer) -> None:
    await page.set_viewport_size({"width": 320, "height": 640})
    await page.goto(server.url + QR)
    await run_an_example(page)
    assert await page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("path", PATHS)
async def test_a_page_is_small_and_loads_nothing_from_other_hosts(
    browser: Browser, server: PageServer, path: str
) -> None:
    page = await browser.new_page()
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 - Playwright marks its handlers
    await page.goto(server.url + path, wait_until="networkidle")
    bodies = [await (await request.response()).body() for request in requests]  # type: ignore[union-attr]  # all answered
    assert [request.url for request in requests if not request.url.startswith(server.url)] == []
    assert sum(map(len, bodies)) < 110_000
    await page.close()


async def test_the_first_tab_offers_to_skip_the_header(page: Page, server: PageServer) -> None:
    await page.goto(server.url + QR)
    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    await expect(skip).to_be_focused()
    await expect(skip).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("main")).to_be_focused()


async def test_a_tool_can_be_used_with_the_keyboard_alone(page: Page, server: PageServer) -> None:
    await page.goto(server.url + QR)
    await page.get_by_label("Text").focus()
    await page.keyboard.type("hello")
    await expect(page.locator("img[data-canvas]")).to_have_attribute("src", re.compile("^blob:"))
    for _ in range(9):
        await page.keyboard.press("Shift+Tab")
        if await page.evaluate("document.activeElement.hasAttribute('data-download')"):
            break
    async with page.expect_download():
        await page.keyboard.press("Enter")


async def test_forced_colours_show_what_is_chosen(browser: Browser, server: PageServer) -> None:
    page = await browser.new_page(forced_colors="active")
    await page.goto(server.url + QR)
    chosen, other = (page.locator(f".segment:has(input{state}) span").first for state in (":checked", ":not(:checked)"))
    look = "part => [getComputedStyle(part).backgroundColor, getComputedStyle(part).color]"
    assert await chosen.evaluate(look) != await other.evaluate(look)
    assert len(set(await chosen.evaluate(look))) == 2
    swatches = page.locator(".swatches").first.locator("button")
    colours = await swatches.evaluate_all(
        "buttons => buttons.map((button) => getComputedStyle(button).backgroundColor)"
    )
    assert len(set(colours)) == len(colours) > 1
    await page.close()
