"""Malicious files sent to upload links: each is refused with a reason, or stored as the image it is."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, Final

import httpx
import pytest
from PIL import Image, PngImagePlugin
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.content_client import Client, client_of

SCRIPT: Final = b"<html><script>alert(document.domain)</script></html>"

_numbers = count(1)


def image(kind: str, size: tuple[int, int] = (64, 48), **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise(size, 40).convert("RGB").save(buffer, kind, **options)
    return buffer.getvalue()


def chunk(name: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG file (PNG specification, section 5.3)."""
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width: int, height: int, *chunks: bytes, data: bytes = b"") -> bytes:
    """Return a PNG file with one bit per pixel whose header claims this size, whatever `data` contains."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def black(width: int, height: int) -> bytes:
    """Return the compressed data of a black image, about a thousandth of the raw size."""
    return zlib.compress(bytes((width + 7) // 8 + 1) * height, 9)


def with_text(length: int) -> bytes:
    """Return a small image with a compressed comment of this length."""
    comment = b"Comment\x00\x00" + zlib.compress(bytes(length), 9)
    return png(8, 8, chunk(b"zTXt", comment), data=black(8, 8))


def with_profile(length: int) -> bytes:
    """Return a small image with a compressed colour profile of this length."""
    return png(8, 8, chunk(b"iCCP", b"p\x00\x00" + zlib.compress(bytes(length), 9)), data=black(8, 8))


def many_frames(kind: str, number: int, size: tuple[int, int]) -> bytes:
    frames = [Image.new("P" if kind == "GIF" else "RGB", size, index % 250) for index in range(number)]
    buffer = io.BytesIO()
    frames[0].save(buffer, kind, save_all=True, append_images=frames[1:], duration=20)
    return buffer.getvalue()


def scans(number: int) -> bytes:
    """Return a progressive JPEG that repeats its last scan: decoding each takes as long as the whole image."""
    jpeg = image("JPEG", (1000, 1000), progressive=True)
    last = jpeg.rindex(b"\xff\xda")
    return jpeg[:last] + jpeg[last:-2] * number + jpeg[-2:]


def with_exif() -> bytes:
    exif = Image.Exif()
    exif[0x010E] = '"><script>alert(1)</script>'  # ImageDescription
    exif[0x0112] = 6  # Orientation
    return image("JPEG", exif=exif.tobytes())


def with_many_texts() -> bytes:
    info = PngImagePlugin.PngInfo()
    for number in range(5000):
        info.add_text(f"key{number}", "x" * 50)
    return image("PNG", pnginfo=info)


REFUSED: Final[Mapping[str, Callable[[], bytes]]] = {
    "nothing": lambda: b"",
    "a page": lambda: SCRIPT,
    "a vector image with a script": lambda: b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "a program": lambda: b"\x7fELF" + bytes(2000),
    "PostScript": lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n(x) print\n",
    "a document": lambda: b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>",
    "TIFF": lambda: image("TIFF"),
    "BMP": lambda: image("BMP"),
    "an icon": lambda: image("ICO"),
    "a thousand million pixels": lambda: png(32_000, 32_000, data=black(32_000, 3200)),
    "as many pixels as can be said": lambda: png(2**31 - 1, 2**31 - 1),
    "no pixels": lambda: png(0, 0),
    "half of an image": lambda: image("PNG", (400, 400))[:5000],
    "damaged data": lambda: png(200, 200, data=b"no deflate"),
    "a comment that is long once unpacked": lambda: with_text(1 << 27),
    "JPEG with a length that is wrong": lambda: b"\xff\xd8\xff\xe0\xff\xff" + bytes(40),
    "WebP that says it is huge": lambda: b"RIFF\xff\xff\xff\x7fWEBPVP8X\x0a\x00\x00\x00" + bytes(4) + b"\xff" * 6,
    "AVIF without an image": lambda: b"\x00\x00\x00\x1cftypavif\x00\x00\x00\x00avifmif1miaf" + bytes(100),
}
KEPT: Final[Mapping[str, tuple[str, Callable[[], bytes]]]] = {
    "a page behind an image": ("image/png", lambda: image("PNG") + SCRIPT),
    "a page in a comment": ("image/gif", lambda: image("GIF", comment=SCRIPT)),
    "markup among what a camera says": ("image/jpeg", with_exif),
    "thousands of texts": ("image/png", with_many_texts),
    "a profile that is no profile": ("image/png", lambda: with_profile(100_000)),
    "thousands of frames": ("image/gif", lambda: many_frames("GIF", 3000, (40, 40))),
    "hundreds of frames": ("image/webp", lambda: many_frames("WEBP", 300, (200, 200))),
    "an image that is drawn again and again": ("image/jpeg", lambda: scans(40)),
    "as many pixels as are allowed": ("image/png", lambda: png(7700, 7700, data=black(7700, 7700))),
}
NAMES: Final = (
    *("../../../etc/passwd", "..\\..\\boot.ini", "/dev/null", "a\x00b.png", "x.php", ".htaccess", "CON", "a/b/c.png"),
    *(
        "<script>alert(1)</script>.png",
        "x\r\nSet-Cookie: a=b.png",
        "\u202egnp.exe",
        "%2e%2e%2f",
        "x" * 5000,
        "'; drop--",
    ),
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"builtin_plugins": False, "plugins": {"content": {}, "images": {}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("uploads"))) as running:
        yield running


@pytest.fixture
def ada(host: RunningHost) -> Client:
    return client_of(host, f"ada.{next(_numbers)}@example.com")


def link_of(ada: Client, media_type: str = "image/png") -> str:
    return str(ada.data("create_upload_url", content_type=media_type)["upload_url"])


@pytest.mark.parametrize("form", [False, True], ids=["as it is", "in a form"])
@pytest.mark.parametrize("what", REFUSED)
def test_a_hostile_file_is_refused_with_a_reason_and_leaves_nothing(ada: Client, what: str, form: bool) -> None:
    content, link = REFUSED[what](), link_of(ada)
    response = (
        httpx.post(link, files={"file": ("x.png", content, "image/png")}, timeout=60)
        if form
        else httpx.put(link, content=content, headers={"content-type": "image/png"}, timeout=60)
    )
    assert response.status_code == 400, response.text
    assert "Traceback" not in response.text
    assert "image" in response.text
    assert ada.data("list_media")["media"] == []
    assert httpx.put(link, content=image("PNG"), timeout=60).status_code == 201


@pytest.mark.parametrize("what", KEPT)
def test_scripts_in_a_hostile_file_run_nowhere(ada: Client, what: str) -> None:
    media_type, make = KEPT[what]
    response = httpx.put(link_of(ada, media_type), content=make(), timeout=60)
    assert response.status_code == 201, response.text
    [media] = ada.data("list_media")["media"]
    delivered = httpx.get(media["url"])
    assert delivered.headers["content-type"] == media_type
    assert delivered.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in delivered.headers["content-security-policy"]
    assert media["alt_text"] == ""


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_hostile_file_name_leads_nowhere(ada: Client, name: str) -> None:
    disposition = f'form-data; name="file"; filename="{name}"'.encode()
    body = b"--b\r\nContent-Disposition: " + disposition + b"\r\n\r\n" + image("PNG") + b"\r\n--b--\r\n"
    response = httpx.post(link_of(ada), content=body, headers={"content-type": "multipart/form-data; boundary=b"})
    assert response.status_code in (200, 400), response.text
    assert "set-cookie" not in response.headers
    assert "<script>alert" not in response.text
    for media in ada.data("list_media")["media"]:
        assert media["filename"].endswith(".png")
        assert not set(media["filename"]) & set('/\\<>"\x00\r\n\u202e')
        assert len(media["filename"]) <= 200
        assert httpx.get(media["url"]).status_code == 200
