"""Random messages: the response is always JSON-RPC, or empty if no response is due."""

import json
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.mcp_peer import Peer

fuzz = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)

methods = st.sampled_from(["initialize", "ping", "tools/list", "tools/call", "notifications/initialized", "a/b"])
tools = st.sampled_from(["count_words", "rich", "wealthy", "show", "none"])
params = st.fixed_dictionaries(
    {},
    optional={
        "name": tools | values,
        "arguments": st.fixed_dictionaries({}, optional={"text": values, "title": values, "parts": values}) | values,
        "protocolVersion": st.sampled_from(["2025-06-18", "2024-11-05"]) | values,
        "cursor": values,
        "_meta": values,
    },
)
messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | values, "method": methods | values},
    optional={"id": st.integers() | st.text(max_size=9) | values, "params": params | values, "result": values},
)
bodies = messages | st.lists(messages | values, max_size=22) | values

VERSIONS = st.sampled_from([None, None, "2025-03-26", "2025-06-18", "2026-07-28"])

CODES = {-32700, -32600, -32601, -32602}


def check(response: httpx.Response) -> None:
    """Assert that a response conforms to the interface contract."""
    assert response.status_code in (200, 202, 400), response.text
    assert response.headers["x-request-id"]
    if response.status_code == 202:
        assert response.content == b""
        return
    body = response.json()
    messages = body if isinstance(body, list) else [body]
    assert messages
    for message in messages:
        assert message["jsonrpc"] == "2.0"
        assert set(message) in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
        assert message["id"] is None or isinstance(message["id"], str | int | float)
        if "error" in message:
            assert message["error"]["code"] in CODES
            assert 0 < len(message["error"]["message"]) < 500


def post(peer: Peer, body: bytes, version: str | None) -> None:
    check(peer.post(body, **({"mcp_protocol_version": version} if version else {})))


@fuzz
@given(body=bodies, version=VERSIONS)
def test_any_message_gets_an_answer(peer: Peer, body: Any, version: str | None) -> None:
    post(peer, json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass"), version)


@fuzz
@given(body=st.binary(max_size=300), version=VERSIONS)
def test_any_bytes_get_an_answer(peer: Peer, body: bytes, version: str | None) -> None:
    post(peer, body, version)


@fuzz
@given(message=messages, cut=st.integers(0, 200), junk=st.binary(max_size=5))
def test_a_broken_message_gets_an_answer(peer: Peer, message: dict[str, Any], cut: int, junk: bytes) -> None:
    body = json.dumps(message).encode()

    post(peer, body[:cut] + junk + body[cut:], None)
