"""Clients through the whole OAuth flow: their own discovery, registration, PKCE and refresh, and a scripted browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from support.mcp_clients.clients import Call, Client
from support.mcp_server import TOOLS, McpServer, revoke_newest_connection
from support.scripted_browser import ScriptedBrowser

USAGE = (Call("get_account_usage"),)

pytestmark = pytest.mark.timeout(300)


def kept(store: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(store.read_text())
    return document


def expire_access_token(store: Path) -> None:
    """Leave the client with an access token that has run out, and that the server refuses as well."""
    state = kept(store)
    state["tokens"]["access_token"] = state["tokens"]["access_token"][:-4] + "AAAA"
    state["expires_at"] = 1
    store.write_text(json.dumps(state))


def test_a_client_registers_is_allowed_and_calls(
    client: Client, server: McpServer, browser: ScriptedBrowser, store: Path, tmp_path: Path
) -> None:
    report = client.run(server.mcp_url, tmp_path / "client", USAGE, store=store, browser=browser)
    (usage,) = report.calls
    assert sorted(report.done["tools"]) == sorted(TOOLS)
    assert usage["structuredContent"]["plan"] == "free"

    (address,) = report.opened
    asked = parse_qs(urlsplit(address).query)
    assert address.startswith(f"{server.url}/oauth/authorize?")
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["client_id"] == [kept(store)["client"]["client_id"]]
    (returned,) = report.returned
    assert returned["iss"] == server.url
    assert returned["state"] == asked["state"][0]
    tokens = kept(store)["tokens"]
    assert tokens["access_token"].startswith("prk_oat_")
    assert tokens["refresh_token"].startswith("prk_ort_")
    assert tokens["token_type"].lower() == "bearer"
    assert tokens["scope"] == "mcp"
    assert len(browser.pages) >= 3  # sign-in, consent, and the client's own page


def test_a_client_uses_its_tokens_again_and_refreshes_them_alone(
    client: Client, server: McpServer, browser: ScriptedBrowser, store: Path, tmp_path: Path
) -> None:
    client.run(server.mcp_url, tmp_path / "client", store=store, browser=browser)
    first = kept(store)
    again = client.run(server.mcp_url, tmp_path / "client", USAGE, store=store)
    assert again.calls[0]["structuredContent"]["plan"] == "free"
    assert kept(store) == first

    expire_access_token(store)
    refreshed = client.run(server.mcp_url, tmp_path / "client", USAGE, store=store)
    assert refreshed.calls[0]["structuredContent"]["plan"] == "free"
    assert not refreshed.opened
    tokens = kept(store)["tokens"]
    assert tokens["refresh_token"] != first["tokens"]["refresh_token"]
    assert tokens["access_token"] != first["tokens"]["access_token"]


def test_a_client_learns_that_it_was_denied(
    client: Client, server: McpServer, browser: ScriptedBrowser, store: Path, tmp_path: Path
) -> None:
    browser.answer = "Deny"
    report = client.run(server.mcp_url, tmp_path / "client", store=store, browser=browser)
    assert not report.done
    assert report.failed["type"] in ("OAuthFlowError", "OAuthError", "UnauthorizedError")
    (returned,) = report.returned
    assert returned["error"] == "access_denied"
    assert returned["iss"] == server.url
    assert "code" not in returned
    assert "tokens" not in kept(store)


def test_a_client_whose_connection_was_revoked_asks_again(
    client: Client, server: McpServer, browser: ScriptedBrowser, store: Path, tmp_path: Path
) -> None:
    client.run(server.mcp_url, tmp_path / "client", store=store, browser=browser)
    revoke_newest_connection(server, browser)
    report = client.run(server.mcp_url, tmp_path / "client", USAGE, store=store, browser=browser)
    assert len(report.opened) == 1
    assert report.calls[0]["structuredContent"]["plan"] == "free"


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[McpServer]:
    """A server with an account, for one test alone."""
    with McpServer(tmp_path / "server") as running:
        running.add_account()
        yield running


def test_registrations_grants_and_keys_survive_a_restart(
    client: Client, own_server: McpServer, browser: ScriptedBrowser, store: Path, tmp_path: Path
) -> None:
    key = own_server.create_key()
    client.run(own_server.mcp_url, tmp_path / "client", store=store, browser=browser)
    before = kept(store)
    own_server.restart()

    report = client.run(own_server.mcp_url, tmp_path / "client", USAGE, store=store)
    assert report.calls[0]["structuredContent"]["plan"] == "free"
    expire_access_token(store)
    report = client.run(own_server.mcp_url, tmp_path / "client", USAGE, store=store)
    assert report.calls[0]["structuredContent"]["plan"] == "free"
    assert kept(store)["tokens"]["refresh_token"] != before["tokens"]["refresh_token"]
    assert kept(store)["client"]["client_id"] == before["client"]["client_id"]
    assert client.run(own_server.mcp_url, tmp_path / "client", USAGE, key=key).calls


def test_a_person_who_allows_does_not_notice_a_restart(
    client: Client, own_server: McpServer, browser: ScriptedBrowser, store: Path, tmp_path: Path
) -> None:
    browser.before_answering = own_server.restart
    report = client.run(own_server.mcp_url, tmp_path / "client", USAGE, store=store, browser=browser)
    assert report.calls[0]["structuredContent"]["plan"] == "free"
