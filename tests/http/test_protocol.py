"""Unusual and malformed HTTP requests: each gets an envelope with a request ID, or no response at all."""

import gzip
import json
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost
from support.polling import wait_until
from support.server import serving

QR = "/tools/qr-code-generator/api/generate"
BODY = b'{"text":"odd"}'
LENGTH = f"Content-Length: {len(BODY)}"
JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"

Start = Callable[..., RunningHost]


def request(method: str, target: str, *headers: str, version: str = "1.1", host: str | None = "Host: test") -> bytes:
    lines = [f"{method} {target} HTTP/{version}", *([host] if host else []), *headers, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1")


def responses_to(host: RunningHost, sent: bytes) -> list[tuple[int, dict[str, str], bytes]]:
    """Send bytes on a new connection, and return all responses until the server closes it."""
    with socket.create_connection(("127.0.0.1", host.settings.server.port), timeout=20) as connection:
        connection.sendall(sent)
        with connection.makefile("rb") as received:
            responses = []
            while line := received.readline():
                status, headers = int(line.split()[1]), {}
                while (line := received.readline()) not in (b"\r\n", b""):
                    name, _, value = line.decode("latin-1").partition(":")
                    headers[name.lower()] = value.strip()
                body = b"" if sent.startswith(b"HEAD") else received.read(int(headers.get("content-length", 0)))
                responses.append((status, headers, body))
            return responses


def response_to(host: RunningHost, sent: bytes) -> tuple[int, dict[str, str], dict[str, Any]]:
    """Return the only response, which must carry the headers that every response has."""
    ((status, headers, body),) = [response for response in responses_to(host, sent) if response[0] != 100]
    assert headers["x-request-id"]
    assert headers["x-content-type-options"] == "nosniff"
    return status, headers, json.loads(body)


@pytest.mark.parametrize(
    "head",
    [
        request("POST", f"http://elsewhere.example{QR}", JSON, LENGTH),
        request("POST", f"{QR}/", JSON, LENGTH),
        request("POST", f"{QR}?a=%ff&&=", JSON, LENGTH),
        request("POST", QR, JSON, LENGTH, version="1.0", host=None),
        request("POST", QR, "cOnTeNt-TyPe: Application/JSON ; Charset=UTF-8", LENGTH),
        request("POST", QR, "Content-Type: application/vnd.acme+json", LENGTH),
        request("POST", QR, JSON, LENGTH, "Expect: 100-Continue"),
        request("POST", QR, JSON, LENGTH, "Content-Encoding: identity"),
        request("POST", QR, JSON, LENGTH, "Upgrade: websocket"),
    ],
    ids=["absolute form", "slash", "query", "HTTP 1.0", "case", "suffix", "expect", "identity", "upgrade"],
)
def test_an_unusual_but_valid_request_gets_a_response(shared_host: RunningHost, head: bytes) -> None:
    status, _, body = response_to(shared_host, head + BODY)

    assert (status, body["data"]["format"]) == (200, "png")


def test_a_chunked_body_is_read(shared_host: RunningHost) -> None:
    chunks = b"5;note=x\r\n" + BODY[:5] + b"\r\n%x\r\n" % len(BODY[5:]) + BODY[5:] + b"\r\n0\r\n\r\n"

    assert response_to(shared_host, request("POST", QR, JSON, CHUNKED) + chunks)[0] == 200


def test_pipelined_requests_get_their_responses_in_order(shared_host: RunningHost) -> None:
    requests = b"".join(
        request("POST", QR, JSON, LENGTH, f"X-Request-Id: pipelined-{number}").replace(b"Connection: close\r\n", b"")
        + BODY
        for number in range(5)
    )
    responses = responses_to(shared_host, requests + request("GET", "/healthz", "X-Request-Id: pipelined-5"))

    assert [headers["x-request-id"] for _, headers, _ in responses] == [f"pipelined-{number}" for number in range(6)]
    assert {status for status, _, _ in responses} == {200}


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"GET  HTTP/1.1\r\n\r\n", 400, "validation_error"),
        (b"GET /tools/api\r\n\r\n", 400, "validation_error"),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", 400, "validation_error"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "validation_error"),
        (request("GET", "http://[::1"), 400, "validation_error"),
        (request("GET", "http://a:99999999/x"), 400, "validation_error"),
        (request("GET", "tools/api"), 400, "validation_error"),
        (request("CONNECT", "elsewhere.example:443"), 400, "validation_error"),
        (request("OPTIONS", "*"), 404, "not_found"),
        (request("GET", "//tools/api"), 404, "not_found"),
        (request("GET", "/tools/static/../api"), 404, "not_found"),
        (request("POST", "/tools/qr-code-generator//api/generate", JSON, LENGTH) + BODY, 404, "not_found"),
        (request("POST", "/tools/%ff/api/generate", JSON, LENGTH) + BODY, 404, "not_found"),
        (request("POST", "/tools/\xff/api/generate", JSON, LENGTH) + BODY, 404, "not_found"),
        (request("G\xff", QR), 405, "method_not_allowed"),
        (request("BREW" * 1000, QR), 405, "method_not_allowed"),
        (request("TRACE", QR), 405, "method_not_allowed"),
        (request("GET", "/tools/api", "X-Long: " + "a" * 20_000), 413, "payload_too_large"),
        (request("GET", "/tools/api?" + "a" * 20_000), 413, "payload_too_large"),
        (request("POST", QR, JSON, LENGTH, LENGTH) + BODY, 400, "validation_error"),
        (request("POST", QR, JSON, "Content-Length: 14, 14") + BODY, 400, "validation_error"),
        (request("POST", QR, JSON, "Content-Length: -1"), 400, "validation_error"),
        (request("POST", QR, JSON, LENGTH, CHUNKED) + BODY, 400, "validation_error"),
        (request("POST", QR, JSON, CHUNKED) + b"zz\r\nx\r\n0\r\n\r\n", 400, "validation_error"),
        (request("POST", QR, JSON, "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", 400, "validation_error"),
        (request("POST", QR, JSON, LENGTH, "Expect: wonders") + BODY, 400, "validation_error"),
        (request("POST", QR, JSON + "\r\nno colon", LENGTH) + BODY, 400, "validation_error"),
        (request("POST", QR, "Content-Type: \xff\xfe", LENGTH) + BODY, 415, "unsupported_media_type"),
        (request("POST", QR), 415, "unsupported_media_type"),
    ],
    ids=lambda value: repr(value[:50]) if isinstance(value, bytes) else "",
)
def test_invalid_http_is_refused_in_the_envelope(shared_host: RunningHost, sent: bytes, status: int, code: str) -> None:
    actual_status, headers, body = response_to(shared_host, sent)

    assert (actual_status, body["ok"], body["error"]["code"]) == (status, False, code)
    assert headers["access-control-allow-origin"] == "*"
    assert {"ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"} <= set(headers)
    assert set(body) == {"ok", "error", "meta", "pressroom"}
    assert len(body["error"]["message"]) < 500


