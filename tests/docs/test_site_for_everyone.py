"""The documentation site is accessible in light and dark mode."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Request, async_playwright
from support import axe
from support.needs import headless_chromium

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

PAGES = (
    "index",
    "tutorial/first-plugin",
    "how-to/deployment-checklist",
    "reference/configuration",
    "reference/sdk",
    "explanation/one-request",
)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing, to keep the test output readable."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    executable = headless_chromium()
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield chromium
        await chromium.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_pages_conform_to_wcag_and_fetch_nothing_from_other_sites(
    browser: Browser, site: Path, scheme: Literal["light", "dark"]
) -> None:
    problems: list[str] = []
    with served(site) as url:
        page = await browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 900})

        def note_foreign(request: Request) -> None:
            if not request.url.startswith((url, "data:", "blob:")):
                problems.append(f"fetches {request.url}")

        page.on("request", note_foreign)
        for name in PAGES:
            await page.goto(f"{url}/{name}.html", wait_until="networkidle")
            problems += [f"{name}: {violation}" for violation in await axe.violations(page)]
        await page.close()
    assert problems == []


async def test_a_narrow_screen_does_not_scroll_sideways(browser: Browser, site: Path) -> None:
    with served(site) as url:
        page = await browser.new_page(viewport={"width": 360, "height": 740})
        widths = {}
        for name in PAGES:
            await page.goto(f"{url}/{name}.html")
            widths[name] = await page.evaluate("document.documentElement.scrollWidth")
        await page.close()
    assert {name: width for name, width in widths.items() if width > 360} == {}
