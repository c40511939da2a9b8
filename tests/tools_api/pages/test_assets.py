"""Static assets: content-based URLs, and colours that stay legible."""

from __future__ import annotations

import gzip
import re
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.errors import NotFound
from pressroom.http.assets import DARK, LIGHT, brand_css, brand_icon, contrast
from pressroom.http.page_frame import PageFrame
from pressroom.interfaces.tools_api.pages import Pages
from support.page_server import branding

PAGES = Pages(PageFrame(branding(), "https://pressroom.example"))
COLOURS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


def tokens(css: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the custom properties of a style sheet, for light and for dark mode."""
    light, dark = (dict(re.findall(r"--([\w-]+):\s*([^;]+);", part)) for part in css.split("prefers-color-scheme", 1))
    return light, dark


def test_contrast_follows_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)


@given(COLOURS, COLOURS)
def test_text_on_and_in_any_accent_reaches_aa(accent: str, accent_dark: str) -> None:
    both = tokens(brand_css(branding(accent=accent, accent_dark=accent_dark)))
    for theme, found in zip((LIGHT, DARK), both, strict=True):
        assert contrast(found["on-accent"], found["accent"]) >= 4.5
        assert contrast(found["on-accent-hover"], found["accent-hover"]) >= 4.5
        for ground in (theme.paper, theme.surface, found["accent-soft"]):
            assert contrast(found["accent-text"], ground) >= 4.5
        assert contrast(theme.ink, found["accent-soft"]) >= 4.5


def test_a_readable_accent_is_used_unchanged() -> None:
    light, dark = tokens(brand_css(branding(accent="#8a2f10", accent_dark="#ffb59b")))
    assert light["accent-text"] == light["accent"] == "#8a2f10"
    assert dark["accent-text"] == dark["accent"] == "#ffb59b"


def test_the_style_sheet_has_the_backgrounds_used_to_compute_contrasts() -> None:
    schemes = tokens(PAGES.site.asset("pressroom.css").content.decode())
    for theme, colors in zip((LIGHT, DARK), schemes, strict=True):
        assert asdict(theme).items() <= colors.items()


@pytest.mark.parametrize("scheme", [0, 1])
def test_the_style_sheets_own_colours_reach_aa(scheme: int) -> None:
    colors = tokens(PAGES.site.asset("pressroom.css").content.decode())[scheme]
    for ground in ("paper", "surface", "sunken"):
        assert contrast(colors["ink"], colors[ground]) >= 7
        assert contrast(colors["muted"], colors[ground]) >= 4.5
        assert contrast(colors["edge"], colors[ground]) >= 3
    assert contrast(colors["danger"], colors["danger-soft"]) >= 4.5
    assert contrast(colors["danger"], colors["surface"]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1])
def test_the_colours_of_the_account_pages_reach_aa(scheme: int) -> None:
    shared = tokens(PAGES.site.asset("pressroom.css").content.decode())[scheme]
    colors = tokens(PAGES.site.asset("account.css").content.decode())[scheme]
    for name in ("good", "warn"):
        assert contrast(colors[name], colors[f"{name}-soft"]) >= 4.5
        assert contrast(colors[name], shared["surface"]) >= 4.5
        assert contrast(shared["ink"], colors[f"{name}-soft"]) >= 7


@pytest.mark.parametrize(
    "name",
    [
        "pressroom.css",
        "icons.css",
        "editor.css",
        "studio.css",
        "pages.js",
        "in_place.js",
        "uploads.js",
        "account.css",
        "account.js",
        "writing.js",
    ],
)
def test_assets_are_small(name: str) -> None:
    # The bytes of the first round trip of a connection (RFC 6928)
    assert len(gzip.compress(PAGES.site.asset(name).content)) < 14_600


def test_a_url_with_the_current_version_may_be_cached_for_ever() -> None:
    asset = PAGES.site.asset("pressroom.css")
    assert re.fullmatch(r'"[0-9a-f]{16}"', asset.etag)
    assert "immutable" in asset.cache_control(asset.version)
    assert asset.cache_control("") == asset.cache_control("0123456789abcdef") == "no-cache"


def test_pages_link_to_the_version_that_is_served() -> None:
    page = PAGES.index([]).decode()
    for name, version in re.findall(r'/tools/static/([\w.]+)\?v=(\w+)"', page):
        assert PAGES.site.asset(name).version == version
    assert page.count("/tools/static/") == 3


def test_another_accent_leads_to_another_file() -> None:
    other = Pages(PageFrame(branding(accent="#114488"), "https://pressroom.example"))
    assert other.site.asset("pressroom.css").etag != PAGES.site.asset("pressroom.css").etag
    assert other.site.asset("pages.js").etag == PAGES.site.asset("pages.js").etag


@pytest.mark.parametrize("name", ["pressroom.css", "icons.css", "editor.css", "studio.css", "account.css"])
def test_style_sheets_are_served_without_their_comments(name: str) -> None:
    asset = PAGES.site.asset(name)
    assert asset is not None
    assert b"/*" not in asset.content
    assert asset.content.count(b"{") == asset.content.count(b"}") > 10


@pytest.mark.parametrize("name", ["", "nope.css", "../render.py", "..%2frender.py", "/etc/passwd", "pressroom.css/"])
def test_other_files_are_not_found(name: str) -> None:
    with pytest.raises(NotFound):
        PAGES.site.asset(name)


def test_the_icon_carries_the_operators_initial() -> None:
    icon = brand_icon(branding(name="<News>", accent="#ffe600"))
    assert "&lt;</text>" in icon
    assert 'fill="#ffe600"' in icon
