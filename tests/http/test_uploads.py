"""Anonymous requests to the upload URLs: files nobody asked for, and forms that are slow to parse."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from PIL import Image
from pressroom.sdk import InvalidInput, parse_multipart
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.raw_http import connected, read_response, status

MAX_BYTES = 2_000_000


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    plugins = {"content": {}, "images": {"config": {"max_image_bytes": MAX_BYTES}}}
    config = {"builtin_plugins": False, "plugins": plugins}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


def image_bytes() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (30, 20), "navy").save(buffer, "PNG")
    return buffer.getvalue()


def link(host: RunningHost) -> str:
    result: dict[str, Any] = host.call_tool("create_upload_url", {"content_type": "image/png"})
    return str(result["upload_url"])


def nested(depth: int, lines: int) -> bytes:
    """Return multipart parts nested `depth` levels deep, with `lines` empty lines inside."""
    heads = b"".join(
        b"--b%d\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n" % (level, level + 1) for level in range(depth)
    )
    return heads + b"\r\n" * lines


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_body_with_an_unknown_token_is_not_read(host: RunningHost, method: str) -> None:
    head = (
        f"{method} /media/upload/nosuchtoken HTTP/1.1\r\nHost: test\r\nContent-Length: {MAX_BYTES}\r\n"
        "Content-Type: multipart/form-data; boundary=b0\r\nConnection: close\r\n\r\n"
    )
    # The response arrives although no part of the body was sent.
    with connected(host.url) as connection:
        connection.sendall(head.encode())
        assert status(read_response(connection)) == 404


def test_a_nested_form_is_refused_immediately(host: RunningHost) -> None:
    url = link(host)
    headers = {"content-type": "multipart/form-data; boundary=b0"}
    refused = httpx.post(url, content=nested(900, 100_000), headers=headers, timeout=30)
    assert refused.status_code == 400
    assert "must not be a form itself" in refused.text
    assert "<form" in refused.text
    # The upload link is still usable.
    assert httpx.post(url, files={"file": ("a.png", image_bytes(), "image/png")}, timeout=30).status_code == 200


@pytest.mark.parametrize(
    ("unit", "boundary"),
    [
        (b"\r\n", "b0"),
        (b"\r\n--b", "b0"),
        (b"\r\n--b0\r\n", "b0"),
        (b"--" * 35, "-" * 69 + "x"),
        (b"\r\n\r\n", "b0"),
        (b"a: b\r\n", "b0"),
        (b'; filename="', "b0"),
        (b'\\"', "b0"),
        (b"--b0\r\nContent-Type: multipart/mixed; boundary=b0\r\n\r\n", "b0"),
    ],
)
def test_parsing_a_form_takes_linear_time(unit: bytes, boundary: str) -> None:
    def seconds(size: int) -> float:
        body = f"--{boundary}\r\n".encode() + unit * (size // len(unit))
        started = time.process_time()
        with pytest.raises(InvalidInput):
            parse_multipart(f"multipart/form-data; boundary={boundary}", body, 15)
        return time.process_time() - started

    assert seconds(10_000_000) < max(0.5, 4 * seconds(5_000_000))


def form(*parts: bytes, boundary: bytes = b"xx") -> bytes:
    return b"".join(b"--%b\r\n%b\r\n" % (boundary, part) for part in parts) + b"--%b--\r\n" % boundary


FILE = b'Content-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("boundary=xx", form(FILE + b"\x00\r\n--x\r\n"), (b"\x00\r\n--x\r\n", "a.png")),
        ('boundary="xx"', form(FILE + b"1"), (b"1", "a.png")),
        ("charset=utf-8; Boundary=xx", form(FILE + b"1"), (b"1", "a.png")),
        ("boundary=xx", form(b'Content-Disposition: form-data; name="a"\r\n\r\n1', FILE + b"2"), (b"2", "a.png")),
        ("boundary=xx", form(FILE.replace(b"a.png", b"") + b""), (b"", "")),
        ("boundary=xx", form(FILE), (b"", "a.png")),
        ("boundary=xx", form(FILE.replace(b"a.png", "Café %22x%22.png".encode()) + b"1"), (b"1", 'Café "x".png')),
        ("boundary=xx", form(FILE.replace(b"a.png", b'a\\"b.png') + b"1"), (b"1", 'a"b.png')),
        ("boundary=xx", b"preamble\r\n" + form(FILE + b"1") + b"epilogue", (b"1", "a.png")),
        ("boundary=xx", form(), (b"", "")),
    ],
)
def test_forms_of_browsers_and_programs_are_read(kind: str, body: bytes, expected: tuple[bytes, str]) -> None:
    files = parse_multipart(f"multipart/form-data; {kind}", body, 15).files
    assert [(file.content, file.name) for sent in files.values() for file in sent] == (
        [expected] if any(expected) else []
    )


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("", form(FILE + b"1")),
        ("boundary=", form(FILE + b"1")),
        ("boundary=" + "x" * 71, form(FILE + b"1", boundary=b"x" * 71)),
        ("boundary=yy", form(FILE + b"1")),
        ("boundary=xx", b""),
        ("boundary=xx", b"--xx\r\nno head\r\n--xx--\r\n"),
        ("boundary=xx", form(*[b'Content-Disposition: form-data; name="a"\r\n\r\n1'] * 40)),
        ("boundary=xx", form(b"X: " + b"x" * 9000 + b"\r\n\r\n1")),
        ("boundary=xx", form(b"Content-Transfer-Encoding: base64\r\n" + FILE + b"MQ==")),
        ("boundary=xx", b'--xx\r\nContent-Disposition: form-data; name="a"\r\n\r\n1'),
    ],
)
def test_a_body_that_is_not_a_form_is_refused(kind: str, body: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_multipart(f"multipart/form-data; {kind}", body, 15)
