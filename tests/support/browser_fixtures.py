"""Fixtures: headless Chromium and a page in it, for browser tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from support.needs import headless_chromium

LAUNCH = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No page runs long enough for optimised code to repay its compilation, not even under the accessibility checker.
    "--js-flags=--no-turbofan --no-maglev",
)

# When other tests keep the machine busy, a page's reaction to a click can exceed the default of five seconds.
expect.set_options(timeout=30_000)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Headless Chromium, one instance per test module."""
    executable = headless_chromium()
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=executable, args=list(LAUNCH))
        yield chromium
        await chromium.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_page(browser: Browser) -> AsyncIterator[Page]:
    """A page shared by the tests of a module, because opening a new one takes longer than most tests."""
    page = await browser.new_page()
    yield page
    await page.close()
