"""Discovery documents for clients: RFC 9728, RFC 8414, RFC 7517."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost

Start = Callable[..., RunningHost]

RESOURCE = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"


@pytest.mark.parametrize("path", [RESOURCE, f"{RESOURCE}/api/mcp"])
def test_the_resource_metadata_names_its_server(http: httpx.Client, host: RunningHost, path: str) -> None:
    response = http.get(path)
    assert response.headers["content-type"] == "application/json"
    assert response.json() == {
        "resource": f"{host.url}/api/mcp",
        "authorization_servers": [host.url],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["mcp"],
        "resource_name": "Pressroom",
    }


@pytest.mark.parametrize("path", [SERVER, f"{SERVER}/api/mcp"])
def test_the_server_metadata_is_published(http: httpx.Client, host: RunningHost, path: str) -> None:
    assert http.get(path).json() == {
        "issuer": host.url,
        "authorization_endpoint": f"{host.url}/oauth/authorize",
        "token_endpoint": f"{host.url}/oauth/token",
        "registration_endpoint": f"{host.url}/oauth/register",
        "revocation_endpoint": f"{host.url}/oauth/revoke",
        "jwks_uri": f"{host.url}/oauth/jwks.json",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
        "revocation_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": ["mcp"],
        "authorization_response_iss_parameter_supported": True,
        "protected_resources": [f"{host.url}/api/mcp"],
    }


def test_the_challenge_links_to_the_metadata_documents(http: httpx.Client, host: RunningHost) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    challenge = http.post("/api/mcp", json=message).headers["www-authenticate"]
    url = challenge.partition('resource_metadata="')[2].partition('"')[0]
    resource = httpx.get(url).json()
    assert resource["resource"] == f"{host.url}/api/mcp"
    [issuer] = resource["authorization_servers"]
    assert httpx.get(f"{issuer}{SERVER}").json()["issuer"] == issuer


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/oauth", "/oauth/introspect"])
def test_not_found_is_reported_as_json(http: httpx.Client, path: str) -> None:
    response = http.get(path)
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", [RESOURCE, f"{RESOURCE}/api/mcp", SERVER, f"{SERVER}/api/mcp", "/oauth/jwks.json"])
def test_any_origin_may_read_the_metadata_documents(http: httpx.Client, path: str) -> None:
    assert http.get(path, headers={"Origin": "https://page.example"}).headers["access-control-allow-origin"] == "*"
    headers = {
        "Origin": "https://page.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "mcp-protocol-version",
    }
    preflight = http.options(path, headers=headers)
    assert preflight.status_code == 204
    assert "MCP-Protocol-Version" in preflight.headers["access-control-allow-headers"]
    assert "GET" in preflight.headers["access-control-allow-methods"]


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/register", "/oauth/revoke"])
def test_any_origin_may_call_the_client_endpoints(http: httpx.Client, path: str) -> None:
    headers = {"Origin": "https://page.example", "Access-Control-Request-Method": "POST"}
    preflight = http.options(path, headers={**headers, "Access-Control-Request-Headers": "authorization,content-type"})
    assert preflight.status_code == 204
    allowed = preflight.headers["access-control-allow-headers"]
    assert "Authorization" in allowed
    assert "Content-Type" in allowed
    assert "POST" in preflight.headers["access-control-allow-methods"]
    refused = http.post(path, headers={"Origin": "https://page.example"})
    assert refused.status_code == 400
    assert refused.headers["access-control-allow-origin"] == "*"
    assert "WWW-Authenticate" in refused.headers["access-control-expose-headers"]


def test_no_other_origin_may_read_the_consent_page(http: httpx.Client) -> None:
    response = http.get("/oauth/authorize", headers={"Origin": "https://page.example"})
    assert "access-control-allow-origin" not in response.headers
    assert http.options("/oauth/authorize").status_code == 405


@pytest.mark.parametrize("base_url", ["https://press.example/site", "https://press.example/site/"])
def test_a_base_url_with_a_path(start: Start, base_url: str) -> None:
    """RFC 8414 and RFC 9728 append the path to the well-known part; the other forms serve proxies that strip it."""
    host = start(base_url=base_url)
    issuer = "https://press.example/site"
    with httpx.Client(base_url=host.url) as http:
        for path in (RESOURCE, f"{RESOURCE}/api/mcp", f"{RESOURCE}/site/api/mcp"):
            document: dict[str, Any] = http.get(path).json()
            assert document["resource"] == f"{issuer}/api/mcp"
            assert document["authorization_servers"] == [issuer]
        for path in (SERVER, f"{SERVER}/site"):
            document = http.get(path).json()
            assert document["issuer"] == issuer
            assert document["token_endpoint"] == f"{issuer}/oauth/token"


def test_an_internationalised_base_url_is_published_in_punycode(start: Start) -> None:
    host = start(base_url="https://bücher.example")
    issuer = "https://xn--bcher-kva.example"
    with httpx.Client(base_url=host.url) as http:
        assert http.get(RESOURCE).json()["resource"] == f"{issuer}/api/mcp"
        assert http.get(SERVER).json()["issuer"] == issuer


def test_without_registration_and_with_metadata_documents(start: Start) -> None:
    host = start(oauth={"registration": False, "client_metadata_documents": True})
    with httpx.Client(base_url=host.url) as http:
        metadata = http.get(SERVER).json()
        assert "registration_endpoint" not in metadata
        assert metadata["client_id_metadata_document_supported"] is True
        assert http.post("/oauth/register", json={}).status_code == 404


@pytest.mark.parametrize("off", ["oauth", "mcp"])
def test_when_disabled_every_endpoint_returns_404(start: Start, off: str) -> None:
    """Access tokens are only for the MCP endpoint."""
    host = start(**{off: {"enabled": False}})
    with httpx.Client(base_url=host.url) as http:
        for path in (RESOURCE, SERVER, "/oauth/jwks.json", "/oauth/authorize"):
            assert http.get(path).status_code == 404


def test_keys_are_published_without_their_private_part(http: httpx.Client) -> None:
    response = http.get("/oauth/jwks.json")
    assert response.headers["cache-control"] == "public, max-age=300"
    [key] = response.json()["keys"]
    assert "d" not in key


@pytest.mark.parametrize(
    ("method", "path", "size", "status"),
    [
        ("GET", "/oauth/token", 0, 405),
        ("DELETE", "/oauth/register", 0, 405),
        ("PUT", "/oauth/revoke", 0, 405),
        ("POST", SERVER, 0, 405),
        ("POST", "/oauth/register", 1_000_000, 413),
        ("POST", "/oauth/token", 1_000_000, 413),
    ],
)
def test_requests_refused_before_an_endpoint_have_the_same_error_format(
    http: httpx.Client, method: str, path: str, size: int, status: int
) -> None:
    response = http.request(method, path, content=b"x" * size)

    assert (response.status_code, response.json().keys()) == (status, {"error", "error_description"})
    assert response.json()["error"] == "invalid_request"
    assert response.headers["access-control-allow-origin"] == "*"
    assert (status == 405) == ("allow" in response.headers)
