"""Realistic cards against satori with resvg: similarity to Chromium, and CPU time with PNG encoding, on one core."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Protocol

import pytest
from PIL import Image
from support.chromium import chromium_page, similarity
from support.engine_pages import photographed_html, prepare

WIDTH, HEIGHT = 1200, 630
MIN_MEAN_SIMILARITY = 0.985
MAX_RATIO_TO_PEER = 0.5
MAX_MILLISECONDS = 25.0


class Drawn(Protocol):
    """A drawn card: the image, and the CPU milliseconds of drawing it."""

    image: Image.Image
    cost: float


@pytest.mark.timeout(600)
def test_cards_cost_at_most_half_of_satori_with_resvg(ours: Mapping[str, Drawn], satoris: Mapping[str, Drawn]) -> None:
    print(f"\n{'CPU of a warm render with PNG':>32}     ours   satori + resvg")
    for name, card in ours.items():
        peer = satoris[name].cost
        print(f"{name:>32}: {card.cost:6.1f} ms {peer:7.1f} ms, {peer / card.cost:5.1f} times ours")
    median = statistics.median(card.cost for card in ours.values())
    print(f"{'median':>32}: {median:6.1f} ms")
    dear = {name: card.cost for name, card in ours.items() if card.cost > MAX_RATIO_TO_PEER * satoris[name].cost}
    assert not dear
    assert median <= MAX_MILLISECONDS


@pytest.mark.browser
@pytest.mark.timeout(600)
def test_cards_are_nearer_to_chromium_than_satoris(
    cards: Mapping[str, str], ours: Mapping[str, Drawn], satoris: Mapping[str, Drawn]
) -> None:
    scores: dict[str, tuple[float, float]] = {}
    with chromium_page(WIDTH, HEIGHT) as page:
        prepare(page, WIDTH, HEIGHT)
        for name, html in cards.items():
            shown = photographed_html(page, html)
            scores[name] = similarity(shown, ours[name].image), similarity(shown, satoris[name].image)
    print(f"\n{'similarity to Chromium':>32}    ours  satori + resvg")
    for name, (own, peer) in scores.items():
        print(f"{name:>32}: {own:7.4f} {peer:7.4f}")
    mean = statistics.mean(own for own, _ in scores.values())
    print(f"{'mean':>32}: {mean:7.4f} {statistics.mean(peer for _, peer in scores.values()):7.4f}")
    assert len(scores) >= 12
    assert mean >= MIN_MEAN_SIMILARITY
    assert not {name: pair for name, pair in scores.items() if pair[0] < pair[1]}
