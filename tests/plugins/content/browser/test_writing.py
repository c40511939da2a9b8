"""Writing by hand in a real browser: with and without scripts, by keyboard, on a phone."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest
from playwright.async_api import Browser, Page, expect
from pressroom.testing import RunningHost
from pressroom_content.articles import trash
from pressroom_content.tables import ArticleRow
from sqlalchemy import update
from support.axe import violations
from support.written_articles import Work

from .conftest import ARTICLES, signed_in, tool

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


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
    context = await signed_in(browser, host, work.client.user_id, color_scheme=scheme)
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
