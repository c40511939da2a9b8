"""In-place editing in the image on a tool's page, on the real server."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from PIL import Image
from playwright.async_api import Browser, Locator, Page, expect
from support.axe import violations
from support.server import Server, serving

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TOOL: Final = "/tools/code-to-image"
WAITING: Final = "x = 1\n\tabc\n\nlast (line) \u00e9"
TYPED: Final = "Word: {a}\n  @|tail_\t;\n#W\nfirst [\u00fcnd] 0"
LONG: Final = "word " * 40


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), config="") as running:
        yield running


@asynccontextmanager
async def opened(browser: Browser, server: Server, path: str = TOOL, **options: Any) -> AsyncIterator[Page]:
    """Open the page with its sample image loaded, so that it knows the position of the code."""
    context = await browser.new_context(**options)
    page = await context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    await context.request.get(f"{server.url}{TOOL}/examples/0/large")
    await page.goto(server.url + path)
    await page.locator("img[data-canvas]").evaluate("image => image.decode()")
    if "?" in path:
        # A linked design comes without text positions; the page requests them when the pointer is over the image.
        await page.locator("img[data-canvas]").hover()
        await expect(typing(page)).to_be_visible()
    yield page
    assert faults == []
    await context.close()


def typing(page: Page) -> Locator:
    return page.get_by_label("Type in the image")


def code(page: Page) -> Locator:
    return page.locator("textarea[name=code]")


async def drawn(page: Page) -> None:
    """Wait until the image matches the form."""
    await expect(page.locator("#result[aria-busy=true]")).to_have_count(0)
    await expect(page.locator(".in-place > div > span")).to_have_count(0)


async def rows_of_ink(page: Page) -> list[tuple[int, int, int, int]]:
    """Return the bounding box of each row's letters, in screen pixels."""
    box = await typing(page).bounding_box()
    assert box is not None
    shot = await page.screenshot(clip={"x": box["x"], "y": box["y"], "width": 150, "height": box["height"]})
    image = Image.open(io.BytesIO(shot)).convert("L")
    ground = image.getpixel((image.width - 2, image.height // 2))
    assert isinstance(ground, float | int)
    ink = image.point([255 if abs(value - ground) > 50 else 0 for value in range(256)])
    high = image.height / 4
    rows = [ink.crop((0, round(row * high), image.width, round((row + 1) * high))) for row in range(4)]
    return [row.getbbox() or (0, 0, 0, 0) for row in rows]


async def edge(page: Page) -> float:
    box = await typing(page).bounding_box()
    assert box is not None
    return box["x"]


def distances(first: list[tuple[int, int, int, int]], second: list[tuple[int, int, int, int]]) -> list[int]:
    return [
        abs(a - b)
        for row, counterpart in zip(first, second, strict=True)
        for a, b in zip(row, counterpart, strict=True)
    ]


async def test_text_typed_in_the_window_is_the_parameter(browser: Browser, server: Server) -> None:
    async with opened(browser, server) as page:
        await typing(page).click(position={"x": 200, "y": 30})
        await page.keyboard.press("Control+Home")
        async with page.expect_response(lambda response: response.url.endswith("/preview")) as response_info:
            await page.keyboard.type("#")
        assert (await response_info.value).ok
        await page.keyboard.type("!\n")
        await expect(code(page)).to_have_value("#!\n" + await code(page).evaluate("area => area.defaultValue"))
        await drawn(page)
        await expect(page.locator("#facts")).to_contain_text("900 × 512 px")
        assert await violations(page) == []


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fontSize": "20", "lineNumbers": False, "padding": "100"},
        {"theme": "github-light", "title": "", "windowControls": False},
        {"format": "svg", "width": "700"},
        {"autoWidth": True, "fontSize": "12"},
        {"font": "fira-code"},
        {"font": "source-code-pro"},
    ],
    ids=lambda settings: "-".join(settings) or "defaults",
)
async def test_letters_appear_immediately_where_the_image_will_have_them(
    browser: Browser, server: Server, settings: Mapping[str, str | bool]
) -> None:
    path = "&".join(f"{name}={str(value).lower()}" for name, value in settings.items())
    async with opened(browser, server, f"{TOOL}?code=x&language=plaintext&{path}") as page:
        await code(page).fill(TYPED)
        await drawn(page)
        goal = await rows_of_ink(page)
        await code(page).fill(WAITING)
        await drawn(page)
        before = await rows_of_ink(page)
        await page.route("**/preview", lambda route: route.abort())
        await typing(page).fill(TYPED)
        await typing(page).evaluate("area => area.blur()")
        painted = await rows_of_ink(page)
        assert max(distances(goal, before)) > 20
        # Thin strokes that are scaled down end one pixel earlier or later.
        assert max(distances(goal, painted)) <= (2 if "font" in settings else 1)


