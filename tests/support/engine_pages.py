"""Chromium as the reference for the image engine: the same fonts, the same defaults."""

from __future__ import annotations

import io

from PIL import Image
from playwright.sync_api import Page
from pressroom.graphics.text import default_library

from support.plain_site import plain_site


def prepare(page: Page, width: int, height: int) -> None:
    """Give a page our fonts, our defaults and an empty canvas of that size."""
    # The Chinese, Japanese and Korean fonts are 16 MB each, and no compared page contains such text.
    faces = {
        (face.family, face.italic): face.path for face in default_library().all_faces() if "CJK" not in face.family
    }
    rules = "".join(
        f"@font-face{{font-family:'{family}';font-style:{'italic' if italic else 'normal'};font-weight:100 900;"
        f"src:url(/{path.name})}}"
        for (family, italic), path in faces.items()
    )
    html = (
        f"<!doctype html><style>{rules}*{{box-sizing:border-box}}body{{margin:0;background:#fff;font-family:Inter}}"
        "code,pre{font-family:'JetBrains Mono';font-size:0.8125em}</style>"
        f"<div id=canvas style='position:relative;display:flow-root;width:{width}px;height:{height}px'></div>"
    )
    # Chromium reads 11 MB of fonts from a website much faster than from data URLs, and keeps what it has loaded.
    with plain_site() as site:
        site.files["/"] = html.encode()
        site.files |= {f"/{path.name}": path.read_bytes() for path in faces.values()}
        page.goto(site.url)
        fonts = [
            f"{'italic ' if italic else ''}{weight} 16px '{family}'"
            for family, italic in faces
            for weight in (100, 400, 600, 700, 800, 900)
        ]
        loaded = page.evaluate(
            "async fonts => (await Promise.all(fonts.map(font => document.fonts.load(font)))).map(one => one.length)",
            fonts,
        )
    assert loaded == [1] * len(fonts)


def photographed_html(page: Page, html: str) -> Image.Image:
    """Return Chromium's rendering of an HTML text on the canvas."""
    page.evaluate("html => { document.getElementById('canvas').innerHTML = html }", html)
    page.evaluate("document.fonts.ready")
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")
