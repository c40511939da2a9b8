"""Chromium as the reference for the image engine: the same fonts, the same defaults."""

from __future__ import annotations

import base64
import io

from PIL import Image
from playwright.sync_api import Page
from pressroom.graphics.text import default_library


def prepare(page: Page, width: int, height: int) -> None:
    """Give a page our fonts, our defaults and an empty canvas of that size."""
    # The Chinese, Japanese and Korean fonts are 16 MB each, and no compared page contains such text.
    faces = {
        (face.family, face.italic): face.path for face in default_library().all_faces() if "CJK" not in face.family
    }
    rules = "".join(
        f"@font-face{{font-family:'{family}';font-style:{'italic' if italic else 'normal'};font-weight:100 900;"
        f"src:url(data:font/ttf;base64,{base64.b64encode(path.read_bytes()).decode()})}}"
        for (family, italic), path in faces.items()
    )
    page.set_content(
        f"<!doctype html><style>{rules}*{{box-sizing:border-box}}body{{margin:0;background:#fff;font-family:Inter}}"
        "code,pre{font-family:'JetBrains Mono';font-size:0.8125em}</style>"
        f"<div id=canvas style='position:relative;display:flow-root;width:{width}px;height:{height}px'></div>"
    )
    for family, italic in faces:
        for weight in (100, 400, 600, 700, 800, 900):
            page.evaluate("font => document.fonts.load(font)", f"{'italic ' if italic else ''}{weight} 16px '{family}'")


def photographed_html(page: Page, html: str) -> Image.Image:
    """Return Chromium's rendering of an HTML text on the canvas."""
    page.evaluate("html => { document.getElementById('canvas').innerHTML = html }", html)
    page.evaluate("document.fonts.ready")
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")
