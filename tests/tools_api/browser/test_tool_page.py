"""A tool's page in a browser, with JavaScript and without."""

from __future__ import annotations

import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Error, Page, expect
from pressroom.interfaces.tools_api.pages.samples import code_samples, permanent_texts
from support.axe import violations
from support.page_server import PageServer, branding
from support.tool_descriptors import ALL

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

QR = "/tools/qr-code-generator"


@pytest.fixture
def server() -> Iterator[PageServer]:
    with PageServer() as running:
        yield running


@contextmanager
def watched(page: Page) -> Iterator[None]:
    """Fail on exit if a script failed or the content security policy blocked something."""
    faults: list[str] = []

    def note_error(error: Error) -> None:
        faults.append(str(error))

    def note_policy(message: ConsoleMessage) -> None:
        if "Content Security" in message.text:
            faults.append(message.text)

    page.on("pageerror", note_error)
    page.on("console", note_policy)
    yield
    page.remove_listener("pageerror", note_error)
    page.remove_listener("console", note_policy)
    assert faults == []


@asynccontextmanager
async def opened(browser: Browser, server: PageServer, path: str, **options: Any) -> AsyncIterator[Page]:
    """Open a page in a new context, and watch it for faults."""
    context = await browser.new_context(**options)
    page = await context.new_page()
    with watched(page):
        await page.goto(server.url + path)
        yield page
        await context.close()


@pytest_asyncio.fixture(loop_scope="module")
async def page(shared_page: Page, server: PageServer) -> AsyncIterator[Page]:
    """A tool's page; each test has a separate server, so the page keeps no state between tests."""
    with watched(shared_page):
        await shared_page.goto(server.url + QR)
        yield shared_page
        await shared_page.unroute_all()
        await shared_page.goto("about:blank")


async def generate(page: Page) -> None:
    await page.get_by_role("button", name="Generate").click()


async def download(page: Page) -> None:
    await page.get_by_role("button", name="Download").click()


CANVAS = "img[data-canvas]"


async def test_the_canvas_shows_a_sample_before_the_first_click(page: Page, server: PageServer) -> None:
    image = page.locator(CANVAS)
    await expect(image).to_have_attribute("src", f"{QR}/examples/0/large")
    assert await image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    assert server.previews == server.inputs == []


async def test_the_canvas_follows_the_form_without_using_up_the_limit(page: Page, server: PageServer) -> None:
    await page.get_by_label("Text").fill("hello")
    await expect(page.locator(CANVAS)).to_have_attribute("src", re.compile("^blob:"))
    await expect(page.locator("#facts")).to_contain_text("512 × 512 px")
    await expect(page.get_by_role("status")).to_contain_text("Preview updated: 512 × 512 px")
    assert server.previews == [{"text": "hello"}]
    assert server.inputs == []
    assert page.url == server.url + QR


async def test_the_canvas_shows_what_the_browser_restores(page: Page, server: PageServer) -> None:
    await page.get_by_label("Text").fill("https://example.org")
    await page.get_by_label("Pick: Foreground colour").fill("#336699")
    await expect(page.locator(CANVAS)).to_have_attribute("src", re.compile("^blob:"))
    await page.goto(f"{server.url}/tools")
    await page.go_back()
    await expect(page.get_by_label("Text")).to_have_value("https://example.org")
    await expect(page.locator(CANVAS)).to_have_attribute("src", re.compile("^blob:"))
    assert server.previews[-1]["text"] == "https://example.org"
    color = await page.get_by_label("Foreground colour", exact=True).input_value()
    await expect(page.get_by_label("Pick: Foreground colour")).to_have_value(color)


async def test_undrawable_text_is_not_requested(page: Page, server: PageServer) -> None:
    await page.get_by_label("Size").fill("9000")
    await page.get_by_label("Text").fill("")
    await page.get_by_label("Text").fill("x")
    await page.get_by_label("Size").fill("300")
    await expect(page.locator(CANVAS)).to_have_attribute("src", re.compile("^blob:"))
    assert server.previews == [{"text": "x", "size": 300}]


