"""Slow clients, endless bodies, and disconnects."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import httpx
from pressroom.testing import RunningHost
from support.polling import wait_until

QR = "/tools/qr-code-generator/api/generate"
GATE = "/tools/gate/api/generate"

Start = Callable[..., RunningHost]

ENDLESS = 64 << 20
"""More than the buffers between two processes hold: sending all of it means the server did not close the connection."""


def connect(host: RunningHost) -> socket.socket:
    return socket.create_connection(("127.0.0.1", host.settings.server.port), timeout=20)


def head(path: str, *headers: str) -> bytes:
    return "\r\n".join(
        [f"POST {path} HTTP/1.1", "Host: test", "Content-Type: application/json", *headers, "", ""]
    ).encode()


def read_response(connection: socket.socket) -> tuple[int, dict[str, object]]:
    received = b""
    while chunk := connection.recv(65536):
        received = (received + chunk).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
        top, _, body = received.partition(b"\r\n\r\n")
        if body:
            try:
                return int(top.split()[1]), json.loads(body)
            except ValueError:
                continue
    raise AssertionError(f"the connection was closed after {received!r}")


def test_an_endless_body_is_refused(shared_host: RunningHost) -> None:
    with connect(shared_host) as connection:
        connection.sendall(head(QR, "Transfer-Encoding: chunked"))
        chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
        sent = 0
        try:
            while sent < ENDLESS:
                connection.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
        assert sent < ENDLESS


def test_an_oversized_content_length_is_refused_before_the_body_is_sent(shared_host: RunningHost) -> None:
    with connect(shared_host) as connection:
        connection.sendall(head(QR, "Content-Length: 10000000", "Expect: 100-continue"))
        status, body = read_response(connection)

    assert status == 413
    assert body["error"]["code"] == "payload_too_large"  # type: ignore[index]  # an envelope
    assert body["meta"]["tool"] == "qr-code-generator"  # type: ignore[index]


def test_a_client_that_stops_mid_request_is_disconnected(start: Start) -> None:
    host = start(builtin_plugins=True, server={"request_timeout": 1, "response_timeout": 2})

    for beginning in (head(QR)[:-10], head(QR, "Content-Length: 100") + b'{"text":'):
        with connect(host) as connection:
            connection.sendall(beginning)
            status, body = read_response(connection)
        assert status in (408, 503)
        assert body["error"]["code"] == "timeout"  # type: ignore[index]
    assert httpx.post(host.url + QR, json={"text": "x"}).status_code == 200


def test_a_client_that_leaves_mid_body_leaves_nothing_behind(shared_host: RunningHost) -> None:
    files = shared_host.settings.storage.path / "files"
    before = sorted(files.rglob("*"))
    for _ in range(20):
        with connect(shared_host) as connection:
            connection.sendall(head(QR, "Content-Length: 100") + b'{"text": "half')

    assert httpx.post(shared_host.url + QR, json={"text": "x", "size": 1}).status_code == 400
    assert sorted(files.rglob("*")) == before


def test_a_result_is_stored_although_its_client_has_left(start: Start, tmp_path: Path) -> None:
    host = start()
    body = {"gate": str(tmp_path / "gate"), "log": str(tmp_path / "log")}
    text = json.dumps(body).encode()
    with connect(host) as connection:
        connection.sendall(head(GATE, f"Content-Length: {len(text)}") + text)
        wait_until((tmp_path / "log").exists)
    (tmp_path / "gate").touch()

    response = httpx.post(host.url + GATE, json=body, timeout=30)

    assert response.json()["data"]["cached"] is True
    assert (tmp_path / "log").read_text() == "run\n"


def test_garbage_is_a_bad_request(shared_host: RunningHost) -> None:
    for garbage in (
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
        b"\x00" * 64 + b"\r\n\r\n",
    ):
        with connect(shared_host) as connection:
            connection.sendall(garbage)
            assert connection.recv(65536).startswith(b"HTTP/1.1 400")


def test_an_endless_head_is_refused(shared_host: RunningHost) -> None:
    with connect(shared_host) as connection:
        connection.sendall(b"GET /tools HTTP/1.1\r\n" + b"X-Filler: x\r\n" * 4000)
        assert b" 413 " in connection.recv(65536)[:20]
