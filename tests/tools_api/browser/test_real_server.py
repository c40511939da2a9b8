"""From the tool list to a file on the real server: dependent fields, uploads, help."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import pytest
import segno
import zxingcpp
from PIL import Image
from playwright.async_api import Browser, Page, expect
from support.axe import violations
from support.server import Server, serving

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TEXT = "https://example.com/from-the-browser"
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), config="") as running:
        yield running


def scanned(path: Path) -> str:
    (code,) = zxingcpp.read_barcodes(Image.open(path))
    return str(code.text)


@pytest.mark.parametrize("scripting", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_the_generated_code_scans(browser: Browser, server: Server, scripting: bool) -> None:
    context = await browser.new_context(java_script_enabled=scripting)
    page = await context.new_page()
    await page.goto(f"{server.url}/")
    await expect(page.locator(".services dt")).to_have_text(
        ["Content", "Search performance", "Images", "SEO", "Account"]
    )
    await page.get_by_role("link", name="QR code generator").click()
    await page.locator("[name=text]").fill(TEXT)
    if scripting:
        await expect(page.locator("img[data-canvas]")).to_have_attribute("src", re.compile("^blob:"))
        async with page.expect_download() as download_info:
            await page.get_by_role("button", name="Download PNG").click()
        assert scanned(await (await download_info.value).path()) == TEXT
    else:
        await page.get_by_role("button", name="Generate").click()
        async with page.expect_download() as download_info:
            await page.get_by_role("link", name="Download").click()
        assert scanned(await (await download_info.value).path()) == TEXT
    await context.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
@pytest.mark.parametrize("tool", ["code-to-image", "image-generator", "qr-code-generator", "favicon-generator"])
async def test_without_javascript_the_button_is_visible_and_covers_no_focused_field(
    browser: Browser, server: Server, tool: str, width: int, height: int
) -> None:
    context = await browser.new_context(java_script_enabled=False, viewport={"width": width, "height": height})
    page = await context.new_page()
    await page.goto(f"{server.url}/tools/{tool}")
    button, bar = page.get_by_role("button", name="Generate"), page.locator(".controls > .actions")
    for field in await page.locator(".controls :is(input, select, textarea):visible").all():
        await field.focus()
        box, bar_box = await field.bounding_box(), await bar.bounding_box()
        assert box is not None
        assert bar_box is not None
        assert box["y"] < bar_box["y"]
        await expect(button).to_be_in_viewport(ratio=1)
    await context.close()


async def test_code_leaves_the_page_as_a_vector_image(browser: Browser, server: Server) -> None:
    page = await browser.new_page()
    await page.goto(f"{server.url}/tools/code-to-image")
    await page.get_by_label("Title").fill("sum.ts")
    await page.locator("label", has=page.get_by_label("SVG", exact=True)).click()
    await expect(page.locator("img[data-canvas]")).to_have_attribute("src", re.compile("^blob:"))
    async with page.expect_download() as download_info:
        await page.get_by_role("button", name="Download SVG").click()
    file = await download_info.value
    assert file.suggested_filename == "sum.svg"
    assert (await file.path()).read_bytes().startswith(b"<svg ")
    assert await violations(page) == []
    await page.close()


@pytest.mark.parametrize("scripting", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_each_kind_of_code_has_its_own_fields(browser: Browser, server: Server, scripting: bool) -> None:
    context = await browser.new_context(java_script_enabled=scripting, viewport={"width": 390, "height": 844})
    page = await context.new_page()
    await page.goto(f"{server.url}/tools/qr-code-generator")
    await expect(page.get_by_label("Password")).to_be_hidden()
    await page.get_by_role("radio", name="Wi-Fi").focus()
    await page.keyboard.press("Space")
    await expect(page.get_by_label("Password")).to_be_visible()
    await expect(page.get_by_label("Subject")).to_be_hidden()
    if scripting:
        await expect(page.get_by_label("Network name")).to_have_value("Guests")
        await expect(page.get_by_label("Password")).to_have_value("correct horse")
        await page.get_by_label("Network name").fill("Caf\u00e9")
        await page.get_by_role("radio", name="Event").check(force=True)
        await expect(page.get_by_label("Title", exact=False).first).to_have_value("Caf\u00e9")
        await page.get_by_role("radio", name="Wi-Fi").check(force=True)
        assert await violations(page) == []
    else:
        await page.locator("[name=text]").fill("Caf\u00e9")
        await page.get_by_label("Password").fill("correct horse")
        await page.get_by_role("button", name="Generate").click()
    download = page.get_by_role("button" if scripting else "link", name="Download").first
    async with page.expect_download() as download_info:
        await download.click()
    assert scanned(await (await download_info.value).path()) == "WIFI:T:WPA;S:Caf\u00e9;P:correct horse;;"
    await context.close()


def qr_code(text: str) -> bytes:
    buffer = io.BytesIO()
    segno.make(text).save(buffer, kind="png", scale=8)
    return buffer.getvalue()


async def test_a_logo_that_hides_the_code_is_refused_before_it_is_shown(browser: Browser, server: Server) -> None:
    page = await browser.new_page()
    await page.goto(f"{server.url}/tools/qr-code-generator")
    picker, canvas = page.locator("input[type=file]"), page.locator("img[data-canvas]")
    disc = io.BytesIO()
    Image.new("RGB", (900, 900), "#b9502a").save(disc, "BMP")
    # Bitmaps are not accepted as uploads, so the browser converts the image.
    await picker.set_input_files({"name": "disc.bmp", "mimeType": "image/bmp", "buffer": disc.getvalue()})
    await expect(canvas).to_have_attribute("src", re.compile("^blob:"))
    await expect(page.locator(".upload")).to_contain_text("disc.bmp")
    before = await canvas.get_attribute("src")
    await picker.set_input_files({"name": "code.png", "mimeType": "image/png", "buffer": qr_code("another")})
    await expect(page.locator("[data-failure]")).to_contain_text("makes a code that cannot be read back")
    assert await canvas.get_attribute("src") == before
    assert await violations(page) == []
    await page.get_by_role("button", name="Remove").click()
    await expect(page.locator("[data-failure]")).to_be_hidden()
    async with page.expect_download() as download_info:
        await page.get_by_role("button", name="Download PNG").click()
    assert scanned(await (await download_info.value).path()) == "https://example.com/menu"
    await picker.set_input_files({"name": "notes.png", "mimeType": "image/png", "buffer": b"not an image"})
    await expect(page.get_by_text("isn't an image that this browser can open")).to_be_visible()
    await page.close()


async def test_a_logo_is_chosen_as_a_file_without_javascript(browser: Browser, server: Server) -> None:
    context = await browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = await context.new_page()
    await page.goto(f"{server.url}/tools/qr-code-generator")
    await page.locator("[name=text]").fill(TEXT)
    await page.locator("summary", has_text="Logo").click()
    picker = page.get_by_label("Logo", exact=True)
    await expect(page.locator("[type=text][name=logo]")).to_be_hidden()
    # A truncated phone photo must not lose what was typed.
    photo = {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": b"\xff\xd8\xff" + bytes(3_000_000)}
    await picker.set_input_files(photo)  # type: ignore[arg-type] # a mapping is taken
    await page.get_by_role("button", name="Generate").click()
    await expect(page.locator(".field-error:visible")).to_contain_text("The image is damaged and cannot be read")
    await expect(picker).to_have_attribute("aria-invalid", "true")
    await expect(page.locator("[name=text]")).to_have_value(TEXT)
    disc = io.BytesIO()
    Image.new("RGB", (60, 60), "#2f6f62").save(disc, "PNG")
    await picker.set_input_files({"name": "disc.png", "mimeType": "image/png", "buffer": disc.getvalue()})
    await page.get_by_role("button", name="Generate").click()
    assert await middle_of_code(page) == (0x2F, 0x6F, 0x62)
    # The next form still has it, until it is removed.
    await page.locator("[name=text]").fill(f"{TEXT}/2")
    await page.get_by_role("button", name="Generate").click()
    assert await middle_of_code(page, f"{TEXT}/2") == (0x2F, 0x6F, 0x62)
    await page.get_by_label("Remove the image (PNG").check()
    await page.get_by_role("button", name="Generate").click()
    await expect(page.get_by_label("Remove the image (PNG")).to_have_count(0)
    assert await middle_of_code(page, f"{TEXT}/2") != (0x2F, 0x6F, 0x62)
    await context.close()


async def middle_of_code(page: Page, text: str = TEXT) -> object:
    """Return the colour at the centre of the offered code, which must contain the text."""
    async with page.expect_download() as download_info:
        await page.get_by_role("link", name="Download").click()
    path = await (await download_info.value).path()
    assert scanned(path) == text
    with Image.open(path) as code:
        return code.convert("RGB").getpixel((code.width // 2, code.height // 2))


HOSTILE_SVG = b"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" onload="alert(1)">
<script>alert(2)</script>
<image href="https://example.com/x.png" width="9" height="9"/><circle cx="32" cy="32" r="30" fill="#2f6f62"/></svg>"""