async def test_a_download_is_one_api_call(page: Page, server: PageServer) -> None:
    await page.get_by_label("Text").fill("hello")
    async with page.expect_download() as download_info:
        await download(page)
    assert (await download_info.value).suggested_filename == "qr-code-generator.svg"
    await expect(page.locator("#quota")).to_have_text("299 of 300 downloads left")
    assert server.inputs == [{"text": "hello"}]


async def test_a_download_is_named_after_the_title(browser: Browser, server: PageServer) -> None:
    async with opened(browser, server, "/tools/code-to-image") as page:
        await page.get_by_label("Title").fill("Über Sum.ts")
        async with page.expect_download() as download_info:
            await download(page)
        assert (await download_info.value).suggested_filename == "über-sum.svg"


@pytest.mark.parametrize("keys", ["Control+Enter", "Meta+Enter"])
async def test_the_keyboard_downloads_from_any_field(page: Page, server: PageServer, keys: str) -> None:
    field = page.get_by_label("Text")
    await field.fill("hello")
    async with page.expect_download():
        await field.press(keys)
    assert server.inputs == [{"text": "hello"}]


async def test_an_example_fills_the_form_and_is_drawn(page: Page, server: PageServer) -> None:
    await page.get_by_label("Text").fill("something else")
    # The preview of that text may come first, so wait for the example's preview by its request body.
    async with page.expect_response(lambda response: '"Hello"' in (response.request.post_data or "")):
        await page.get_by_role("button", name="In colour, as SVG").click()
    await expect(page.get_by_label("Text")).to_have_value("Hello")
    await expect(page.get_by_label("svg")).to_be_checked()
    await expect(page.get_by_role("button", name="Download SVG")).to_be_visible()
    await expect(page.locator(CANVAS)).to_have_attribute("src", re.compile("^blob:"))
    assert server.previews[-1] == {"text": "Hello", "fgColor": "#b9502a", "format": "svg", "size": 1024}


async def test_an_image_is_copied(browser: Browser, server: PageServer) -> None:
    async with opened(browser, server, QR, permissions=["clipboard-read", "clipboard-write"]) as page:
        await page.get_by_role("button", name="Copy image").click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        types = await page.evaluate("navigator.clipboard.read().then((items) => items.flatMap((item) => item.types))")
        assert types == ["image/png"]
        assert server.inputs == [{"text": "https://example.com/spring", "format": "png"}]


@pytest.mark.parametrize("text", ["short", "long " * 400], ids=["in the query", "in the fragment"])
async def test_a_link_restores_the_design(browser: Browser, server: PageServer, text: str) -> None:
    async with opened(browser, server, QR, permissions=["clipboard-read", "clipboard-write"]) as page:
        await page.get_by_label("Text").fill(text)
        await page.get_by_label("Size").fill("300")
        await page.get_by_role("button", name="Copy design link").click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        url = await page.evaluate("navigator.clipboard.readText()")
        await page.goto("about:blank")
        await page.goto(url)
        await expect(page.get_by_label("Text")).to_have_value(text)
        await expect(page.get_by_label("Size")).to_have_value("300")


async def test_generated_tags_can_be_copied(browser: Browser, server: PageServer) -> None:
    tags = '<link rel="icon" href="/favicon.ico">'

    def respond(slug: str, values: dict[str, Any]) -> tuple[int, Any]:
        status, envelope = server.succeed(slug, values)
        envelope["data"]["tags"] = tags
        return status, envelope

    server.api = respond
    permissions = ["clipboard-read", "clipboard-write"]
    async with opened(browser, server, "/tools/favicon-generator", permissions=permissions) as page:
        await expect(page.get_by_role("button", name="Copy HTML")).to_be_hidden()
        await page.get_by_label("Content").fill("Q")
        await page.get_by_role("button", name="Copy HTML").click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert await page.evaluate("navigator.clipboard.readText()") == tags


