"""The image generator's page: gallery, live editor, error positions and texts to copy, with JavaScript and without."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import Image
from playwright.async_api import Browser, Page, Request, Response, Route, expect
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from pressroom_image_generator.guidance import EXAMPLES
from support.axe import violations

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

IMAGE = "/tools/image-generator"
BROKEN = '<div style="display:flex">\n  <p>One</p>\n  <img src="http://example.com/a.png">\n</div>'
DOUBTFUL = '<div style="width:100%; height:100%;\n  color:bluish; float-up:1">Hi</div>'


def example(title: str) -> str:
    """Return the query string that opens the page with the example of this title."""
    return f"?example={[each.title for each in EXAMPLES].index(title)}"


def params(title: str) -> dict[str, Any]:
    """Return the parameters of the example with this title."""
    return next(dict(each.params) for each in EXAMPLES if each.title == title)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"tools": {"image-generator": {"rate_limit": "1000/hour"}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("host"))) as running:
        yield running


@asynccontextmanager
async def opened(browser: Browser, host: RunningHost, query: str = "", **options: Any) -> AsyncIterator[Page]:
    """Open the page; on exit, fail if a script failed or the content security policy blocked something."""
    context = await browser.new_context(**options)
    page = await context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if "Content Security" in message.text else None)
    await page.goto(host.url + IMAGE + query)
    yield page
    await context.close()
    assert faults == []


async def generate(page: Page) -> None:
    await page.get_by_role("button", name="Generate").click()


def sent_by(page: Page) -> list[dict[str, Any]]:
    """Return a list that collects the page's generate requests to the API."""
    sent: list[dict[str, Any]] = []
    page.on("request", lambda each: sent.append(json.loads(each.post_data or "")) if _runs(each) else None)
    return sent


def _runs(exchange: Request | Response) -> bool:
    return exchange.url.endswith("/preview")


async def drawn(page: Page) -> None:
    """Wait until the canvas shows the latest changes."""
    await expect(page.locator("img[data-canvas]")).to_have_attribute("src", re.compile("^blob:"))


async def test_the_strip_shows_every_design_as_rendered(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host, viewport={"width": 1280, "height": 1200}) as page:
        tiles = page.locator(".strip .tile-image")
        await expect(tiles).to_have_count(len(EXAMPLES))
        for slot in await tiles.all():
            await slot.scroll_into_view_if_needed()
            tile = slot.locator("img")
            await expect(tile).to_be_visible()
            # Sharp on screens with a device pixel ratio of 2, and no larger than a card.
            natural_width, natural_height, displayed = await tile.evaluate(
                "each => each.decode().then(() => [each.naturalWidth, each.naturalHeight, each.height])"
            )
            assert natural_width <= 480
            assert natural_height >= 2 * displayed > 40
        await expect(page.get_by_role("img", name="Image generator: preview")).to_be_visible()


async def test_selecting_a_design_in_the_strip_fills_the_form_and_renders_it(
    browser: Browser, host: RunningHost
) -> None:
    async with opened(browser, host) as page:
        sent = sent_by(page)
        await page.get_by_role("button", name="Square post").click()
        await drawn(page)
        canvas = page.locator("img[data-canvas]")
        await expect(canvas).to_have_js_property("naturalWidth", 1080)
        await expect(page.get_by_label("Title", exact=True)).to_have_value("Version 2 is here")
        async with page.expect_response(_runs):
            await page.get_by_role("button", name="Quote in HTML").click()
        await expect(page.get_by_label("HTML").last).to_have_value(re.compile("prerequisite"))
        await expect(page.get_by_label("Title", exact=True)).to_be_hidden()
        assert sent[0] == params("Square post")
        assert sent[-1] == params("Quote in HTML")


async def test_an_unused_input_mode_starts_with_an_example(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host) as page:
        async with page.expect_response(_runs) as response_info:
            await page.locator("label.segment", has_text="HTML").click()
        assert (await response_info.value).ok
        await expect(page.locator("textarea[name=html]")).to_have_value(re.compile("^<div"))
        await page.locator("textarea[name=html]").fill("<b>Mine</b>")
        await page.locator("label.segment", has_text="Template").click()
        await expect(page.get_by_label("Title", exact=True)).to_have_value("What a year of small releases taught us")
        await page.locator("label.segment", has_text="HTML").click()
        await expect(page.locator("textarea[name=html]")).to_have_value("<b>Mine</b>")


