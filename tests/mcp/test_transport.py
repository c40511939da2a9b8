"""The MCP transport: body size, `Origin` and `Host` are checked before a message is parsed."""

import socket
from collections.abc import Callable
from pathlib import Path

import httpx
import orjson
import pytest
from pressroom.testing import RunningHost
from support import mcp_tools
from support.mcp_peer import JSON, PATH, Peer, account, error, exchange, head
from support.server import serving

Start = Callable[..., RunningHost]

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
TYPE = "Content-Type: application/json"
LIMIT = 4_194_304


def padded(size: int) -> bytes:
    return PING + b" " * (size - len(PING))


def chunked(body: bytes, step: int = 65_536) -> list[bytes]:
    parts = (body[start : start + step] for start in range(0, len(body), step))
    return [*(b"%x\r\n%b\r\n" % (len(part), part) for part in parts), b"0\r\n\r\n"]


def authorization(peer: Peer) -> str:
    assert peer.account is not None
    return f"Authorization: {peer.account.bearer['authorization']}"


def test_a_body_of_the_maximum_size_is_accepted(shared: RunningHost, peer: Peer) -> None:
    assert peer.post(padded(LIMIT)).json()["result"] == {}
    sent = head(TYPE, authorization(peer), "Transfer-Encoding: chunked")
    received = exchange(shared, sent, *chunked(padded(LIMIT)))
    assert received.startswith(b"HTTP/1.1 200 ")


def test_a_body_over_the_limit_is_refused_by_its_content_length(shared: RunningHost, peer: Peer) -> None:
    received = exchange(shared, head(TYPE, authorization(peer), f"Content-Length: {LIMIT + 1}"), b"{")

    assert received.startswith(b"HTTP/1.1 413 ")
    assert b'"code":-32600' in received
    assert str(LIMIT).encode() in received


def test_a_chunked_body_is_refused_as_soon_as_it_exceeds_the_limit(shared: RunningHost, peer: Peer) -> None:
    with socket.create_connection(("127.0.0.1", shared.settings.server.port), timeout=20) as connection:
        connection.sendall(head(TYPE, authorization(peer), "Transfer-Encoding: chunked"))
        for part in chunked(padded(LIMIT))[:-1]:
            connection.sendall(part)
        connection.sendall(b"1\r\n \r\n")  # one byte too many, in an unfinished body
        with connection.makefile("rb") as received:
            assert received.readline().startswith(b"HTTP/1.1 413 ")


def test_the_limits_of_other_routes_are_unchanged(shared: RunningHost) -> None:
    form = b'{"text":"' + b"x" * 300_000 + b'"}'
    try:
        response = httpx.post(f"{shared.url}/tools/qr-code-generator/api/generate", content=form, headers=JSON)
    except httpx.WriteError:  # the server may close the connection before everything is sent
        return
    assert response.status_code == 413
    assert "262144" in response.json()["error"]["message"]


def test_the_configured_limits_apply(start: Start) -> None:
    peer = Peer(start(mcp={"max_body_bytes": 2000, "max_nesting": 8}))

    assert error(peer.post(padded(2001))) == (413, -32600)
    assert peer.post(padded(2000)).status_code == 200
    assert error(peer.post(b'{"a":' * 9 + b"1" + b"}" * 9)) == (400, -32700)


def test_an_incomplete_body_is_reported(start: Start) -> None:
    host = start(server={"request_timeout": 0.3})

    received = exchange(host, head(TYPE, "Content-Length: 100"), b'{"json')

    assert received.startswith((b"HTTP/1.1 408 ", b"HTTP/1.1 503 "))
    assert b'{"jsonrpc":"2.0","id":null,"error":' in received


def test_pipelined_messages_get_their_responses_in_order(shared: RunningHost) -> None:
    header = head(TYPE, f"Content-Length: {len(PING)}").replace(b"Connection: close\r\n", b"")
    sent = b"".join(header + PING.replace(b":1,", b":%d," % number) for number in range(2, 5))

    received = exchange(shared, sent + head(TYPE, f"Content-Length: {len(PING)}") + PING)

    positions = [received.index(b'"id":%d,' % number) for number in (2, 3, 4, 1)]
    assert positions == sorted(positions)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example", "file://", "x"])
