"""The contact sheets of the image generators match the server's output."""

from __future__ import annotations

import base64
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
import pytest
from PIL import Image
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.doc_examples import DOCS

MAX_BYTES: Final = 400_000
GAP: Final = 8
GROUND: Final = "#8a857d"
THEMES: Final = ("light", "dark", "gradient", "minimal", "bold")
ACCENTS: Final = ("#b9502a", "#7c9cf5", "#4f46e5", "#0f766e", "#f2c230")
"""The accent colours, one for each theme."""


@dataclass(frozen=True)
class Shot:
    """One image of a sheet: its parameters and position in pixels. If `height` is 0, the image determines it."""

    body: dict[str, Any] = field(hash=False)
    left: int
    top: int
    width: int
    height: int


@cache
def hills() -> str:
    """Return an image of hills in the morning as a data URL."""
    y, x = np.mgrid[0:280, 0:360].astype(np.float64)
    light = (y / 280)[..., None]
    pixels = (1 - light) * np.array([93, 138, 182]) + light * np.array([244, 207, 170])
    ridges = ((0.55, 17.0, (108, 132, 140)), (0.68, 12.0, (74, 101, 104)), (0.82, 21.0, (41, 66, 66)))
    for level, turns, colour in ridges:
        ridge = 280 * level + 25 * np.sin(x / 860 * turns + 0.4)
        pixels = np.where((y > ridge)[..., None], np.array(colour), pixels)
    buffer = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def cases() -> list[dict[str, Any]]:
    """Return the props of each row: short, long, right-to-left, without a subtitle, with an image."""
    return [
        {
            "eyebrow": "Release",
            "title": "Version 2 is here",
            "subtitle": "Calmer, and twice as fast.",
            "siteName": "example.com",
        },
        {
            "eyebrow": "Typography",
            "title": "An unreasonably detailed guide to the many ways in which long headlines break across lines",
            "subtitle": "Why some of them look as if somebody had spilled a box of letters, and what to do about it.",
            "author": "Ada Lovelace",
            "siteName": "example.com",
        },
        {
            "eyebrow": "تصميم",
            "title": "كيف نكتب عناوين جميلة باللغة العربية",
            "subtitle": "دليل قصير للمصممين والكتّاب",
            "author": "ليلى",
            "siteName": "example.com",
        },
        {"title": "A title and nothing else at all"},
        {
            "eyebrow": "Travel",
            "title": "Seven quiet places in the hills",
            "subtitle": "And how to get there by train.",
            "author": "Ada Lovelace",
            "imageUrl": hills(),
        },
    ]  # fmt: skip


TEMPLATES: Final = {
    "og": (152, 80, 600),
    "twitter-header": (152, 51, 750),
    "linkedin-banner": (152, 38, 800),
    "square": (84, 84, 540),
    "story": (60, 107, 540),
}
"""Width and height of each template on the sheet, and the width it is rendered at."""


def template_shots() -> Iterator[Shot]:
    """Yield every template in every theme with every case: a block per template, a row per case."""
    left = GAP
    top = GAP
    for template, (width, height, image_width) in TEMPLATES.items():
        if template == "square":
            left, top = GAP + 5 * (152 + GAP) + GAP, GAP
        if template == "story":
            top = GAP + 5 * (84 + GAP) + GAP
        for row, props in enumerate(cases()):
            for column, theme in enumerate(THEMES):
                all_props = {**props, "theme": theme, "accentColor": ACCENTS[column]}
                yield Shot(
                    {"template": template, "width": image_width, "props": all_props},
                    left + column * (width + GAP),
                    top + row * (height + GAP),
                    width,
                    height,
                )
        top += 5 * (height + GAP) + GAP


