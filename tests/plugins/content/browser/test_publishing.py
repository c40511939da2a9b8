"""Publishing and scheduling by hand in a real browser: with and without scripts, by keyboard."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

import pytest
from playwright.async_api import Browser, Page, expect
from pressroom.testing import RunningHost
from support.standin_platform import StandInPlatform
from support.written_articles import Work

from .conftest import ARTICLES, signed_in, tool

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


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
    context = await signed_in(browser, host, work.client.user_id)
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
