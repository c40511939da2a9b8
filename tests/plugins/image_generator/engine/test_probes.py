"""Individual CSS properties match Chromium: `probes.json` has a small page for each."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image
from pressroom_image_generator.engine import render
from support.chromium import chromium_page, difference, similarity
from support.engine_pages import photographed_html, prepare

WIDTH, HEIGHT = 400, 300
PROBES: dict[str, str] = json.loads((Path(__file__).parent / "probes.json").read_text("utf-8"))
MIN_SIMILARITY = 0.97
"""Minimum structural similarity of a matching probe."""

_STAR = "50% 0,79% 90%,2% 35%,98% 35%,21% 90%"
_BLUE = "width:300px;height:280px;background:#06c"
DETAILS: dict[str, str] = {
    "radius of a fraction of a pixel": (
        "<div style='margin:30px;width:200px;height:120px;background:#000;border-radius:10.01px'></div>"
    ),
    "star": f"<div style='{_BLUE};clip-path:polygon({_STAR})'></div>",
    "star with a hole": f"<div style='{_BLUE};clip-path:polygon(evenodd,{_STAR})'></div>",
    "rows of items that are not stretched": (
        "<div style='display:grid;grid-template-columns:120px 120px;gap:10px;justify-items:start'>"
        "<div style='aspect-ratio:1;min-width:30px;background:#b9502a'></div><b>Two words</b><b>last</b></div>"
    ),
    "rows that fill a height": (
        "<div style='display:grid;grid-auto-flow:column;grid-template-rows:repeat(auto-fill,50px);gap:10px;"
        "height:230px'>" + "<i style='background:#06c'></i>" * 5 + "</div>"
    ),
    "rows that fit a height": (
        "<div style='display:grid;grid-auto-flow:column;grid-template-rows:repeat(auto-fit,50px);gap:10px;"
        "height:230px;align-content:center'>" + "<i style='background:#06c'></i>" * 2 + "</div>"
    ),
    "background in the middle of an edge": (
        f"<div style='{_BLUE};background:linear-gradient(#000,#000) no-repeat center left 10px/50px 50px'></div>"
    ),
    "object position of three values": (
        "<img style='width:300px;height:200px;object-fit:none;object-position:top left 10px' src=\"data:image/svg+xml,"
        "%3Csvg xmlns='http://www.w3.org/2000/svg' width='60' height='60'%3E%3Cpath d='M0 0h60v60'/%3E%3C/svg%3E\">"
    ),
    "transform origin with a depth": (
        "<div style='margin:60px;width:90px;height:90px;background:#06c;transform:scale(.5);"
        "transform-origin:left top 9px'></div>"
    ),
    "background at a minimum from the edges": (
        f"<div style='{_BLUE};background:linear-gradient(#000,#000) no-repeat right min(90px,10%) bottom max(5px,30%)"
        "/50px 50px'></div>"
    ),
    "shrinking a padded item": (
        "<div style='display:flex;width:300px;height:100px'><div style='width:200px;padding:0 50px;background:#06c'>"
        "</div><div style='width:200px;background:#000'></div></div>"
    ),
}
MAX_DIFFERENCE = 0.1
"""How far the colours of a detail may be off on average, of 255."""

BASE = "width:100%;height:100%;font-family:Inter;font-size:16px;color:#1d1a17"


def page_of(probe: str) -> str:
    return f'<div style="{BASE}">{probe}</div>'


def drawn(html: str) -> Image.Image:
    image = render(html, WIDTH, HEIGHT).image.convert("RGBA")
    ground = Image.new("RGBA", image.size, "white")
    ground.alpha_composite(image)
    return ground.convert("RGB")


@pytest.mark.browser
def test_properties_match_chromium() -> None:
    """There are at least 100 probes, and 95 % of them match."""
    scores: dict[str, float] = {}
    with chromium_page(WIDTH, HEIGHT) as page:
        prepare(page, WIDTH, HEIGHT)
        for name, probe in PROBES.items():
            scores[name] = similarity(photographed_html(page, page_of(probe)), drawn(page_of(probe)))
    failed = {name: round(score, 3) for name, score in scores.items() if score < MIN_SIMILARITY}
    assert len(scores) >= 100
    assert len(failed) <= 0.05 * len(scores), failed


@pytest.mark.browser
def test_details_match_chromium() -> None:
    """Most of a small defect is lost in the similarity of whole images."""
    with chromium_page(WIDTH, HEIGHT) as page:
        prepare(page, WIDTH, HEIGHT)
        off = {
            name: difference(photographed_html(page, page_of(detail)), drawn(page_of(detail))).mean()
            for name, detail in DETAILS.items()
        }
    assert {name: mean for name, mean in off.items() if mean > MAX_DIFFERENCE} == {}


def test_the_shadow_of_a_filter_fades_out() -> None:
    box = "position:absolute;left:150px;top:110px;width:100px;height:80px;background:#06c"
    image = drawn(page_of(f"<div style='{box};filter:drop-shadow(0 0 40px black)'></div>"))
    row = image.convert("L").crop((0, 150, 150, 151)).tobytes()
    assert max(outer - inner for inner, outer in pairwise(reversed(row))) <= 6


@pytest.mark.parametrize("width", [0.5, 1, 1.5, 2, 3, 12])
def test_outlines_of_letters_have_the_stroke_width(width: float) -> None:
    letter = "margin:60px 0 0 60.3px;font-size:200px;line-height:1;font-weight:900;color:transparent"
    row = drawn(page_of(f"<div style='{letter};-webkit-text-stroke:{width}px black'>I</div>")).convert("L")
    ink = sum(255 - value for value in row.crop((0, 160, WIDTH, 161)).tobytes()) / 255
    assert ink == pytest.approx(2 * width, abs=0.05)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Donau&shy;dampf&shy;schiff", "Donau-<br>dampf-<br>schiff"),
        ("Am Ende&shy;<br>Do&shy;nau", "Am Ende<br>Donau"),
        ("Donau&shy;<i>dampf</i>&shy;schiff", "Donau-<br><i>dampf</i>-<br>schiff"),
    ],
)
def test_a_soft_hyphen_is_visible_only_where_a_line_ends(text: str, same: str) -> None:
    box = "width:100px;margin:20px;font-size:24px"
    assert drawn(page_of(f"<p style='{box}'>{text}</p>")) == drawn(page_of(f"<p style='{box}'>{same}</p>"))
