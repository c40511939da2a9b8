"""Shapes, gradients and logos: two programs decode them, and undecodable combinations are refused."""

import base64
import io
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from pressroom.sdk import InvalidInput
from pressroom_qr_code_generator.encode import encode
from pressroom_qr_code_generator.params import QrCodeParams
from pressroom_qr_code_generator.render import render
from support.qr_codes import pixels, rasterised, read_with_zbar, read_with_zxing, with_more_margin
from support.sizes import examples

URL = "https://example.com/menu"


def _uri(image: Image.Image, kind: str = "PNG") -> str:
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _disc() -> Image.Image:
    image = Image.new("RGBA", (120, 120), (0, 0, 0, 0))
    ImageDraw.Draw(image).ellipse((2, 2, 118, 118), fill="#b9502a")
    return image


LOGO = _uri(_disc())


def _image(**params: Any) -> Image.Image:
    return pixels(render(QrCodeParams(**{"text": URL, **params})).content)


@settings(max_examples=examples(60), deadline=None)
@given(
    text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=80),
    shape=st.sampled_from(["square", "dot", "rounded"]),
    eyes=st.sampled_from(["square", "rounded", "circle"]),
    gradient=st.sampled_from([None, "#9d174d", "#0f766e"]),
    kind=st.sampled_from(["linear", "radial"]),
    angle=st.integers(0, 360),
    logo=st.sampled_from([None, LOGO]),
    file_format=st.sampled_from(["png", "svg"]),
)
@example("0", "square", "circle", "#0f766e", "linear", 0, None, "png")
@example("1", "rounded", "circle", None, "linear", 0, None, "png")
def test_every_style_is_read(
    text: str, shape: Any, eyes: Any, gradient: str | None, kind: Any, angle: int, logo: str | None, file_format: Any
) -> None:
    params = QrCodeParams(
        text=text, size=640, moduleShape=shape, eyeShape=eyes, fgColor="#1e3a8a", gradientColor=gradient,
        gradientType=kind, gradientAngle=angle, logo=logo, format=file_format,
    )  # fmt: skip
    content = render(params).content
    image = pixels(rasterised(content, 640) if file_format == "svg" else content)
    image = with_more_margin(image, 40)
    assert [reading.text for reading in read_with_zxing(image)] == [text]
    assert read_with_zbar(image) == [text]


def test_a_logo_raises_the_level_to_h_and_is_in_the_middle() -> None:
    image = _image(logo=LOGO, errorCorrection="L")
    (reading,) = read_with_zxing(image)
    assert reading.level == "H"
    assert image.getpixel((256, 256)) == (185, 80, 42, 255)


def test_a_logo_is_as_sharp_as_the_largest_symbol_needs() -> None:
    stripes = Image.new("L", (614, 614))
    stripes.putdata([255 * (x % 2) for _ in range(614) for x in range(614)])

    image = _image(logo=_uri(stripes), logoSize=30, margin=0, size=2048).convert("L")

    levels = image.crop((984, 984, 1064, 1064)).tobytes()
    assert max(levels) - min(levels) > 150


def test_no_module_is_under_a_logo_or_touches_it() -> None:
    """With a transparent logo, the logo's square is empty, including a margin around it."""
    clear = Image.new("RGBA", (50, 50), (0, 0, 0, 0))
    image = _image(logo=_uri(clear), logoSize=30, size=1024)
    modules = len(encode(URL, "H"))
    half = 0.15 * modules * (1024 // (modules + 4)) + 4
    first, last = round(512 - half), round(512 + half)
    assert image.crop((first, first, last, last)).convert("L").getextrema() == (255, 255)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_logos_of_every_kind_are_accepted(kind: str) -> None:
    assert read_with_zbar(_image(logo=_uri(Image.new("RGB", (40, 80), "#b9502a"), kind))) == [URL]


def test_a_logo_in_grey_of_16_bits_keeps_its_grey() -> None:
    image = _image(logo=_uri(Image.new("I;16", (40, 40), 100 * 257)))
    assert image.convert("RGB").getpixel((256, 256)) == (100, 100, 100)


@pytest.mark.parametrize(
    ("logo", "problem"),
    [
        ("https://example.com/logo.png", "must be a data: URI"),
        ("data:image/svg+xml;base64,PHN2Zy8+", "must be a data: URI of a PNG, JPEG or WebP"),
        ("data:image/png;base64,iVBORw0KGgo=", "isn't a complete PNG"),
        ("data:image/png;base64,AAA", "isn't a complete PNG"),
        (LOGO[:200], "isn't a complete PNG"),
        (_uri(Image.new("1", (5000, 4000))), "at most 16,000,000 pixels (got 5000 x 4000)"),
    ],
)
def test_an_invalid_logo_is_refused(logo: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as exc_info:
        _image(logo=logo)
    assert exc_info.value.field == "logo"
    assert problem in exc_info.value.problem


def test_a_text_that_does_not_fit_with_a_logo_is_refused_with_its_size() -> None:
    with pytest.raises(InvalidInput, match="at most 1273 bytes at errorCorrection H"):
        _image(text="a" * 1500, logo=LOGO, size=2048)


@pytest.mark.parametrize(
    ("params", "field", "problem"),
    [
        ({"moduleShape": "dot", "fgColor": "#fefefe"}, "fgColor", "cannot be read back"),
        ({"gradientColor": "#ffffff"}, "gradientColor", "must contrast with bgColor by 2:1 at least (got 1.0:1)"),
        ({"eyeColor": "#cccccc"}, "eyeColor", "(got 1.6:1)"),
    ],
)
def test_a_code_that_cannot_be_read_is_refused_with_the_reason(
    params: dict[str, Any], field: str, problem: str
) -> None:
    with pytest.raises(InvalidInput) as exc_info:
        _image(**params)
    assert exc_info.value.field == field
    assert problem in exc_info.value.problem


def test_a_pale_end_of_a_gradient_leads_to_a_warning() -> None:
    (warning,) = render(QrCodeParams(text=URL, gradientColor="#999999")).warnings
    assert "The contrast of gradientColor and bgColor is 2.8:1" in warning


def test_eyes_have_their_own_colour_and_shape() -> None:
    image = _image(eyeColor="#b9502a", eyeShape="circle", margin=4, size=330)
    assert image.getpixel((75, 45)) == (185, 80, 42, 255)
    assert image.getpixel((42, 42)) == (255, 255, 255, 255)


def test_a_transparent_background_stays_transparent() -> None:
    with Image.open(io.BytesIO(render(QrCodeParams(text=URL, moduleShape="dot", bgColor="#fff0")).content)) as image:
        assert image.convert("RGBA").getpixel((0, 0))[3] == 0  # type: ignore[index]


def test_the_svg_has_the_same_symbol_at_the_same_position() -> None:
    content = render(QrCodeParams(text=URL, moduleShape="rounded", format="svg", size=290)).content
    assert b'viewBox="0 0 290 290"' in content
    assert b"translate(20 20) scale(10)" in content
