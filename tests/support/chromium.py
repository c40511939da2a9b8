"""Images rendered by Chromium, as the reference for ours."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from support.needs import headless_chromium

LAUNCH = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
)

# When other tests keep the machine busy, a page's reaction to a click can exceed the default of five seconds.
expect.set_options(timeout=30_000)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run headless Chromium with the sRGB colour profile and without font hinting."""
    executable = headless_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(LAUNCH))
        yield browser
        browser.close()


@contextmanager
def chromium_page(width: int, height: int) -> Iterator[Page]:
    """Open an empty page of that size in pixels, in a new browser."""
    with chromium() as browser:
        yield browser.new_page(viewport={"width": width, "height": height})


def photographed(page: Page, body: str, fonts: Mapping[str, Path] | None = None) -> Image.Image:
    """Return a screenshot of a body on white in Chromium. `fonts` maps families to font files."""
    faces = "".join(
        f"@font-face{{font-family:'{family}';font-weight:100 900;src:url(data:font/ttf;base64,"
        f"{base64.b64encode(path.read_bytes()).decode()})}}"
        for family, path in (fonts or {}).items()
    )
    page.set_content(f"<style>{faces}body{{margin:0;background:#fff}}</style>{body}")
    page.evaluate("document.fonts.ready")
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def difference(one: Image.Image, other: Image.Image) -> NDArray[np.int16]:
    """Return the absolute difference of each channel of two images, 0 to 255."""
    return np.abs(np.asarray(one, dtype=np.int16) - np.asarray(other, dtype=np.int16))


def similarity(one: Image.Image, other: Image.Image) -> float:
    """Return the mean structural similarity of two images in grey, 0 to 1 (Wang and others, 2004; windows of 8)."""
    first, second = (np.asarray(image.convert("L"), dtype=np.float64) for image in (one, other))
    mean_one, mean_two = _means(first), _means(second)
    variance_one = _means(first * first) - mean_one**2
    variance_two = _means(second * second) - mean_two**2
    covariance = _means(first * second) - mean_one * mean_two
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    scores = ((2 * mean_one * mean_two + c1) * (2 * covariance + c2)) / (
        (mean_one**2 + mean_two**2 + c1) * (variance_one + variance_two + c2)
    )
    return float(scores.mean())


def _means(values: NDArray[np.float64], window: int = 8) -> NDArray[np.float64]:
    sums = np.pad(values.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    total = sums[window:, window:] - sums[:-window, window:] - sums[window:, :-window] + sums[:-window, :-window]
    return np.asarray(total / window**2)