@pytest.mark.parametrize("method", ["POST", "OPTIONS", "GET"])
def test_a_request_from_another_site_is_refused(shared: RunningHost, origin: str, method: str) -> None:
    headers = {"origin": origin, "authorization": "Bearer prk_key_wrong", **JSON}
    response = httpx.request(method, shared.url + PATH, content=PING, headers=headers)

    assert error(response) == (403, -32001)
    assert "access-control-allow-origin" not in response.headers
    assert "www-authenticate" not in response.headers


def test_a_cross_origin_request_is_refused_before_its_body_is_read(shared: RunningHost) -> None:
    with socket.create_connection(("127.0.0.1", shared.settings.server.port), timeout=20) as connection:
        connection.sendall(head(TYPE, "Origin: https://evil.example", "Content-Length: 100"))
        with connection.makefile("rb") as received:
            assert received.readline().startswith(b"HTTP/1.1 403 ")


def test_same_origin_pages_may_call(shared: RunningHost) -> None:
    port = shared.settings.server.port
    for origin in (shared.url, f"http://localhost:{port}", f"http://[::1]:{port}", shared.url.upper()):
        response = httpx.post(shared.url + PATH, content=PING, headers={"origin": origin, **JSON})
        assert (response.status_code, response.headers["access-control-allow-origin"]) == (200, origin)
        assert response.headers["vary"] == "Origin"


def test_the_operator_allows_origins(start: Start) -> None:
    host = start(mcp={"allowed_origins": ["https://App.example/", "http://localhost:6274"]})

    for origin, status in (
        ("https://app.example", 200),
        ("http://localhost:6274", 200),
        ("https://app.example:444", 403),
        ("http://app.example", 403),
    ):
        response = httpx.post(host.url + PATH, content=PING, headers={"origin": origin, **JSON})
        assert (origin, response.status_code) == (origin, status)


def test_the_operator_allows_every_origin(start: Start) -> None:
    host = start(mcp={"allowed_origins": ["*"]})

    response = httpx.post(host.url + PATH, content=PING, headers={"origin": "null", **JSON})

    assert (response.status_code, response.headers["access-control-allow-origin"]) == (200, "*")


def test_a_preflight_needs_no_credential(shared: RunningHost) -> None:
    headers = {
        "origin": shared.url,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type, mcp-protocol-version",
    }
    response = httpx.options(shared.url + PATH, headers=headers)

    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["access-control-allow-origin"] == shared.url
    assert "POST" in response.headers["access-control-allow-methods"]
    allowed = {name.strip().lower() for name in response.headers["access-control-allow-headers"].split(",")}
    assert {"authorization", "content-type", "accept", "mcp-protocol-version", "mcp-session-id"} <= allowed


@pytest.mark.parametrize("bearer", ["", "Bearer nonsense", "Bearer prk_key_wrong"])
def test_a_page_can_read_the_www_authenticate_challenge(shared: RunningHost, bearer: str) -> None:
    headers = {"origin": shared.url, **JSON, **({"authorization": bearer} if bearer else {})}
    listing = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    response = httpx.post(shared.url + PATH, content=listing, headers=headers)

    assert response.status_code == 401
    assert response.headers["access-control-allow-origin"] == shared.url
    assert "WWW-Authenticate" in response.headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:8000", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("localhost.", 200),
        ("[::1]:8000", 200),
        ("evil.example", 403),
        ("evil.example:80", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost@evil.example", 403),
        ("", 403),
    ],
)
def test_on_a_loopback_address_foreign_host_headers_are_refused(shared: RunningHost, name: str, status: int) -> None:
    received = exchange(shared, head(TYPE, f"Content-Length: {len(PING)}", host=name) + PING)

    assert received.startswith(b"HTTP/1.1 %d " % status)


def test_the_public_host_name_is_accepted(start: Start) -> None:
    host = start(base_url="https://tools.example:443")

    for name, origin, status in (
        ("tools.example", "https://tools.example", 200),
        ("other.example", "https://tools.example", 403),
        ("tools.example", "https://other.example", 403),
    ):
        response = httpx.post(host.url + PATH, content=PING, headers={"host": name, "origin": origin, **JSON})
        assert response.status_code == status


def test_behind_a_trusted_proxy_the_host_header_is_not_checked(start: Start) -> None:
    host = start(server={"trusted_proxies": 1})

    response = httpx.post(host.url + PATH, content=PING, headers={"host": "upstream", **JSON})

    assert response.status_code == 200


