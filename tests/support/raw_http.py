"""HTTP as bytes on a socket, for requests that no client library sends."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

SECONDS = 30.0


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    """Yield a connection to a server."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=SECONDS) as connection:
        yield connection


def exchange(url: str, sent: bytes) -> bytes:
    """Send bytes, and return the first response, or everything until the server closes the connection."""
    with connected(url) as connection:
        connection.sendall(sent)
        return read_response(connection)


def read_response(connection: socket.socket) -> bytes:
    """Return one response with its head and body, truncated if the connection closes early."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += (part := _part(connection))
        if not part:
            return received
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        (int(line.partition(b":")[2]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    while len(body) < length and (part := _part(connection)):
        body += part
    return head + b"\r\n\r\n" + body


def status(received: bytes) -> int:
    """Return the status code of a response, or 0 if there is no response."""
    return int(received[9:12]) if received.startswith(b"HTTP/1.1 ") else 0


def closed(connection: socket.socket) -> bool:
    """Wait until the server closes the connection. Returns `False` if it does not within half a minute."""
    try:
        while _part(connection):
            pass
    except TimeoutError:
        return False
    return True


def _part(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except ConnectionError:
        return b""
