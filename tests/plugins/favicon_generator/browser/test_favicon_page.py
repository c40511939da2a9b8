"""The favicon generator's page: the icon in realistic settings, with JavaScript and without."""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import Browser, Page, expect
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.axe import violations

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

FAVICON = "/tools/favicon-generator"
SCENES = ["In a browser tab, light and dark", "On a home screen", "In a search result"]
TERRACOTTA = (185, 80, 42)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"tools": {"favicon-generator": {"rate_limit": "1000/hour"}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("host"))) as running:
        yield running


@asynccontextmanager
async def opened(browser: Browser, host: RunningHost, **options: Any) -> AsyncIterator[Page]:
    """Open the page; on exit, fail if a script failed or the content security policy blocked something."""
    context = await browser.new_context(**options)
    page = await context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if "Content Security" in message.text else None)
    await page.goto(host.url + FAVICON)
    yield page
    await context.close()
    assert faults == []


async def ask_for(page: Page, content: str, *, scripting: bool = True) -> None:
    await page.get_by_label("Content").fill(content)
    if scripting:
        await expect(page.locator("img[data-canvas]").first).to_have_attribute("src", re.compile("^blob:"))
    else:
        await page.get_by_role("button", name="Generate").click()


async def photographed(page: Page, part: str) -> Image.Image:
    content = await page.locator(f".icon.{part}").first.screenshot()
    return Image.open(io.BytesIO(content)).convert("RGB")


@pytest.mark.parametrize("scripting", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_the_icon_is_previewed_in_realistic_scenes(browser: Browser, host: RunningHost, scripting: bool) -> None:
    async with opened(browser, host, java_script_enabled=scripting, viewport={"width": 1280, "height": 1600}) as page:
        await ask_for(page, "I", scripting=scripting)
        await expect(page.locator("figcaption", has_text=re.compile("^(In|On) a "))).to_have_text(SCENES)
        for part, edge in (("small", 16), ("medium", 24), ("large", 60)):
            box = await page.locator(f".icon.{part}").first.bounding_box()
            assert box is not None
            assert (box["width"], box["height"]) == (edge, edge)
            icon = await photographed(page, part)
            middle = icon.height // 2
            assert icon.getpixel((icon.width // 2, middle)) == pytest.approx((255, 255, 255), abs=40), part  # the stem
            assert icon.getpixel((icon.width // 5, middle)) == pytest.approx(TERRACOTTA, abs=2), part
        if scripting:
            async with page.expect_download() as download_info:
                await page.get_by_role("button", name="Download ZIP").click()
            assert (await download_info.value).suggested_filename == "favicon-generator.zip"
        else:
            await expect(page.locator(".files li")).to_have_count(9)
            link = page.get_by_role("link", name="Download")
            await expect(link).to_have_attribute("download", "favicon-generator.zip")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_no_violations(browser: Browser, host: RunningHost, scheme: Any) -> None:
    async with opened(browser, host, color_scheme=scheme) as page:
        await ask_for(page, "I")
        await expect(page.locator(".scenes img")).to_have_count(4)
        assert await violations(page) == []


async def test_no_scene_is_wider_than_a_small_phone(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host, viewport={"width": 320, "height": 800}) as page:
        await ask_for(page, "I")
        await expect(page.locator(".scenes img")).to_have_count(4)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 320
