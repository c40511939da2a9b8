"""Dropping several images on the media library, with and without the page's script."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, FilePayload, Page, Route, expect
from pressroom.testing import RunningHost
from support.axe import violations
from support.browser_fixtures import browser
from support.tool_client import ToolClient

from .providers import image_bytes

__all__ = ["browser"]

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

PATH = "/dashboard/media"


def _file(name: str, media_type: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": media_type, "buffer": content}


async def library(browser: Browser, host: RunningHost, ada: ToolClient, *, scripting: bool, width: int = 1280) -> Page:
    context = await browser.new_context(java_script_enabled=scripting, viewport={"width": width, "height": 800})
    token = await asyncio.to_thread(lambda: host.run(host.host.accounts.sessions.start(ada.user_id)))
    await context.add_cookies([{"name": "pressroom_session", "value": token, "url": host.url}])
    page = await context.new_page()
    await page.goto(f"{host.url}{PATH}")
    return page


async def test_several_files_are_uploaded_and_a_refused_one_shows_the_reason(
    browser: Browser, host: RunningHost, ada: ToolClient, tmp_path: Path
) -> None:
    page = await library(browser, host, ada, scripting=True, width=390)
    files = page.get_by_label("Drop JPEG, PNG, GIF, WebP or AVIF files here")
    good = [_file(f"{number}.jpg", "image/jpeg", image_bytes(60 + number, 40)) for number in range(2)]
    await files.set_input_files(good)
    rows = page.locator("section[aria-labelledby=library] .row-title a")
    await expect(rows).to_have_count(2)
    assert await violations(page) == []
    await files.set_input_files([_file("notes.txt", "text/plain", b"no image")])
    await expect(page.locator("[data-drop-list] .field-error")).to_contain_text("JPEG")
    with (tmp_path / "huge.jpg").open("wb") as huge:  # Playwright would encode its bytes as text, its path is enough
        huge.truncate(20 * 1024**2)
    await files.set_input_files([tmp_path / "huge.jpg"])
    await expect(page.get_by_text("That file has 20.0 MiB; an image may have ")).to_be_visible()
    await expect(rows).to_have_count(2)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    await page.context.close()


async def test_refused_files_stay_listed_while_others_are_added(
    browser: Browser, host: RunningHost, ada: ToolClient
) -> None:
    page = await library(browser, host, ada, scripting=True, width=390)
    files = page.get_by_label("Drop JPEG, PNG, GIF, WebP or AVIF files here")
    rows = page.locator("section[aria-labelledby=library] .row-title a")
    count = await rows.count()
    odd = f"{'n' * 200}.png"
    await files.set_input_files(
        [
            _file("boat.jpg", "image/jpeg", image_bytes(33, 44)),
            _file(odd, "image/png", b"no image"),
            _file("quay.jpg", "image/jpeg", image_bytes(34, 45)),
        ]
    )
    await expect(rows).to_have_count(count + 2)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    await page.get_by_text("Edit the alt text of boat.jpg").click()
    await page.get_by_label("Alt text").filter(visible=True).fill("A boat")

    await files.set_input_files([_file("pier.jpg", "image/jpeg", image_bytes(35, 46))])
    await expect(rows).to_have_text(["pier.jpg", "quay.jpg", "boat.jpg", *(await rows.all_inner_texts())[3:]])
    await expect(page.locator("[data-drop-list] li", has_text=odd)).to_contain_text("That file is not a JPEG")
    await expect(page.get_by_label("Alt text").filter(visible=True)).to_have_value("A boat")
    await page.context.close()


async def test_files_that_are_not_uploaded_say_why(
    browser: Browser, host: RunningHost, ada: ToolClient, tmp_path: Path
) -> None:
    page = await library(browser, host, ada, scripting=True)
    requested, go_on = asyncio.Event(), asyncio.Event()

    async def held(route: Route) -> None:
        requested.set()
        await go_on.wait()
        await route.continue_()

    await page.route(f"**{PATH}", held)
    for name in ("first.jpg", "moved.jpg"):
        (tmp_path / name).write_bytes(image_bytes(36, 47))
    files = page.get_by_label("Drop JPEG, PNG, GIF, WebP or AVIF files here")
    await files.set_input_files([tmp_path / "first.jpg", tmp_path / "moved.jpg"])
    await requested.wait()
    (tmp_path / "moved.jpg").unlink()
    await page.context.clear_cookies()
    go_on.set()
    rows = page.locator("[data-drop-list] li")
    await expect(rows.nth(1)).to_contain_text("That file cannot be read. It may be empty or a folder")
    # The session ended.
    await expect(rows.nth(0)).to_contain_text("The upload was refused. Reload this page, then try again.")
    await page.context.close()


async def test_without_javascript_there_is_an_upload_button(
    browser: Browser, host: RunningHost, ada: ToolClient
) -> None:
    page = await library(browser, host, ada, scripting=False)
    assert not await page.locator("[data-drop]").is_visible()
    await page.get_by_role("button", name="Upload an image").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Upload an image")
    await page.context.close()
