"""Clients through the whole OAuth flow: discovery, registration, PKCE and refresh, with a scripted browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from support.mcp_clients.clients import Call, Client, Report
from support.mcp_server import TOOLS, McpServer, revoke_newest_connection
from support.scripted_browser import ScriptedBrowser

USAGE = (Call("get_account_usage"),)

pytestmark = pytest.mark.timeout(300)


def kept(store: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(store.read_text())
    return document


def expire_access_token(store: Path) -> None:
    """Leave the client with an expired access token, which the server rejects too."""
    state = kept(store)
    state["tokens"]["access_token"] = state["tokens"]["access_token"][:-4] + "AAAA"
    state["expires_at"] = 1
    store.write_text(json.dumps(state))


def test_a_client_is_approved_once_and_remains_connected_until_revoked(
    client: Client, server: McpServer, browser: ScriptedBrowser, store: Path, tmp_path: Path
) -> None:
    key = server.create_key()
    report = client.run(server.mcp_url, tmp_path / "client", USAGE, store=store, browser=browser)
    check_the_flow(report, kept(store), server)
    assert len(browser.pages) >= 3  # sign-in, consent, and the client's own page
    first = kept(store)

    # The tokens are reused without asking the person again.
    report = client.run(server.mcp_url, tmp_path / "client", USAGE, store=store)
    assert report.calls[0]["structuredContent"]["plan"] == "free"
    assert kept(store) == first

    # They survive a restart, as do the registration, the grant and the key.
    server.restart()
    assert status_of_a_call(server, first["tokens"]["access_token"]) == 200
    assert status_of_a_call(server, key) == 200
    expire_access_token(store)
    report = client.run(server.mcp_url, tmp_path / "client", USAGE, store=store)
    assert report.calls[0]["structuredContent"]["plan"] == "free"
    assert not report.opened
    refreshed = kept(store)
    assert refreshed["tokens"]["refresh_token"] != first["tokens"]["refresh_token"]
    assert refreshed["tokens"]["access_token"] != first["tokens"]["access_token"]
    assert refreshed["client"]["client_id"] == first["client"]["client_id"]

    # After the revocation, the client asks the person again.
    revoke_newest_connection(server, browser)
    report = client.run(server.mcp_url, tmp_path / "client", USAGE, store=store, browser=browser)
    assert len(report.opened) == 1
    assert report.calls[0]["structuredContent"]["plan"] == "free"


def check_the_flow(report: Report, state: dict[str, Any], server: McpServer) -> None:
    """Check that a client followed the OAuth 2.1 flow and that its tokens work."""
    (usage,) = report.calls
    assert sorted(report.done["tools"]) == sorted(TOOLS)
    assert usage["structuredContent"]["plan"] == "free"

    (url,) = report.opened
    parameters = parse_qs(urlsplit(url).query)
    assert url.startswith(f"{server.url}/oauth/authorize?")
    assert parameters["code_challenge_method"] == ["S256"]
    assert parameters["client_id"] == [state["client"]["client_id"]]
    (returned,) = report.returned
    assert returned["iss"] == server.url
    assert returned["state"] == parameters["state"][0]
    tokens = state["tokens"]
    assert tokens["access_token"].startswith("prk_oat_")
    assert tokens["refresh_token"].startswith("prk_ort_")
    assert tokens["token_type"].lower() == "bearer"
    assert tokens["scope"] == "mcp"


def status_of_a_call(server: McpServer, credential: str) -> int:
    """Request the tool list with a key or an access token, and return the response status."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"authorization": f"Bearer {credential}", "mcp-protocol-version": "2025-06-18"}
    return httpx.post(server.mcp_url, json=body, headers=headers, timeout=30).status_code


def test_a_client_is_notified_of_a_denial(
    client: Client, server: McpServer, browser: ScriptedBrowser, store: Path, tmp_path: Path
) -> None:
    browser.decision = "Deny"
    report = client.run(server.mcp_url, tmp_path / "client", store=store, browser=browser)
    assert not report.done
    assert report.failed["type"] in ("OAuthFlowError", "OAuthError", "UnauthorizedError")
    (returned,) = report.returned
    assert returned["error"] == "access_denied"
    assert returned["iss"] == server.url
    assert "code" not in returned
    assert "tokens" not in kept(store)


def test_approval_survives_a_server_restart(
    client: Client, server: McpServer, browser: ScriptedBrowser, store: Path, tmp_path: Path
) -> None:
    browser.before_decision = server.restart
    report = client.run(server.mcp_url, tmp_path / "client", USAGE, store=store, browser=browser)
    assert report.calls[0]["structuredContent"]["plan"] == "free"
