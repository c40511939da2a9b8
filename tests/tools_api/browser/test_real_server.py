"""From the list of tools to a scannable QR code, on the real server."""

from __future__ import annotations

import io
from collections.abc import Iterator

import httpx
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


async def scanned(url: str) -> str:
    async with httpx.AsyncClient() as http:
        picture = Image.open(io.BytesIO((await http.get(url)).content))
    (code,) = zxingcpp.read_barcodes(picture)
    return str(code.text)


@pytest.mark.parametrize("scripting", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_a_visitor_gets_a_code_that_scans(browser: Browser, server: Server, scripting: bool) -> None:
    context = await browser.new_context(java_script_enabled=scripting)
    page = await context.new_page()
    await page.goto(f"{server.url}/")
    await page.get_by_role("link", name="QR code generator").click()
    await page.get_by_label("Text").first.fill(TEXT)
    await page.get_by_role("button", name="Generate").click()

    picture = page.locator("img[src*='/files/qr-code-generator/']")
    await expect(picture).to_be_visible()
    address = await picture.get_attribute("src")
    assert address is not None
    assert await scanned(address) == TEXT
    await context.close()


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
