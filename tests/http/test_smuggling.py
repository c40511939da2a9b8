"""Requests that an upstream proxy could parse differently from the server (RFC 9112, section 7.1)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pressroom.testing import RunningHost
from support.raw_http import connected, exchange, read_response, status
from support.tool_hosts import tool_host

HEAD = (
    b"POST /tools/text-file/api/generate HTTP/%b\r\nHost: test\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
)
BODY = b'{"text":"chunk"}'


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with tool_host(tmp_path_factory.mktemp("host")) as running:
        yield running


@pytest.mark.parametrize(
    "chunks",
    [
        b"0x10\r\n" + BODY + b"\r\n0\r\n\r\n",
        b" 10\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"10 \r\n" + BODY + b"\r\n0\r\n\r\n",
        b"1_0\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"+10\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"10\n" + BODY + b"\r\n0\r\n\r\n",
        b"10\r\n" + BODY + b"XX0\r\n\r\n",
        b"10\r\n" + BODY + b"\n0\r\n\r\n",
        b"10\r\n" + BODY + b"0\r\n\r\n",
        b"10;a\nb\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"10;a\rb\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"10;a\x00b\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"10;" + b"a" * 2000 + b"\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"\xd9\xa1\xd9\xa0\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"0000000000000000000000010\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"10\r\n" + BODY + b"\r\n0\r\nX-Trailer: 1\r\n\r\n",
        b"\r\n10\r\n" + BODY + b"\r\n0\r\n\r\n",
    ],
    ids=lambda chunks: repr(chunks[:28]),
)
def test_a_malformed_chunk_is_refused(host: RunningHost, chunks: bytes) -> None:
    assert status(exchange(host.url, HEAD % b"1.1" + chunks)) == 400


@pytest.mark.parametrize(
    "chunks",
    [
        b"10\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"010\r\n" + BODY + b"\r\n000\r\n\r\n",
        b'10 ; name="a value;x"\r\n' + BODY + b"\r\n0;last\r\n\r\n",
        b"".join(b"1\r\n%b\r\n" % BODY[index : index + 1] for index in range(len(BODY))) + b"0\r\n\r\n",
        b"A\r\n" + BODY[:10] + b"\r\n6\r\n" + BODY[10:] + b"\r\n0\r\n\r\n",
    ],
)
def test_standard_chunks_are_read(host: RunningHost, chunks: bytes) -> None:
    assert status(exchange(host.url, HEAD % b"1.1" + chunks)) == 200


def test_chunks_in_fragments_are_read(host: RunningHost) -> None:
    sent = HEAD.replace(b"Connection: close", b"Expect: 100-continue\r\nConnection: close") % b"1.1"
    with connected(host.url) as connection:
        connection.sendall(sent)
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        for byte in b"10\r\n" + BODY + b"\r\n0\r\n\r\n":
            connection.sendall(bytes([byte]))
        assert status(read_response(connection)) == 200


def test_http_1_0_does_not_allow_chunks(host: RunningHost) -> None:
    received = exchange(host.url, HEAD % b"1.0" + b"10\r\n" + BODY + b"\r\n0\r\n\r\n")
    assert status(received) == 400
    assert b"HTTP/1.0 has no Transfer-Encoding" in received
