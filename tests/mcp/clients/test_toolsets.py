"""Clients that choose toolsets in the server URL, with an API key and through OAuth."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from support.mcp_clients.clients import Call, Client, Report
from support.mcp_server import McpServer
from support.scripted_browser import ScriptedBrowser

CHOSEN = "?toolsets=generators&readonly=true"
CALLS = (
    Call("find_tools", {"query": "account usage"}),
    Call("call_tool", {"name": "get_account_usage"}),
    Call("call_tool", {"name": "generate_qr_code", "arguments": {"text": "hello"}}),
    Call("get_account_usage"),
    Call("call_tool", {"name": "call_tool"}),
)

pytestmark = pytest.mark.timeout(300)


def check(report: Report) -> None:
    """Check that the client got the toolsets of its URL, and could reach the other tools."""
    assert set(report.done["tools"]) == {"generate_qr_code", "find_tools", "call_tool"}
    search, usage, code, refused, nested = report.calls
    assert "get_account_usage" in {tool["name"] for tool in search["structuredContent"]["tools"]}
    assert usage["structuredContent"]["plan"] == "free"
    assert {block["type"] for block in code["content"]} == {"text", "image", "resource_link"}
    assert refused["isError"]
    assert "toolsets core, account" in refused["content"][0]["text"]
    assert nested["isError"]


def test_with_an_api_key(client: Client, server: McpServer, key: str, tmp_path: Path) -> None:
    check(client.run(server.mcp_url + CHOSEN, tmp_path / "client", CALLS, key=key))


def test_through_oauth(
    client: Client, server: McpServer, browser: ScriptedBrowser, store: Path, tmp_path: Path
) -> None:
    report = client.run(server.mcp_url + CHOSEN, tmp_path / "client", CALLS, store=store, browser=browser)
    check(report)
    parameters = parse_qs(urlsplit(report.opened[0]).query)
    assert parameters["resource"][0].startswith(server.mcp_url)

    second = client.run(server.mcp_url + CHOSEN, tmp_path / "client", CALLS, store=store)
    assert not second.opened


def test_a_client_reports_an_unknown_toolset(client: Client, server: McpServer, key: str, tmp_path: Path) -> None:
    report = client.run(server.mcp_url + "?toolsets=no_such_set", tmp_path / "client", key=key)

    assert not report.done
    assert "no_such_set" in report.failed["message"]