def server_of(slug: str, **sample_data: str) -> PageServer:
    """Return a server of one tool, whose responses have these members."""
    (tool,) = (candidate for candidate in ALL if candidate["slug"] == slug)
    return PageServer(({**tool, "sampleData": sample_data},))


async def test_tags_can_be_copied_while_their_preview_is_loading(browser: Browser) -> None:
    tags = '<link rel="icon" href="/favicon.ico">'
    permissions, may_respond = ["clipboard-read", "clipboard-write"], threading.Event()
    with server_of("favicon-generator", html=tags) as server:

        def respond(slug: str, values: dict[str, Any]) -> tuple[int, Any]:
            may_respond.wait(60)
            return server.succeed(slug, values)

        server.api = respond
        async with opened(browser, server, "/tools/favicon-generator", permissions=permissions) as page:
            async with page.expect_request("**/preview"):
                await page.get_by_label("Content").fill("Q")
            await page.get_by_role("button", name="Copy HTML").click()
            may_respond.set()
            await expect(page.get_by_role("button", name="Copied")).to_be_visible()
            assert await page.evaluate("navigator.clipboard.readText()") == tags


@pytest.mark.parametrize("label", ["Copy image", "Copy HTML"])
async def test_a_refused_call_is_not_blamed_on_the_browser(browser: Browser, label: str) -> None:
    with server_of("qr-code-generator", html="<img>") as server:
        server.api = lambda slug, _: server.refuse(slug, "margin: must be even (got 3)")
        permissions = ["clipboard-read", "clipboard-write"]
        async with opened(browser, server, QR, permissions=permissions) as page:
            await page.get_by_label("Text").fill("hello")
            await page.get_by_role("button", name=label).click()
            await expect(page.get_by_role("button", name="Not copied")).to_be_visible()
            await expect(page.locator("[data-failure]")).to_contain_text("must be even (got 3)")


async def test_without_a_rate_limit_previews_are_as_frequent(browser: Browser, server: PageServer) -> None:
    def unlimited(slug: str, values: dict[str, Any]) -> tuple[int, Any]:
        status, envelope = server.succeed(slug, values)
        envelope["meta"]["rateLimit"] |= {"limit": 0, "remaining": 0}
        return status, envelope

    server.api = unlimited
    async with opened(browser, server, "/") as page:
        await page.clock.install()
        await page.goto(server.url + QR)
        await page.get_by_label("Text").fill("first")
        await expect(page.locator(CANVAS)).to_have_attribute("src", re.compile("^blob:"))
        await page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
        await page.get_by_label("Text").fill("second")
        async with page.expect_request("**/preview"):
            await page.clock.run_for(100)


async def test_an_exhausted_budget_says_when_previews_resume(page: Page, server: PageServer) -> None:
    server.api = lambda slug, _: server.refuse(slug, "the limit is used up", 429, code="rate_limited", retryAfter=754)
    await page.get_by_label("Text").fill("hello")
    await expect(page.locator("[data-failure]")).to_contain_text("Previews pause for 13 minutes")


async def test_swatches_set_a_colour(page: Page, server: PageServer) -> None:
    await page.get_by_role("button", name="Set Foreground colour to #2f6f62").click()
    await expect(page.get_by_label("Foreground colour", exact=True)).to_have_value("#2f6f62")
    await expect(page.locator(CANVAS)).to_have_attribute("src", re.compile("^blob:"))
    assert server.previews[-1]["fgColor"] == "#2f6f62"