def test_the_log_has_no_credential(tmp_path: Path) -> None:
    secret = "prk_key_0123456789abcdefghijklmnopqrstuv_ABCDEF"
    with serving(tmp_path, config="") as server:
        headers = {"authorization": f"Bearer {secret}", **JSON}
        assert httpx.post(server.url + PATH, content=PING, headers=headers).status_code == 401
        server.terminate()
        assert PATH in server.log
        assert secret not in server.log


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Authorization: Bearer \xff", 401),
        ("Authorization: Bearer prk_key_\xff\xfe", 401),
        ("Authorization: Bearer prk_oat_\xff.\xfe.\xfd", 401),
        ("Authorization: \xff", 200),
        ("Origin: \xff", 403),
        ("MCP-Protocol-Version: \xff", 400),
        ("Content-Encoding: \xff", 415),
        ("Accept: \xff", 200),
    ],
)
def test_a_header_with_invalid_bytes_does_not_crash_the_server(shared: RunningHost, header: str, status: int) -> None:
    received = exchange(shared, head(TYPE, f"Content-Length: {len(PING)}", header) + PING)

    assert received.startswith(b"HTTP/1.1 %d " % status)
    assert orjson.loads(received.partition(b"\r\n\r\n")[2])


def test_a_response_that_takes_too_long_is_reported(start: Start) -> None:
    host = start(server={"response_timeout": 0.3}, mcp={"concurrency": 1})
    peer = Peer(host, account(host))
    params = {"name": "wait", "arguments": {"name": "slow"}}
    response = peer.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    assert error(response) == (503, -32603)
    assert response.headers["retry-after"]
    host.run(mcp_tools.waiting())
    assert peer.call("count_words", {"text": "x"})["structuredContent"] == {"words": 1}


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"{}," * 90_000 + b"{}]",
        b"[" + b'{"jsonrpc":"2.0","method":"a"},' * 90_000 + b"1]",
        b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 4_000_000 + b'"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"' + b"x" * 4_000_000 + b'"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"' + b'\\"[{' * 1_000_000 + b'"}}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping","params":{"a":[' + b"1.5," * 1_000_000 + b"1]}}",
    ],
    ids=["objects", "notifications", "method", "name", "quotes", "numbers"],
)
def test_a_large_body_of_any_kind_gets_a_response(shared: RunningHost, body: bytes) -> None:
    response = Peer(shared, account(shared)).post(body)

    assert response.status_code == 200
    assert len(response.content) < 1000


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (("Content-Length: -5",), 400),
        (("Content-Length: +5",), 400),
        (("Content-Length: 5", "Content-Length: 6"), 400),
        (("Content-Length: 5", "Transfer-Encoding: chunked"), 400),
        (("Transfer-Encoding: gzip, chunked",), 400),
        (("Content-Length: 5", "Expect: 200-maybe"), 417),
        (("Content-Length : 5",), 400),
        (("Host: 127.0.0.1",), 400),
    ],
)
def test_a_malformed_request_head_is_refused(shared: RunningHost, headers: tuple[str, ...], status: int) -> None:
    received = exchange(shared, head(TYPE, *headers) + PING)

    assert received.startswith(b"HTTP/1.1 %d " % status)
    assert b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,' in received
    assert received.count(b"HTTP/1.1 ") == 1


def test_a_client_that_expects_100_continue_gets_it(shared: RunningHost) -> None:
    received = exchange(shared, head(TYPE, f"Content-Length: {len(PING)}", "Expect: 100-continue"), PING)

    assert received.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 ")


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH", "TRACE", "SUBSCRIBE"])
def test_other_methods_are_refused(shared: RunningHost, method: str) -> None:
    response = httpx.request(method, shared.url + PATH, headers={"accept": "text/event-stream"})

    assert response.status_code == 405
    assert set(response.headers["allow"].split(", ")) == {"POST", "OPTIONS"}
    assert method == "HEAD" or error(response) == (405, -32600)


def test_a_response_without_a_body_has_no_content_type(shared: RunningHost) -> None:
    note = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    received = exchange(shared, head(TYPE, f"Content-Length: {len(note)}") + note)

    headers, _, body = received.partition(b"\r\n\r\n")
    assert headers.startswith(b"HTTP/1.1 202 ")
    assert body == b""
    assert b"\r\ncontent-type:" not in headers.lower()