TYPESCRIPT: Final = """\
export const total = (items: Item[]): number =>
  items.reduce((sum, item) => sum + item.price * item.count, 0);
"""
PYTHON: Final = """\
@cache
def paths(x: int, y: int) -> int:
    # Ways to the corner
    if 0 in (x, y):
        return 1
    return paths(x - 1, y) + paths(x, y - 1)
"""
RUST: Final = """\
fn main() -> io::Result<()> {
    let mut lines = stdin().lock().lines();
    while let Some(line) = lines.next() {
        println!("{}", line?.trim());
    }
    Ok(())
}
"""
GO: Final = """\
func main() {
\thttp.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
\t\tfmt.Fprintf(w, "Hello, %s", r.URL.Path)
\t})
}
"""
SQL: Final = (
    "SELECT customers.name, count(*) AS orders, sum(orders.total) AS spent FROM customers "
    "JOIN orders USING (customer_id) GROUP BY customers.name HAVING count(*) > 3 ORDER BY spent DESC;"
)
BASH: Final = """\
set -euo pipefail
for file in *.png; do
  cwebp -q 80 "$file" -o "${file%.png}.webp"
done
"""
CSS: Final = """\
.card {
  display: grid;
  gap: clamp(1rem, 2vw, 2rem);
  background: oklch(97% 0.01 80);
}
"""
JSON: Final = """\
{
  "name": "Pressroom",
  "tools": ["og", "qr"],
  "retries": 3,
  "beta": false
}
"""
CODES: Final = (
    ("typescript", "dracula", "basket.ts", TYPESCRIPT, "linear-gradient(135deg, #5b6ee1, #b26ff0)"),
    ("python", "nord", "paths.py", PYTHON, "#2f6f62"),
    ("rust", "github-dark", "main.rs", RUST, "radial-gradient(circle at top, gold, tomato)"),
    ("go", "github-light", "serve.go", GO, "linear-gradient(to right, #c9d6ff, #e2e2e2)"),
    ("sql", "monokai", "report.sql", SQL, "conic-gradient(from 45deg, #ff5f6d, #ffc371, #ff5f6d)"),
    ("bash", "one-dark", "", BASH, "transparent"),
    ("css", "solarized-dark", "card.css", CSS, "oklch(70% 0.12 210)"),
    ("json", "tokyo-night", "settings.json", JSON, "linear-gradient(135deg, #1d1a17, #b9502a)"),
)
"""Language, theme, title, code and background of each code image; some lines are too long for the window."""


def code_shots() -> Iterator[Shot]:
    """Yield a code image for each theme, in two columns; heights depend on the code."""
    for index, (language, theme, title, code, background) in enumerate(CODES):
        body = {
            "code": code,
            "language": language,
            "theme": theme,
            "title": title,
            "background": background,
            "width": 640,
            "padding": 40,
            "lineNumbers": index % 3 != 2,
            "windowControls": bool(title),
        }
        yield Shot(body, GAP + index % 2 * (480 + GAP), 0, 480, 0)


DIFF: Final = """\
 export function sum(values: number[]): number {
-  let total = 0;
-  for (const value of values) total += value;
-  return total;
+  return values.reduce((total, value) => total + value, 0);
 }
"""
LOOKS: Final[tuple[tuple[str, str, str, dict[str, Any]], ...]] = (
    ("catppuccin-mocha", GO, "serve.go", {"highlightLines": "2-4"}),
    ("light-plus", SQL, "report.sql", {"focusLines": "1-3", "background": "#e2e8f0", "shadow": 60}),
    ("rose-pine", DIFF, "sum.ts", {"diff": True, "autoWidth": True}),
    ("gruvbox-light", DIFF, "sum.ts", {"diff": True, "radius": 28, "background": "#d5c4a1"}),
    ("night-owl", JSON, "settings.json", {"fontSize": 12, "radius": 0}),
    ("catppuccin-latte", CSS, "card.css", {"background": "linear-gradient(135deg, #ee9ca7, #ffdde1)"}),
    ("gruvbox-dark", GO, "serve.go", {"highlightLines": "1"}),
    ("solarized-light", SQL, "report.sql", {"background": "linear-gradient(135deg, #83a4d4, #b6fbff)"}),
    ("everforest-dark", CSS, "card.css", {"focusLines": "1-4"}),
    ("one-light", JSON, "settings.json", {"background": "#c7d2fe"}),
    ("kanagawa", BASH, "", {"autoWidth": True}),
    ("palenight", BASH, "", {"shadow": 200, "background": "linear-gradient(135deg, #f46b45, #eea849)"}),
)
"""Theme, code, title and options of each code image with another look; the language is detected."""


def look_shots() -> Iterator[Shot]:
    """Yield a code image for each remaining theme and each option."""
    for index, (theme, code, title, options) in enumerate(LOOKS):
        body = {
            "code": code,
            "language": "auto",
            "theme": theme,
            "title": title,
            "width": 640,
            "padding": 40,
            "scale": 2,
        }
        yield Shot(body | options, GAP + index % 2 * (480 + GAP), 0, 480, 0)


