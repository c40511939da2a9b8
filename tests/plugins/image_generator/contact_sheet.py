"""Render every template in every theme with texts of all kinds, for side-by-side comparison.

Run `python tests/plugins/image_generator/contact_sheet.py FOLDER`; it writes a PNG for each template.
"""

from __future__ import annotations

import io
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image
from pressroom_image_generator import engine
from pressroom_image_generator.params import TemplateProps
from pressroom_image_generator.rendering import expand
from pressroom_image_generator.templates import BUILT_IN, FOLDER, THEMES

ACROSS: Final = {"story": 260, "square": 360}
_ACROSS: Final = 560
_GAP: Final = 12

LOGO: Final = "data:image/svg+xml;base64," + b64encode(
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="12" fill="#e4572e"/>'
    b'<path d="M14 34V14h12a7 7 0 010 14h-6v6z" fill="#fff"/></svg>'
).decode("ascii")


def photograph(width: int, height: int, phase: float) -> str:
    """Return an image of soft hills as a data URL."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    ridges = [height * level + height * 0.09 * np.sin(x / width * turns + phase) for level, turns in HILLS]
    light = np.clip(y / height, 0, 1)[..., None]
    pixels = (1 - light) * np.array([93, 138, 182]) + light * np.array([244, 207, 170])
    for ridge, color in zip(ridges, HILL_COLORS, strict=True):
        pixels = np.where((y > ridge)[..., None], np.array(color), pixels)
    buffer = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(buffer, "JPEG", quality=85)
    return "data:image/jpeg;base64," + b64encode(buffer.getvalue()).decode("ascii")


HILLS: Final = ((0.55, 7.0), (0.68, 5.0), (0.82, 9.0))
HILL_COLORS: Final = ((108, 132, 140), (74, 101, 104), (41, 66, 66))


def cases() -> dict[str, dict[str, Any]]:
    """Return the props of each row by name."""
    cover, face = photograph(900, 700, 0.4), photograph(120, 120, 2.0)
    return {
        "whole": {
            "eyebrow": "Engineering",
            "title": "What a year of small releases taught us",
            "subtitle": "Fewer surprises, calmer Fridays, and a changelog that people read.",
            "author": "Ada Lovelace",
            "siteName": "example.com",
            "logoUrl": LOGO,
            "avatarUrl": face,
        },
        "short": {"title": "Hello", "siteName": "example.com"},
        "long": {
            "eyebrow": "Typography",
            "title": (
                "An unreasonably detailed guide to the many ways in which long headlines can be broken across lines "
                "without looking as if somebody had spilled a box of letters over the whole card"
            ),
            "subtitle": "With a subtitle that is itself far too long to be read by anybody who scrolls past it. " * 3,
            "author": "Maximiliane Konstantinopolitanskaja-Featherstonehaugh",
            "siteName": "a-rather-long-domain-name.example.org",
        },
        "right to left": {
            "eyebrow": "تصميم",
            "title": "كيف نكتب عناوين جميلة باللغة العربية",
            "subtitle": "دليل قصير للمصممين والكتّاب",
            "author": "ليلى",
            "siteName": "example.com",
        },
        "no subtitle": {"title": "A title and nothing else at all"},
        "image": {
            "eyebrow": "Travel",
            "title": "Seven quiet places in the hills",
            "subtitle": "And how to get there by train.",
            "author": "Ada Lovelace",
            "siteName": "example.com",
            "imageUrl": cover,
            "avatarUrl": face,
        },
        "centred": {
            "eyebrow": "Release",
            "title": "Version 2 is here",
            "subtitle": "Everything is new, and nothing has changed.",
            "author": "Ada Lovelace",
            "siteName": "example.com",
            "logoUrl": LOGO,
            "align": "center",
        },
    }


def draw(template: str, props: dict[str, Any]) -> Image.Image:
    """Render one image at the template's own size, and print its warnings."""
    size = BUILT_IN[template]
    html = expand(FOLDER / template, TemplateProps.model_validate(props), size, size)
    rendered = engine.render(html, size.width, size.height, images={})
    for warning in rendered.warnings:
        sys.stdout.write(f"{template}, {props['theme']}: {warning}\n")
    return rendered.image.convert("RGB")


def sheet(template: str, accent: str) -> Image.Image:
    """Return all images of a template: a row per case, a column per theme."""
    natural, across = BUILT_IN[template], ACROSS.get(template, _ACROSS)
    down = round(across * natural.height / natural.width)
    rows = cases()
    size = (len(THEMES) * (across + _GAP) + _GAP, len(rows) * (down + _GAP) + _GAP)
    canvas = Image.new("RGB", size, "#8c8c8c")
    for row, props in enumerate(rows.values()):
        for column, theme in enumerate(THEMES):
            image = draw(
                template, {**props, "subtitle": props.get("subtitle", "")[:300], "theme": theme, "accentColor": accent}
            )
            position = (_GAP + column * (across + _GAP), _GAP + row * (down + _GAP))
            canvas.paste(image.resize((across, down), Image.Resampling.LANCZOS), position)
    return canvas


def main(folder: Path, accent: str = "#b9502a") -> None:
    """Write the sheets into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for template in BUILT_IN:
        sheet(template, accent).save(folder / f"{template}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3])
