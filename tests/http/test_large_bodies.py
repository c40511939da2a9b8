"""Expensive parsing on the event loop: bodies that are large, deeply nested, or only look like a lot of work."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import httpx
import pytest
from pressroom.errors import InvalidJson
from pressroom.testing import RunningHost
from pressroom.validation.json import parse_value
from support.mcp_peer import account
from support.raw_http import exchange, status
from support.tool_hosts import tool_host

MCP = "/api/mcp"
KIB_64 = 65_536


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with tool_host(tmp_path_factory.mktemp("host")) as running:
        yield running


def ping(size: int) -> bytes:
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"%b"}}'
    return body % (b"x" * (size - len(body) + 2))


def head(host: RunningHost, *lines: str) -> bytes:
    first_lines = (
        "POST /api/mcp HTTP/1.1",
        f"Host: 127.0.0.1:{host.settings.server.port}",
        "Content-Type: application/json",
    )
    return "\r\n".join((*first_lines, *lines, "", "")).encode()


def test_unauthenticated_mcp_bodies_are_limited_to_64_kib(host: RunningHost) -> None:
    headers = {"content-type": "application/json"}
    fits = httpx.post(host.url + MCP, content=ping(KIB_64), headers=headers, timeout=30)
    too_large = httpx.post(host.url + MCP, content=ping(KIB_64 + 1), headers=headers, timeout=30)
    assert (fits.status_code, fits.json()["result"]) == (200, {})
    assert (too_large.status_code, too_large.json()["error"]["code"]) == (413, -32600)
    assert "65536 bytes without a valid credential" in too_large.json()["error"]["message"]


def test_an_unauthenticated_body_is_refused_before_it_is_sent(host: RunningHost) -> None:
    assert status(exchange(host.url, head(host, f"Content-Length: {KIB_64 + 1}"))) == 413
    assert status(exchange(host.url, head(host, "Content-Length: 4194304", "Authorization: Bearer prk_key_no"))) == 401
    chunk = b"%x\r\n%b\r\n" % (KIB_64 + 1, b"x" * (KIB_64 + 1))
    assert status(exchange(host.url, head(host, "Transfer-Encoding: chunked") + chunk)) == 413


def test_a_client_with_an_account_may_send_four_mebibytes(host: RunningHost) -> None:
    headers = {"content-type": "application/json", **account(host).bearer}
    response = httpx.post(host.url + MCP, content=ping(4 * 1024 * 1024), headers=headers, timeout=30)
    assert (response.status_code, response.json()["result"]) == (200, {})
    too_large = httpx.post(host.url + MCP, content=ping(4 * 1024 * 1024 + 1), headers=headers, timeout=30)
    assert too_large.status_code == 413


@pytest.mark.parametrize("depth", [1, 49], ids=["flat", "deep"])
def test_millions_of_arrays_are_refused_before_they_are_created(depth: int) -> None:
    body = b"[" + b",".join([b"[" * depth + b"]" * depth] * (4_000_000 // (2 * depth + 1))) + b"]"
    text = json.dumps("x" * len(body)).encode()
    started = time.process_time()
    parse_value(text, max_depth=64)
    honest = time.process_time() - started
    started = time.process_time()
    with pytest.raises(InvalidJson, match="more than 100,000 arrays and objects"):
        parse_value(body, max_depth=64)
    assert time.process_time() - started < max(0.3, 20 * honest)


def test_brackets_in_strings_are_not_arrays() -> None:
    assert parse_value(json.dumps({"code": "[{" * 500_000}).encode(), max_depth=8) == {"code": "[{" * 500_000}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{" + b" " * 100_000, "not valid JSON"),
        (json.dumps({"text": "x" * 100_000}).encode(), "text: "),
        (json.dumps({"text": "hello", "padding": "x" * 100_000}).encode(), "padding"),
    ],
)
def test_large_bodies_of_the_tools_api_have_the_same_limits(host: RunningHost, content: bytes, problem: str) -> None:
    headers = {"content-type": "application/json"}
    response = httpx.post(host.url + "/tools/text-file/api/generate", content=content, headers=headers, timeout=30)
    assert response.status_code == 400
    assert problem in response.json()["error"]["message"]


def test_a_large_form_of_a_tool_page_is_read_as_well(host: RunningHost) -> None:
    response = httpx.post(host.url + "/tools/text-file", data={"text": "x" * 100_000}, timeout=30)
    assert response.status_code == 400
    assert "x" * 100_000 in response.text  # the form is shown again with its values
