"""Dashboard pages of the content plugins, in a browser without JavaScript, with accessibility checks."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from typing import Literal

import pytest
from PIL import Image
from playwright.async_api import Browser, expect
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.axe import violations
from support.people import add_person

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

PATH = "/dashboard/media"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"builtin_plugins": False, "plugins": {"content": {}, "images": {}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def person(host: RunningHost) -> User:
    return add_person(host)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_an_image_is_uploaded_and_described(
    browser: Browser, host: RunningHost, person: User, scheme: Literal["light", "dark"]
) -> None:
    token = await asyncio.to_thread(lambda: host.run(host.host.accounts.sessions.start(person.id)))
    cookie = {"name": "pressroom_session", "value": token, "url": host.url}
    plain = await browser.new_context(java_script_enabled=False)
    await plain.add_cookies([cookie])  # type: ignore[list-item]
    page = await plain.new_page()
    await page.goto(host.url + PATH)
    await page.get_by_role("button", name="Upload an image").click()
    image = io.BytesIO()
    Image.linear_gradient("L").resize((640, 400)).save(image, "PNG")
    file = {"name": f"{scheme} harbour.png", "mimeType": "image/png", "buffer": image.getvalue()}
    await page.get_by_label("Image", exact=True).set_input_files(file)  # type: ignore[arg-type]
    await page.get_by_role("button", name="Upload").click()
    await expect(page.get_by_role("heading", name="Image uploaded")).to_be_visible()
    await page.goto(host.url + PATH)
    await page.get_by_text("Edit the alt text").first.click()
    await page.get_by_label("Alt text").first.fill("Boats at dusk")
    await page.get_by_role("button", name="Save").first.click()
    await expect(page.get_by_text("The alt text is saved.")).to_be_visible()
    await plain.close()

    context = await browser.new_context(color_scheme=scheme)
    await context.add_cookies([cookie])  # type: ignore[list-item]
    page = await context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    await page.goto(host.url + PATH)
    await expect(page.get_by_role("img", name="Boats at dusk").first).to_be_visible()
    for width in (320, 390, 768, 1280):
        await page.set_viewport_size({"width": width, "height": 800})
        assert await page.evaluate("document.documentElement.scrollWidth") == width
    assert complaints == []
    await page.get_by_text("Edit the alt text").first.click()
    # With scripts, images can be dropped on the page itself.
    await expect(page.get_by_role("region", name="Add images")).to_be_visible()
    upload = page.get_by_role("button", name="Upload an image", include_hidden=True)
    await expect(upload).to_be_hidden()
    assert await violations(page) == []
    await upload.evaluate("button => button.form.requestSubmit(button)")
    await expect(page.get_by_label("Image", exact=True)).to_be_visible()
    assert await violations(page) == []
    await context.close()