def test_a_head_that_is_too_large_is_distinguished_from_a_body(shared_host: RunningHost) -> None:
    _, _, body = response_to(shared_host, request("GET", "/healthz", "X-Long: " + "a" * 20_000))

    assert "headers" in body["error"]["message"]


def test_a_compressed_body_is_refused(api: httpx.Client) -> None:
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    refused = api.post(QR, content=gzip.compress(BODY), headers=headers)

    assert (refused.status_code, refused.json()["error"]["code"]) == (415, "unsupported_media_type")
    assert "gzip" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/", "GET, HEAD"),
        ("POST", "/tools", "GET, HEAD"),
        ("POST", "/tools/api", "GET, HEAD, OPTIONS"),
        ("PUT", "/tools/text-file", "GET, HEAD, POST"),
        ("PUT", "/tools/text-file/api", "GET, HEAD, OPTIONS"),
        ("HEAD", QR, "OPTIONS, POST"),
        ("OPTIONS", "/tools/static/page.css", "GET, HEAD"),
        ("DELETE", "/openapi.json", "GET, HEAD, OPTIONS"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
def test_allow_lists_exactly_the_methods_of_a_url(api: httpx.Client, method: str, path: str, allowed: str) -> None:
    refused = api.request(method, path)

    assert (refused.status_code, refused.headers["allow"]) == (405, allowed)


@pytest.mark.parametrize("path", ["/tools/static/..%2f..%2fapp.py", "/tools/static/%2e%2e", "/files/..%2f..%2f/etc"])
def test_no_path_escapes_a_folder(api: httpx.Client, path: str) -> None:
    assert api.get(path).status_code in (403, 404)


@pytest.mark.parametrize("header", ["bytes=0-" + "9" * 5000, "bytes=" + "9" * 5000 + "-", "bytes=-" + "9" * 5000])
def test_an_absurd_range_returns_the_complete_file(api: httpx.Client, header: str) -> None:
    url = api.post(QR, json={"text": "range"}).json()["data"]["url"]

    file = api.get(url, headers={"range": header})

    assert (file.status_code, file.content[:4]) == (200, b"\x89PNG")


def test_a_metrics_token_with_invalid_bytes_is_refused(start: Start) -> None:
    host = start(metrics={"token": "abcdef"})

    ((status, headers, _),) = responses_to(host, request("GET", "/metrics", "Authorization: Bearer \xff"))

    assert (status, headers["www-authenticate"]) == (401, "Bearer")


def test_an_incomplete_body_is_reported(start: Start) -> None:
    host = start(builtin_plugins=True, server={"request_timeout": 0.3})

    status, headers, body = response_to(host, request("POST", QR, JSON, "Content-Length: 100") + b'{"te')

    assert (status, body["error"]["code"]) == (503, "timeout")
    assert headers["retry-after"] == str(body["error"]["retryAfter"])


@pytest.mark.parametrize("upgrade", ["X-Nothing: 1", "Upgrade: websocket"])
def test_a_slow_connection_is_closed_when_idle(start: Start, upgrade: str) -> None:
    host = start(builtin_plugins=True, server={"request_timeout": 5, "keep_alive_timeout": 0.4})
    head = request("POST", QR, JSON, LENGTH, upgrade).replace(b"Connection: close\r\n", b"")
    with socket.create_connection(("127.0.0.1", host.settings.server.port), timeout=20) as connection:
        connection.sendall(head)
        time.sleep(0.7)  # a slow client: the server checks its timeout while it waits for the body
        connection.sendall(BODY)
        with connection.makefile("rb") as received:
            assert received.read().startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (b"text=hello", "application/x-www-form-urlencoded", 200),
        (b"text=hello&response=binary", "application/x-www-form-urlencoded; charset=utf-8", 200),
        (b"text=a&text=b&unknown=1&__proto__=1", "application/x-www-form-urlencoded", 200),
        (b"text=<script>alert(1)</script>&size=0", "application/x-www-form-urlencoded", 400),
        (b"text=a%00b", "application/x-www-form-urlencoded", 400),
        (b"text=%ff", "application/x-www-form-urlencoded", 400),
        (b"text=\xff", "application/x-www-form-urlencoded", 400),
        (b"a&" * 1000, "application/x-www-form-urlencoded", 400),
        (b"", "application/x-www-form-urlencoded", 400),
        (b'{"text":"x"}', "application/json", 415),
        (b"text=x", "multipart/form-data; boundary=x", 400),
        (b"text=x", "text/plain", 415),
        (b"text=x", "", 415),
    ],
)
def test_a_posted_form_gets_a_page(api: httpx.Client, body: bytes, media_type: str, status: int) -> None:
    page = api.post("/tools/qr-code-generator", content=body, headers={"content-type": media_type})

    assert page.status_code == status
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["x-request-id"]
    assert "<script>alert" not in page.text


