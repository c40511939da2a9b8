"""Bundles from an uploaded image: rendering, added files, and refusals."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from contextlib import suppress
from typing import Any, Final, Literal
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pressroom.sdk import InvalidInput
from pressroom_favicon_generator.bundle import make_bundle
from pressroom_favicon_generator.params import FaviconDetails, FaviconParams
from pydantic import ValidationError
from support.chromium import chromium
from support.sizes import examples

CONTRACT: Final = 9
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
SVG: Final = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"{}>{}</svg>'
DISC: Final = '<circle cx="5" cy="5" r="5" fill="#00ff00"/>'


def svg_url(inner: str = DISC, attributes: str = "") -> str:
    return "data:image/svg+xml," + quote(SVG.format(attributes, inner))


def raster_url(width: int = 600, height: int = 600, kind: str = "PNG", color: str = "#0000ff") -> str:
    return url_of(Image.new("RGB", (width, height), color), kind)


def url_of(image: Image.Image, kind: str = "PNG", **options: Any) -> str:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"


def made(image: str, **options: Any) -> tuple[dict[str, bytes], tuple[str, ...]]:
    artifact = make_bundle(FaviconParams(content="P", image=image, **options))
    with zipfile.ZipFile(io.BytesIO(artifact.content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert isinstance(artifact.details, FaviconDetails)
    assert artifact.details.files == list(files)
    return files, tuple(artifact.warnings)


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("RGBA")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_raster_image_creates_the_files_of_the_contract(kind: str) -> None:
    files, warnings = made(raster_url(kind=kind))
    assert (len(files), warnings) == (CONTRACT, ())
    red, green, blue, alpha = opened(files["favicon-32x32.png"]).getpixel((0, 0))  # type: ignore[misc]
    assert (red < 8, green < 8, blue > 245, alpha) == (True, True, True, 255)
    assert opened(files["apple-touch-icon.png"]).getpixel((2, 2)) == (255, 255, 255, 255)


def test_grey_of_16_bits_keeps_its_value() -> None:
    files, _ = made(url_of(Image.new("I;16", (600, 600), 100 * 257)))
    assert opened(files["favicon-32x32.png"]).getpixel((16, 16)) == (100, 100, 100, 255)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_photograph_is_upright(kind: str) -> None:
    """Cameras store images as the sensor has them, and how to turn them in Exif."""
    image = Image.new("RGB", (600, 600), "#ff0000")
    image.paste("#0000ff", (0, 0, 300, 600))
    exif = Image.Exif()
    exif[0x0112] = 6  # the left side of the stored image is its top
    files, _ = made(url_of(image, kind, exif=exif))
    icon = opened(files["favicon-48x48.png"])
    assert icon.getpixel((24, 4))[2] > 240  # type: ignore[index]
    assert icon.getpixel((24, 44))[0] > 240  # type: ignore[index]


def test_an_svg_is_drawn_and_included_in_the_bundle() -> None:
    files, warnings = made(svg_url())
    assert list(files)[CONTRACT:] == ["favicon.svg"]
    assert warnings == ()
    icon = opened(files["android-chrome-192x192.png"])
    assert icon.getpixel((96, 96)) == (0, 255, 0, 255)
    assert icon.getchannel("A").getpixel((3, 3)) == 0
    tags = files["favicon-tags.html"].decode()
    assert '<link rel="icon" type="image/svg+xml" sizes="any" href="/favicon.svg">' in tags


def test_background_padding_and_radius_are_applied_around_the_image() -> None:
    files, _ = made(svg_url(), imageBackground="#ff0000", imagePadding=25, radius=50)
    icon = opened(files["android-chrome-512x512.png"])
    colors = {(256, 256): (0, 255, 0, 255), (256, 64): (255, 0, 0, 255), (4, 4): (255, 0, 0, 0)}
    assert {point: icon.getpixel(point) for point in colors} == colors
    assert opened(files["apple-touch-icon.png"]).getpixel((1, 1)) == (255, 0, 0, 255)


@pytest.mark.parametrize(
    "options",
    [
        {"image": raster_url()},
        {"image": svg_url(), "imageBackground": "#112233"},
        {"content": "W", "fontWeight": 900},
        {"content": "🚀", "source": "emoji"},
        {"content": "DESIGN", "source": "text", "radius": 0},
    ],
)
def test_maskable_icons_keep_the_drawing_in_the_safe_zone(options: dict[str, Any]) -> None:
    """Everything outside the inner 80 % has the corner's colour (W3C Web Application Manifest)."""
    params = FaviconParams(**{"content": "P", "maskable": True, **options})
    with zipfile.ZipFile(io.BytesIO(make_bundle(params).content)) as archive:
        icon = Image.open(io.BytesIO(archive.read("maskable-512x512.png")))
        manifest = json.loads(archive.read("site.webmanifest"))
    assert (icon.mode, icon.size) == ("RGB", (512, 512))
    background = icon.getpixel((0, 0))
    outside = ((x, y) for x in range(0, 512, 3) for y in range(0, 512, 3) if (x - 256) ** 2 + (y - 256) ** 2 > 206**2)
    assert {icon.getpixel(point) for point in outside} == {background}
    assert icon.getcolors(1 << 18) != [(512 * 512, background)]
    assert [entry["purpose"] for entry in manifest["icons"]] == ["any", "any", "maskable", "maskable"]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"content": "P"}, "P"),
        ({"content": "P", "name": " Example\n site "}, "Example site"),
        ({"content": "🚀", "source": "emoji"}, None),
        ({"content": "P", "image": svg_url()}, None),
        ({"content": "🚀", "source": "emoji", "name": "Rocket"}, "Rocket"),
    ],
)
def test_the_manifest_has_the_name_of_the_website_not_the_symbol(options: dict[str, Any], name: str | None) -> None:
    with zipfile.ZipFile(io.BytesIO(make_bundle(FaviconParams(**options)).content)) as archive:
        manifest = json.loads(archive.read("site.webmanifest"))
    assert (manifest.get("name"), manifest.get("short_name")) == (name, name)


