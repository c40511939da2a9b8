"""Each CSS property by itself looks as Chromium draws it: `probes.json` holds a small page for each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from pressroom_image_generator.engine import render
from support.chromium import chromium_page, similarity
from support.engine_pages import photographed_html, prepare

WIDTH, HEIGHT = 400, 300
PROBES: dict[str, str] = json.loads((Path(__file__).parent / "probes.json").read_text("utf-8"))
MIN_SIMILARITY = 0.97
"""The structural similarity from which on a probe matches."""

BASE = "width:100%;height:100%;font-family:Inter;font-size:16px;color:#1d1a17"


def page_of(probe: str) -> str:
    return f'<div style="{BASE}">{probe}</div>'


def drawn(html: str) -> Image.Image:
    image = render(html, WIDTH, HEIGHT).image.convert("RGBA")
    ground = Image.new("RGBA", image.size, "white")
    ground.alpha_composite(image)
    return ground.convert("RGB")


@pytest.mark.browser
def test_properties_look_as_in_chromium() -> None:
    """At least 100 probes, of which 95 in 100 match."""
    scores: dict[str, float] = {}
    with chromium_page(WIDTH, HEIGHT) as page:
        prepare(page, WIDTH, HEIGHT)
        for name, probe in PROBES.items():
            scores[name] = similarity(photographed_html(page, page_of(probe)), drawn(page_of(probe)))
    failed = {name: round(score, 3) for name, score in scores.items() if score < MIN_SIMILARITY}
    assert len(scores) >= 100
    assert len(failed) <= 0.05 * len(scores), failed
