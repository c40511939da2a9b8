"""JSON-RPC over HTTP: valid and invalid messages, and their responses."""

import gzip
import re
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost
from support.mcp_peer import PATH, Peer, error, exchange, head

PARSE, INVALID, METHOD, PARAMS = -32700, -32600, -32601, -32602

PING = b'{"jsonrpc":"2.0","id":%b,"method":"ping"}'


@pytest.mark.parametrize(
    ("sent", "echoed"),
    [
        (b"1", b"1"),
        (b"0", b"0"),
        (b"-7", b"-7"),
        (b"1.0", b"1.0"),
        (b"1.50", b"1.50"),
        (b"-0.0", b"-0.0"),
        (b"1e3", b"1e3"),
        (b"9007199254740993", b"9007199254740993"),
        (b"18446744073709551615", b"18446744073709551615"),
        (b"123456789012345678901234567890", b"123456789012345678901234567890"),
        (b"0.1000000000000000055511151231257827", b"0.1000000000000000055511151231257827"),
        (b"null", b"null"),
        (b'""', b'""'),
        (b'"abc"', b'"abc"'),
        (b'"\\u00e9\\"\\\\"', '"é\\"\\\\"'.encode()),
        ('"日本\U0001f600"'.encode(), '"日本\U0001f600"'.encode()),
        (b'"\\u0000"', b'"\\u0000"'),
        (b'"' + b"x" * 10_000 + b'"', b'"' + b"x" * 10_000 + b'"'),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_an_id_is_returned_unchanged(anonymous: Peer, sent: bytes, echoed: bytes) -> None:
    response = anonymous.post(PING % sent)

    assert (response.status_code, response.content) == (200, b'{"jsonrpc":"2.0","id":%b,"result":{}}' % echoed)


@pytest.mark.parametrize("sent", [b"true", b"false", b"[]", b"[1]", b"{}", b'{"id":1}'])
def test_an_id_of_another_type_is_refused_with_a_null_id(anonymous: Peer, sent: bytes) -> None:
    response = anonymous.post(PING % sent)

    assert (error(response), response.json()["id"]) == ((200, INVALID), None)


@pytest.mark.parametrize(
    ("message", "code", "echoed"),
    [
        (b"null", INVALID, None),
        (b"1", INVALID, None),
        (b'"ping"', INVALID, None),
        (b"true", INVALID, None),
        (b"{}", INVALID, None),
        (b'{"id":1}', INVALID, 1),
        (b'{"jsonrpc":"2.0","id":1}', INVALID, 1),
        (b'{"id":1,"method":"ping"}', INVALID, 1),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', INVALID, 1),
        (b'{"jsonrpc":2.0,"id":1,"method":"ping"}', INVALID, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":1}', INVALID, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":null}', INVALID, 1),
        (b'{"jsonrpc":"2.0","method":1,"params":"bar"}', INVALID, None),
        (b'{"method":"notifications/initialized"}', INVALID, None),
        (b'{"jsonrpc":"2.0","id":1,"method":""}', METHOD, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"Ping"}', METHOD, 1),
        (b'{"jsonrpc":"2.0","id":"a","method":"resources/list"}', METHOD, "a"),
        (b'{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}', METHOD, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"\\ud83d\\ude00\\u0007"}', METHOD, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', PARAMS, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', PARAMS, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":7}', PARAMS, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', PARAMS, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize"}', PARAMS, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":20250618}}', PARAMS, 1),
    ],
    ids=repr,
)
def test_a_malformed_request_is_reported(anonymous: Peer, message: bytes, code: int, echoed: Any) -> None:
    response = anonymous.post(message)

    assert (error(response), response.json()["id"]) == ((200, code), echoed)


def test_the_last_value_of_a_duplicate_name_is_used(anonymous: Peer) -> None:
    response = anonymous.post(b'{"jsonrpc":"2.0","id":1,"id":2.50,"method":"x","method":"ping","id":3.00}')

    assert response.content == b'{"jsonrpc":"2.0","id":3.00,"result":{}}'


@pytest.mark.parametrize(
    "message",
    [
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
        b'{"jsonrpc":"2.0","method":"notifications/of_tomorrow"}',
        b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"count_words","arguments":{"text":"x"}}}',
        b'{"jsonrpc":"2.0","method":"initialize"}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"no"}}',
    ],
    ids=repr,
)
def test_notifications_get_no_response(anonymous: Peer, message: bytes) -> None:
    response = anonymous.post(message)

    assert (response.status_code, response.content) == (202, b"")
    assert "content-type" not in response.headers


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"nonsense",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}',
        b"{'jsonrpc':'2.0'}",
        b"[1,]",
        b"\xef\xbb\xbf" + PING % b"1",
        '{"jsonrpc":"2.0","id":"é"}'.encode("latin-1"),
        (PING % b"1").decode().encode("utf-16"),
        PING % b"NaN",
        PING % b"1e400",
        PING % (b"9" * 5000),
        PING % b'"\\ud800"',
        PING % b'"\\udc00\\ud800"',
        b"[" * 60_000,
        b'{"a":' * 12_000,
        b"[" * 65 + b"]" * 65,
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 64 + b"1" + b"}" * 65,
    ],
    ids=lambda body: repr(body[:40]),
)
def test_invalid_json_is_a_parse_error(anonymous: Peer, body: bytes) -> None:
    response = anonymous.post(body)

    assert (error(response), response.json()["id"]) == ((400, PARSE), None)


