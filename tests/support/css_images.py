"""Render the images of the CSS reference and generate the corresponding part of its page."""

from __future__ import annotations

import base64
import io
import re
from typing import Final

import numpy as np
from PIL import Image
from pressroom_image_generator import engine

from support.css_reference import Entry
from support.css_reference_paint import GROUPS

WIDTH: Final = 320
HEIGHT: Final = 128
_GROUND: Final = "#faf7f2"
_COLORS: Final = 96


def drawn(entry: Entry) -> Image.Image:
    """Return the image of an entry. Raises `AssertionError` if the engine emits a warning."""
    html = f'<div style="width:100%;height:100%;background:{_GROUND};color:#1d1a17">{entry.html}</div>'
    rendered = engine.render(html, WIDTH, HEIGHT)
    assert rendered.warnings == (), f"{entry.names}: {rendered.warnings}"
    return rendered.image.convert("RGB")


def svg_image(entry: Entry) -> str:
    """Return the image of an entry as SVG at half its pixel size, to stay sharp on high-density screens."""
    buffer = io.BytesIO()
    small = drawn(entry).quantize(_COLORS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(buffer, "PNG", optimize=True, compress_level=9)
    data = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH // 2}" height="{HEIGHT // 2}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">\n'
        f'<image width="{WIDTH}" height="{HEIGHT}" href="data:image/png;base64,{data}"/>\n</svg>\n'
    )


def pixels(svg: str) -> np.ndarray:
    """Return the RGB pixels of an image from `svg_image`."""
    match = re.search(r"base64,([^\"]+)", svg)
    assert match is not None
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(match[1]))).convert("RGB"), dtype=int)


def page_part() -> str:
    """Return the sections of the page, as Markdown."""
    lines: list[str] = []
    for group in GROUPS:
        lines += [f"## {group.title}", ""]
        lines += [group.text, ""] if group.text else []
        lines += ["| Image | Property and values |", "|---|---|"]
        lines += [_row(entry) for entry in group.entries]
        lines += [""]
    return "\n".join(lines)


def _row(entry: Entry) -> str:
    first, *aliases = entry.names.split()
    sample = f"![{first}](../../images/css/{entry.id}.svg){{ .sample width=160 height=64 loading=lazy }}"
    names = f"**`{first}`**" + "".join(f", `{name}`" for name in aliases)
    values = " ".join(f"`{value}`" for value in entry.values)
    note = f"<br>{entry.note}" if entry.note else ""
    return f"| {sample} | {names}<br>{values}{note} |"