def test_a_form_of_ten_megabytes_is_refused(api: httpx.Client) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}
    try:
        page = api.post("/tools/qr-code-generator", content=b"text=" + b"x" * 10_000_000, headers=headers)
    except httpx.WriteError:  # the server may close the connection before everything is sent
        return
    assert (page.status_code, page.headers["content-type"]) == (413, "text/html; charset=utf-8")


def test_a_form_past_the_limit_has_a_retry_after(start: Start) -> None:
    host = start(tools={"text-file": {"rate_limit": "1/hour"}})
    pages = [httpx.post(f"{host.url}/tools/text-file", data={"text": text}) for text in ("one", "two")]

    assert [page.status_code for page in pages] == [200, 429]
    assert 3500 < int(pages[1].headers["retry-after"]) <= 3600


def test_readiness_fails_once_shutdown_starts(tmp_path: Path) -> None:
    gate, log = tmp_path / "gate", tmp_path / "log"
    body = json.dumps({"gate": str(gate), "log": str(log)}).encode()
    with serving(tmp_path / "server") as server:
        url = httpx.URL(server.url)
        with socket.create_connection((str(url.host), url.port or 0), timeout=30) as connection:
            call = request("POST", "/tools/gate/api/generate", JSON, f"Content-Length: {len(body)}") + body
            connection.sendall(call.replace(b"Connection: close\r\n", b"") + request("GET", "/readyz"))
            wait_until(log.exists)
            server.process.terminate()
            wait_until(lambda: "shutting down" in server.log)
            gate.touch()
            with connection.makefile("rb") as received:
                responses = received.read()
        assert server.process.wait(30) == 0

    assert b"HTTP/1.1 200 OK" in responses
    assert b"HTTP/1.1 503" in responses
    assert b"the server is shutting down" in responses


@pytest.mark.parametrize(
    "head",
    [
        request("POST", QR, "Content-Type : application/json", LENGTH),
        request("POST", QR, JSON, LENGTH, "X-Folded: one\r\n two"),
        request("POST", QR, JSON, LENGTH, host=None),
        request("POST", QR, JSON, LENGTH, "Host: other"),
    ],
    ids=["space before the colon", "folded header", "no host", "two hosts"],
)
def test_an_ambiguous_head_is_refused(shared_host: RunningHost, head: bytes) -> None:
    status, _, body = response_to(shared_host, head + BODY)

    assert (status, body["ok"]) == (400, False)
    assert "header" in body["error"]["message"].lower()