async def test_fields_that_a_mode_hides_are_not_required(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host, example("Release in HTML")) as page:
        sent = sent_by(page)
        await page.locator("label.segment", has_text="Template").click()
        await page.get_by_label("Title", exact=True).fill("Mine")
        await page.locator("label.thumbnail", has_text="bold").click()
        async with page.expect_request(lambda each: _runs(each) and '"width":1200' in (each.post_data or "")):
            await page.locator("summary", has_text="Size").click()
            await page.get_by_label("Width").fill("1200")
        assert sent[-1:] == [{"template": "og", "props": {"title": "Mine", "theme": "bold"}, "width": 1200}]
        assert json.dumps(sent[-1], separators=(",", ":")) in (await page.locator("#curl").text_content() or "")


@pytest.mark.parametrize("scripting", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_both_ways_of_using_the_page_send_the_same_request(
    browser: Browser, host: RunningHost, scripting: bool
) -> None:
    async with opened(browser, host, example("LinkedIn banner"), java_script_enabled=scripting) as page:
        await page.get_by_label("Title", exact=True).fill("Both ways")
        await page.locator("summary", has_text="Size").click()
        await page.get_by_label("Width").fill("800")
        if not scripting:
            await generate(page)
        await expect(page.locator("#facts")).to_contain_text("800 × 200 px")
        command = await page.locator("#curl").text_content() or ""
        expected = {
            "template": "linkedin-banner",
            "props": {
                "title": "Both ways",
                "subtitle": "In the best sense of the word",
                "theme": "gradient",
                "accentColor": "#4f46e5",
            },
            "width": 800,
        }
        assert json.loads(command.partition(" -d '")[2].removesuffix("'")) == expected


@pytest.mark.parametrize("scripting", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_a_list_is_written_one_item_per_line(browser: Browser, host: RunningHost, scripting: bool) -> None:
    async with opened(browser, host, example("Changelog"), java_script_enabled=scripting) as page:
        items = page.get_by_label("Items")
        await expect(items).to_have_value(re.compile("Search answers in 40 ms\nDark mode on every page"))
        await items.fill("First\n\n Second ")
        if not scripting:
            await generate(page)
        await expect(page.locator("#facts")).to_contain_text("1200 × 630 px")
        assert '"items":["First","Second"]' in (await page.locator("#curl").text_content() or "")
        await items.fill(f"First\n{'x' * 90}")
        if not scripting:
            await generate(page)
        await expect(items).to_have_accessible_description(re.compile("Item 2: must be at most 80"))


async def test_the_tags_to_copy_contain_the_permanent_image_url(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host, example("Square post"), java_script_enabled=False) as page:
        await expect(page.locator("#snippet-0")).to_contain_text('<meta property="og:image" content="')
        await generate(page)
        panel = page.get_by_role("region", name="Permanent link")
        await expect(panel).to_be_visible()
        text = await page.locator("#snippet-0").text_content() or ""
        assert await page.locator("#permanent-tags-0").text_content() == text
        assert '<meta property="og:image:width" content="1080">' in text
        url = unescape(re.findall(r'og:image" content="([^"]*)"', text)[0])
        assert await page.locator("#permanent-url").text_content() == url
        assert "expires" not in parse_qs(urlsplit(url).query)
        image = await page.request.get(url)
        assert Image.open(io.BytesIO(await image.body())).size == (1080, 1080)
        assert "{" not in text


async def test_an_error_is_marked_and_linked_in_the_editor(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host, example("Quote in HTML")) as page:
        editor = page.locator("textarea[data-code]")
        await editor.fill(BROKEN)
        await expect(editor).to_have_attribute("aria-invalid", "true")
        await expect(editor).to_have_accessible_description(re.compile("only https:// and data:image/ URLs"))
        await expect(page.locator(".code-under mark")).to_have_text("http://example.com/a.png")
        await expect(page.locator(".has-wrong")).to_have_count(1)
        await page.get_by_role("button", name="Line 3, column 13").click()
        selection = "area => area.value.slice(area.selectionStart, area.selectionEnd)"
        assert await editor.evaluate(selection) == "http://example.com/a.png"
        await editor.fill(BROKEN.replace("http:", "https:"))
        await expect(page.locator(".code-under mark")).to_have_count(0)


async def test_an_error_shows_its_line_without_javascript(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host, example("Quote in HTML"), java_script_enabled=False) as page:
        await page.locator("textarea[data-code]").fill(BROKEN)
        await generate(page)
        await expect(page.locator(".excerpt figcaption")).to_have_text("Line 3, column 13")
        await expect(page.locator(".excerpt mark")).to_have_text("http://example.com/a.png")
        await expect(page.locator("textarea[data-code]")).to_have_value(BROKEN)


async def test_warnings_are_also_marked_in_the_editor(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host, example("Quote in HTML")) as page:
        editor = page.locator("textarea[data-code]")
        await editor.fill(DOUBTFUL)
        await expect(page.locator(".warnings li")).to_have_count(2)
        await expect(page.locator(".code-under mark")).to_have_text(["color", ":bluish", "float-up"])
        await page.get_by_role("button", name="Line 2, column 3").click()
        await expect(editor).to_be_focused()


async def test_an_invalid_property_is_reported_next_to_its_field(browser: Browser, host: RunningHost) -> None:
    for scripting in (True, False):
        async with opened(browser, host, java_script_enabled=scripting) as page:
            await page.get_by_label("Logo", exact=True).fill("ftp://example.com/logo.png")
            if not scripting:
                await generate(page)
            field = page.get_by_label("Logo", exact=True)
            await expect(field).to_have_attribute("aria-invalid", "true")
            await expect(field).to_have_accessible_description(re.compile("ust begin with https://"))


async def test_the_highlighted_code_matches_the_text_in_the_editor(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host, example("Numbers in HTML")) as page:
        editor = page.locator("textarea[data-code]")
        texts = [
            "",
            "\n\n",
            "plain",
            "<div style='color:red;'>a < b & \"c\"</div>\n<!-- open",
            '<p title="x\ny">\t日本語 👩‍👩‍👧 <b',
            "<" * 300 + '"' * 301,
            "a=b <i c=d>",
            "a" * 10_000,
            '<b style="' + " " * 9_900,
            "<b " + "a " * 4_900,
        ]
        for text in [await editor.input_value(), *texts]:
            await editor.fill(text)
            lines = await page.locator(".code-under > div").all_text_contents()
            assert "\n".join(lines).replace("\u200b", "") == text
            sizes = await page.evaluate(
                "[...document.querySelectorAll('.code-under, .code-inner > textarea')].map(each => each.scrollHeight)"
            )
            assert abs(sizes[0] - sizes[1]) <= 1, text


async def test_the_defaults_are_shown(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host) as page:
        await expect(page.get_by_label("Width")).to_have_attribute("placeholder", "1200")
        await expect(page.get_by_label("Width")).to_have_accessible_description(re.compile("200 to 2400, default 1200"))
        await expect(page.get_by_label("PNG")).to_be_checked()
        await expect(page.locator("label.thumbnail", has_text="light").locator("input")).to_be_checked()
        await expect(page.get_by_label("Accent", exact=True)).to_have_value("#b9502a")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_no_violations(browser: Browser, host: RunningHost, scheme: Any) -> None:
    async with opened(browser, host, color_scheme=scheme) as page:
        assert await violations(page) == []
        await page.get_by_role("button", name="Release in HTML").click()
        await drawn(page)
        assert await violations(page) == []
        await page.locator("textarea[data-code]").fill(DOUBTFUL)
        await expect(page.locator(".warnings .place")).to_have_count(2)
        assert await violations(page) == []
        await page.locator("textarea[data-code]").fill(BROKEN)
        await expect(page.locator(".has-wrong")).to_have_count(1)
        assert await violations(page) == []


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
async def test_the_page_fits_every_screen(browser: Browser, host: RunningHost, width: int) -> None:
    async with opened(browser, host, example("Release in HTML"), viewport={"width": width, "height": 800}) as page:
        await page.locator("textarea[data-code]").fill(BROKEN)
        await expect(page.locator(".has-wrong")).to_have_count(1)
        assert await page.evaluate("document.documentElement.scrollWidth") == width
        await page.get_by_role("button", name="Story as JPEG").click()
        await drawn(page)
        assert await page.evaluate("document.documentElement.scrollWidth") == width


async def test_the_page_is_smaller_than_200_kb_including_its_images(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host, viewport={"width": 1280, "height": 1200}) as page:
        await page.wait_for_load_state("networkidle")
        entries = "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
        assert await page.evaluate(f"{entries}.reduce((sum, each) => sum + each.encodedBodySize, 0)") < 200_000


async def test_the_parameters_of_a_template_are_in_the_table(browser: Browser, host: RunningHost) -> None:
    async with opened(browser, host) as page:
        names = await page.locator(".table th[scope=row] code").all_text_contents()
        assert {"props", "props.title", "props.accentColor", "aspectRatio"} <= set(names)


async def test_the_layout_does_not_shift_when_the_first_image_loads(browser: Browser, host: RunningHost) -> None:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    measured = asyncio.Event()

    async def hold(route: Route) -> None:
        await measured.wait()
        await route.continue_()

    await page.route("**/examples/0/large*", hold)
    await page.goto(f"{host.url}/tools/image-generator", wait_until="commit")
    bar = page.locator(".canvas-bar")
    await expect(bar).to_be_visible()
    await page.evaluate("document.fonts.ready.then(() => null)")
    before = await bar.bounding_box()
    measured.set()
    assert await page.locator("img[data-canvas]").evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    assert await bar.bounding_box() == before
    await context.close()
