"""The contact sheet of the favicon generator matches the server's output."""

from __future__ import annotations

import base64
import io
import os
import re
import zipfile
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
from PIL import Image
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.doc_examples import DOCS

SHEET: Final = DOCS / "images/favicons.svg"
ICONS: Final[list[dict[str, Any]]] = [
    {"content": "P"},
    {"source": "text", "content": "Ag", "fontFamily": "serif", "fontWeight": 600, "bgColor": "#1d1a17"},
    {"source": "text", "content": "42", "fontFamily": "mono", "radius": 0, "bgColor": "#f3ede4", "fgColor": "#b9502a"},
    {"source": "emoji", "content": "🚀", "radius": 50, "bgColor": "#1d1a17"},
    {"source": "emoji", "content": "🌿", "radius": 0, "bgColor": "#ffffff00"},
    {"content": "ش", "radius": 50, "bgColor": "#2f6f62"},
]
ROWS: Final = (
    ("android-chrome-192x192.png", 96, 16),
    ("favicon-48x48.png", 48, 136),
    ("favicon-32x32.png", 32, 200),
    ("favicon-16x16.png", 16, 248),
)
"""A file of the bundle, its size on the sheet, and its distance from the top, in pixels."""

COLUMN: Final = 128


def contact_sheet(bundles: list[zipfile.ZipFile]) -> str:
    """Return the sheet as an SVG: a column per bundle, a row per size."""
    images = [
        f'<image x="{COLUMN * column + (COLUMN - edge) // 2}" y="{top}" width="{edge}" height="{edge}" '
        f'href="data:image/png;base64,{base64.b64encode(bundle.read(name)).decode()}"/>'
        for column, bundle in enumerate(bundles)
        for name, edge, top in ROWS
    ]
    size = f'width="{COLUMN * len(bundles)}" height="280"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n' + "\n".join(images) + "\n</svg>\n"


def pixels(sheet: str) -> list[np.ndarray[Any, Any]]:
    contents = (base64.b64decode(data) for data in re.findall(r"base64,([^\"]+)", sheet))
    return [np.asarray(Image.open(io.BytesIO(content)).convert("RGBA"), dtype=int) for content in contents]


def test_the_contact_sheet_matches_the_servers_output(tmp_path: Path) -> None:
    """Images match, apart from rounding; their bytes do not, since PNG compression depends on the machine."""
    bundles = []
    with RunningHost(settings_for_test({}, tmp_path)) as host:
        for params in ICONS:
            body = params | {"response": "binary"}
            response = httpx.post(f"{host.url}/tools/favicon-generator/api/generate", json=body, timeout=30)
            bundles.append(zipfile.ZipFile(io.BytesIO(response.content)))
    sheet = contact_sheet(bundles)
    if os.environ.get("PRESSROOM_TEST_UPDATE"):
        SHEET.write_text(sheet)
    stored, expected = pixels(SHEET.read_text()), pixels(sheet)
    assert len(stored) == len(expected) == len(ICONS) * len(ROWS)
    for one, other in zip(stored, expected, strict=True):
        assert one.shape == other.shape
        assert abs(one - other).max() <= 2
