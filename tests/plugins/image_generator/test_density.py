"""An image at scale 2 or 4 is the image at scale 1 with finer pixels: nothing moves, and nothing is cut off."""

from __future__ import annotations

import io
import random
from typing import Any, Final

import pytest
from PIL import Image, ImageChops, ImageStat
from pressroom.sdk import InvalidInput
from pressroom_image_generator.engine import render
from pressroom_image_generator.params import MAX_PIXELS, ImageDetails, ImageParams
from pressroom_image_generator.preparation import RemoteImages, WorkerInput
from pressroom_image_generator.rendering import render as render_params
from pressroom_image_generator.templates import BUILT_IN
from pydantic import ValidationError

MAX_DIFFERENCE: Final = 2.0
"""Maximum mean colour difference, of 255: edges of glyphs and fine lines fall between other pixels."""

ADDRESS: Final = "https://example.com/a"
DOT: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'%3E"
    "%3Crect width='1' height='1'/%3E%3C/svg%3E"
)
STRETCHED: Final = DOT.replace("viewBox", "preserveAspectRatio='none' viewBox")
SQUARE: Final = "<div style='width:{};height:60px;background:#000'></div>"

PARTS: Final = {
    "text": "<p style='margin:10px;font-size:40px;letter-spacing:4px;text-indent:20px'>Text <u>in</u> <b>lines</b></p>",
    "sizes of texts by name": "<p style='font-size:xx-large'>Large</p><p style='font-size:initial'>Initial</p>",
    "units": SQUARE.format("20mm") + SQUARE.format("60pt") + SQUARE.format("10em") + SQUARE.format("50vw"),
    "calc": SQUARE.format("calc((10% + 20px) * 2 - 1em)") + SQUARE.format("max(30px, 2rem)"),
    "borders by name": "<div style='border-style:solid;margin:9px;height:40px'></div><hr>",
    "radius, dashes, outline": (
        "<div style='margin:30px;height:50px;border:6px dashed #00f;border-radius:20px;outline:thick solid;"
        "outline-offset:6px'></div>"
    ),
    "shadows": "<div style='margin:40px;height:60px;background:#fff;box-shadow:8px 12px 20px 4px #000'></div>",
    "shadow of a text": "<h1 style='text-shadow:6px 6px 4px #f00'>Shadow</h1>",
    "stroke": "<h1 style='font-size:80px;-webkit-text-stroke:8px #f00'>Ink</h1>",
    "transforms": "<div style='width:80px;height:40px;background:#000;transform:matrix(1,0.2,0,1,60,30)'></div>",
    "translation": "<div style='width:80px;height:40px;background:#000;translate:50px 40px'></div>",
    "filters": "<p style='margin:50px;height:60px;background:#00f;filter:blur(8px) drop-shadow(9px 9px 3px red)'></p>",
    "far shadows in a layer": (
        "<div style='opacity:.99;position:absolute;left:280px;top:-100px;width:400px;height:400px;"
        "box-shadow:0 0 400px #000'></div>"
    ),
    "far filters": (
        "<div style='position:absolute;left:250px;top:80px;width:80px;height:90px;background:#00f;"
        "filter:drop-shadow(0 0 120px #000) drop-shadow(-300px 0 120px #000)'></div>"
    ),
    "clip": "<div style='height:180px;background:#000;clip-path:inset(10px 20px 30px round 15px)'></div>",
    "gradients": "<div style='height:180px;background:linear-gradient(90deg,#fff 20px,#000 120px,#f00)'></div>",
    "tiles": (
        "<div style='height:180px;background:conic-gradient(#000 25%,#fff 0 50%,#000 0 75%,#fff 0) 5px 5px/40px 40px'>"
        "</div>"
    ),
    "attributes": f'<img src="{DOT}" width="90" height="50"><svg width="30" height="30"><path d="M0 0h30v30z"/></svg>',
    "an image of its own size": f"<img src='{ADDRESS}'>",
    "an image without a size": f'<img src="{DOT}">',
    "an image that is missing": "<img src='https://example.com/missing' style='border:9px solid'>" * 3,
    "a grid": (
        "<div style='display:grid;grid-template-columns:60px minmax(40px,1fr) 2fr;gap:12px;height:100px'>"
        "<i style='background:#000'></i><i style='background:#f00'></i><i style='background:#00f'></i></div>"
    ),
    "a list": "<ul><li>One</li><li>Two</li></ul><blockquote>Quoted</blockquote>",
    "emoji": "<p style='font-size:60px;margin:20px'>🎉 done</p>",
}  # fmt: skip


def file_of(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "#0a6").save(file, "PNG")
    return file.getvalue()


