"""Two independent programs decode the generated codes."""

from typing import Any

import pytest
import segno
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from PIL import Image
from pressroom.sdk import InvalidInput
from pressroom_qr_code_generator.params import ErrorCorrection, QrCodeParams
from pressroom_qr_code_generator.render import render
from support.qr_codes import pixels, rasterised, read_with_zbar, read_with_zxing, with_more_margin
from support.sizes import examples

QUIET_ZONE = 40
DOTS = 6
"""Pixels per module: zbar needs a few. Decoding time grows with the number of pixels."""
URL = "https://example.com/colours"
LEVELS: tuple[ErrorCorrection, ...] = ("L", "M", "Q", "H")
consts: Any = segno.consts


def _image(paper: str = "white", **params: Any) -> Image.Image:
    artifact = render(QrCodeParams(**params))
    image = pixels(artifact.content, paper)
    return with_more_margin(image, QUIET_ZONE, image.getpixel((0, 0)))


def _longest_text(version: int, level: str) -> str:
    """Return a text that fills a symbol of this version and level: two bytes a character, so 2048 suffice."""
    count_bits = 8 if version < 10 else 16
    bits = consts.SYMBOL_CAPACITY[version][getattr(consts, f"ERROR_LEVEL_{level}")]
    characters = (bits - 4 - 12 - count_bits) // 16
    return "".join(chr(0x430 + index * 7 % 32) for index in range(characters))


@pytest.mark.parametrize("version", range(1, 41))
def test_every_version_and_level_can_be_scanned(version: int) -> None:
    for level in LEVELS:
        text = _longest_text(version, level)
        size = min(1024, DOTS * (17 + 4 * version + 2 * 4))
        image = _image(text=text, errorCorrection=level, size=size)
        (reading,) = read_with_zxing(image)
        assert (reading.text, reading.version, reading.level) == (text, version, level)
        assert reading.names_utf8
        assert reading.unused_error_correction == 1
        assert read_with_zbar(image) == [text]


SCRIPTS = {
    "latin": "Žluťoučký kůň úpěl ďábelské ódy — ß, ¥100, €5",
    "greek": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
    "cyrillic": "Съешь же ещё этих мягких французских булок",
    "arabic": "نص حكيم له سر قاطع وذو شأن عظيم",
    "hebrew": "דג סקרן שט בים מאוכזב",
    "devanagari": "ऋषियों को सताने वाले दुष्ट राक्षसों",
    "thai": "เป็นมนุษย์สุดประเสริฐ",
    "chinese": "天地玄黃 宇宙洪荒",
    "japanese": "いろはにほへと ちりぬるを テスト 漢字",
    "kanji alone": "漢字",
    "korean": "키스의 고유조건은",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🇺🇳 👍🏽 ❤️",
    "beyond the basic plane": "𝒳𐍈𠜎",
    "combining": "e\u0301 a\u0308 n\u0303",
    "shift-jis look-alikes": "\\ ~ ｱｲｳ",
}
PAYLOADS = {
    "url": "https://example.com/a/path?q=1&b=%20#part",
    "upper-case url": "HTTPS://EXAMPLE.COM/A",
    "digits": "01234567890123456789",
    "wi-fi": r"WIFI:T:WPA;S:Café \"Zoë\";P:p\;a\:s\\s;H:true;;",
    "vcard": "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Łukasiewicz;Zoë\r\nTEL:+48221234567\r\nEND:VCARD\r\n",
    "mail": "mailto:a@example.com?subject=Hi%20there",
    "place": "geo:52.2297,21.0122?q=Warsaw",
    "white space": " a\tb\r\n c ",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in (SCRIPTS | PAYLOADS).items()])
def test_scripts_and_payloads_can_be_scanned_at_every_level_and_format(text: str) -> None:
    for level in LEVELS:
        artifact = render(QrCodeParams(text=text, errorCorrection=level, format="svg"))
        for image in (_image(text=text, errorCorrection=level), pixels(rasterised(artifact.content, 512))):
            (reading,) = read_with_zxing(image)
            assert reading.text == text
            assert LEVELS.index(reading.level) >= LEVELS.index(level)
            assert reading.names_utf8 == (not text.isascii())
            assert read_with_zbar(image) == [text]


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.filter_too_much])
@given(
    text=st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=400),
    level=st.sampled_from(LEVELS),
    size=st.integers(64, 2048),
    margin=st.integers(0, 16),
)
def test_any_text_is_read_in_any_image_that_carries_no_warning(
    text: str, level: ErrorCorrection, size: int, margin: int
) -> None:
    params = QrCodeParams(text=text, errorCorrection=level, size=size, margin=margin)
    try:
        artifact = render(params)
    except InvalidInput as refused:
        assert refused.field == "size"  # noqa: PT017 - the refusal is one of two outcomes
        return
    assume(not artifact.warnings)
    image = with_more_margin(pixels(artifact.content), QUIET_ZONE)
    assert [reading.text for reading in read_with_zxing(image)] == [text]
    assert read_with_zbar(image) == [text]


@pytest.mark.parametrize(
    ("foreground", "background", "paper"),
    [
        ("#000000", "#ffffff00", "white"),
        ("#1d1a17", "#ffffff00", "#faf7f2"),
        ("#b9502a", "#faf7f2", "white"),
        ("#0000ff", "#ffff00", "white"),
        ("#000000c0", "#ffffff80", "#ffe0e0"),
        ("#767676", "#ffffff", "white"),
        ("036", "fff8", "#cccccc"),
    ],
)
def test_colours_without_a_warning_can_be_scanned(foreground: str, background: str, paper: str) -> None:
    params: dict[str, Any] = {"text": URL, "fgColor": foreground, "bgColor": background}
    assert render(QrCodeParams(**params)).warnings == ()
    image = _image(paper, **params)
    assert [reading.text for reading in read_with_zxing(image)] == [URL]
    assert read_with_zbar(image) == [URL]


COLORS = st.integers(0, 2**32 - 1).map(lambda value: f"#{value:08x}")


@settings(max_examples=examples(75), suppress_health_check=[HealthCheck.filter_too_much])
@given(foreground=COLORS, background=COLORS)
def test_any_colours_without_a_warning_are_read(foreground: str, background: str) -> None:
    params: dict[str, Any] = {"text": URL, "fgColor": foreground, "bgColor": background, "size": 256}
    assume(not render(QrCodeParams(**params)).warnings)
    image = _image(**params)
    assert [reading.text for reading in read_with_zxing(image)] == [URL]
    assert read_with_zbar(image) == [URL]
