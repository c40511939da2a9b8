"""Protocol versions: negotiation, the version header and batches."""

from collections.abc import Callable
from typing import Any

import pytest
from pressroom.testing import RunningHost
from support.mcp_peer import Peer, account, error, exchange, head

Start = Callable[..., RunningHost]

OLD, NEW = "2025-03-26", "2025-06-18"
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(number: Any, method: str = "ping", params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})}


def initialize(peer: Peer, version: str, **headers: str) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    result: dict[str, Any] = peer.request("initialize", params, **headers)["result"]
    return result


@pytest.mark.parametrize(
    ("requested", "negotiated"),
    [
        (NEW, NEW),
        (OLD, OLD),
        ("2024-11-05", NEW),
        ("2025-11-25", NEW),
        ("2026-07-28", NEW),
        ("", NEW),
        ("x" * 999, NEW),
    ],
)
def test_initialize_negotiates_a_version(anonymous: Peer, requested: str, negotiated: str) -> None:
    result = initialize(anonymous, requested)

    assert set(result) == {"protocolVersion", "capabilities", "serverInfo", "instructions"}
    assert (result["protocolVersion"], result["capabilities"]) == (negotiated, {"tools": {}})
    assert result["serverInfo"] == {"name": "Pressroom", "title": "Pressroom", "version": "1.0.0"}
    assert "isError" in result["instructions"]


def test_the_server_name_and_versions_are_configurable(start: Start) -> None:
    peer = Peer(
        start(
            branding={"name": "Acme Press"},
            mcp={"protocol_versions": [NEW, "2025-11-25"], "instructions": "Be brief."},
        )
    )

    assert [initialize(peer, version)["protocolVersion"] for version in ("2025-11-25", NEW, OLD)] == [
        "2025-11-25",
        NEW,
        "2025-11-25",
    ]
    assert initialize(peer, NEW)["serverInfo"]["name"] == "Acme Press"
    assert initialize(peer, NEW)["instructions"] == "Be brief."
    assert peer.post(request(1), mcp_protocol_version="2025-11-25").status_code == 200
    assert error(peer.post(request(1), mcp_protocol_version=OLD)) == (400, -32600)
    assert peer.post(request(1)).status_code == 200
    assert error(peer.post([request(1)])) == (200, -32600)


@pytest.mark.parametrize("header", ["2024-11-05", "2025-11-25", "2026-07-28", "latest", "\u00e9", f"{NEW}, {OLD}"])
def test_an_unsupported_version_is_refused_with_the_supported_ones(anonymous: Peer, header: str) -> None:
    headers = {b"content-type": b"application/json", b"mcp-protocol-version": header.encode()}
    response = anonymous.http.post("/api/mcp", json=request(7), headers=headers)

    assert (error(response), response.json()["id"]) == ((400, -32600), 7)
    assert response.json()["error"]["data"]["supported"] == [NEW, OLD]
    assert NEW in response.json()["error"]["message"]


@pytest.mark.parametrize("header", [NEW, OLD, ""])
def test_a_supported_version_is_accepted(anonymous: Peer, header: str) -> None:
    assert anonymous.post(request(1), mcp_protocol_version=header).json()["result"] == {}


def test_the_version_header_is_ignored_before_negotiation(anonymous: Peer) -> None:
    assert initialize(anonymous, NEW, mcp_protocol_version="2026-07-28")["protocolVersion"] == NEW
    assert anonymous.post(INITIALIZED, mcp_protocol_version="2026-07-28").status_code == 202
    other = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    assert error(anonymous.post(other, mcp_protocol_version="2026-07-28")) == (400, -32600)


@pytest.mark.parametrize("header", ["", "2026-07-28"])
def test_a_probe_by_newer_clients_makes_them_fall_back(anonymous: Peer, header: str) -> None:
    response = anonymous.post(request("p", "server/discover", {"_meta": {}}), mcp_protocol_version=header)

    assert (error(response), response.json()["id"]) == ((404, -32601), "p")


def test_a_batch_gets_its_responses_in_order(shared: RunningHost) -> None:
    batch = [
        request("a"),
        INITIALIZED,
        request(2, "nonsense"),
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        7,
        request(3.5, "tools/call", {"name": "count_words", "arguments": {"text": "a b"}}),
        request(None, "tools/list", {"cursor": "x"}),
        request(123456789012345678),
    ]
    responses = Peer(shared, account(shared)).post(batch).json()

    assert [response["id"] for response in responses] == ["a", 2, None, 3.5, None, 123456789012345678]
    assert [response.get("error", {}).get("code") for response in responses] == [
        None,
        -32601,
        -32600,
        None,
        -32602,
        None,
    ]
    assert responses[3]["result"]["structuredContent"] == {"words": 2}


def test_ids_in_a_batch_are_returned_unchanged(anonymous: Peer) -> None:
    ids = [b"1.50", b"1e2", b"99999999999999999999999", b'"\\u0000"']
    batch = b"[" + b",".join(b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % id_ for id_ in ids) + b"]"

    responses = b",".join(b'{"jsonrpc":"2.0","id":%b,"result":{}}' % id_ for id_ in ids)
    assert anonymous.post(batch).content == b"[%b]" % responses


@pytest.mark.parametrize("batch", [[INITIALIZED], [INITIALIZED] * 30, [{"jsonrpc": "2.0", "id": 1, "result": 1}]])
def test_a_batch_of_notifications_gets_no_response(anonymous: Peer, batch: list[Any]) -> None:
    response = anonymous.post(batch)

    assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize("batch", [[], [request(number) for number in range(21)], [{}] * 21])
def test_an_empty_or_too_long_batch_is_a_single_error(anonymous: Peer, batch: list[Any]) -> None:
    response = anonymous.post(batch)

    assert (error(response), response.json()["id"]) == ((200, -32600), None)


def test_a_batch_may_have_twenty_requests_and_any_number_of_notifications(anonymous: Peer) -> None:
    responses = anonymous.post([*(request(number) for number in range(20)), *[INITIALIZED] * 20]).json()

    assert [response["id"] for response in responses] == [*range(20)]


def test_initialize_is_refused_inside_a_batch(anonymous: Peer) -> None:
    responses = anonymous.post([request(1, "initialize", {"protocolVersion": OLD}), request(2)]).json()

    assert responses[0]["error"]["code"] == -32600
    assert responses[1]["result"] == {}


@pytest.mark.parametrize("batch", [[request(1)], [], [INITIALIZED]])
def test_newer_versions_do_not_support_batches(anonymous: Peer, batch: list[Any]) -> None:
    response = anonymous.post(batch, mcp_protocol_version=NEW)

    assert (error(response), response.json()["id"]) == ((200, -32600), None)


def test_a_batch_needs_a_credential_if_any_of_its_requests_does(anonymous: Peer) -> None:
    response = anonymous.post([request(1), request(2, "tools/list")])

    assert (response.status_code, response.json()["error"]) == (401, "unauthorized")
    assert "www-authenticate" in response.headers


@pytest.mark.parametrize(("other", "status"), [(NEW, 200), (OLD, 400), ("1999-01-01", 400)])
def test_conflicting_version_headers_are_refused(shared: RunningHost, other: str, status: int) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    lines = ("Content-Type: application/json", f"Content-Length: {len(body)}")

    received = exchange(shared, head(*lines, f"MCP-Protocol-Version: {NEW}", f"MCP-Protocol-Version: {other}") + body)

    assert received.startswith(b"HTTP/1.1 %d " % status)