async def test_letters_are_shown_in_the_chosen_font_which_is_loaded_once_chosen(
    browser: Browser, server: Server
) -> None:
    loaded = "name => [...document.fonts].some(one => one.family.includes(name) && one.status === 'loaded')"
    async with opened(browser, server) as page:
        await drawn(page)
        for font, family in (("fira-code", "Fira Code"), ("source-code-pro", "Source Code Pro")):
            assert not await page.evaluate(loaded, family)
            await page.locator("[name=font]").select_option(font)
            await page.wait_for_function(loaded, arg=family)
            family_in_use = await typing(page).evaluate("area => getComputedStyle(area).fontFamily")
            assert family_in_use.partition(",")[0].strip('"') == family


async def test_words_that_move_keep_their_colours(browser: Browser, server: Server) -> None:
    async with opened(browser, server, f"{TOOL}?code=const+a+%3D+1%3B&language=javascript&theme=dracula") as page:
        await page.route("**/preview", lambda route: route.abort())
        await typing(page).press("Home")
        await page.keyboard.type("x ")
        await expect(page.locator(".in-place span")).to_have_text("x const a = 1;")
        await expect(page.locator(".in-place b", has_text="const")).to_have_css("color", "rgb(255, 121, 198)")
        await expect(page.locator(".in-place b", has_text="x")).to_have_css("color", "rgb(248, 248, 242)")


@pytest.mark.parametrize(("width", "least"), [(1280, 16), (390, 7)])
async def test_the_sample_is_legible(browser: Browser, server: Server, width: int, least: int) -> None:
    async with opened(browser, server, viewport={"width": width, "height": 844}) as page:
        image = await page.locator("img[data-canvas]").bounding_box()
        assert image is not None
        assert image["width"] / 900 * float(await page.locator("[name=fontSize]").first.input_value()) >= least
        assert image["height"] / image["width"] > 0.35


async def test_the_detected_language_is_shown(browser: Browser, server: Server) -> None:
    async with opened(browser, server) as page:
        await code(page).fill('fn main() {\n    let x: Vec<u8> = vec![1];\n    println!("{:?}", x);\n}')
        await expect(page.locator("#facts")).to_contain_text("Language Rust")
        await code(page).fill("def weave(numbers):\n    return sum(numbers)\n")
        await expect(page.locator("#facts")).to_contain_text("Language Python")
        await code(page).fill("#include <vector>\n\nstd::vector<int> none;\n")
        await expect(page.locator("#facts")).to_contain_text("Language C++")


async def test_code_that_wraps_is_plain_text_while_typing(browser: Browser, server: Server) -> None:
    async with opened(browser, server) as page:
        await code(page).fill(LONG)
        await drawn(page)
        await expect(typing(page)).to_have_css("opacity", "0")
        await typing(page).press("Control+End")
        await expect(typing(page)).to_have_css("opacity", "1")
        await page.keyboard.type("end")
        await expect(code(page)).to_have_value(LONG + "end")
        await expect(typing(page)).to_be_focused()
        await code(page).fill("short")
        await drawn(page)
        await expect(typing(page)).to_have_css("opacity", "1")
        await expect(typing(page)).to_have_value("short")


async def test_a_diff_keeps_its_marks_while_typing(browser: Browser, server: Server) -> None:
    async with opened(browser, server, f"{TOOL}?code=%2Bx&diff=true&language=plaintext") as page:
        await code(page).fill("+one\n-two")
        await drawn(page)
        left = await edge(page)
        await page.get_by_label("Diff").uncheck()
        await expect(page.locator("#result[aria-busy=true]")).to_have_count(0)
        await code(page).fill("@@ 1\n+one")
        await drawn(page)
        assert await edge(page) != left
        await page.get_by_label("Diff").check()
        # A line without a mark starts one column further right, which a text field cannot show.
        await expect(typing(page)).to_be_hidden()


async def test_an_emptied_image_is_filled_again(browser: Browser, server: Server) -> None:
    async with opened(browser, server) as page:
        await typing(page).fill("")
        await expect(code(page)).to_have_value("")
        await page.keyboard.type("let a = 1;")
        await drawn(page)
        await expect(page.locator("#facts")).to_contain_text("900 × 197 px")


async def test_a_linked_design_can_be_edited(browser: Browser, server: Server) -> None:
    async with opened(browser, server, f"{TOOL}?code=linked&language=plaintext") as page:
        await typing(page).press("Control+End")
        await page.keyboard.type(" text")
        await expect(code(page)).to_have_value("linked text")


async def test_the_first_visitor_of_a_server_can_edit_the_image(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, config="") as fresh:
        page = await browser.new_page()
        await page.goto(fresh.url + TOOL)
        await expect(page.locator("img[data-canvas]")).to_be_visible()
        await page.locator(".canvas").hover()
        await typing(page).press("Control+A")
        await page.keyboard.insert_text("def f():\n    return 1")
        await expect(code(page)).to_have_value("def f():\n    return 1")
        await drawn(page)
        await page.close()


async def test_on_touch_screens_the_form_gets_the_text(browser: Browser, server: Server) -> None:
    size = {"width": 390, "height": 800}
    async with opened(browser, server, viewport=size, is_mobile=True, has_touch=True) as page:
        await page.locator("img[data-canvas]").tap()
        await expect(typing(page)).to_be_hidden()
        await expect(code(page)).to_be_focused()