@pytest.mark.parametrize("width", [1280, 390])
async def test_permanent_links_in_every_format_can_be_created_from_the_keyboard(
    browser: Browser, server: PageServer, width: int
) -> None:
    title = 'A [year] of "small" & quick releases'
    async with opened(browser, server, "/tools/code-to-image", viewport={"width": width, "height": 800}) as page:
        await page.get_by_label("Title").fill(title)
        await page.get_by_role("button", name="Permanent link").press("Enter")
        panel = page.get_by_role("region", name="Permanent link")
        await expect(panel).to_be_focused()
        url = f"{server.url}/tools/code-to-image/image?design=abc&signature=def"
        tool = server.tools["code-to-image"]
        response = server.succeed("code-to-image", server.inputs[0])[1]
        for text in permanent_texts(tool, response["data"], url, title):
            assert await page.locator(f"#{text.id}").text_content() == text.text
        assert await page.locator("#permanent-url").text_content() == url
        await panel.get_by_role("button", name="Copy HTML").scroll_into_view_if_needed()
        await expect(panel.get_by_role("button", name="Copy HTML")).to_be_in_viewport()
        assert len(server.inputs) == 1
        assert await violations(page) == []
        await page.get_by_label("Title").fill("Another")
        await expect(panel).to_be_hidden()


@pytest.mark.parametrize(("width", "share"), [(1280, 0.6), (390, 0.85)])
async def test_the_canvas_has_most_of_the_width_and_stays_in_view(
    browser: Browser, server: PageServer, width: int, share: float
) -> None:
    async with opened(browser, server, QR, viewport={"width": width, "height": 800}) as page:
        box = await page.locator(".canvas").bounding_box()
        assert box is not None
        assert box["width"] >= share * width
        assert box["y"] + box["height"] <= 800
        await page.get_by_label("Background colour", exact=True).scroll_into_view_if_needed()
        await page.mouse.wheel(0, 200)
        await expect(page.locator(".canvas")).to_be_in_viewport(ratio=0.9)


async def test_an_example_works_from_the_keyboard(page: Page) -> None:
    await page.get_by_role("button", name="Wi-Fi").press("Space")
    await expect(page.get_by_label("Text")).to_have_value("WIFI:T:WPA;S:Guests;P:it's a secret;;")


async def test_the_snippet_of_every_language_follows_the_fields(page: Page, server: PageServer) -> None:
    values = {"text": 'it\'s\n"two" lines & <b>ünï</b> 🗞️', "size": 300}
    await page.get_by_label("Text").fill(str(values["text"]))
    await page.get_by_label("Size").fill("300")
    for sample in code_samples(f"{server.url}{QR}/api/generate", "", branding(), values):
        await expect(page.locator(f"#{sample.id}")).to_have_text(re.compile("300"))
        assert await page.locator(f"#{sample.id}").text_content() == sample.text


async def test_the_command_can_be_copied(browser: Browser, server: PageServer) -> None:
    async with opened(browser, server, QR, permissions=["clipboard-read", "clipboard-write"]) as page:
        await page.get_by_role("button", name="Copy the request").click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = await page.evaluate("navigator.clipboard.readText()")
        values = {"text": "https://example.com/spring"}
        assert copied == code_samples(f"{server.url}{QR}/api/generate", "", branding(), values)[0].text


async def test_a_refused_value_is_named_beside_its_field(page: Page, server: PageServer) -> None:
    # This also applies to previews: a correction must not be refused by the next one.
    server.api = lambda slug, values: (
        server.refuse(slug, "margin: must be even (got 3)") if values["margin"] == 3 else server.succeed(slug, values)
    )
    await page.get_by_label("Text").fill("hello")
    await page.get_by_label("Margin").fill("3")
    await download(page)
    margin = page.get_by_label("Margin")
    await expect(margin).to_be_focused()
    await expect(margin).to_have_attribute("aria-invalid", "true")
    await expect(margin).to_have_accessible_description(
        "Quiet zone around the code, in modules. 0 to 16. Must be even (got 3)"
    )
    await expect(page.get_by_role("status")).to_contain_text("margin: must be even (got 3)")
    await margin.fill("4")
    await expect(margin).not_to_have_attribute("aria-invalid", "true")
    await expect(margin).to_have_accessible_description("Quiet zone around the code, in modules. 0 to 16.")


