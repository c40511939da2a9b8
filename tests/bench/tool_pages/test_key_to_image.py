"""The time from a keystroke to the updated image, in a browser on a real server: pause, request, drawing, decoding."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.async_api import Browser, Page
from support.server import Server, serving

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

KEYS: Final = 40
WARM_UP: Final = 4
MOST_MS: Final = 300

TYPE_AND_WAIT = """
async ([selector, text]) => {
  const control = document.querySelector(selector);
  const image = document.querySelector("img[data-canvas]");
  const shown = new Promise((resolve) => image.addEventListener("load", resolve, { once: true }));
  const began = performance.now();
  control.value += text;
  control.dispatchEvent(new Event("input", { bubbles: true }));
  await shown;
  return performance.now() - began;
}
"""

PAGES = {
    "code-to-image": "[name=code]",
    "image-generator": "[name='props.title']",
    "qr-code-generator": "[name=text]",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), config="", forked=False) as running:
        yield running


def p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


async def type_keys(page: Page, slug: str) -> list[float]:
    """Return how long each keystroke takes on a tool's page, in milliseconds."""
    times = [await page.evaluate(TYPE_AND_WAIT, [PAGES[slug], "x"]) for _ in range(WARM_UP + KEYS)]
    return times[WARM_UP:]


@pytest.mark.parametrize("other", [None, "code-to-image"], ids=["alone", "beside another"])
@pytest.mark.parametrize("slug", list(PAGES))
async def test_an_image_is_updated_soon_after_a_key_press(
    browser: Browser, server: Server, slug: str, other: str | None
) -> None:
    pages = [await browser.new_page() for _ in ((slug,) if other is None else (slug, other))]
    for page, tool in zip(pages, (slug, other), strict=False):
        await page.goto(f"{server.url}/tools/{tool}", wait_until="networkidle")
    typing = [type_keys(page, tool or slug) for page, tool in zip(pages, (slug, other), strict=False)]
    times, *_ = await asyncio.gather(*typing)
    for page in pages:
        await page.close()
    print(f"{slug}, {other or 'alone'}: median {statistics.median(times):.0f} ms, p95 {p95(times):.0f} ms")
    assert p95(times) < MOST_MS
