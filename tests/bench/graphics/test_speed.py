"""CPU time of drawing and encoding, against Pillow and straightforward numpy in the same run, on one core."""

from __future__ import annotations

import io
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from pressroom.graphics.color import BLACK
from pressroom.graphics.gradient import parse_paint
from pressroom.graphics.jpeg import encode_jpeg
from pressroom.graphics.painting import paint_image
from pressroom.graphics.png import encode_png
from pressroom.graphics.text import TextStyle, default_library, draw_text, shape

SIZE = (1200, 630)
ROUNDS, CALLS = 7, 5
GRADIENT = parse_paint("linear-gradient(135deg, #b9502a, #1d1a17)")
SENTENCE = "The quick brown fox jumps over the lazy dog, and what it says is written here in one hundred letters."


@pytest.fixture(scope="module", autouse=True)
def one_core() -> Iterator[None]:
    """Pin this process to one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


def cost(work: Callable[[], Any]) -> float:
    """Return the median CPU time of a call, in milliseconds."""
    work()
    figures = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(CALLS):
            work()
        figures.append((time.process_time() - began) / CALLS * 1000)
    return statistics.median(figures)


def compared(what: str, ours: Callable[[], Any], peers: dict[str, Callable[[], Any]]) -> float:
    """Print the CPU time of each, and return the ratio of ours to the first competitor's."""
    costs = {"Pressroom": cost(ours)} | {name: cost(peer) for name, peer in peers.items()}
    first = costs[next(iter(peers))]
    print(f"\n{what}")
    for name, figure in costs.items():
        print(f"{name:>18}: {figure:8.2f} ms CPU  {figure / first:6.3f}")
    return costs["Pressroom"] / first


def pillow(image: Image.Image, form: str, **options: Any) -> Callable[[], bytes]:
    def encode() -> bytes:
        written = io.BytesIO()
        image.save(written, form, **options)
        return written.getvalue()

    return encode


def card() -> Image.Image:
    image = paint_image(GRADIENT, *SIZE)
    for line in range(8):
        draw_text(image, shape(SENTENCE[:70], TextStyle(32), default_library()), 60, 90 + 64 * line, BLACK)
    return image


def test_png_takes_a_third_of_the_time_of_pillow_at_its_fastest() -> None:
    image = card()
    ours, theirs = len(encode_png(image)), len(pillow(image, "PNG", compress_level=1)())
    print(f"\nbytes: {ours:,}, Pillow at level 1 {theirs:,}")
    peers = {
        "Pillow, level 1": pillow(image, "PNG", compress_level=1),
        "Pillow, default": pillow(image, "PNG"),
    }
    assert compared("a card as PNG, 1200 by 630", lambda: encode_png(image), peers) <= 1 / 3


def test_jpeg_takes_about_as_long_as_pillow() -> None:
    image = card()
    peers = {"Pillow, the same": pillow(image, "JPEG", quality=90, subsampling=0)}
    assert compared("a card as JPEG, quality 90", lambda: encode_jpeg(image), peers) <= 1.25


def test_text_takes_half_the_time_of_pillow() -> None:
    library = default_library()
    image = Image.new("RGB", (2000, 80), "white")
    font = ImageFont.truetype(str(library.of_family("Inter")[0].path), 32)
    pen = ImageDraw.Draw(image)
    style = TextStyle(32)

    def ours() -> None:
        draw_text(image, shape(SENTENCE, style, library), 10, 50, BLACK)

    peers = {"Pillow draw.text": lambda: pen.text((10, 10), SENTENCE, "black", font)}
    assert compared("100 letters at 32 px", ours, peers) <= 1 / 2


def naive_gradient() -> Image.Image:
    """Mix two colours at each pixel, the straightforward way."""
    width, height = SIZE
    y, x = np.mgrid[0:height, 0:width]
    line = (width + height) / np.sqrt(2)
    part = (((x + 0.5 - width / 2) + (y + 0.5 - height / 2)) / np.sqrt(2) / line + 0.5)[..., None]
    pixels = np.array([185, 80, 42]) * (1 - part) + np.array([29, 26, 23]) * part
    return Image.fromarray((pixels + 0.5).astype(np.uint8))


def test_a_gradient_takes_a_quarter_of_the_time_of_plain_numpy() -> None:
    assert np.abs(np.asarray(naive_gradient(), int) - np.asarray(paint_image(GRADIENT, *SIZE), int)).max() <= 1
    peers = {"numpy, plainly": naive_gradient}
    assert compared("a gradient, 1200 by 630", lambda: paint_image(GRADIENT, *SIZE), peers) <= 1 / 4
