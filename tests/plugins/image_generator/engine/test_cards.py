"""Realistic cards match Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page
from pressroom_image_generator.engine import render
from support.chromium import chromium_page, similarity
from support.engine_pages import photographed_html, prepare

CARDS = sorted((Path(__file__).parent / "cards").glob("*.html"))
WIDTH, HEIGHT = 1200, 630
MIN_SIMILARITY, MIN_MEAN = 0.975, 0.985


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium_page(WIDTH, HEIGHT) as page:
        prepare(page, WIDTH, HEIGHT)
        yield page


def drawn(html: str) -> Image.Image:
    image = render(html, WIDTH, HEIGHT).image.convert("RGBA")
    ground = Image.new("RGBA", image.size, "white")
    ground.alpha_composite(image)
    return ground.convert("RGB")


@pytest.mark.browser
def test_cards_match_chromium(page: Page) -> None:
    """The structural similarity is 0.985 on average, and at least 0.975."""
    texts = {card: card.read_text("utf-8") for card in CARDS}
    scores = {card.stem: similarity(photographed_html(page, html), drawn(html)) for card, html in texts.items()}
    assert len(scores) >= 12
    assert min(scores.values()) >= MIN_SIMILARITY, scores
    assert sum(scores.values()) / len(scores) >= MIN_MEAN, scores


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.stem)
def test_cards_cause_no_warnings(card: Path) -> None:
    assert render(card.read_text("utf-8"), WIDTH, HEIGHT).warnings == ()
