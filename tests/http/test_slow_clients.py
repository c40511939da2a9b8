"""Clients that are slow or hold more connections than they need, and so starve others."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from pressroom.testing import RunningHost
from support.raw_http import closed, connected, read_response, status
from support.tool_hosts import tool_host

SECONDS = 1.0
LONG = 20.0
HEAD = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    server = {"request_timeout": SECONDS, "keep_alive_timeout": 600, "response_timeout": 600}
    with tool_host(tmp_path_factory.mktemp("host"), server=server) as running:
        yield running


@contextmanager
def trickling(connection: socket.socket, piece: bytes) -> Iterator[None]:
    """Keep sending a piece of data, at intervals shorter than the server's timeout, until the block ends."""
    stopped = threading.Event()

    def send() -> None:
        while not stopped.wait(SECONDS / 8):
            try:
                connection.sendall(piece)
            except OSError:
                return

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


@pytest.mark.parametrize(
    ("beginning", "piece", "expected"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: test\r\n", b"X-More: 1\r\n", 408),
        (b"G", b"E", 408),
        (HEAD % b"/tools/text-file/api/generate" + b"Content-Length: 1000\r\n\r\n", b" ", 503),
        (HEAD % b"/tools/text-file/api/generate" + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 503),
        (HEAD % b"/api/mcp" + b"Content-Length: 1000\r\n\r\n", b" ", 408),
        (HEAD % b"/nothing/here" + b"Content-Length: 1000\r\n\r\n", b" ", 404),
        (HEAD % b"/nothing/here" + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 404),
    ],
    ids=["head", "first line", "body", "chunks", "body of MCP", "unwanted body", "unwanted chunks"],
)
def test_a_connection_cannot_be_held_open_by_trickling_bytes(
    host: RunningHost, beginning: bytes, piece: bytes, expected: int
) -> None:
    with connected(host.url) as connection:
        connection.sendall(beginning)
        with trickling(connection, piece):
            received = read_response(connection)
            assert closed(connection)
    assert status(received) == expected, received


def test_a_slow_client_within_the_time_limit_gets_a_response(tmp_path: Path) -> None:
    with (
        tool_host(tmp_path, server={"request_timeout": LONG, "response_timeout": 0.5}) as host,
        connected(host.url) as connection,
    ):
        body = b'{"text":"slow"}'
        connection.sendall(HEAD % b"/tools/text-file/api/generate" + b"Content-Length: %d\r\n\r\n" % len(body))
        # Takes longer than the response timeout, which starts only once the body is complete.
        for index in range(len(body)):
            time.sleep(0.07)
            connection.sendall(body[index : index + 1])
        assert status(read_response(connection)) == 200


def test_a_connection_is_kept_open_between_requests(host: RunningHost) -> None:
    with connected(host.url) as connection:
        for _ in range(3):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
            assert status(read_response(connection)) == 200
            time.sleep(SECONDS * 1.2)


def test_anonymous_clients_cannot_take_all_connections(tmp_path: Path) -> None:
    with tool_host(tmp_path, server={"connections_per_client": 5}) as host, ExitStack() as stack:
        connections = [stack.enter_context(connected(host.url)) for _ in range(5)]
        for connection in connections:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
            assert status(read_response(connection)) == 200
        with connected(host.url) as sixth:
            refusal = read_response(sixth)
            assert closed(sixth)
        assert (status(refusal), b"too many connections" in refusal) == (503, True)
        connections.pop().close()
        # The server notices the closed connection only a moment later.
        deadline = time.monotonic() + LONG
        while status(_health(host)) != 200:
            assert time.monotonic() < deadline
        connections[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
        assert status(read_response(connections[0])) == 200


def _health(host: RunningHost) -> bytes:
    with connected(host.url) as connection:
        try:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
        except OSError:
            return b""
        return read_response(connection)


def test_requests_behind_a_proxy_count_for_the_forwarded_ip_address(tmp_path: Path) -> None:
    config = {"connections_per_client": 2, "trusted_proxies": 1}
    with tool_host(tmp_path, server=config) as host, ExitStack() as stack:

        def begin(address: bytes) -> socket.socket:
            connection = stack.enter_context(connected(host.url))
            forwarded = b"X-Forwarded-For: %b\r\nContent-Length: 15\r\nExpect: 100-continue\r\n\r\n" % address
            connection.sendall(HEAD % b"/tools/text-file/api/generate" + forwarded)
            return connection

        waiting = [begin(b"192.0.2.66"), begin(b"192.0.2.66")]
        for connection in waiting:  # the server is waiting for the body
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        third = read_response(begin(b"192.0.2.66")).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
        other = httpx.get(f"{host.url}/healthz", headers={"x-forwarded-for": "192.0.2.1"}, timeout=30)
        for connection in waiting:
            connection.sendall(b'{"text":"hello"}'[:15])
            assert status(read_response(connection)) in (200, 400)
        retried = httpx.get(f"{host.url}/healthz", headers={"x-forwarded-for": "192.0.2.66"}, timeout=30)

    assert status(third) == 503
    assert b"Retry-After: 1" in third or b"retry-after: 1" in third
    assert (other.status_code, retried.status_code) == (200, 200)