def badge() -> str:
    """Return a round logo as a data URL."""
    y, x = np.mgrid[0:160, 0:160] - 79.5
    distance = np.hypot(x, y)
    pixels = np.zeros((160, 160, 4), np.uint8)
    pixels[distance < 78] = (185, 80, 42, 255)
    pixels[(distance < 48) & (distance > 26)] = (255, 255, 255, 255)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def qr_shots() -> Iterator[Shot]:
    """Yield QR codes in every shape, with gradients and a logo."""
    looks: tuple[dict[str, Any], ...] = (
        {"moduleShape": "dot", "eyeShape": "circle"},
        {"moduleShape": "rounded", "eyeShape": "rounded", "fgColor": "#1d3557", "gradientColor": "#b9502a"},
        {"moduleShape": "rounded", "eyeShape": "circle", "eyeColor": "#b9502a", "logo": badge()},
        {"moduleShape": "dot", "fgColor": "#4c1d95", "gradientColor": "#0f766e", "gradientType": "radial"},
        {"logo": badge(), "logoSize": 28, "bgColor": "#faf7f2"},
        {"eyeShape": "rounded", "fgColor": "#1e3a8a", "gradientColor": "#be185d", "gradientAngle": 90},
    )
    for index, look in enumerate(looks):
        column, row = index % 3, index // 3
        body = {"text": "https://example.com/menu", "size": 512, **look}
        yield Shot(body, GAP + column * (300 + GAP), GAP + row * (300 + GAP), 300, 300)


@dataclass(frozen=True)
class Sheet:
    """A contact sheet: the tool that draws its images, and the scale and quality at which they are stored."""

    file: Path
    tool: str
    shots: Callable[[], Iterator[Shot]]
    scale: float
    quality: int


SHEETS: Final = [
    Sheet(DOCS / "images/templates.svg", "image-generator", template_shots, 1.75, 70),
    Sheet(DOCS / "images/code.svg", "code-to-image", code_shots, 2, 80),
    Sheet(DOCS / "images/code-looks.svg", "code-to-image", look_shots, 1.5, 70),
    Sheet(DOCS / "images/qr-styles.svg", "qr-code-generator", qr_shots, 1.5, 75),
]


def drawn(sheet: Sheet, client: httpx.Client) -> list[tuple[Shot, Image.Image]]:
    """Return the server's images with their positions."""
    drawings: list[tuple[Shot, Image.Image]] = []
    bottoms: dict[int, int] = {}
    for shot in sheet.shots():
        response = client.post(f"/tools/{sheet.tool}/api/generate", json=shot.body | {"response": "binary"})
        assert response.status_code == 200, response.text
        assert "x-warnings" not in response.headers
        image = Image.open(io.BytesIO(response.content)).convert("RGBA")
        placed = shot
        if not shot.height:
            height = round(shot.width * image.height / image.width)
            top = bottoms.get(shot.left, GAP)
            placed = Shot(shot.body, shot.left, top, shot.width, height)
            bottoms[shot.left] = top + height + GAP
        ground = Image.new("RGBA", image.size, GROUND)
        ground.alpha_composite(image)
        size = (round(sheet.scale * placed.width), round(sheet.scale * placed.height))
        drawings.append((placed, ground.convert("RGB").resize(size, Image.Resampling.LANCZOS)))
    return drawings


def contact_sheet(images: Sequence[tuple[Shot, Image.Image]], quality: int) -> str:
    """Return the sheet as an SVG with an embedded WebP for each image."""
    elements = []
    for shot, image in images:
        buffer = io.BytesIO()
        image.save(buffer, "WEBP", quality=quality, method=6)
        elements.append(
            f'<image x="{shot.left}" y="{shot.top}" width="{shot.width}" height="{shot.height}" '
            f'href="data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"/>'
        )
    width = max(shot.left + shot.width for shot, _ in images) + GAP
    height = max(shot.top + shot.height for shot, _ in images) + GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    ground = f'<rect width="{width}" height="{height}" fill="{GROUND}"/>'
    return "\n".join([head, ground, *elements, "</svg>\n"])


def shown(sheet: str) -> list[Image.Image]:
    contents = (base64.b64decode(data) for data in re.findall(r"base64,([^\"]+)", sheet))
    return [Image.open(io.BytesIO(content)).convert("RGB") for content in contents]


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.file.stem)
@pytest.mark.timeout(300)
def test_the_contact_sheet_matches_the_servers_output(sheet: Sheet, tmp_path: Path) -> None:
    """Images match, apart from WebP compression loss."""
    config = {"tools": {sheet.tool: {"rate_limit": "10000/hour"}}}
    with (
        RunningHost(settings_for_test(config, tmp_path)) as host,
        httpx.Client(base_url=host.url, timeout=30) as client,
    ):
        images = drawn(sheet, client)
    if os.environ.get("PRESSROOM_TEST_UPDATE"):
        sheet.file.write_text(contact_sheet(images, sheet.quality))
    text = sheet.file.read_text()
    assert len(text) < MAX_BYTES
    stored_images = shown(text)
    assert len(stored_images) == len(images)
    for (shot, expected), actual in zip(images, stored_images, strict=True):
        assert actual.size == expected.size, shot.body
        difference = np.abs(np.asarray(actual, dtype=int) - np.asarray(expected, dtype=int))
        assert difference.mean() < 6, shot.body
