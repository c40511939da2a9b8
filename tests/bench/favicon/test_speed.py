"""CPU time of an icon bundle, against npm `favicons` in the same run, on one core.

npm `favicons` renders an equivalent SVG and is measured twice: for the seven images of our bundle, and for the three
platforms that the bundle targets, for which it makes 26 images by default. It makes a manifest and tags both times, but
no ZIP; ours makes the whole bundle and a preview. Each of our bundles is different, while npm `favicons` makes the same
one repeatedly after a warm-up round.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pressroom.graphics.emoji import emoji_path
from pressroom_favicon_generator.bundle import make_bundle
from pressroom_favicon_generator.params import FaviconParams
from support.downloads import npm_package
from support.needs import program

NPM_PACKAGE = "favicons@7.2.0"
ROUNDS = 5
CALLS = 4
MAX_RATIO = 1 / 4

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
EMOJI = "🚀🌿🎨🔥🍋🐙🧭🪴🎈🍕🦊🌈🎹📚🔭🧩🛶🍄🪁🐝🎯🥨🦉🌻"

OTHERS = {"appleStartup": False, "windows": False, "yandex": False}
PLATFORMS = {"android": True, "appleIcon": True, "favicons": True} | OTHERS
SEVEN = {
    "android": ["android-chrome-192x192.png", "android-chrome-512x512.png"],
    "appleIcon": ["apple-touch-icon-180x180.png"],
    "favicons": True,
} | OTHERS


@pytest.fixture(scope="module", autouse=True)
def one_core() -> Iterator[None]:
    """Pin this process and its children to one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.fixture(scope="module")
def npm_favicons() -> Path:
    """Return the folder of npm's `favicons`, installing it if missing."""
    return npm_package(*NPM_PACKAGE.split("@"))


def _svg(content: str) -> str:
    image = f'<text x="256" y="390" text-anchor="middle" font-size="380" font-weight="800" fill="#fff">{content}</text>'
    if (path := emoji_path(content)) is not None:
        image = f'<g transform="translate(61 61) scale(10.8)">{path.read_text("utf-8")}</g>'
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512" width="512" height="512">'
        f'<rect width="512" height="512" rx="102" fill="#b9502a"/>{image}</svg>'
    )


def _ours(contents: Iterator[str], source: str) -> list[float]:
    """Return the CPU milliseconds per bundle, one figure per round. No two bundles are alike."""
    make_bundle(FaviconParams.model_validate({"source": source, "content": next(contents)}))
    figures = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(CALLS):
            make_bundle(FaviconParams.model_validate({"source": source, "content": next(contents)}))
        figures.append((time.process_time() - began) / CALLS * 1000)
    return figures


def _theirs(folder: Path, content: str, icons: Mapping[str, object]) -> list[float]:
    order = {
        "module": str(folder),
        "source": _svg(content),
        "configuration": {"icons": icons},
        "rounds": ROUNDS,
        "calls": CALLS,
    }
    command = [program("node"), str(Path(__file__).with_name("npm_favicons.cjs"))]
    done = subprocess.run(command, input=json.dumps(order), capture_output=True, text=True, timeout=100, check=True)
    return [float(figure) for figure in json.loads(done.stdout)]


@pytest.mark.parametrize("source", ["letter", "emoji"])
def test_a_bundle_takes_a_fraction_of_the_time_of_npm_favicons(source: str, npm_favicons: Path) -> None:
    contents = {"letter": LETTERS, "emoji": EMOJI}[source]
    figures = {
        "Pressroom": _ours(iter(contents), source),
        "npm favicons, the same seven": _theirs(npm_favicons, contents[0], SEVEN),
        "npm favicons, three platforms": _theirs(npm_favicons, contents[0], PLATFORMS),
    }
    costs = {peer: statistics.median(rounds) for peer, rounds in figures.items()}
    print(f"\na bundle of one {source}, median of {ROUNDS} rounds")
    for peer, cost in costs.items():
        print(f"{peer:>30}: {cost:8.2f} ms CPU, ours is {costs['Pressroom'] / cost:6.3f} of it")
    assert costs["Pressroom"] <= MAX_RATIO * min(cost for peer, cost in costs.items() if peer != "Pressroom")