@pytest.mark.browser
def test_favicon_svg_changes_colour_in_dark_mode() -> None:
    files, _ = made(svg_url(), darkColor="#ff00ff")
    url = "data:image/svg+xml;base64," + base64.b64encode(files["favicon.svg"]).decode()
    colors = {}
    with chromium() as browser:
        for scheme in SCHEMES:
            page = browser.new_page(viewport={"width": 64, "height": 64}, color_scheme=scheme)
            page.set_content(f'<body style="margin:0;background:#fff"><img width="64" height="64" src="{url}">')
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            colors[scheme] = image.getpixel((32, 32)), image.getpixel((1, 1))
            page.close()
    assert colors == {
        "light": ((0, 255, 0), (255, 255, 255)),
        "dark": ((255, 0, 255), (255, 255, 255)),
    }


HOSTILE: Final = {
    "script": ("<script>alert(1)</script>", "scripts"),
    "script of HTML": ('<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>', "scripts"),
    "handler": ('<g onclick="alert(1)"/>', "event handlers"),
    "foreign object": ('<foreignObject><b xmlns="http://www.w3.org/1999/xhtml">x</b></foreignObject>', "foreignObject"),
    "link that runs": ('<a href="javascript:alert(1)"><rect width="1" height="1"/></a>', "references to other files"),
    "image elsewhere": ('<image href="https://evil.example/a.png"/>', "references to other files"),
    "file": ('<image href="file:///etc/passwd"/>', "references to other files"),
    "svg in a data URL": ('<use href="data:image/svg+xml,%3Csvg/%3E#a"/>', "references to other files"),
    "paint elsewhere": ('<rect fill="url(https://evil.example/a#b)"/>', "references to other files"),
    "escaped url": ('<rect style="fill:\\75rl(https://evil.example/a)"/>', "references to other files"),
    "import": ("<style>@import 'https://evil.example/a.css';</style>", "references to other files"),
    "escaped import": ("<style>@\\69mport 'https://evil.example/a.css';</style>", "references to other files"),
    "image set": ("<style>g{background:image-set('https://evil.example/a' 1x)}</style>", "references to other files"),
    "animated link": ('<a><set attributeName="href" to="javascript:alert(1)"/></a>', "animations"),
    "base": ('<g xml:base="https://evil.example/"/>', "references to other files"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_active_and_external_content_is_removed_and_reported(case: str) -> None:
    inner, reason = HOSTILE[case]
    files, warnings = made(svg_url(DISC + inner))
    assert warnings == (f"Removed from the SVG: {reason}.",)
    text = files["favicon.svg"].decode().lower()
    for part in ("script", "alert", "evil", "onclick", "foreign", "file:", "@import", "\\", "<set"):
        assert part not in text, part
    assert opened(files["android-chrome-192x192.png"]).getpixel((96, 96)) == (0, 255, 0, 255)


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (
            "data:image/svg+xml," + quote('<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format("", "&a;")),
            "declares entities",
        ),
        ("data:image/svg+xml," + quote('<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg/>'), "entities"),
        (svg_url("<g>" * 300 + "</g>" * 300), "nested too deeply"),
        (svg_url("<g/>" * 20_001), "draws more than"),
        (svg_url("<g>"), "not well-formed"),
        (svg_url(""), "shows nothing"),
        (svg_url("<text>P</text>"), "convert it to paths"),
        (svg_url(DISC).replace("viewBox", "data-box"), "neither a viewBox nor a size"),
        (svg_url(DISC).replace("10%2010", "100%201"), "8 times as long"),
        ("data:image/svg+xml," + quote("<html/>"), "no <svg>"),
        ("data:image/png;base64,AAAA", "cannot be read"),
        ("data:image/png;base64,!", "damaged"),
        ("data:image/png,", "damaged"),
        (raster_url(2049, 10, "WEBP"), "at most 2048"),
        (raster_url(15, 15), "at least 16"),
        (raster_url(16, 600), "8 times as long"),
        (raster_url(kind="GIF").replace("gif", "png"), "cannot be read"),
    ],
)
def test_an_unusable_image_is_refused_with_the_reason(image: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason) as exc_info:
        made(image)
    assert exc_info.value.field == "image"


@pytest.mark.timeout(60)
def test_an_svg_that_takes_too_long_is_refused() -> None:
    """Rendering masks nested in masks would take minutes."""
    masks = "".join(
        f'<mask id="m{n}"><rect width="10" height="10" fill="#fff" mask="url(#m{n + 1})"/>'
        f'<rect width="10" height="10" fill="#fff" mask="url(#m{n + 1})"/></mask>'
        for n in range(13)
    )
    with pytest.raises(InvalidInput, match=r"takes too long|draws more than"):
        made(svg_url(f'<g mask="url(#m0)">{DISC}</g>{masks}'))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"image": "https://example.com/a.png"}, "must begin with data:image/"),
        ({"image": "data:text/html,<b>"}, "must begin with data:image/"),
        ({"image": "data:image/png;base64," + "A" * 200_000}, "should have at most 200000"),
        ({"darkColor": "#fff"}, "darkColor: only goes with image"),
        ({"imagePadding": 41}, "less than or equal to 40"),
    ],
)
def test_parameters_out_of_bounds_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        FaviconParams(content="P", **options)


def test_a_dark_colour_needs_an_svg() -> None:
    with pytest.raises(InvalidInput, match="only goes with an SVG"):
        made(raster_url(), darkColor="#ffffff")


def test_a_small_image_is_drawn_with_a_warning() -> None:
    files, warnings = made(raster_url(64, 32))
    assert len(files) == CONTRACT
    assert warnings == ("The image has 64 by 32 pixels: larger icons are blurred. 512 pixels or an SVG are sharp.",)


@settings(max_examples=examples(25), deadline=None)
@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: f"<svg {text}/>".encode("utf-8", "replace")),
    st.sampled_from(["png", "svg+xml"]),
)
def test_any_bytes_are_drawn_or_refused(content: bytes, kind: str) -> None:
    with suppress(InvalidInput):
        made(f"data:image/{kind};base64,{base64.b64encode(content).decode()}")
