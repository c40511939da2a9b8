"""`POST /oauth/register` (RFC 7591)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost
from support.oauth import LOOPBACK, Flow

Start = Callable[..., RunningHost]


def test_a_public_client_is_registered(flow: Flow) -> None:
    response = flow.registered(client_name="My editor", client_uri="https://editor.example/")
    registration = response.json()
    assert response.status_code == 201
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["pragma"] == "no-cache"
    assert registration.pop("client_id").startswith("client_")
    assert registration.pop("client_id_issued_at") > 1_700_000_000
    assert registration == {
        "client_name": "My editor",
        "redirect_uris": [LOOPBACK],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": "mcp",
        "client_uri": "https://editor.example/",
    }


@pytest.mark.parametrize("method", [None, "client_secret_basic", "client_secret_post"])
def test_a_client_with_a_secret_is_registered(flow: Flow, method: str | None) -> None:
    registration = flow.registered(token_endpoint_auth_method=method).json()
    assert registration["token_endpoint_auth_method"] == (method or "client_secret_basic")
    assert len(registration["client_secret"]) >= 40
    assert registration["client_secret_expires_at"] == 0


def test_registering_the_same_metadata_again_returns_the_same_client(flow: Flow) -> None:
    first, second = [flow.registered(client_name="The same").json() for _ in range(2)]
    assert first["client_id"] == second["client_id"]


@pytest.mark.parametrize(
    "uri",
    [
        "cursor://anysphere.cursor-retrieval/oauth/user-mcp/callback",
        "https://claude.ai/api/mcp/auth_callback",
        "http://localhost:6274/oauth/callback",
        "http://[::1]/callback",
    ],
)
def test_redirect_uris_of_real_clients_are_accepted(flow: Flow, uri: str) -> None:
    assert flow.registered(redirect_uris=[uri]).status_code == 201


def test_unsupported_metadata_is_omitted(flow: Flow) -> None:
    registration = flow.registered(
        grant_types=["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        response_types=["code", "token"],
        scope="mcp admin",
        jwks_uri="http://127.0.0.1:9/never-fetched",
        software_statement="unknown",
        **{"client_name#ja": "編集者", "x-other": {"deep": [1, 2]}},
    ).json()
    assert registration["grant_types"] == ["authorization_code", "refresh_token"]
    assert registration["response_types"] == ["code"]
    assert registration["scope"] == "mcp"


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": LOOPBACK}, "invalid_redirect_uri"),
        ({"redirect_uris": [7]}, "invalid_redirect_uri"),
        ({"redirect_uris": [LOOPBACK, "javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [f"http://127.0.0.1/{number}" for number in range(11)]}, "invalid_redirect_uri"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": 1}, "invalid_client_metadata"),
        ({"grant_types": ["refresh_token"]}, "invalid_client_metadata"),
        ({"grant_types": "authorization_code"}, "invalid_client_metadata"),
        ({"grant_types": [["authorization_code"]]}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"response_types": []}, "invalid_client_metadata"),
        ({"client_name": "x" * 201}, "invalid_client_metadata"),
        ({"client_name": {"en": "x"}}, "invalid_client_metadata"),
        ({"client_uri": 7}, "invalid_client_metadata"),
        ({"logo_uri": "x" * 2001}, "invalid_client_metadata"),
    ],
)
def test_invalid_metadata_is_refused(flow: Flow, metadata: dict[str, Any], code: str) -> None:
    response = flow.registered(**metadata)
    assert (response.status_code, response.json()["error"]) == (400, code)
    assert next(iter(metadata)) in response.json()["error_description"]


@pytest.mark.parametrize("field", ["client_uri", "logo_uri"])
def test_urls_that_are_not_https_are_dropped(flow: Flow, field: str) -> None:
    for value in ("javascript:alert(1)", "http://client.example/", "https://", "not an address", "https://[broken"):
        assert field not in flow.registered(**{field: value}).json()


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"", "application/json"),
        (b"[]", "application/json"),
        (b"null", "application/json"),
        (b"{", "application/json"),
        (b'{"a": "\\ud800"}', "application/json"),
        (b'{"client_name": "\\u0000"}', "application/json"),
        (b'{"a":' * 20 + b"1" + b"}" * 20, "application/json"),
        (b"redirect_uris=https%3A%2F%2Fclient.example%2F", "application/x-www-form-urlencoded"),
        (b"{}", "text/plain"),
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused(http: httpx.Client, body: bytes, media_type: str) -> None:
    response = http.post("/oauth/register", content=body, headers={"Content-Type": media_type})
    assert (response.status_code, response.json()["error"]) == (400, "invalid_client_metadata")


def test_a_body_that_is_too_large_is_refused(http: httpx.Client) -> None:
    body = b'{"client_name": "' + b"x" * 65_536 + b'"}'
    response = http.post("/oauth/register", content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["error"]) == (413, "invalid_client_metadata")


def test_invisible_characters_are_removed_from_a_name(flow: Flow) -> None:
    registration = flow.registered(client_name=" Cl\u200baude\u202e  \n\x07 by\u00a0us ").json()
    assert registration["client_name"] == "Claude by us"


def test_the_limit_counts_new_clients_per_ip_address(start: Start) -> None:
    host = start(oauth={"registration_rate": "3/hour"})
    with httpx.Client(base_url=host.url) as http:
        flow = Flow(host.url, http, http)
        for _ in range(5):
            assert flow.registered(client_name="The same").status_code == 201
            assert flow.registered(redirect_uris=[]).status_code == 400
        assert [flow.registered().status_code for _ in range(3)] == [201, 201, 429]
        refused = flow.registered()
        assert 1 <= int(refused.headers["retry-after"]) <= 3600
        assert refused.json()["error"] == "temporarily_unavailable"
        assert refused.headers["access-control-allow-origin"] == "*"


def test_a_registration_that_could_not_be_stored_does_not_count(start: Start) -> None:
    host = start(oauth={"registration_rate": "1/hour"})
    with httpx.Client(base_url=host.url) as http:
        flow = Flow(host.url, http, http)
        host.run(host.host.database.close())
        for _ in range(3):
            assert flow.registered().status_code == 503
        host.run(host.host.database.open())
        assert [flow.registered().status_code for _ in range(2)] == [201, 429]


def test_the_limit_holds_for_fifty_concurrent_registrations(start: Start) -> None:
    host = start(oauth={"registration_rate": "10/hour"})

    async def register() -> list[int]:
        async with httpx.AsyncClient(base_url=host.url, timeout=30) as http:
            metadata = {"redirect_uris": [LOOPBACK], "token_endpoint_auth_method": "client_secret_post"}
            responses = await asyncio.gather(*(http.post("/oauth/register", json=metadata) for _ in range(50)))
            return [response.status_code for response in responses]

    statuses = asyncio.run(register())
    assert (statuses.count(201), statuses.count(429)) == (10, 40)