def shrunk(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    return image.convert("RGB").resize(size, Image.Resampling.BOX)


def off_by(image: Image.Image, other: Image.Image) -> float:
    return max(ImageStat.Stat(ImageChops.difference(image, other)).mean)


def drawn(params: dict[str, Any]) -> tuple[Image.Image, ImageDetails]:
    artifact = render_params(ImageParams.model_validate(params), WorkerInput(RemoteImages({ADDRESS: file_of(80, 50)})))
    assert isinstance(artifact.details, ImageDetails)
    return Image.open(io.BytesIO(artifact.content)), artifact.details


@pytest.mark.parametrize("density", [2, 4])
@pytest.mark.parametrize("part", PARTS)
def test_everything_keeps_its_position_and_size_at_higher_densities(part: str, density: int) -> None:
    html = f"<div style='width:100%;height:100%;background:#fff'>{PARTS[part]}</div>"
    images = {ADDRESS: file_of(80, 50)}
    plain = render(html, 320, 200, images=images)
    fine = render(html, 320, 200, density=density, images=images)

    assert fine.image.size == (320 * density, 200 * density)
    assert fine.warnings == plain.warnings
    blank = Image.new("RGB", (320, 200), "white")
    assert off_by(plain.image.convert("RGB"), blank) > 2 * MAX_DIFFERENCE
    assert off_by(shrunk(fine.image, (320, 200)), plain.image.convert("RGB")) < MAX_DIFFERENCE


@pytest.mark.parametrize("template", BUILT_IN)
def test_a_template_has_the_same_layout_at_scale_two(template: str) -> None:
    props = {"title": "A year of small releases", "subtitle": "Calmer Fridays", "author": "Ada", "imageUrl": ADDRESS}
    plain, _ = drawn({"template": template, "props": props})
    fine, details = drawn({"template": template, "props": props, "scale": 2})

    assert (details.width, details.height) == fine.size == (plain.width * 2, plain.height * 2)
    assert off_by(shrunk(fine, plain.size), plain.convert("RGB")) < MAX_DIFFERENCE


def test_a_jpeg_is_scaled_too() -> None:
    image, details = drawn({"html": "<b>Hello</b>", "width": 400, "height": 300, "format": "jpeg", "scale": 4})

    assert image.format == "JPEG"
    assert (details.width, details.height) == image.size == (1600, 1200)


def test_every_size_is_possible_at_scale_two_and_too_large_images_are_refused() -> None:
    largest = {"html": "x", "width": 2400, "height": 2400}
    assert ImageParams.model_validate({**largest, "scale": 2}).scale == 2

    with pytest.raises(ValidationError, match=f"scale: makes an image of 9600 x 9600 pixels; at most {MAX_PIXELS:,} "):
        ImageParams.model_validate({**largest, "scale": 4})


def test_a_file_that_is_too_large_is_refused_with_jpeg_suggested() -> None:
    noise = io.BytesIO()
    Image.frombytes("RGB", (800, 700), random.Random(1).randbytes(800 * 700 * 3)).save(noise, "PNG")
    params = {"html": f"<img src='{ADDRESS}' style='width:800px'>" * 4, "width": 1600, "height": 1400, "scale": 2}
    prepared = WorkerInput(RemoteImages({ADDRESS: noise.getvalue()}))

    with pytest.raises(InvalidInput, match=r"makes a file of \d\d MB, which is more than 24 MB; .* ask for jpeg"):
        render_params(ImageParams.model_validate(params), prepared)
    assert render_params(ImageParams.model_validate({**params, "format": "jpeg"}), prepared).media_type == "image/jpeg"


def test_a_background_larger_than_the_canvas_is_not_cut_off() -> None:
    box = """<div style="width:100%;height:100%;background:{} right/9000px 100% no-repeat"></div>"""
    gradient = render(box.format("linear-gradient(90deg,#f00 8900px,#00f 0)"), 400, 200).image.convert("RGB")
    stretched = render(box.format("url('" + STRETCHED.replace("'", "%27") + "')"), 400, 200).image.convert("RGBA")

    assert [gradient.getpixel((x, 100)) for x in (10, 290, 310, 390)] == [(255, 0, 0)] * 2 + [(0, 0, 255)] * 2
    assert [stretched.getpixel((x, 100)) for x in (10, 390)] == [(0, 0, 0, 255)] * 2


def test_relative_units_are_resolved_inside_parentheses() -> None:
    image = render(SQUARE.format("calc((1em + 2vw) * 2)"), 400, 200).image

    assert image.getbbox() == (0, 0, 48, 60)
