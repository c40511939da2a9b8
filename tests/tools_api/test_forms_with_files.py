"""Forms with file uploads: messages on the page, and malformed bodies."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from pressroom.errors import InvalidInput
from pressroom.sdk import UploadedFile, parse_multipart
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from selectolax.lexbor import LexborHTMLParser

KIND = "multipart/form-data; boundary=b"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    names = ("qr_code_generator", "image_generator", "favicon_generator")
    config = {"builtin_plugins": False, "plugins": {name: {} for name in names}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


def image(kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 40), "#2f6f62").save(buffer, kind, **options)
    return buffer.getvalue()


def photo(edge: int, kind: str = "PNG", *, noise: bool = True, **options: Any) -> bytes:
    """Return an image with a red left half (without noise, only its top left quarter); noise makes its file large."""
    buffer, image = io.BytesIO(), Image.new("RGB", (edge, edge // 2 if noise else edge), "#2f6f62")
    if noise:
        image = Image.effect_noise(image.size, 90).convert("RGB")
        image.paste("#ff0000", (0, 0, edge // 2, edge // 2))
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def part(head: bytes, content: bytes = b"hello") -> bytes:
    return b"--b\r\n" + head + b"\r\n\r\n" + content + b"\r\n"


def post(host: RunningHost, tool: str, data: dict[str, str], **files: bytes) -> tuple[int, LexborHTMLParser]:
    """Submit a form with files. Without any, send an empty one without a name, as browsers do if no file is chosen."""
    disposition = 'Content-Disposition: form-data; name="{}"'
    body = b"".join(part(disposition.format(name).encode(), text.encode()) for name, text in data.items())
    for name, content in (files or {"logo": b""}).items():
        body += part(f'{disposition.format(name)}; filename="{"a.png" if files else ""}"'.encode(), content)
    response = httpx.post(
        f"{host.url}/tools/{tool}", content=body + b"--b--\r\n", headers={"content-type": KIND}, timeout=60
    )
    return response.status_code, LexborHTMLParser(response.text)


def error_of(page: LexborHTMLParser) -> str:
    return " ".join(node.text() for node in page.css(".field-error:not([hidden])"))


def value(page: LexborHTMLParser, name: str) -> str:
    node = page.css_first(f"[name='{name}']:not([type=file])")
    return str(node.attributes.get("value") or node.text()) if node is not None else ""


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_the_type_of_a_file_comes_from_its_content(host: RunningHost, kind: str) -> None:
    status, page = post(host, "qr-code-generator", {"text": "hello"}, logo=image(kind))
    assert (status, error_of(page)) == (200, "")
    assert value(page, "logo").startswith(f"data:image/{kind.lower()};base64,")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: b"", "That file isn't a PNG, JPEG or WebP image; choose another one"),
        (lambda: b"MZ not an image", "That file isn't a PNG, JPEG or WebP image; choose another one"),
        (lambda: image("GIF"), "That file isn't a PNG, JPEG or WebP image; choose another one"),
        (lambda: photo(2600)[:300_000], "The image is damaged and cannot be read; choose another file"),
        (
            lambda: photo(8000, noise=False) + bytes(400_000),
            "The image has 8000 by 8000 pixels; at most 50 million can be read",
        ),
        (lambda: image()[:60], "image"),
    ],
    ids=["empty", "no image", "of another kind", "too large and cut off", "of too many pixels", "cut off"],
)
def test_problems_of_a_file_are_beside_its_field_and_no_input_is_lost(
    host: RunningHost, make: Callable[[], bytes], problem: str
) -> None:
    status, page = post(host, "qr-code-generator", {"text": "hello", "margin": "7"}, logo=make())
    assert status == 400
    assert problem in error_of(page)
    assert (value(page, "text"), value(page, "margin")) == ("hello", "7")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_an_image_that_is_too_large_is_downscaled(host: RunningHost, kind: str) -> None:
    content = photo(2600, kind) if kind == "PNG" else photo(2600, kind, quality=95)
    assert len(content) > 400_000
    status, page = post(
        host, "image-generator", {"template": "og", "props.title": "Sea"}, **{"props.imageUrl": content}
    )
    assert (status, error_of(page)) == (200, "")
    image_url = value(page, "props.imageUrl")
    assert image_url.startswith("data:image/webp;base64,")
    smaller = Image.open(io.BytesIO(base64.b64decode(image_url.partition(",")[2])))
    assert smaller.width == 2 * smaller.height
    assert smaller.width in (2048, 1024, 512, 256, 128)
    red, green, blue = smaller.convert("RGB").getpixel((smaller.width // 8, smaller.height // 2))  # type: ignore[misc]
    assert red > 200
    assert max(green, blue) < 60


def test_a_photo_is_downscaled_the_right_way_up(host: RunningHost) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # rotated by 90 degrees
    content = photo(2600, "JPEG", quality=95, exif=exif)
    _, page = post(host, "image-generator", {"template": "og", "props.title": "Sea"}, **{"props.imageUrl": content})
    smaller = Image.open(io.BytesIO(base64.b64decode(value(page, "props.imageUrl").partition(",")[2])))
    assert smaller.height == 2 * smaller.width


def test_downscaling_images_has_a_limit(tmp_path: Path) -> None:
    config = {"builtin_plugins": False, "plugins": {"image_generator": {}}, "previews": {"rate_limit": "15/hour"}}
    form, content = {"template": "og", "props.title": "Sea"}, photo(1300, "JPEG", quality=95)
    with RunningHost(settings_for_test(config, tmp_path)) as running:
        pages = [post(running, "image-generator", form, **{"props.imageUrl": content}) for _ in range(3)]
        assert [status for status, _ in pages] == [200, 200, 429]
        failure = pages[-1][1].css_first("[data-failure]")
        assert failure is not None
        assert failure.text().startswith(
            "That didn't work. This image is too large, and making it smaller counts as 10 previews. Your limit of 15 "
            "per hour is used up. Choose an image of at most 150 kB, or turn on JavaScript: your browser then makes it "
            "smaller.Try again in "
        )
        assert value(pages[-1][1], "props.title") == "Sea"
        status, page = post(running, "image-generator", form, **{"props.imageUrl": image()})
        assert (status, error_of(page)) == (200, "")


def test_an_svg_cannot_be_downscaled(host: RunningHost) -> None:
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><!--" + b"-" * 400_000 + b"--></svg>"
    status, page = post(host, "favicon-generator", {"content": "P"}, image=drawing)
    assert status == 400
    assert "The file may have at most" in error_of(page)
    assert "choose a smaller image" in error_of(page)
    plain = " ".join(page.css_first("[data-param='image'], body").text().split())  # type: ignore[union-attr]
    assert "larger images are made smaller, except SVG" in plain


def test_a_file_is_kept_if_another_field_is_invalid(host: RunningHost) -> None:
    status, page = post(host, "qr-code-generator", {"text": "hello", "margin": "99"}, logo=image())
    assert status == 400
    assert "between 0 and 16" in error_of(page)
    logo = value(page, "logo")
    assert logo.startswith("data:image/png;base64,")
    status, page = post(host, "qr-code-generator", {"text": "hello", "margin": "9", "logo": logo})
    assert (status, value(page, "logo")) == (200, logo)
    status, page = post(host, "qr-code-generator", {"text": "hello", "logo": logo, "_remove": "logo"})
    assert (status, value(page, "logo")) == (200, "")


def test_an_svg_is_a_file_too_and_a_photo_belongs_to_a_template(host: RunningHost) -> None:
    drawing = b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><circle r='4'/></svg>"
    status, page = post(host, "favicon-generator", {"content": "P"}, image=drawing)
    assert (status, error_of(page)) == (200, "")
    status, page = post(
        host, "image-generator", {"template": "og", "props.title": "Sea"}, **{"props.imageUrl": image()}
    )
    assert (status, error_of(page)) == (200, "")
    assert value(page, "props.imageUrl").startswith("data:image/png;base64,")


def test_the_total_size_of_files_is_limited_as_in_the_api(host: RunningHost) -> None:
    photo = image() + bytes(120_000)
    status, page = post(
        host,
        "image-generator",
        {"template": "og", "props.title": "Sea"},
        **{"props.imageUrl": photo, "props.logoUrl": photo},
    )
    assert status == 413
    assert "too large together" in page.css_first("[data-failure]").text()  # type: ignore[union-attr]
    assert value(page, "props.title") == "Sea"


def test_a_text_is_not_a_file_and_a_form_has_an_end(host: RunningHost) -> None:
    status, page = post(host, "qr-code-generator", {}, text=b"hello")
    assert (status, error_of(page)) == (400, "Takes a text, not a file")
    status, page = post(host, "qr-code-generator", {"text": "hello"}, logo=bytes(9_000_000))
    assert status == 413
    assert "choose a smaller file" in page.css_first("[data-failure]").text()  # type: ignore[union-attr]


TEXT = b'Content-Disposition: form-data; name="text"'


@pytest.mark.parametrize(
    ("content_type", "body", "problem"),
    [
        ("multipart/form-data", part(TEXT) + b"--b--", "must name its boundary"),
        (KIND, part(TEXT), "cut off"),
        (KIND, b"", "cut off"),
        (KIND, part(b"Content-Type: text/plain") + b"--b--", "must have a name"),
        (KIND, part(TEXT + b"\r\nContent-Type: multipart/mixed; boundary=c") + b"--b--", "a form itself"),
        (KIND, part(TEXT + b"\r\nContent-Transfer-Encoding: base64") + b"--b--", "Content-Transfer-Encoding"),
        (KIND, part(TEXT, b"\xff\xfe") + b"--b--", "must be UTF-8"),
        (KIND, part(TEXT + b"\r\nX: " + b"x" * 9000) + b"--b--", "8192 bytes at most"),
        (KIND, part(TEXT, b"") * 300 + b"--b--", "at most 256 fields"),
        (KIND, b"\r\n--b" * 100_000, "at most 256 fields"),
    ],
    ids=[
        "no boundary",
        "no end",
        "nothing",
        "no name",
        "nested",
        "encoded",
        "bytes",
        "long head",
        "many",
        "boundaries",
    ],
)
def test_hostile_forms_are_refused(host: RunningHost, content_type: str, body: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        parse_multipart(content_type, body, 256)
    response = httpx.post(
        f"{host.url}/tools/qr-code-generator", content=body, headers={"content-type": content_type}, timeout=60
    )
    assert response.status_code == 400
    assert problem in response.text


def test_names_and_texts_are_parsed_as_browsers_write_them() -> None:
    body = part('Content-Disposition: form-data; name="a%22b%0D%0Aé"'.encode(), "Grüße".encode())
    body += part(TEXT + b'; filename=""', b"") + part(b'content-disposition:form-data;name="file"; filename="x\\"y"')
    form = parse_multipart('multipart/form-data; charset=utf-8; boundary="b"', body + b"--b--\r\n", 3)
    assert form.texts == {'a"b\r\né': ["Grüße"]}
    assert form.files == {"file": [UploadedFile(b"hello", 'x"y')]}
