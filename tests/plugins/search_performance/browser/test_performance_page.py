"""Search performance pages in a browser: without scripts, in both colour schemes, on phones, and accessible."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from typing import Literal

import pytest
from playwright.async_api import Browser, Locator, Page, expect
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.records import Website
from support.axe import violations
from support.people import HOSTILE, add_person
from support.search_figures import CONFIG, Day, add_website, connect, last_day, lively, write

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

Scheme = Literal["light", "dark"]
PATH = "/dashboard/performance"
WIDTHS = (320, 390, 768, 1280)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with RunningHost(settings_for_test(CONFIG, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def person(host: RunningHost) -> User:
    return add_person(host)


@pytest.fixture(scope="module")
def busy(host: RunningHost, person: User) -> Website:
    """Return a website with more than a year of figures."""
    website = add_website(host, person.id)
    write(host, connect(host, person.id, website), lively(website, 400))
    return website


@pytest.fixture(scope="module")
def odd(host: RunningHost, person: User) -> Website:
    """Return a website with a gap in its days, huge numbers and hostile texts."""
    website = add_website(host, person.id, HOSTILE * 2)
    days = []
    for days_ago in (0, 1, 5, 6, 40, 59):
        day = Day(last_day() - timedelta(days=days_ago))
        day.add("day", 2_000_000_000, 2_100_000_000, 98.7, country="gbr", device="mobile")
        day.add("query", 2_000_000_000, 2_100_000_000, 98.7, query=HOSTILE + "x" * 300)
        day.add("page", 2_000_000_000, 2_100_000_000, 98.7, page=f"https://example.com/{'y' * 300}")
        days.append(day)
    write(host, connect(host, person.id, website), days)
    return website


@pytest.fixture(scope="module")
def bare(host: RunningHost, person: User) -> Website:
    """Return a website without any source of figures."""
    return add_website(host, person.id, "Bare")


@asynccontextmanager
async def signed_in(
    browser: Browser, host: RunningHost, person: User, *, scheme: Scheme = "light", scripting: bool = True
) -> AsyncIterator[Page]:
    context = await browser.new_context(color_scheme=scheme, java_script_enabled=scripting)
    token = await asyncio.to_thread(lambda: host.run(host.host.accounts.sessions.start(person.id)))
    await context.add_cookies([{"name": "pressroom_session", "value": token, "url": host.url}])
    yield await context.new_page()
    await context.close()


async def test_without_scripts_all_figures_can_be_reached(
    browser: Browser, host: RunningHost, person: User, busy: Website
) -> None:
    async with signed_in(browser, host, person, scripting=False) as page:
        await page.goto(f"{host.url}/dashboard")
        await page.get_by_role("navigation").get_by_role("link", name="Search performance").click()
        await page.get_by_role("link", name=busy.name).click()
        clicks = page.get_by_role("img", name="Clicks by day")
        await expect(clicks).to_be_visible()
        # The hover target of a day is as high as the chart.
        strip, chart = await clicks.locator("rect").nth(3).bounding_box(), await clicks.bounding_box()
        assert strip is not None
        assert chart is not None
        assert strip["height"] == pytest.approx(chart["height"], abs=1)
        dot = clicks.locator("g").nth(3).locator(".dot")
        await expect(dot).to_have_css("visibility", "hidden")
        await clicks.locator("rect").nth(3).hover()
        await expect(dot).to_have_css("visibility", "visible")

        table = page.get_by_role("region", name="All values")
        await expect(table).to_be_hidden()
        await page.get_by_text("All values as a table").click()
        await expect(table.get_by_role("row")).to_have_count(31)

        await page.get_by_role("link", name="12 months").click()
        await expect(page.get_by_role("img", name="Clicks by week")).to_be_visible()
        await page.get_by_role("link", name="All queries").click()
        await expect(page.get_by_role("table", name="Queries")).to_contain_text("how to make compost")
        await expect(page.get_by_role("link", name="12 months")).to_have_attribute("aria-current", "true")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_pages_are_accessible_on_every_screen(
    browser: Browser,
    host: RunningHost,
    person: User,
    busy: Website,
    odd: Website,
    bare: Website,
    scheme: Scheme,
) -> None:
    paths = (
        PATH,
        f"{PATH}/{busy.id}",
        f"{PATH}/{busy.id}?days=7",
        f"{PATH}/{odd.id}?days=90",
        f"{PATH}/{odd.id}/pages",
        f"{PATH}/{bare.id}",
    )
    async with signed_in(browser, host, person, scheme=scheme) as page:
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        for path in paths:
            await page.goto(host.url + path)
            for summary in await page.locator("main details summary").all():
                await summary.click()
            for width in WIDTHS:
                await page.set_viewport_size({"width": width, "height": 900})
                assert await page.evaluate("document.documentElement.scrollWidth") == width, (path, width)
            assert await violations(page) == [], path
        assert complaints == []


async def test_labels_keep_their_size_and_are_beside_the_chart(
    browser: Browser, host: RunningHost, person: User, busy: Website
) -> None:
    async with signed_in(browser, host, person) as page:
        await page.goto(f"{host.url}{PATH}/{busy.id}?days=90")
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 900})
            await check_labels(page.locator(".chart-frame").first, width)


async def check_labels(frame: Locator, width: int) -> None:
    """Check the labels of a chart in a window of this width."""
    chart = await frame.locator("svg").bounding_box()
    assert chart is not None, width
    boxes = [await label.bounding_box() for label in await frame.locator(".chart-y span").all()]
    texts = await frame.locator(".chart-x span").evaluate_all(
        "spans => spans.map(span => { const range = document.createRange(); range.selectNodeContents(span);"
        "const box = range.getBoundingClientRect(); return [box.left, box.right, box.height] })"
    )
    assert len(boxes) >= 3, width
    for box in boxes:
        assert box is not None, width
        assert box["x"] + box["width"] <= chart["x"], width
    lines = [await line.bounding_box() for line in await frame.locator("line").all()]
    for line, box in zip(lines, boxes, strict=True):
        assert line is not None, width
        assert box is not None, width
        assert line["y"] == pytest.approx(box["y"] + box["height"] / 2, abs=1.5), width
    for (_, before, height), (after, _, _) in pairwise(texts):
        assert before < after, f"two labels lie upon each other at {width}"
        assert height >= 11, width
    assert texts[0][0] >= chart["x"] - 1, width
    assert texts[-1][1] <= chart["x"] + chart["width"] + 1, width
