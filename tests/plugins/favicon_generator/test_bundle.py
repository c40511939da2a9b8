"""The nine files of the bundle, and the ZIP archive that contains them."""

from __future__ import annotations

import io
import json
import zipfile
from html.parser import HTMLParser
from typing import Any

import pytest
from PIL import IcoImagePlugin, Image
from pressroom_favicon_generator.bundle import make_bundle
from pressroom_favicon_generator.params import FaviconDetails, FaviconParams

NAMES = [
    "favicon-16x16.png",
    "favicon-32x32.png",
    "favicon-48x48.png",
    "apple-touch-icon.png",
    "android-chrome-192x192.png",
    "android-chrome-512x512.png",
    "favicon.ico",
    "site.webmanifest",
    "favicon-tags.html",
]
SIZES = dict(zip(NAMES[:6], (16, 32, 48, 180, 192, 512), strict=True))


def unpacked(**options: Any) -> dict[str, bytes]:
    content = make_bundle(FaviconParams(**{"content": "P", **options})).content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_files_match_the_contract() -> None:
    bundle = make_bundle(FaviconParams(content="P"))
    assert isinstance(bundle.details, FaviconDetails)
    assert bundle.details.files == NAMES
    assert list(unpacked()) == NAMES


def test_every_image_has_the_right_size() -> None:
    files = unpacked()
    for name, size in SIZES.items():
        image = Image.open(io.BytesIO(files[name]))
        assert (image.format, image.size) == ("PNG", (size, size))


def test_the_ico_holds_the_three_small_images() -> None:
    files = unpacked()
    icon = Image.open(io.BytesIO(files["favicon.ico"]))
    assert icon.info["sizes"] == {(16, 16), (32, 32), (48, 48)}
    for size in (16, 32, 48):
        assert isinstance(icon, IcoImagePlugin.IcoImageFile)
        embedded = icon.ico.getimage((size, size))
        alone = Image.open(io.BytesIO(files[f"favicon-{size}x{size}.png"]))
        assert embedded.convert("RGBA").tobytes() == alone.convert("RGBA").tobytes()


@pytest.mark.parametrize("background", ["#b9502a", "#b9502a80", "#00000000"])
def test_the_apple_icon_is_an_opaque_square(background: str) -> None:
    image = Image.open(io.BytesIO(unpacked(bgColor=background, radius=50)["apple-touch-icon.png"]))
    assert image.mode == "RGB"
    corner = image.getpixel((0, 0))
    assert corner == {"#b9502a": (185, 80, 42), "#b9502a80": (220, 167, 148), "#00000000": (255, 255, 255)}[background]


def test_the_manifest_is_valid() -> None:
    manifest = json.loads(unpacked(bgColor="#ffd50080")["site.webmanifest"])
    assert manifest["theme_color"] == manifest["background_color"] == "#ffea7f"
    assert manifest["display"] == "standalone"
    assert [(icon["src"], icon["sizes"], icon["type"]) for icon in manifest["icons"]] == [
        ("/android-chrome-192x192.png", "192x192", "image/png"),
        ("/android-chrome-512x512.png", "512x512", "image/png"),
    ]


@pytest.mark.parametrize(
    ("options", "purpose"),
    [
        ({"radius": 0}, "any maskable"),
        ({"radius": 20}, "any"),
        ({"radius": 0, "bgColor": "#ffffff80"}, "any"),
        ({"radius": 0, "source": "text", "content": "DESIGN88"}, "any"),
        ({"radius": 0, "fontFamily": "serif"}, "any maskable"),
    ],
)
def test_an_icon_is_maskable_if_nothing_would_be_cut_off(options: dict[str, Any], purpose: str) -> None:
    manifest = json.loads(unpacked(**options)["site.webmanifest"])
    assert {icon["purpose"] for icon in manifest["icons"]} == {purpose}


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_tags_refer_to_files_of_the_bundle() -> None:
    files = unpacked()
    links = _Links()
    links.feed(files["favicon-tags.html"].decode())
    urls = [attributes["href"] for tag, attributes in links.tags if tag == "link"]
    assert {str(url).removeprefix("/") for url in urls} <= set(NAMES)
    assert ("meta", {"name": "theme-color", "content": "#b9502a"}) in links.tags


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        (
            {"bgColor": "#ffffff00"},
            "1.0:1 on white, as in apple-touch-icon.png.",
        ),
        (
            {"bgColor": "#b9502a", "fgColor": "#ffffff10"},
            "1.1:1.",
        ),
        ({"bgColor": "#ffffff00", "fgColor": "#b9502a"}, None),
        ({"bgColor": "#ffffff00", "content": "🚀"}, None),
        ({"bgColor": "#ffffff00", "content": "🚀", "source": "emoji"}, None),
        ({"bgColor": "#ffd400", "fgColor": "#1d1a17"}, None),
        ({}, None),
    ],
)
def test_letters_that_can_hardly_be_seen_have_a_warning(options: dict[str, Any], warning: str | None) -> None:
    bundle = make_bundle(FaviconParams(**{"content": "P", **options}))
    expected = f"The letters can hardly be seen: the contrast of fgColor and bgColor is {warning}"
    assert bundle.warnings == (() if warning is None else (expected,))


def test_equal_input_returns_identical_bytes() -> None:
    first, second = (make_bundle(FaviconParams(source="emoji", content="🚀")).content for _ in range(2))
    assert first == second


def test_the_preview_shows_the_icons_of_the_bundle() -> None:
    bundle = make_bundle(FaviconParams(content="P"))
    files = unpacked()
    assert bundle.preview is not None
    media_type, content = bundle.preview
    assert media_type == "image/png"
    sheet = Image.open(io.BytesIO(content))
    assert sheet.size == (228, 180)
    for name, left, top in (
        ("apple-touch-icon.png", 0, 0),
        ("favicon-48x48.png", 180, 0),
        ("favicon-32x32.png", 180, 48),
        ("favicon-16x16.png", 180, 80),
    ):
        icon = Image.open(io.BytesIO(files[name])).convert("RGBA")
        part = sheet.crop((left, top, left + icon.width, top + icon.height))
        assert part.tobytes() == icon.tobytes(), name
