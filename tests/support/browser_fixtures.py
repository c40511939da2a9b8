"""Fixtures: headless Chromium and a page in it, for tests that look at pages as people do."""

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
)

# What a page does after a click takes longer than the usual five seconds where other tests keep the machine busy.
expect.set_options(timeout=30_000)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Headless Chromium, one for each module of tests."""
    executable = headless_chromium()
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=executable, args=list(LAUNCH))
        yield chromium
        await chromium.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_page(browser: Browser) -> AsyncIterator[Page]:
    """One page for many tests of a module, since a new one takes longer than most of them."""
    opened = await browser.new_page()
    yield opened
    await opened.close()