def test_nesting_up_to_the_limit_is_read(anonymous: Peer) -> None:
    deep = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 63 + b"1" + b"}" * 64

    assert anonymous.post(deep).json()["result"] == {}


@pytest.mark.parametrize(
    "media_type",
    ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8", "application/json ;x=y"],
)
@pytest.mark.parametrize("accept", ["application/json, text/event-stream", "text/event-stream", "*/*", "text/html"])
def test_the_response_is_json_whatever_the_client_accepts(anonymous: Peer, media_type: str, accept: str) -> None:
    response = anonymous.post(PING % b"1", content_type=media_type, accept=accept)

    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize(
    "media_type",
    ["", "text/plain", "text/json", "application/jsonl", "application/x-www-form-urlencoded", "multipart/form-data"],
)
def test_another_content_type_is_refused(shared: RunningHost, anonymous: Peer, media_type: str) -> None:
    assert error(anonymous.post(PING % b"1", content_type=media_type)) == (415, INVALID)


def test_a_body_without_a_content_type_is_refused(shared: RunningHost) -> None:
    response = httpx.post(shared.url + PATH, content=PING % b"1")

    assert error(response) == (415, INVALID)
    assert "Content-Type: application/json" in response.json()["error"]["message"]


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "identity, gzip"])
def test_a_compressed_body_is_refused(anonymous: Peer, coding: str) -> None:
    response = anonymous.post(gzip.compress(PING % b"1"), content_encoding=coding)

    assert error(response) == (415, INVALID)
    assert coding in response.json()["error"]["message"]


@pytest.mark.parametrize("path", [PATH, f"{PATH}/", f"{PATH}?x=1"])
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_only_post_is_served(shared: RunningHost, method: str, path: str) -> None:
    response = httpx.request(method, shared.url + path, headers={"accept": "text/event-stream, text/html"})

    assert (error(response), response.headers["allow"]) == ((405, INVALID), "OPTIONS, POST")


def test_head_is_refused_without_a_body(shared: RunningHost) -> None:
    received = exchange(shared, head(method="HEAD"))

    assert received.startswith(b"HTTP/1.1 405 ")
    assert received.endswith(b"\r\n\r\n")


def test_the_url_may_end_in_a_slash(shared: RunningHost) -> None:
    response = httpx.post(f"{shared.url}{PATH}/", content=PING % b"1", headers={"content-type": "application/json"})

    assert response.json()["result"] == {}


def test_the_endpoint_is_missing_if_the_operator_disabled_it(start: Any) -> None:
    host = start(mcp={"enabled": False})

    assert [httpx.request(method, host.url + PATH).status_code for method in ("GET", "POST", "OPTIONS")] == [404] * 3
    assert PATH not in httpx.get(f"{host.url}/llms.txt").text


def test_the_text_index_lists_the_endpoint(shared: RunningHost) -> None:
    (line,) = re.findall(r"^- \[MCP endpoint\].+$", httpx.get(f"{shared.url}/llms.txt").text, re.MULTILINE)

    assert f"{shared.url}{PATH}" in line