async def test_an_uploaded_drawing_becomes_icons_without_its_scripts(browser: Browser, server: Server) -> None:
    context = await browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = await context.new_page()
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    await page.goto(f"{server.url}/tools/favicon-generator")
    await page.get_by_role("button", name="Copy HTML").click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert '<link rel="icon" href="/favicon.ico"' in await page.evaluate("navigator.clipboard.readText()")
    await page.locator("input[type=file]").set_input_files(
        {"name": "logo.svg", "mimeType": "image/svg+xml", "buffer": HOSTILE_SVG}
    )
    await expect(page.locator("#warnings")).to_contain_text("Removed from the SVG: scripts, event handlers")
    assert await violations(page) == []
    async with page.expect_download() as download_info:
        await page.get_by_role("button", name="Download ZIP").click()
    with zipfile.ZipFile(await (await download_info.value).path()) as bundle:
        drawing = bundle.read("favicon.svg").decode()
    assert "#2f6f62" in drawing
    assert "alert" not in drawing
    assert dialogs == []
    await context.close()


async def test_a_photo_of_any_size_is_dropped_onto_the_canvas(browser: Browser, server: Server) -> None:
    page = await browser.new_page()
    await page.goto(f"{server.url}/tools/image-generator")
    await page.locator(".canvas").evaluate(
        """async (canvas) => {
          const drawing = new OffscreenCanvas(4000, 3000);
          const context = drawing.getContext("2d");
          for (let at = 0; at < 4000; at += 20) {
            context.fillStyle = `hsl(${at} 80% 50%)`;
            context.fillRect(at, 0, 20, 3000);
          }
          const files = new DataTransfer();
          const type = "image/png";
          files.items.add(new File([await drawing.convertToBlob({ type })], "sea.png", { type }));
          canvas.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
        }"""
    )
    await expect(page.locator("img[data-canvas]")).to_have_attribute("src", re.compile("^blob:"))
    photo = page.locator("[type=text][name='props.imageUrl']")
    await expect(photo).to_have_value(re.compile("^data:image/webp;base64,"))
    assert len(await photo.input_value()) <= 200_000
    await expect(photo).to_be_hidden()
    await expect(page.locator("[data-failure]")).to_be_hidden()
    await page.close()


