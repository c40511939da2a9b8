"""The SVG document: its structure, and that it matches the PNG."""

import re
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import ImageChops
from pressroom_qr_code_generator.encode import encode
from pressroom_qr_code_generator.params import QrCodeParams
from pressroom_qr_code_generator.render import render
from pressroom_qr_code_generator.svg import outline
from support.qr_codes import pixels, rasterised, read_with_zbar, read_with_zxing
from support.sizes import examples

SVG = "{http://www.w3.org/2000/svg}"
URL = "https://example.com/"


def _content(**params: Any) -> bytes:
    artifact = render(QrCodeParams(**params, format="svg"))
    assert artifact.media_type == "image/svg+xml"
    return artifact.content


def test_the_document_has_a_view_box_and_one_path_with_sharp_edges() -> None:
    root = ET.fromstring(_content(text=URL, size=300))
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox") == "0 0 300 300"
    assert root.get("shape-rendering") == "crispEdges"
    assert root.get("width") is root.get("height") is None
    assert [child.tag for child in root] == [f"{SVG}rect", f"{SVG}path"]


def test_the_text_is_not_in_the_document() -> None:
    assert b"correct" not in _content(text="WIFI:T:WPA;S:Guests;P:correct horse;;")


def test_a_transparent_background_is_not_drawn() -> None:
    root = ET.fromstring(_content(text=URL, bgColor="#ffffff00"))
    assert [child.tag for child in root] == [f"{SVG}path"]


def test_translucent_colours_have_an_opacity() -> None:
    root = ET.fromstring(_content(text=URL, fgColor="#01020380", bgColor="#ffffff40"))
    assert [(child.get("fill"), child.get("fill-opacity")) for child in root] == [
        ("#ffffff", "0.251"),
        ("#010203", "0.502"),
    ]


@settings(max_examples=examples(40))
@given(
    text=st.text(alphabet="abc 123 é", min_size=1, max_size=150),
    module=st.integers(4, 8),
    margin=st.integers(0, 6),
    colors=st.sampled_from([("000", "fff"), ("#0000ff80", "#ffffff80"), ("#123", "#ffffff00")]),
)
def test_it_looks_like_a_png_whose_modules_fill_it(
    text: str, module: int, margin: int, colors: tuple[str, str]
) -> None:
    size = (len(encode(text, "M")) + 2 * margin) * module
    params: dict[str, Any] = {"text": text, "size": size, "margin": margin, "fgColor": colors[0], "bgColor": colors[1]}
    flat = pixels(render(QrCodeParams(**params)).content)
    drawn = pixels(rasterised(_content(**params), size))
    worst = max(high for _, high in ImageChops.difference(flat, drawn).getextrema())  # type: ignore[misc]
    assert worst <= 1


@pytest.mark.parametrize("margin", [0, 2, 4, 16])
@pytest.mark.parametrize("size", [64, 99, 131, 512, 2048])
def test_the_symbol_fills_the_view_box_except_for_the_margin(size: int, margin: int) -> None:
    modules = 25
    content = _content(text=URL, size=size, margin=margin)
    dark = np.asarray(pixels(rasterised(content, 20 * (modules + 2 * margin))).convert("L")) < 128
    rows, columns = np.nonzero(dark)
    edges = [int(edge) for edge in (rows.min(), columns.min(), rows.max() + 1, columns.max() + 1)]
    assert edges == [20 * margin, 20 * margin, 20 * (margin + modules), 20 * (margin + modules)]


@pytest.mark.parametrize("width", [90, 131, 400, 1111])
def test_the_code_scans_at_any_width(width: int) -> None:
    image = pixels(rasterised(_content(text=URL, size=99), width))
    assert read_with_zbar(image) == [URL]
    assert [code.text for code in read_with_zxing(image)] == [URL]


@pytest.mark.parametrize("size", [64, 100, 511])
def test_the_size_is_only_the_view_box_and_may_be_smaller_than_the_symbol(size: int) -> None:
    text = "a" * 1000
    artifact = render(QrCodeParams(text=text, size=size, format="svg"))
    assert artifact.warnings == ()
    assert artifact.details is not None
    assert artifact.details.model_dump() == {"size": size, "format": "svg"}
    assert read_with_zbar(pixels(rasterised(artifact.content, 900))) == [text]


def _filled(path: str, modules: int) -> list[list[int]]:
    """Fill path data by counting the vertical edges to the left of each module (SVG 2, `fill-rule: nonzero`)."""
    crossings = [[0] * (modules + 1) for _ in range(modules)]
    x = y = start = 0
    for command, numbers in re.findall(r"([Mhvz])([-\d ]*)", path):
        match command:
            case "M":
                x, y = map(int, numbers.split())
                start = y
            case "h":
                x += int(numbers)
            case _:
                end = start if command == "z" else y + int(numbers)
                for row in range(min(y, end), max(y, end)):
                    crossings[row][x] += 1 if end < y else -1
                y = end
    return [[int(sum(row[: column + 1]) != 0) for column in range(modules)] for row in crossings]


@settings(max_examples=examples(200))
@given(st.integers(1, 9).flatmap(lambda n: st.lists(st.binary(min_size=n, max_size=n), min_size=n, max_size=n)))
def test_the_outline_encloses_exactly_the_dark_modules(rows: list[bytes]) -> None:
    rows = [bytes(byte & 1 for byte in row) for row in rows]
    assert _filled(outline(rows), len(rows)) == [list(row) for row in rows]
