"""From the list of tools to a scannable QR code, on the real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import zxingcpp
from PIL import Image
from playwright.async_api import Browser, expect
from support.axe import violations
from support.server import Server, serving

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TEXT = "https://example.com/from-the-browser"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), config="") as running:
        yield running


def scanned(path: Path) -> str:
    (code,) = zxingcpp.read_barcodes(Image.open(path))
    return str(code.text)


@pytest.mark.parametrize("scripting", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_a_visitor_gets_a_code_that_scans(browser: Browser, server: Server, scripting: bool) -> None:
    context = await browser.new_context(java_script_enabled=scripting)
    page = await context.new_page()
    await page.goto(f"{server.url}/")
    await page.get_by_role("link", name="QR code generator").click()
    await page.get_by_label("Text").first.fill(TEXT)
    if scripting:
        await expect(page.locator("img[data-canvas]")).to_have_attribute("src", re.compile("^blob:"))
        async with page.expect_download() as got:
            await page.get_by_role("button", name="Download PNG").click()
        assert scanned(await (await got.value).path()) == TEXT
    else:
        await page.get_by_role("button", name="Generate").click()
        async with page.expect_download() as got:
            await page.get_by_role("link", name="Download").click()
        assert scanned(await (await got.value).path()) == TEXT
    await context.close()


async def test_code_leaves_the_page_as_a_vector_image(browser: Browser, server: Server) -> None:
    page = await browser.new_page()
    await page.goto(f"{server.url}/tools/code-to-image")
    await page.get_by_label("Title").fill("sum.ts")
    await page.locator("label", has=page.get_by_label("svg", exact=True)).click()
    await expect(page.locator("img[data-canvas]")).to_have_attribute("src", re.compile("^blob:"))
    async with page.expect_download() as got:
        await page.get_by_role("button", name="Download SVG").click()
    file = await got.value
    assert file.suggested_filename == "sum.svg"
    assert (await file.path()).read_bytes().startswith(b"<svg ")
    assert await violations(page) == []
    await page.close()


async def test_a_wrong_value_is_explained_beside_its_field(browser: Browser, server: Server) -> None:
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(f"{server.url}/tools/qr-code-generator?text=x&fgColor=reddish")
    await page.get_by_role("button", name="Generate").click()

    await expect(page.get_by_text("must be a hex colour").first).to_be_visible()
    assert await page.locator("[name=fgColor]").get_attribute("aria-invalid") == "true"
    await context.close()


async def test_the_real_pages_are_accessible(browser: Browser, server: Server) -> None:
    for path in ("/tools", "/tools/qr-code-generator", "/tools/no-such-tool"):
        page = await browser.new_page()
        await page.goto(server.url + path)
        assert await violations(page) == [], path
        await page.close()