async def test_help_opens_and_closes_with_the_keyboard(browser: Browser, server: Server) -> None:
    page = await browser.new_page(viewport={"width": 390, "height": 844})
    await page.goto(f"{server.url}/tools/code-to-image")
    button = page.get_by_role("button", name="About: Padding")
    await button.focus()
    await page.keyboard.press("Enter")
    text = page.get_by_text("Space around the window, in pixels. 16 to 128.")
    await expect(text).to_be_in_viewport()
    assert await violations(page) == []
    await page.keyboard.press("Escape")
    await expect(text).to_be_hidden()
    await expect(button).to_be_focused()
    await expect(page.get_by_label("Padding", exact=True)).to_have_accessible_description(re.compile("Space around"))
    await page.close()


async def test_a_wrong_value_is_explained_beside_its_field(browser: Browser, server: Server) -> None:
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(f"{server.url}/tools/qr-code-generator?text=x&fgColor=reddish")
    await page.get_by_role("button", name="Generate").click()

    await expect(page.get_by_text("must be a hex colour").first).to_be_visible()
    assert await page.locator("[name=fgColor]").get_attribute("aria-invalid") == "true"
    await context.close()


async def test_no_number_is_cut_off(browser: Browser, server: Server) -> None:
    cut = """() => [...document.querySelectorAll("form input[type=number]")].filter((field) => {
        field.closest("details")?.setAttribute("open", "");
        field.value = field.max;
        return field.clientWidth && field.scrollWidth > field.clientWidth;
    }).map((field) => field.name)"""
    for width in (1280, 390):
        page = await browser.new_page(viewport={"width": width, "height": 800})
        for tool in ("qr-code-generator", "favicon-generator", "code-to-image", "image-generator"):
            await page.goto(f"{server.url}/tools/{tool}")
            assert await page.evaluate(cut) == [], (tool, width)
        await page.close()


async def test_the_real_pages_are_accessible(browser: Browser, server: Server) -> None:
    tools = ("qr-code-generator", "favicon-generator", "code-to-image", "image-generator", "no-such-tool")
    page = await browser.new_page(reduced_motion="reduce")
    for path in ("/tools", *(f"/tools/{tool}" for tool in tools)):
        await page.goto(server.url + path)
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme)
            assert await violations(page) == [], (path, scheme)
    await page.close()
