"""Writing and publishing by hand in a real browser: with and without scripts, by keyboard, on a phone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio
from PIL import Image
from playwright.async_api import Browser, BrowserContext, Page, expect
from pressroom.testing import RunningHost
from pressroom_content.articles import trash
from pressroom_content.tables import ArticleRow
from sqlalchemy import update
from support.axe import violations
from support.standin_platform import StandInPlatform
from support.written_articles import Work

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

ARTICLES = "/dashboard/articles"
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


async def signed_in(browser: Browser, host: RunningHost, work: Work, **options: Any) -> BrowserContext:
    token = await asyncio.to_thread(lambda: host.run(host.host.accounts.sessions.start(work.client.user_id)))
    context = await browser.new_context(base_url=host.url, **options)
    await context.add_cookies([{"name": "pressroom_session", "value": token, "url": host.url}])
    return context


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, host: RunningHost, work: Work) -> AsyncIterator[Page]:
    """A page in a browser with scripts; console messages fail the test, except those about 40x responses."""
    context = await signed_in(browser, host, work)
    opened = await context.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    yield opened
    await context.close()
    assert [complaint for complaint in complaints if not re.search(r"status of 40\d\b", complaint)] == []


@pytest_asyncio.fixture(loop_scope="module")
async def plain(browser: Browser, host: RunningHost, work: Work) -> AsyncIterator[Page]:
    """A page in a browser without JavaScript."""
    context = await signed_in(browser, host, work, java_script_enabled=False)
    yield await context.new_page()
    await context.close()


async def tool(work: Work, name: str, **arguments: Any) -> Any:
    return await asyncio.to_thread(lambda: work.client.data(name, **arguments))


async def test_an_article_is_written_with_a_preview_using_only_the_keyboard(page: Page, work: Work) -> None:
    await page.goto(ARTICLES)
    await page.get_by_role("link", name="New article").press("Enter")
    await page.get_by_label("Title", exact=True).press_sequentially("Plum jam")
    await page.keyboard.press("Tab")
    await page.keyboard.type("Plums are **sweet**.\n\n<script>alert(1)</script>")
    text = page.frame_locator("iframe[title=Preview]")
    await expect(text.locator("strong")).to_have_text("sweet")
    await expect(page.get_by_text("Left out for safety")).to_be_visible()
    assert await text.locator("script").count() == 0
    await expect(page.get_by_role("button", name="Preview")).to_be_hidden()
    await page.keyboard.press("Control+s")
    await expect(page.locator("p.notice")).to_contain_text("stored as a draft")
    article = await tool(work, "get_content", content_id=page.url.split("/")[-2])
    assert article["content"]["title"] == "Plum jam"
    assert article["body"].startswith("Plums are **sweet**.")


async def test_the_preview_aligns_table_columns(page: Page) -> None:
    await page.goto(f"{ARTICLES}/new/edit")
    await page.get_by_label("Text (Markdown)").fill("| Part | Wheels | Price |\n|---|:---:|---:|\n| Mill | 12 | 9 |\n")
    cells = page.frame_locator("iframe[title=Preview]").locator("th, td")
    await expect(cells).to_have_count(6)
    alignments = await cells.evaluate_all("(cells) => cells.map((one) => getComputedStyle(one).textAlign)")
    assert [alignment.removeprefix("-webkit-") for alignment in alignments] == ["start", "center", "right"] * 2


async def test_the_newest_text_is_shown_whichever_response_arrives_last(page: Page) -> None:
    await page.goto(f"{ARTICLES}/new/edit")
    first, go_on = asyncio.Event(), asyncio.Event()

    async def held(route: Any) -> None:
        if not first.is_set():
            first.set()
            await go_on.wait()
        await route.continue_()

    await page.route("**/preview", held)
    body, text = page.get_by_label("Text (Markdown)"), page.frame_locator("iframe[title=Preview]")
    await body.fill("An old text.")
    await first.wait()
    await body.fill("The newest text.")
    go_on.set()
    await expect(text.get_by_text("The newest text.")).to_be_visible()
    await body.fill("")  # no draft is left behind
    await page.unroute("**/preview")


async def test_the_preview_of_a_deleted_article_says_so(page: Page, work: Work) -> None:
    article_id = (await tool(work, "create_content", title="Sorb jam", body="Sorbs."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    await tool(work, "delete_content", content_id=article_id, confirm=True)
    await asyncio.to_thread(lambda: work.client.host.run(emptied_trash(work, article_id)))
    body = page.get_by_label("Text (Markdown)")
    await body.fill("Sorbs, written for hours.")
    await expect(page.get_by_text("This article was deleted. Your text is kept in this browser.")).to_be_visible()
    await expect(body).to_have_value("Sorbs, written for hours.")


async def emptied_trash(work: Work, article_id: str) -> None:
    """Delete an article for good, as if it had been in the trash for a month."""
    plugin = work.client.plugin
    async with plugin.services.database.writing() as session:
        old = (
            update(ArticleRow)
            .where(ArticleRow.id == article_id)
            .values(trashed_at=datetime.now(UTC) - timedelta(days=31))
        )
        await session.execute(old)
    assert await trash.remove_old(plugin) == 1


async def test_text_typed_after_a_stopped_submission_is_kept(page: Page, work: Work) -> None:
    """The connection hangs, the person presses the browser's Stop button, and continues to write."""
    article_id = (await tool(work, "create_content", title="Haw jam", body="Haws."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    body, sent, stopped = page.get_by_label("Text (Markdown)"), asyncio.Event(), asyncio.Event()

    async def held(route: Any) -> None:
        if route.request.method == "POST":
            sent.set()
            await stopped.wait()
            await route.abort("aborted")
        else:
            await route.continue_()

    await page.route("**/edit", held)
    await body.fill("Haws and sugar.")
    await page.get_by_role("button", name="Save", exact=True).click(no_wait_after=True)
    await sent.wait()
    await (await page.context.new_cdp_session(page)).send("Page.stopLoading")
    stopped.set()
    await body.fill("Haws, sugar and cloves.")
    await page.reload()
    await expect(body).to_have_value("Haws, sugar and cloves.")
    await page.get_by_role("button", name="Discard it").click()


async def test_text_typed_while_the_article_is_being_saved_is_kept(page: Page, work: Work) -> None:
    article_id = (await tool(work, "create_content", title="Bilberry jam", body="Bilberries."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    body, title = page.get_by_label("Text (Markdown)"), page.get_by_label("Title", exact=True)
    sent, go_on = asyncio.Event(), asyncio.Event()

    async def held(route: Any) -> None:
        if route.request.method == "POST":
            sent.set()
            await go_on.wait()
        await route.continue_()

    await page.route("**/edit", held)
    await title.fill("Bilberry jelly ")
    await body.press("Control+End")
    await page.keyboard.type(" Sugar.")
    await page.keyboard.press("Control+s")
    await sent.wait()
    await page.keyboard.type(" Cloves.")
    go_on.set()
    await page.wait_for_url("**/edit?done=saved")
    await page.unroute("**/edit")
    await expect(page.locator("p.notice")).to_contain_text("Saved as version 2")
    await expect(body).to_have_value("Bilberries. Sugar. Cloves.")
    await expect(page.get_by_text("Your unsaved text from")).to_be_visible()
    await page.keyboard.type(" Rum.")
    await page.keyboard.press("Control+s")
    await expect(page.locator("p.notice")).to_contain_text("Saved as version 3")
    stored = await tool(work, "get_content", content_id=article_id)
    assert stored["body"] == "Bilberries. Sugar. Cloves. Rum."
    assert stored["content"]["title"] == "Bilberry jelly"
    assert await page.evaluate(f"Object.keys(localStorage).filter(key => key.includes('{article_id}'))") == []


async def test_saving_without_a_connection_leaves_the_text_in_the_editor(page: Page, work: Work) -> None:
    article_id = (await tool(work, "create_content", title="Currant jam", body="Currants."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    # Typing a title requests no preview, which would report an error to the console.
    await page.get_by_label("Title", exact=True).fill("Red currant jam")
    await page.context.set_offline(True)
    await page.keyboard.press("Control+s")
    await expect(page.get_by_text("Not saved: no connection. Your text is kept in this browser.")).to_be_visible()
    await expect(page.get_by_label("Title", exact=True)).to_have_value("Red currant jam")
    await page.context.set_offline(False)
    await page.keyboard.press("Control+s")
    await expect(page.locator("p.notice")).to_contain_text("Saved as version 2")
    assert (await tool(work, "get_content", content_id=article_id))["content"]["title"] == "Red currant jam"


async def test_saving_with_the_keyboard_keeps_the_caret_where_it_was(page: Page, work: Work) -> None:
    text = "\n\n".join(f"Step {number} of the recipe." for number in range(200))
    article_id = (await tool(work, "create_content", title="Long recipe", body=text))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    body = page.get_by_label("Text (Markdown)")
    position = text.index("Step 120")
    await body.evaluate("(area, at) => { area.focus(); area.setSelectionRange(at, at); }", position)
    await page.keyboard.type("Next: ")
    top = await body.evaluate("(area) => area.scrollTop")
    await page.keyboard.press("Control+s")
    await page.wait_for_url("**/edit?done=saved")
    await expect(body).to_be_focused()
    assert await body.evaluate("(area) => area.selectionEnd") == position + len("Next: ")
    assert await body.evaluate("(area) => area.scrollTop") == top > 0
    await expect(page.locator(".writing-bar")).to_contain_text("Saved as version 2")


async def test_back_shows_the_newest_version_and_leaves_the_page_at_once(page: Page, work: Work) -> None:
    """The browser would fill in the text of the earlier visit; saving it would overwrite what somebody else saved."""
    article_id = (await tool(work, "create_content", title="Quince jam", body="Quinces."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    body, preview = page.get_by_label("Text (Markdown)"), page.frame_locator("iframe[title=Preview]")
    for text in ("Ripe quinces.", "Ripe quinces, peeled."):
        await body.fill(text)
        await expect(preview.get_by_text(text, exact=True)).to_be_visible()
    await page.get_by_role("button", name="Save", exact=True).click()
    await page.wait_for_url("**/edit?done=saved")
    await tool(work, "update_content", content_id=article_id, expected_version=2, fields={"body": "Their quinces."})
    await page.go_back()
    await page.wait_for_url(f"**/{article_id}/edit")
    await expect(body).to_have_value("Their quinces.")
    await expect(page.locator("[data-kept]")).to_be_empty()


async def test_discarding_my_version_discards_what_i_typed_after_the_conflict(page: Page, work: Work) -> None:
    article_id = (await tool(work, "create_content", title="Mirabelle jam", body="Mirabelles."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    await tool(work, "update_content", content_id=article_id, expected_version=1, fields={"body": "Theirs."})
    body = page.get_by_label("Text (Markdown)")
    await body.fill("Mine.")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("heading", name="changed the article in the meantime")).to_be_visible()
    await body.fill("Mine, continued.")
    await page.get_by_role("link", name="Keep theirs, discard mine").click()
    await page.wait_for_load_state()
    await expect(body).to_have_value("Theirs.")
    await expect(page.get_by_text("Your unsaved text from")).to_be_hidden()


async def test_a_draft_survives_leaving_the_page_and_the_session(page: Page, host: RunningHost, work: Work) -> None:
    article_id = (await tool(work, "create_content", title="Pear jam", body="Pears."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    await page.get_by_label("Text (Markdown)").fill("Pears, written for hours.")
    await page.goto(ARTICLES)
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    await expect(page.get_by_text("Your unsaved text from")).to_be_visible()
    await expect(page.get_by_label("Text (Markdown)")).to_have_value("Pears, written for hours.")

    cookies = await page.context.cookies()
    await page.context.clear_cookies()
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("heading", name="Sign in to continue")).to_be_visible()
    assert await violations(page) == []
    await page.context.add_cookies(cookies)  # type: ignore[arg-type]
    await page.get_by_role("button", name="Continue").click()
    await page.get_by_role("button", name="Send it now").click()
    await expect(page.locator("p.notice")).to_contain_text("Saved as version 2")
    assert (await tool(work, "get_content", content_id=article_id))["body"] == "Pears, written for hours."

    await page.get_by_label("Text (Markdown)").fill("Never mind.")
    await page.reload()
    await page.get_by_role("button", name="Discard it").click()
    await expect(page.get_by_label("Text (Markdown)")).to_have_value("Pears, written for hours.")


async def test_each_tab_has_a_separate_draft(page: Page) -> None:
    """Two new articles are written at the same time; a crash keeps both, and neither appears in the wrong tab."""
    first, second = page, await page.context.new_page()
    for tab, title in ((first, "Rowan jelly"), (second, "Sloe gin")):
        await tab.goto(f"{ARTICLES}/new/edit")
        await tab.get_by_label("Title", exact=True).fill(title)
        await expect(tab.get_by_text("Unsaved, kept in this browser")).to_be_visible()
    for tab, title in ((first, "Rowan jelly"), (second, "Sloe gin")):
        await tab.reload()
        await expect(tab.get_by_label("Title", exact=True)).to_have_value(title)
        await expect(tab.get_by_text("Your unsaved text from")).to_be_visible()
    # Closed as in a crash: the page is not notified.
    await second.close(run_before_unload=False)
    third = await page.context.new_page()
    await third.goto(f"{ARTICLES}/new/edit")
    offer = third.get_by_role("status").filter(has_text="Unsaved text of yours")
    await expect(offer).to_contain_text("Sloe gin")
    await expect(offer).not_to_contain_text("Rowan jelly")
    await expect(third.get_by_label("Title", exact=True)).to_have_value("")
    assert await violations(third) == []
    await third.get_by_label("Title", exact=True).fill("Damson cheese")
    await third.get_by_role("button", name="Continue with it: Sloe gin").click()
    await expect(third.get_by_label("Title", exact=True)).to_have_value("Sloe gin")
    await expect(offer).to_be_hidden()
    # The text written meanwhile is a draft as well, and a new article starts empty.
    await third.goto(f"{ARTICLES}/new/edit")
    await expect(third.get_by_label("Title", exact=True)).to_have_value("")
    await expect(offer).to_contain_text("Damson cheese")
    await expect(offer).to_contain_text("Sloe gin")
    for title in ("Damson cheese", "Sloe gin"):
        await third.get_by_role("button", name=f"Discard it: {title}").click()
    await third.close()
    await first.get_by_role("button", name="Save as draft").click()
    await expect(first.locator("p.notice")).to_contain_text("stored as a draft")
    await first.goto(f"{ARTICLES}/new/edit")
    await expect(first.get_by_label("Text (Markdown)")).to_be_visible()
    assert await first.evaluate("Object.keys(localStorage).filter(key => key.includes('/new'))") == []


async def test_a_draft_of_an_older_version_is_offered(page: Page, work: Work) -> None:
    article_id = (await tool(work, "create_content", title="Medlar jam", body="Medlars."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    await page.get_by_label("Text (Markdown)").fill("Medlars, bletted.")
    await tool(work, "update_content", content_id=article_id, expected_version=1, fields={"body": "Ripe medlars."})
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    await expect(page.get_by_role("button", name="Continue with it: Medlar jam")).to_be_visible()
    await expect(page.get_by_label("Text (Markdown)")).to_have_value("Ripe medlars.")
    await page.get_by_role("button", name="Continue with it: Medlar jam").click()
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("heading", name="changed the article in the meantime")).to_be_visible()
    await expect(page.get_by_label("Text (Markdown)")).to_have_value("Medlars, bletted.")


async def test_a_conflict_with_a_second_writer_is_shown_and_resolved(page: Page, work: Work) -> None:
    article_id = (await tool(work, "create_content", title="Fig jam", body="Figs.\n\nSugar."))["content_id"]
    await page.goto(f"{ARTICLES}/{article_id}/edit")
    await tool(
        work, "update_content", content_id=article_id, expected_version=1, fields={"body": "Ripe figs.\n\nSugar."}
    )
    await page.get_by_label("Text (Markdown)").fill("My figs.\n\nSugar.")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("heading", name="changed the article in the meantime")).to_be_visible()
    await expect(page.get_by_role("row", name="added Ripe figs.")).to_be_visible()
    await expect(page.get_by_label("Text (Markdown)")).to_have_value("My figs.\n\nSugar.")
    assert await violations(page) == []
    await page.get_by_role("link", name="Keep theirs, discard mine").click()
    await expect(page.get_by_label("Text (Markdown)")).to_have_value("Ripe figs.\n\nSugar.")
    await expect(page.get_by_text("Your unsaved text from")).to_be_hidden()


async def test_text_that_is_too_long_is_not_submitted_and_stays_in_the_form(page: Page) -> None:
    await page.goto(f"{ARTICLES}/new/edit")
    await page.get_by_label("Title", exact=True).fill("A book")
    await page.get_by_label("Text (Markdown)").evaluate(
        "area => { area.value = `${'word '.repeat(19)}1234\\n`.repeat(22000); }"
    )
    await page.get_by_role("button", name="Save as draft").click()
    await expect(page.get_by_text("The text has 2,200,000 bytes; an article may have 2,097,152.")).to_be_visible()
    assert await page.get_by_label("Text (Markdown)").evaluate("area => area.value.length") == 2_200_000
    await expect(page.get_by_text("Too long to be saved")).to_be_in_viewport()
    await expect(page.get_by_text("Not shown: the text is too long.")).to_be_visible()


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


async def test_an_article_is_written_without_javascript(plain: Page, work: Work) -> None:
    await plain.goto(ARTICLES)
    await plain.get_by_role("link", name="New article").click()
    await plain.get_by_label("Title", exact=True).fill("Quince jam")
    await plain.get_by_label("Text (Markdown)").fill("Quinces are *hard*.")
    await plain.get_by_role("button", name="Preview").click()
    await expect(plain.frame_locator("iframe[title=Preview]").locator("em")).to_have_text("hard")
    await plain.get_by_role("heading", name="Featured image").click()
    await plain.get_by_role("radio", name="starter.png").check()
    await plain.get_by_label("Alt text").fill("A jar")
    await plain.get_by_role("button", name="Save as draft").click()
    await expect(plain.locator("p.notice")).to_contain_text("stored as a draft")
    article = await tool(work, "get_content", content_id=plain.url.split("/")[-2])
    assert article["content"]["featured_alt"] == "A jar"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_pages_are_accessible_and_fit_every_screen(
    browser: Browser, host: RunningHost, work: Work, scheme: Literal["light", "dark"]
) -> None:
    context = await signed_in(browser, host, work, color_scheme=scheme)
    page = await context.new_page()
    publish = f"publications/{work.site}"
    for path in ("new/edit", *(f"{id_}/{name}" for id_ in (work.good, work.long) for name in ("edit", publish))):
        await page.goto(f"{ARTICLES}/{path}")
        for details in await page.locator("main details").all():
            await details.evaluate("element => element.open = true")
        for width in (320, 390, 768, 1280):
            await page.set_viewport_size({"width": width, "height": 800})
            assert await page.evaluate("document.documentElement.scrollWidth") == width, (path, width)
        assert await violations(page) == [], path
    await context.close()


async def test_an_article_is_published_and_its_steps_are_followed(page: Page, work: Work) -> None:
    await page.goto(f"{ARTICLES}/new/edit")
    await page.get_by_label("Title", exact=True).fill("Apple   jam")
    await page.get_by_label("Text (Markdown)").fill("Apples.")
    await page.get_by_label("Website", exact=True).select_option("The kitchen table")
    await page.get_by_role("button", name="Save and publish").click()
    await expect(page.get_by_text("The article is saved.")).to_be_visible()
    publish = page.url
    await page.goto(publish.partition("/publications")[0] + "/edit")
    # The typed text is not a draft once it is saved.
    await expect(page.get_by_label("Title", exact=True)).to_have_value("Apple jam")
    await expect(page.get_by_text("Your unsaved text")).to_be_hidden()
    await page.goto(publish)
    await page.get_by_role("button", name="Publish now").click()
    await expect(page.get_by_text("Done.")).to_be_visible()
    await expect(page.locator(".publication .panel-head .badge")).to_have_text("published")
    await expect(page.locator(".article-head .badge")).to_have_text("published")
    await page.get_by_role("link", name="/sites/the-kitchen-table/").click()
    await expect(page.get_by_role("heading", name="Apple jam")).to_be_visible()


async def test_an_article_is_published_without_javascript(plain: Page, work: Work, platform: StandInPlatform) -> None:
    article_id = (await tool(work, "create_content", title="Cherry jam", body="Cherries."))["content_id"]
    await plain.goto(f"{ARTICLES}/{article_id}/publications/{work.other_site}")
    await plain.get_by_role("button", name="Publish now").click()
    await expect(plain.locator(".publication .panel-head .badge")).to_have_text("published")
    assert [post["state"] for post in platform.posts.values() if post["title"] == "Cherry jam"] == ["live"]


async def scheduled(work: Work, title: str, days: int) -> tuple[str, str]:
    """Schedule a new article at 10:00 in Berlin on a day of the month after `work.at`.

    Return the IDs of the article and its publication.
    """
    article_id = (await tool(work, "create_content", title=title, body="Jam."))["content_id"]
    at = f"{day_of(work, days)}T10:00:00"
    publication = await tool(work, "publish_content", content_id=article_id, website_id=work.site, publish_at=at)
    return article_id, publication["publication_id"]


def day_of(work: Work, days: int) -> str:
    """Return a day of the month after `work.at`, as an ISO date."""
    month = (work.at.replace(day=1) + timedelta(days=32)).replace(day=days)
    return f"{month:%Y-%m-%d}"


async def planned(work: Work, article_id: str) -> str:
    (publication,) = (await tool(work, "list_publications", content_id=article_id))["publications"]
    return str(publication["publish_at"])


async def test_a_post_is_dragged_to_another_day(page: Page, work: Work) -> None:
    tuesday = next(day for day in range(8, 15) if date.fromisoformat(day_of(work, day)).weekday() == 1)
    article_id, _ = await scheduled(work, "Dragged jam", tuesday)
    await page.goto(f"/dashboard/calendar?month={day_of(work, 1)[:7]}")
    entry = page.locator("[data-move]", has_text="Dragged jam")
    await entry.drag_to(page.locator(f'[data-day="{day_of(work, tuesday + 2)}"]'))
    await expect(page.locator("p.notice[role=status]")).to_contain_text("Rescheduled")
    await expect(page.locator(f'[data-day="{day_of(work, tuesday + 2)}"]')).to_contain_text("Dragged jam")
    assert (await planned(work, article_id)).startswith(f"{day_of(work, tuesday + 2)}T10:00:00+01:00")


@pytest.mark.parametrize("down", [True, False], ids=["down", "up"])
async def test_dragging_a_post_scrolls_to_a_day_outside_the_viewport(page: Page, work: Work, down: bool) -> None:
    begin, end = (4, 26) if down else (27, 3)
    title = f"Far jam {begin}"
    article_id, _ = await scheduled(work, title, begin)
    await page.set_viewport_size({"width": 1280, "height": 800})
    await page.goto(f"/dashboard/calendar?month={day_of(work, 1)[:7]}&tz=Europe/Berlin")
    entry = page.locator("[data-move]", has_text=title)
    day = page.locator(f'[data-day="{day_of(work, end)}"]')
    if not down:
        await entry.evaluate("(entry) => entry.scrollIntoView({ block: 'start' })")
    await expect(day).not_to_be_in_viewport()
    await entry.locator(".event-note").hover()
    await page.mouse.down()
    box = await day.bounding_box()
    assert box
    across, edge = box["x"] + box["width"] / 2, 790 if down else 10
    await page.mouse.move(across, 400, steps=5)
    async with asyncio.timeout(30):
        # A hand that drags something to the edge of the window is never quite still.
        while not 100 < box["y"] + box["height"] / 2 < 700:
            await page.mouse.move(across + 1, edge)
            await page.mouse.move(across, edge)
            box = await day.bounding_box()
            assert box
    await page.mouse.move(across, 400)
    box = await day.bounding_box()
    assert box
    await page.mouse.move(across, box["y"] + box["height"] / 2, steps=3)
    await page.mouse.up()
    await expect(page.locator("p.notice[role=status]")).to_contain_text("Rescheduled")
    await expect(day).to_contain_text(title)
    assert (await planned(work, article_id)).startswith(f"{day_of(work, end)}T10:00:00")


async def test_a_post_is_moved_and_published_with_the_keyboard_and_without_javascript(plain: Page, work: Work) -> None:
    article_id, _ = await scheduled(work, "Typed jam", 11)
    calendar = f"/dashboard/calendar?month={day_of(work, 1)[:7]}&tz=Europe/London"
    await plain.goto(calendar)
    day = plain.locator(f'[data-day="{day_of(work, 11)}"]')
    await day.locator("summary", has_text="Move Typed jam").press("Enter")
    await day.get_by_label("Day").fill(day_of(work, 12))
    await day.get_by_label("Time").fill("06:30")
    await day.get_by_role("button", name="Move", exact=True).press("Enter")
    await expect(plain.locator("p.notice[role=status]")).to_contain_text("Rescheduled")
    assert await planned(work, article_id) == f"{day_of(work, 12)}T07:30:00+01:00"

    day = plain.locator(f'[data-day="{day_of(work, 12)}"]')
    await day.locator("summary", has_text="Move Typed jam").click()
    await day.get_by_label("Day").fill("2020-02-02")
    await day.get_by_role("button", name="Move", exact=True).click()
    await expect(plain.get_by_role("alert")).to_contain_text("is in the past")
    await plain.goto(calendar)
    await day.locator("summary", has_text="Move Typed jam").click()
    await day.get_by_role("button", name="Publish now").click()
    await expect(plain.locator("p.notice[role=status]")).to_contain_text("Publishing has started")
    publication = await tool(work, "publish_content", content_id=article_id, website_id=work.site)
    assert publication["status"] == "published"


async def test_the_page_of_application_passwords_is_one_click_away(
    browser: Browser, host: RunningHost, work: Work
) -> None:
    context = await signed_in(browser, host, work)
    page = await context.new_page()
    await page.goto("/dashboard/websites")
    await page.get_by_label("Platform").select_option(label="Stand-in")
    await page.get_by_role("button", name="Connect").click()
    link = page.get_by_role("link", name="Open that page of your site")
    await expect(link).to_be_hidden()
    await page.get_by_label("URL of the site").fill("blog.example.com/news/")
    await expect(link).to_have_attribute("href", "https://blog.example.com/news/settings#token")
    await context.close()


async def test_the_colour_picker_and_the_accent_colour_field_stay_in_sync(page: Page, work: Work) -> None:
    await page.goto(f"/dashboard/websites/{work.site}")
    field, picker = page.get_by_label("Accent colour (optional)"), page.get_by_label("Pick: Accent colour")
    await expect(picker).to_have_value("#b9502a")  # the site's default colour while none is set
    await picker.fill("#2f6f62")
    await expect(field).to_have_value("#2f6f62")
    await field.fill("#a3c")
    await expect(picker).to_have_value("#aa33cc")
    await field.fill("")
    await expect(picker).to_have_value("#b9502a")