async def test_each_refused_value_is_named_beside_its_field(page: Page, server: PageServer) -> None:
    server.api = lambda slug, _: server.refuse(slug, "size: must be even (got 513). margin: must be even (got 3).")
    await page.get_by_label("Text").fill("hello")
    await download(page)
    size, margin = page.get_by_label("Size"), page.get_by_label("Margin")
    await expect(size).to_be_focused()
    for field, problem in ((size, "Must be even (got 513)"), (margin, "Must be even (got 3)")):
        await expect(field).to_have_attribute("aria-invalid", "true")
        await expect(field).to_have_accessible_description(re.compile(f"{re.escape(problem)}$"))


async def test_input_that_the_browser_rejects_is_not_sent(page: Page, server: PageServer) -> None:
    await page.get_by_label("Size").fill("9000")
    await page.get_by_label("Text").fill("")
    await download(page)
    await expect(page.get_by_label("Text")).to_be_focused()
    await expect(page.get_by_label("Size")).to_have_attribute("aria-invalid", "true")
    assert server.inputs == []


async def test_a_used_up_limit_says_when_to_retry(page: Page, server: PageServer) -> None:
    server.api = lambda slug, _: server.refuse(slug, "the limit is used up", 429, code="rate_limited", retryAfter=754)
    await download(page)
    await expect(page.locator("[data-failure]")).to_contain_text("Try again in 13 minutes.")


@pytest.mark.parametrize("content", [b"<h1>Bad gateway</h1>", b"null", b"[]", b'{"ok": "yes"}'])
async def test_a_response_that_is_not_from_pressroom_is_reported_as_such(
    page: Page, server: PageServer, content: bytes
) -> None:
    server.api = lambda *_: (502, content)
    await download(page)
    await expect(page.locator("[data-failure]")).to_contain_text("status 502")
    await expect(page.get_by_role("button", name="Download")).not_to_have_attribute("aria-disabled", "true")


async def test_a_server_that_is_gone_is_reported_as_such(page: Page) -> None:
    await page.route("**/api/generate", lambda route: route.abort("connectionrefused"))
    await download(page)
    await expect(page.locator("[data-failure]")).to_contain_text("The server could not be reached.")
    await page.get_by_label("Text").fill("")
    await page.get_by_role("button", name="Download").click()
    await expect(page.locator(".field-error:visible")).to_have_text("Please fill out this field.")
    await expect(page.locator("[data-failure]")).to_be_hidden()


async def test_hostile_responses_stay_text(page: Page, server: PageServer) -> None:
    evil = "<img src=x onerror=alert(1)>"

    def respond(slug: str, values: dict[str, Any]) -> tuple[int, Any]:
        status, envelope = server.succeed(slug, values)
        envelope["data"] |= {"format": evil, "warnings": [evil], evil: evil}
        return status, envelope

    server.api = respond
    await page.get_by_label("Text").fill("hello")
    await expect(page.locator(".warnings")).to_have_text(evil)
    assert await page.locator("[onerror]").count() == 0


async def test_a_colour_and_its_picker_follow_each_other(page: Page) -> None:
    colour = page.get_by_label("Foreground colour", exact=True)
    picker = page.get_by_label("Pick: Foreground colour")
    await colour.fill("#0af")
    assert await picker.input_value() == "#00aaff"
    await picker.fill("#123456")
    await expect(colour).to_have_value("#123456")


async def test_a_number_and_its_slider_follow_each_other(page: Page) -> None:
    size, slider = page.get_by_label("Size"), page.locator("[name=size] + .range")
    await size.fill("1000")
    assert await slider.input_value() == "1000"
    await slider.fill("640")
    await expect(size).to_have_value("640")


async def test_half_typed_json_is_named_beside_its_field(browser: Browser, server: PageServer) -> None:
    async with opened(browser, server, "/tools/image-generator") as page:
        await page.get_by_label("Properties").fill('{"title": ')
        await download(page)
        await expect(page.get_by_label("Properties")).to_be_focused()
        await expect(page.get_by_text("Must be JSON")).to_be_visible()
        assert server.inputs == []


