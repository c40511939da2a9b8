"""SVG images of code match the PNG of the same parameters, and are well-formed for any code."""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import resvg_py
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pressroom.sdk import Artifact, InvalidInput
from pressroom_code_to_image.params import CodeImageDetails, CodeImageParams
from pressroom_code_to_image.render import render
from pressroom_code_to_image.vector import MAX_BYTES

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {
    *("svg", "title", "defs", "linearGradient", "stop", "filter", "feGaussianBlur"),
    *("path", "rect", "g", "use", "circle", "image"),
}
CODE = (
    'import { sum } from "./sum";\n\n'
    "/** Adds “all” 🎉, é, 漢字, שלום */\n"
    "export function total(values: number[]): number {\n"
    "\tconst x = values.map((v) => v * 2);\u202e // hidden\n"
    "  return sum(x); // a comment that goes on and on until its line has to wrap, which it does about here\n"
    "}"
)


def drawn(**params: Any) -> Artifact:
    return render(CodeImageParams(**{"code": CODE, **params}))


def vector(**params: Any) -> bytes:
    return drawn(format="svg", **params).content


def pixels(content: bytes) -> Any:
    """Return the RGB pixels of an image on a white background."""
    with Image.open(io.BytesIO(content)) as image:
        canvas = Image.new("RGBA", image.size, "white")
        canvas.alpha_composite(image.convert("RGBA"))
    return np.asarray(canvas.convert("RGB"), int)


def rasterised(svg: bytes) -> bytes:
    return bytes(resvg_py.svg_to_bytes(svg_string=svg.decode(), skip_system_fonts=True))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"theme": "github-light", "title": "", "windowControls": False, "lineNumbers": False},
        {"scale": 2, "fontSize": 18, "radius": 0, "shadow": 0, "background": "#fde68a"},
        {"autoWidth": True, "radius": 40, "shadow": 200, "background": "transparent"},
        {"highlightLines": "2,4", "focusLines": "3-5", "background": "linear-gradient(to top right, #f46b45, #eea849)"},
        {"diff": True, "code": "+added\n-removed\n kept", "title": "A long title <that> & is shortened " + "x" * 24},
        {"background": "radial-gradient(circle at 20% 30%, #f46b45, #eea849 40%, transparent)"},
        {"background": "radial-gradient(ellipse closest-side at 60% 40%, red -10%, oklch(0.7 0.2 250))"},
        {"background": "repeating-linear-gradient(45deg, oklch(0.7 0.2 30) 0 20px, #123 20px 40px)"},
        {"background": "repeating-radial-gradient(circle, #f00 10px, #00f 34px)"},
        {"background": "linear-gradient(90deg, red 120px, 30%, blue 420px)"},
        {"background": "linear-gradient(red 40%, blue 40%)"},
    ],
)
def test_it_looks_like_the_png(params: dict[str, Any]) -> None:
    expected, actual = pixels(drawn(**params).content), pixels(rasterised(vector(**params)))
    assert actual.shape == expected.shape
    difference = np.abs(actual - expected)
    # Antialiasing of glyph edges and hard colour stops differs; nothing is missing or displaced.
    assert difference.mean() < 1.2
    assert (difference.max(axis=2) > 96).mean() < 0.004


def test_the_response_has_the_size_and_the_format() -> None:
    svg, png = drawn(format="svg", scale=2), drawn(scale=2)
    root = ET.fromstring(svg.content)
    with Image.open(io.BytesIO(png.content)) as image:
        width, height = image.size
    assert (root.get("width"), root.get("height")) == (str(width), str(height))
    assert svg.details == CodeImageDetails(width=width, height=height, format="svg", language="typescript")
    assert png.details == CodeImageDetails(width=width, height=height, format="png", language="typescript")
    assert (svg.media_type, png.media_type) == ("image/svg+xml", "image/png")


def test_screen_readers_announce_its_title() -> None:
    root = ET.fromstring(vector(title='a < b & "c".ts'))
    title = root.find(f"{SVG}title")
    assert title is not None
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", title.get("id"))
    assert title.text == 'a < b & "c".ts'
    assert "".join(ET.fromstring(vector(title="")).itertext()).strip() == "Code"


def test_images_on_one_page_share_no_id() -> None:
    first, second = [
        {element.get("id") for element in ET.fromstring(vector(theme=theme)).iter()} - {None}
        for theme in ("nord", "dracula")
    ]
    assert first
    assert not first & second


def test_the_svg_has_no_external_references() -> None:
    svg = vector(
        code='<script>alert(1)</script> <image href="https://example.org/x"/>', title="<script>", language="html"
    )
    root = ET.fromstring(svg)
    ids = {element.get("id") for element in root.iter()}
    names = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert names <= ELEMENTS
    references = {value for element in root.iter() for key, value in element.attrib.items() if key.endswith("href")}
    assert all(reference.startswith("#") and reference[1:] in ids for reference in references)
    assert all(reference in ids for reference in re.findall(r"url\(#(\w+)\)", svg.decode()))


def test_emoji_are_embedded_in_the_file() -> None:
    root = ET.fromstring(vector(code="// 🎉 🎉 🚀", autoWidth=True))
    images = root.findall(f".//{SVG}image")
    assert len(images) == 2
    assert all(image.get("href", "").startswith("data:image/svg+xml;base64,") for image in images)


@pytest.mark.parametrize("background", ["conic-gradient(red, blue)", "repeating-conic-gradient(red 0 10%, blue 0 20%)"])
def test_a_background_unsupported_by_svg_is_refused(background: str) -> None:
    with pytest.raises(InvalidInput, match="conic") as exc_info:
        drawn(format="svg", background=background)
    assert exc_info.value.field == "background"
    assert drawn(background=background).media_type == "image/png"


def test_too_many_different_characters_are_refused() -> None:
    code = "".join(map(chr, range(0x4E00, 0x4E00 + 8000)))
    with pytest.raises(InvalidInput, match="ask for png") as exc_info:
        drawn(format="svg", code=code, language="plaintext", width=2000)
    assert exc_info.value.field == "format"
    assert len(vector(code="x y" * 2666, language="plaintext")) < MAX_BYTES / 8


def test_it_has_the_same_warnings_as_the_png() -> None:
    code = "// \U0001e6d0 and \U00011d00\U00011d3a"
    svg, png = drawn(format="svg", code=code), drawn(code=code)
    assert svg.warnings == png.warnings


@given(
    code=st.text(min_size=1, max_size=80).filter(lambda text: bool(text.strip())),
    title=st.text(max_size=60),
    language=st.sampled_from(["html", "python", "plaintext"]),
    numbered=st.booleans(),
)
def test_any_text_makes_a_sound_document(code: str, title: str, language: str, numbered: bool) -> None:
    svg = vector(code=code, title=title, language=language, lineNumbers=numbered)
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert "NaN" not in svg.decode()
