"""The page behind a one-time upload link, for a person who got the link in a chat and has no account here."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Browser, FilePayload, Page, expect
from pressroom.testing import RunningHost
from support.axe import violations
from support.browser_fixtures import browser
from support.tool_client import ToolClient

from .providers import image_bytes

__all__ = ["browser"]

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

VIEWS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light", "java_script_enabled": True},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "java_script_enabled": True},
    "phone without scripts": {"viewport": {"width": 390, "height": 844}, "java_script_enabled": False},
}


def _file(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


@asynccontextmanager
async def opened(browser: Browser, url: str, view: str) -> AsyncIterator[Page]:
    context = await browser.new_context(**VIEWS[view])
    page = await context.new_page()
    await page.goto(url)
    yield page
    await context.close()


async def _link(ada: ToolClient, kind: str = "png") -> str:
    link = await asyncio.to_thread(ada.data, "create_upload_url", content_type=f"image/{kind}")
    return str(link["upload_url"])


async def _send(page: Page, name: str, content: bytes) -> None:
    await page.get_by_label("Image").set_input_files([_file(name, content)])
    await page.get_by_role("button", name="Upload").click()


async def _fits(page: Page) -> None:
    """Assert that the file field stays inside its form."""
    box, form = await page.locator("#file").bounding_box(), await page.locator("form").bounding_box()
    assert box is not None
    assert form is not None
    assert box["x"] + box["width"] <= form["x"] + form["width"] + 1


@pytest.mark.parametrize("view", VIEWS)
async def test_the_page_lists_the_accepted_files_and_refuses_others_below_the_field(
    browser: Browser, host: RunningHost, ada: ToolClient, view: str
) -> None:
    async with opened(browser, await _link(ada), view) as page:
        await expect(page).to_have_title("Upload an image · Pressroom")
        await expect(page.get_by_role("banner")).to_contain_text("Pressroom")
        await expect(page.get_by_text("One PNG file of at most")).to_be_visible()
        assert await page.locator("#file").get_attribute("accept") == "image/png"
        await _fits(page)
        for name, content, problem in (
            ("notes.txt", b"no image", "That file is not a JPEG, PNG, GIF, WebP or AVIF image."),
            ("tea.jpg", image_bytes(40, 30), "That is a JPEG file, but this link takes only PNG (image/png)."),
            ("large.png", bytes(2_000_000), "choose a smaller one."),
        ):
            await _send(page, name, content)
            await expect(page.locator(".field-error")).to_contain_text(problem)
            await expect(page.locator("#file")).to_be_focused()
            await _fits(page)
        if VIEWS[view]["java_script_enabled"]:
            assert await violations(page) == []
        await _send(page, "harbour.png", image_bytes(300, 200, "PNG"))
        await expect(page.get_by_role("heading", level=1)).to_have_text("Image uploaded")
        image = page.get_by_role("img", name="The image that you uploaded")
        await expect(image).to_be_visible()
        if VIEWS[view]["java_script_enabled"]:
            assert await image.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 300
            assert await violations(page) == []


@pytest.mark.parametrize("scripting", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_the_expiry_of_a_link_is_in_the_time_zone_of_the_visitor(
    browser: Browser, host: RunningHost, ada: ToolClient, scripting: bool
) -> None:
    context = await browser.new_context(
        timezone_id="Asia/Kathmandu",
        locale="en-GB",
        java_script_enabled=scripting,
        viewport={"width": 390, "height": 844},
    )
    page = await context.new_page()
    await page.goto(await _link(ada))
    time = page.locator("time")
    until = datetime.fromisoformat(await time.get_attribute("datetime") or "")
    local = until.astimezone(ZoneInfo("Asia/Kathmandu"))
    # If the local date differs, it precedes the time.
    await expect(time).to_have_text(
        re.compile(f"{local:%H:%M}$") if scripting else f"{until.astimezone(UTC):%H:%M} UTC"
    )
    await context.close()


@pytest.mark.parametrize("view", VIEWS)
async def test_a_used_link_is_explained_with_a_way_forward(
    browser: Browser, host: RunningHost, ada: ToolClient, view: str
) -> None:
    url = await _link(ada)
    async with opened(browser, url, view) as page:
        await _send(page, "harbour.png", image_bytes(30, 20, "PNG"))
        await page.goto(url)
        await expect(page.get_by_role("heading", level=1)).to_have_text("This link no longer works")
        await expect(page.get_by_role("alert")).to_contain_text("already used or has expired; ask for a new one.")
        assert await page.locator("main form").count() == 0
        if VIEWS[view]["java_script_enabled"]:
            assert await violations(page) == []
        await page.get_by_role("link", name="Upload in the media library").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