Actions = dict[str, str | bool]
CASES: list[tuple[str, Actions]] = [
    ("qr-code-generator", {"text": "two\nlines ", "margin": "0", "bgColor": "#ffffff00", "errorCorrection": "H"}),
    ("qr-code-generator", {"text": "x", "size": "", "fgColor": "", "format": "png"}),
    ("favicon-generator", {"content": "👨‍👩‍👧‍👦", "source": "emoji", "fontWeight": "700", "radius": "20"}),
    ("code-to-image", {"code": "a\n\tb\n", "title": "", "windowControls": False, "background": ""}),
    ("code-to-image", {"code": "x", "title": "main.go", "language": "go", "lineNumbers": True, "width": "1e3"}),
    ("image-generator", {"template": "og", "props": '{"title": "Hi", "n": [1, 2.5, null]}', "height": "630"}),
    ("image-generator", {"html": "<b style='x'>&amp;</b>", "aspectRatio": "16:9", "width": "1200"}),
]


@pytest.mark.parametrize(("slug", "actions"), CASES, ids=[f"{slug}-{number}" for number, (slug, _) in enumerate(CASES)])
async def test_the_page_sends_the_same_request_with_and_without_javascript(
    browser: Browser, server: PageServer, slug: str, actions: Actions
) -> None:
    for script in (True, False):
        async with opened(browser, server, f"/tools/{slug}", java_script_enabled=script) as page:
            for name, value in actions.items():
                control = page.locator(f"[name={name}]:not([type=hidden])")
                match await control.first.evaluate("control => control.type") if script else await _type(control.first):
                    case "checkbox":
                        await control.set_checked(bool(value))
                    case "radio":
                        await page.locator("label", has=page.locator(f"[name={name}][value='{value}']")).click()
                    case "select-one":
                        await control.select_option(str(value))
                    case _:
                        await control.fill(str(value))
            if script:
                async with page.expect_download():
                    await download(page)
            else:
                await generate(page)
                await expect(page.get_by_role("link", name="Download")).to_be_visible()
    with_script, without_script = server.inputs
    assert with_script == without_script


async def _type(control: Any) -> str:
    if await control.evaluate("control => control.tagName") == "SELECT":
        return "select-one"
    return await control.get_attribute("type") or "text"


async def test_the_page_works_without_javascript(browser: Browser, server: PageServer) -> None:
    async with opened(browser, server, QR, java_script_enabled=False) as page:
        await expect(page.locator(CANVAS)).to_be_visible()
        await page.get_by_role("link", name="Wi-Fi").click()
        await expect(page.get_by_label("Text")).to_have_value("WIFI:T:WPA;S:Guests;P:it's a secret;;")
        await generate(page)
        await expect(page.get_by_role("img", name="QR code generator: preview")).to_be_visible()
        await expect(page.get_by_text("299 of 300 requests left")).to_be_visible()
        await expect(page.get_by_label("Text")).to_have_value("WIFI:T:WPA;S:Guests;P:it's a secret;;")
        await expect(page.get_by_label("Q", exact=True)).to_be_checked()
        await expect(page.get_by_role("button", name="Copy")).to_have_count(0)
        assert server.inputs == [{"text": "WIFI:T:WPA;S:Guests;P:it's a secret;;", "errorCorrection": "Q"}]


async def test_an_error_without_javascript_keeps_the_values(browser: Browser, server: PageServer) -> None:
    server.api = lambda slug, _: server.refuse(slug, "margin: must be even (got 3)")
    async with opened(browser, server, QR, java_script_enabled=False) as page:
        await page.get_by_label("Text").fill("\nhello")
        await page.get_by_label("Margin").fill("3")
        await generate(page)
        await expect(page).to_have_title("Error: QR code generator · Pressroom")
        await expect(page.get_by_label("Margin")).to_have_value("3")
        await expect(page.get_by_label("Text")).to_have_value("\nhello")
        await expect(page.get_by_label("Margin")).to_have_accessible_description(
            "Quiet zone around the code, in modules. 0 to 16. Must be even (got 3)"
        )
        await expect(page.locator(CANVAS)).to_be_hidden()
