"""Images that are dropped on the text of an article, and formatted text that is pasted, in a real browser."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import Page, expect
from support.written_articles import Work

from .conftest import ARTICLES, tool

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

_DROP = """async (area, files) => {
  const canvas = new OffscreenCanvas(8, 8);
  canvas.getContext("2d").fillRect(0, 0, 8, 8);
  const image = await canvas.convertToBlob();
  const dataTransfer = new DataTransfer();
  for (const [name, type, isImage] of files) {
    dataTransfer.items.add(new File([isImage ? image : "no image"], name, {type}));
  }
  area.setSelectionRange(area.value.length, area.value.length);
  return area.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer}));
}"""


_COPY = """([html, text]) => navigator.clipboard.write([new ClipboardItem({
  "text/html": new Blob([html], {type: "text/html"}), "text/plain": new Blob([text], {type: "text/plain"}),
})])"""


async def test_images_can_be_dropped_on_the_text(page: Page) -> None:
    await page.goto(f"{ARTICLES}/new/edit")
    text = page.get_by_label("Text (Markdown)")
    await text.fill("Before.\n\n")
    await text.evaluate(_DROP, [["old_boat [1].png", "image/png", True], ["a boat.png", "image/png", False]])
    await expect(text).to_have_value(re.compile(r"^Before\.\n\n!\[old boat 1\]\(http://\S+/media/m_\w+/old\S*\)$"))
    await expect(page.get_by_text("a boat.png: ")).to_contain_text("JPEG, PNG")
    image = page.frame_locator("iframe[title=Preview]").get_by_role("img", name="old boat 1")
    await expect(image).to_have_js_property("naturalWidth", 8)


async def test_a_dropped_image_can_be_undone_and_redone(page: Page) -> None:
    await page.goto(f"{ARTICLES}/new/edit")
    body = page.get_by_label("Text (Markdown)")
    await body.press_sequentially("Before. ")
    await body.evaluate(_DROP, [["plum.png", "image/png", True]])
    await expect(body).to_have_value(re.compile(r"^Before\. !\[plum\]\([^)]+\)$"))
    with_image = await body.input_value()
    await body.press("Control+z")
    await expect(body).to_have_value("Before. ")
    await body.press("Control+Shift+z")
    await expect(body).to_have_value(with_image)
    await page.keyboard.type(" After.")
    await body.press("Control+z")
    await body.press("Control+z")
    await expect(body).to_have_value("Before. ")
    await body.fill("")  # no draft is left behind


async def test_formatted_text_is_pasted_as_markdown_and_can_be_undone(page: Page) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(f"{ARTICLES}/new/edit")
    body = page.get_by_label("Text (Markdown)")
    await body.fill("Before.")
    text = "Plums\nPlums are sweet, says Ann.\nBoil them."
    html = "<h2>Plums</h2><p>Plums are <b>sweet</b>, says <a href='https://example.com/'>Ann</a>.</p><p>Boil them.</p>"
    markdown = "Before.\n\n## Plums\n\nPlums are **sweet**, says [Ann](https://example.com/).\n\nBoil them."
    await page.evaluate(_COPY, [html, text])
    await body.press("Control+End")
    await body.press("Control+v")
    await expect(body).to_have_value(markdown)
    await body.press("Control+z")
    await expect(body).to_have_value(f"Before.{text}")
    await body.press("Control+Shift+z")
    await expect(body).to_have_value(markdown)
    # The HTML that code editors copy has no formatting.
    await page.evaluate(_COPY, ["<pre>a * b</pre>", "\na * b"])
    await body.press("Control+v")
    await expect(body).to_have_value(f"{markdown}\na * b")
    await body.fill("")  # no draft is left behind


async def test_each_file_that_is_not_added_is_named(page: Page) -> None:
    await page.goto(f"{ARTICLES}/new/edit")
    text = page.get_by_label("Text (Markdown)")
    files = [["a.png", "image/png", False], ["notes.pdf", "application/pdf", False], ["b.png", "image/png", False]]
    await text.evaluate(_DROP, files)
    problems = page.locator("[data-image-problem]")
    for problem in ("notes.pdf: Not added, because it is not an image.", "a.png: That file", "b.png: That file"):
        await expect(problems).to_contain_text(problem)
    assert await text.evaluate(f"area => ({_DROP})(area, [['notes.pdf', 'application/pdf', false]])") is False
    await expect(problems).to_have_text("notes.pdf: Not added, because it is not an image.")


async def test_saving_waits_for_image_uploads(page: Page, work: Work) -> None:
    article_id = (await tool(work, "create_content", title="Sloe jam", body="Sloes."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    text, requested, go_on = page.get_by_label("Text (Markdown)"), asyncio.Event(), asyncio.Event()

    async def held(route: Any) -> None:
        requested.set()
        await go_on.wait()
        await route.continue_()

    await page.route("**/dashboard/media", held)
    await text.evaluate(_DROP, [["image.png", "image/png", True]])
    await text.evaluate(_DROP, [["image.png", "image/png", False], ["last.png", "image/png", True]])
    await requested.wait()
    await page.keyboard.press("Control+s")
    await expect(page.get_by_text("This will be saved when the images are uploaded")).to_be_visible()
    go_on.set()
    await expect(page.get_by_text("image.png: ")).to_contain_text("JPEG, PNG")
    await expect(text).to_have_value(re.compile(r"^Sloes\.!\[image\]\(\S+\)!\[last\]\(\S+\)$"))
    assert (await tool(work, "get_content", content_id=article_id))["body"] == "Sloes."

    go_on.clear()
    await text.evaluate(_DROP, [["sugar.png", "image/png", True]])
    await page.get_by_role("button", name="Save", exact=True).click(no_wait_after=True)
    go_on.set()
    await expect(page.locator("p.notice")).to_contain_text("Saved as version 2")
    assert re.search(
        r"!\[last\]\(\S+\)!\[sugar\]\(\S+\)$", (await tool(work, "get_content", content_id=article_id))["body"]
    )


async def test_a_restored_draft_has_no_placeholder_for_an_unfinished_upload(page: Page, work: Work) -> None:
    article_id = (await tool(work, "create_content", title="Bilberry jam", body="Bilberries."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    text = page.get_by_label("Text (Markdown)")
    await page.route("**/dashboard/media", lambda route: None)
    await text.fill("Bilberries and sugar. ")
    await text.evaluate(_DROP, [["image.png", "image/png", True]])
    await expect(text).to_have_value("Bilberries and sugar. [Uploading image …]")
    await page.reload()
    await expect(text).to_have_value("Bilberries and sugar. ")
    await page.get_by_role("button", name="Discard it").click()


async def test_an_image_is_inserted_where_it_is_dropped(page: Page, tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "boat.png")
    await page.goto(f"{ARTICLES}/new/edit")
    text = page.get_by_label("Text (Markdown)")
    await text.fill("After it.")
    await text.select_text()
    box = await text.bounding_box()
    assert box
    data = {"items": [], "files": [str(tmp_path / "boat.png")], "dragOperationsMask": 1}
    at_the_beginning = {"x": box["x"] + 4, "y": box["y"] + 20, "data": data}
    session = await page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        await session.send("Input.dispatchDragEvent", {"type": kind, **at_the_beginning})
    await expect(text).to_have_value(re.compile(r"^!\[boat\]\(http://\S+/media/m_\w+/boat\S*\)After it\.$"))
    await text.fill("")  # nothing is left behind as a draft
