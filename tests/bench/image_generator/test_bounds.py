"""The CPU time of the largest canvas, and the memory of a long-running worker."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from pressroom.graphics.png import encode_png
from pressroom_image_generator.engine import render

WORKER: Final = Path(__file__).parent / "memory_worker.py"
MIB: Final = 2**20
EDGE: Final = 2400
MAX_MILLISECONDS: Final = 300.0
RENDERS, EVERY = 1000, 100
MAX_RESIDENT: Final = 400 * MIB
MAX_GROWTH: Final = 24 * MIB


def test_the_largest_canvas_takes_less_than_300_ms(cards: Mapping[str, str], one_core: None) -> None:
    """Draw each card on 2400 by 2400 pixels, both as written and with all lengths doubled."""
    costs: dict[str, float] = {}
    for name, html in cards.items():
        twice = re.sub(r"(-?\d*\.?\d+)px", lambda size: f"{float(size[1]) * 2:g}px", html)
        for kind, text in (("", html), (", twice as large", twice)):
            figures = []
            for _ in range(4):
                began = time.process_time()
                encode_png(render(text, EDGE, EDGE).image)
                figures.append((time.process_time() - began) * 1000)
            costs[name + kind] = sorted(figures[1:])[1]
    print(f"\nCPU of a warm render with PNG at {EDGE} by {EDGE} pixels")
    for name, cost in costs.items():
        print(f"{name:>34}: {cost:6.1f} ms")
    assert max(costs.values()) < MAX_MILLISECONDS


@pytest.mark.timeout(600)
def test_the_memory_of_a_worker_stays_flat_over_1000_renders(cards: Mapping[str, str]) -> None:
    """No two renders are alike; the caches are full after a few hundred."""
    order = {"cards": list(cards.values()), "renders": RENDERS, "every": EVERY}
    done = subprocess.run(
        [sys.executable, str(WORKER)], input=json.dumps(order), capture_output=True, text=True, timeout=550, check=False
    )
    assert not done.returncode, done.stderr
    figures: list[int] = json.loads(done.stdout)
    print(f"\nresident set after each {EVERY} renders, in MiB: {[round(figure / MIB) for figure in figures]}")
    half = len(figures) // 2
    assert max(figures) <= MAX_RESIDENT
    assert max(figures[half:]) - max(figures[:half]) <= MAX_GROWTH
