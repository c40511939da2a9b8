"""Articles and their calendar in the dashboard: forms without JavaScript, accessibility, every screen width."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Literal
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect
from pressroom.testing import RunningHost
from support.axe import violations
from support.people import add_person
from support.standin_platform import StandInPlatform
from support.written_articles import Work

from .conftest import signed_in

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

WIDTHS = (320, 390, 768, 1280)


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser, host: RunningHost, work: Work) -> AsyncIterator[Page]:
    """A page in a browser without JavaScript."""
    context = await signed_in(browser, host, work.client.user_id, java_script_enabled=False)
    yield await context.new_page()
    await context.close()


def paths(work: Work) -> list[str]:
    """Return the path of every kind of page, with the content that is hardest to lay out."""
    tabs = ("", "/seo", "/versions", "/publications")
    articles = [f"/articles/{work.good}{tab}" for tab in (*tabs, "/versions/1")]
    other_articles = [f"/articles/{id_}{tab}" for id_ in (work.long, work.right_to_left) for tab in ("", "/seo")]
    more = [f"/articles/{work.failed}/publications", f"/articles/{work.hostile}/publications"]
    listings = ["", "/articles", "/articles?q=nothing", f"/calendar?month={work.at:%Y-%m}", "/calendar?month=1999-01"]
    return [*listings, *articles, *other_articles, *more, "/websites", f"/websites/{work.site}"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_is_accessible_and_fits_every_screen(
    browser: Browser, host: RunningHost, work: Work, scheme: Literal["light", "dark"]
) -> None:
    context = await signed_in(browser, host, work.client.user_id, color_scheme=scheme)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{page.url}: {message.text}"))
    for path in paths(work):
        await page.goto(f"{host.url}/dashboard{path}")
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 800})
            assert await page.evaluate("document.documentElement.scrollWidth") == width, path
        for details in await page.locator("main details").all():
            await details.evaluate("element => element.open = true")
        assert await violations(page) == [], path
        await page.set_viewport_size({"width": 390, "height": 800})
        assert await violations(page) == [], path
        for frame in page.frames[1:]:
            assert await frame.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert complaints == []
    await context.close()


async def test_every_page_fits_the_window_at_twice_the_text_size(
    browser: Browser, host: RunningHost, work: Work
) -> None:
    context = await signed_in(browser, host, work.client.user_id)
    page = await context.new_page()
    for path in paths(work):
        await page.goto(f"{host.url}/dashboard{path}")
        await page.evaluate("document.documentElement.style.setProperty('font-size', '200%', 'important')")
        for width in (360, 960, 1280):
            await page.set_viewport_size({"width": width, "height": 800})
            assert await page.evaluate("document.documentElement.scrollWidth") == width, path
    await context.close()


async def test_a_person_without_articles_learns_what_to_do(browser: Browser, host: RunningHost) -> None:
    person = await asyncio.to_thread(add_person, host, "new@example.org")
    context = await signed_in(browser, host, person.id)
    page = await context.new_page()
    for path, heading in (("articles", "No articles yet"), ("calendar", "No ideas yet")):
        await page.goto(f"{host.url}/dashboard/{path}")
        await expect(page.get_by_role("heading", name=heading)).to_be_visible()
        await page.set_viewport_size({"width": 320, "height": 800})
        assert await page.evaluate("document.documentElement.scrollWidth") == 320
        assert await violations(page) == []
    await context.close()


async def test_the_calendar_is_in_the_browsers_time_zone(browser: Browser, host: RunningHost) -> None:
    person = await asyncio.to_thread(add_person, host, "tokyo@example.org")
    context = await signed_in(browser, host, person.id, timezone_id="Asia/Tokyo")
    page = await context.new_page()
    await page.goto(f"{host.url}/dashboard/calendar?month=2026-11")
    await page.wait_for_url("**/calendar?month=2026-11&tz=Asia*")
    zone = page.get_by_label("Time zone")
    await expect(zone).to_have_value("Asia/Tokyo")
    await zone.fill("UTC")
    await page.get_by_role("button", name="Show").click()
    await expect(zone).to_have_value("UTC")
    await context.close()


async def test_the_browsers_time_zone_takes_precedence_over_the_websites(
    browser: Browser, host: RunningHost, work: Work
) -> None:
    context = await signed_in(browser, host, work.client.user_id, timezone_id="Asia/Tokyo")
    page = await context.new_page()
    await page.goto(f"{host.url}/dashboard/calendar")
    await page.wait_for_url("**/calendar?tz=Asia*")
    await context.close()
    plain = await signed_in(browser, host, work.client.user_id, timezone_id="Asia/Tokyo", java_script_enabled=False)
    page = await plain.new_page()
    await page.goto(f"{host.url}/dashboard/calendar")
    zone = page.get_by_label("Time zone")
    await expect(zone).to_have_value("Europe/Berlin")
    await expect(zone).to_have_accessible_description("Times are in Europe/Berlin, the time zone of your websites.")
    await plain.close()


async def test_the_navigation_is_a_single_row_on_a_phone(browser: Browser, host: RunningHost, work: Work) -> None:
    context = await signed_in(browser, host, work.client.user_id, viewport={"width": 390, "height": 800})
    page = await context.new_page()
    for path in ("/dashboard", "/dashboard/websites", "/dashboard/account"):
        await page.goto(f"{host.url}{path}")
        navigation = page.get_by_role("navigation", name="Dashboard")
        box = await navigation.bounding_box()
        assert box is not None
        assert box["height"] < 60
        await expect(navigation.locator("[aria-current]")).to_be_in_viewport(ratio=0.9)
    await page.set_viewport_size({"width": 1280, "height": 800})
    await expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_in_viewport(ratio=1)
    await context.close()


async def test_an_article_is_found_and_all_its_pages_are_visited(page: Page, host: RunningHost, work: Work) -> None:
    await page.goto(f"{host.url}/dashboard/articles")
    await page.get_by_label("Search").fill("starter")
    await page.get_by_label("Status").select_option(label="Published")
    await page.get_by_label("Website").select_option(label="The kitchen table")
    await page.get_by_role("button", name="Show").click()
    await page.get_by_role("link", name="Sourdough starter: how to make one in seven days", exact=True).click()
    text = page.frame_locator("iframe")
    cover = text.get_by_role("img", name="A jar on a table")
    await expect(cover).to_be_visible()
    assert await cover.evaluate("async image => { await image.decode(); return image.naturalWidth }") > 0
    tabs = page.get_by_role("navigation", name="Article")
    await tabs.get_by_role("link", name="SEO").click()
    await expect(page.get_by_role("img", name="of 100")).to_be_visible()
    await page.get_by_role("heading", name="Good", exact=True).click()
    await expect(page.get_by_text("The article has a title.")).to_be_visible()
    await tabs.get_by_role("link", name="Publications").click()
    await expect(page.get_by_role("list", name="Steps").get_by_role("listitem")).to_have_count(6)
    await expect(page.get_by_text("responds with 200")).to_be_visible()
    version, live = [
        await page.locator(".publication dt", has_text=name).bounding_box() for name in ("Version", "Went")
    ]
    assert version is not None
    assert live is not None
    assert (version["y"], version["x"] < live["x"]) == (live["y"], True)


async def test_the_preview_of_a_short_article_is_tall_enough_to_read(page: Page, host: RunningHost, work: Work) -> None:
    rows = "".join(f"| part {number} | does |\n" for number in range(8))
    heights = []
    for title, body in (
        ("A line", "Rye."),
        ("A table", f"## Parts\n\n| Part | Does |\n|---|---|\n{rows}\n## End\n\nRye."),
    ):
        article = await asyncio.to_thread(work.client.data, "create_content", title=title, body=body)
        await page.goto(f"{host.url}/dashboard/articles/{article['content_id']}")
        box = await page.locator("iframe").bounding_box()
        assert box is not None
        heights.append(box["height"])
    size = page.viewport_size
    assert size is not None
    assert heights[0] < size["height"] * 0.45
    assert heights[1] > size["height"] * 0.7


async def test_a_version_is_compared_and_restored(page: Page, host: RunningHost, work: Work) -> None:
    fields = {"title": "Rye or wheat", "body": "Rye is dark.\n\nWheat is light."}
    article_id = (await asyncio.to_thread(lambda: work.client.data("create_content", **fields)))["content_id"]
    changes = {"body": "Rye is very dark.\n\nWheat is light."}
    await asyncio.to_thread(
        lambda: work.client.data("update_content", content_id=article_id, expected_version=1, fields=changes)
    )
    await page.goto(f"{host.url}/dashboard/articles/{article_id}/versions")
    await page.get_by_role("link", name="Compare version 1 with the newest").click()
    added = page.get_by_role("row", name="added Rye is very dark.")
    await expect(added.locator("ins")).to_have_text("very ")
    await page.get_by_role("link", name="Restore version 1").click()
    await page.get_by_role("button", name="Yes, restore version 1").click()
    await expect(page.get_by_role("status")).to_contain_text("Version 1 is back as version 3")
    content = await asyncio.to_thread(lambda: work.client.data("get_content", content_id=article_id))
    assert content["body"] == "Rye is dark.\n\nWheat is light."


async def test_a_failed_publication_is_retried_and_taken_down(
    page: Page, host: RunningHost, work: Work, platform: StandInPlatform
) -> None:
    title = "Eight soups"
    article_id = (await asyncio.to_thread(lambda: work.client.data("create_content", title=title, body="Hot.")))[
        "content_id"
    ]
    platform.fault("POST /api/posts", response=(422, "application/json", b'{"error": "no"}', {}))
    await asyncio.to_thread(
        lambda: work.client.refusal("publish_content", content_id=article_id, website_id=work.other_site)
    )
    await page.goto(f"{host.url}/dashboard/articles/{article_id}/publications")
    await page.get_by_role("button", name="Try again now").click()
    await expect(page.get_by_role("status")).to_contain_text("Tried again")
    (post,) = [post for post in platform.posts.values() if post["title"] == title]
    assert post["state"] == "live"
    await page.get_by_text("Unpublish from Bread magazine").click()
    await page.get_by_label("Move it to the trash there").check()
    await page.get_by_role("button", name="Yes, unpublish it").click()
    await expect(page.get_by_role("status")).to_contain_text("is unpublished")
    assert post["state"] == "trashed"


async def test_an_idea_is_added_and_marked_as_done_in_the_calendar(page: Page, host: RunningHost, work: Work) -> None:
    await page.goto(f"{host.url}/dashboard/calendar?month={work.at:%Y-%m}")
    entry = page.get_by_role("table").get_by_role("link", name="Rye or wheat: which flour for which bread")
    await expect(entry).to_contain_text(f"{work.at.astimezone(ZoneInfo('Europe/Berlin')):%H:%M}")
    await page.get_by_label("Topic").fill("Bread for breakfast")
    await page.get_by_label("Due").fill(f"{work.at:%Y-%m-%d}")
    await page.get_by_role("button", name="Save the idea").click()
    await expect(page.get_by_role("status")).to_contain_text("The idea is saved")
    await expect(page.get_by_role("table").get_by_role("link", name="Bread for breakfast")).to_be_visible()
    await page.get_by_role("button", name="Done with Bread for breakfast").click()
    await expect(page.get_by_role("status")).to_contain_text("marked as done")
    await expect(page.get_by_text("Bread for breakfast")).to_have_count(0)


async def test_trashing_an_article_needs_a_confirmation(page: Page, host: RunningHost, work: Work) -> None:
    article_id = (await asyncio.to_thread(lambda: work.client.data("create_content", title="Old", body="x")))[
        "content_id"
    ]
    await page.goto(f"{host.url}/dashboard/articles/{article_id}")
    button = page.get_by_role("button", name="Yes, move to trash")
    await expect(button).to_be_hidden()
    await page.get_by_text("Move to trash", exact=True).click()
    await button.click()
    await expect(page.get_by_role("status")).to_contain_text("in the trash")
    await page.get_by_role("button", name="Restore").click()
    await expect(page.get_by_role("status")).to_contain_text("back from the trash")


async def test_menu_links_are_reordered_with_the_keyboard(browser: Browser, host: RunningHost, work: Work) -> None:
    website = await asyncio.to_thread(work.client.data, "connect_website", platform="builtin", name="Menu blog")
    context = await signed_in(browser, host, work.client.user_id)
    page = await context.new_page()
    path = f"{host.url}/dashboard/websites/{website['website_id']}"
    await page.goto(path)
    for number, (label, url) in enumerate((("Imprint", "/imprint"), ("About", "/about")), start=1):
        await page.get_by_label(f"Label of link {number}").fill(label)
        await page.get_by_label(f"URL of link {number}").fill(url)
    up = page.get_by_role("button", name="Move link 2 up")
    await up.press("Enter")
    await expect(page.get_by_role("button", name="Move link 1 down")).to_be_focused()
    await expect(page.get_by_label("Label of link 1")).to_have_value("About")
    await expect(page.get_by_label("URL of link 2")).to_have_value("/imprint")
    assert await violations(page) == []
    # Enter in a field saves instead of moving a row.
    await page.get_by_label("Label of link 1").press("Enter")
    await expect(page.locator("p.notice[role=status]")).to_contain_text("The settings are saved")
    await expect(page.get_by_label("Label of link 1")).to_have_value("About")
    await expect(page.get_by_label("Label of link 2")).to_have_value("Imprint")
    await page.set_viewport_size({"width": 320, "height": 800})
    assert await page.evaluate("document.documentElement.scrollWidth") == 320
    await context.close()


@pytest.mark.parametrize("touch", [False, True], ids=["mouse on a desktop", "touch on a phone"])
async def test_menu_links_are_reordered_by_dragging(
    browser: Browser, host: RunningHost, work: Work, *, touch: bool
) -> None:
    website = await asyncio.to_thread(work.client.data, "connect_website", platform="builtin", name="Dragged menu")
    size = {"width": 390, "height": 844} if touch else {"width": 1280, "height": 800}
    context = await signed_in(browser, host, work.client.user_id)
    page = await context.new_page()
    await page.set_viewport_size(size)  # type: ignore[arg-type]
    session = await context.new_cdp_session(page)
    await page.goto(f"{host.url}/dashboard/websites/{website['website_id']}")
    for number, label in enumerate(("Imprint", "About", "Contact"), start=1):
        await page.get_by_label(f"Label of link {number}").fill(label)
        await page.get_by_label(f"URL of link {number}").fill(f"/{label.lower()}")
    cut_off = "fields => fields.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.value)"
    assert await page.locator("[data-rows] .input").evaluate_all(cut_off) == []
    rows = page.locator("[data-rows] > li")
    await rows.nth(2).scroll_into_view_if_needed()

    async def point(kind: str, x: float = 0, y: float = 0) -> None:
        if touch:
            points = [{"x": x, "y": y}] if kind != "Released" else []
            names = {"Pressed": "touchStart", "Moved": "touchMove", "Released": "touchEnd"}
            await session.send("Input.dispatchTouchEvent", {"type": names[kind], "touchPoints": points})
        elif kind == "Moved":
            await page.mouse.move(x, y)
        else:
            await (page.mouse.down() if kind == "Pressed" else page.mouse.up())

    async def begin(source: int, target: int) -> None:
        for row in (source, target):  # the page's script reveals them
            await expect(rows.nth(row).locator(".row-handle")).to_be_visible()
        start, end = [await rows.nth(row).locator(".row-handle").bounding_box() for row in (source, target)]
        assert start
        assert end
        x = start["x"] + start["width"] / 2
        if not touch:
            await point("Moved", x, start["y"] + start["height"] / 2)
        await point("Pressed", x, start["y"] + start["height"] / 2)
        for y in (start["y"], end["y"] + 1):
            await point("Moved", x, y)
        await expect(rows.nth(source)).to_have_class("dragged")
        await expect(rows.nth(target)).to_have_class("drop-before")

    await begin(2, 0)
    await page.keyboard.press("Escape")
    await expect(page.locator(".dragged, .drop-before, .drop-after")).to_have_count(0)
    await point("Released")
    await expect(page.get_by_label("Label of link 3")).to_have_value("Contact")
    await begin(2, 0)
    await point("Released")
    await expect(page.get_by_label("Label of link 1")).to_have_value("Contact")
    await expect(page.get_by_label("URL of link 2")).to_have_value("/imprint")
    await expect(page.get_by_role("button", name="Move link 1 up", include_hidden=True)).to_be_disabled()
    await page.get_by_role("button", name="Save the appearance").click()
    await expect(page.locator("p.notice[role=status]")).to_contain_text("The settings are saved")
    saved = await asyncio.to_thread(work.client.data, "get_website", website_id=website["website_id"])
    assert [link["label"] for link in saved["website"]["settings"]["menu"]] == ["Contact", "Imprint", "About"]
    await page.set_viewport_size({"width": 320, "height": 800})
    assert await page.evaluate("document.documentElement.scrollWidth") == 320
    await context.close()
