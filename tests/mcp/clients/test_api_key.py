"""Clients with an API key: they list the plan's tools and call them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from support.mcp_clients.clients import Call, Client
from support.mcp_server import TOOLS, McpServer, revoke_newest_connection
from support.qr_codes import pixels, read_with_zxing
from support.scripted_browser import ScriptedBrowser

TEXT = "https://example.com/from-a-client"
CALLS = (
    Call("generate_qr_code", {"text": TEXT}),
    Call("get_account_usage"),
    Call("generate_qr_code", {"text": TEXT, "size": 9}),
    Call("test_error_handling"),
    Call("no_such_tool"),
    Call("test_multiple_content_types"),
    Call("test_audio_content"),
)

REFUSED = {
    "Python SDK 2.3.0": ("MCPError", "Server returned an error response"),
    "Python SDK 1.30.0": ("HTTPStatusError", "401 Unauthorized"),
    "TypeScript SDK 1.32.2": ("StreamableHTTPError", "was revoked"),
    "TypeScript client 2.4.0": ("SdkHttpError", "was revoked"),
}
"""How each client reports that the server rejected its credential: exception type and message."""

pytestmark = pytest.mark.timeout(300)


def texts(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def test_a_client_lists_and_calls_the_tools_of_the_plan(
    client: Client, server: McpServer, key: str, tmp_path: Path
) -> None:
    report = client.run(server.mcp_url, tmp_path / "client", CALLS, key=key)
    code, usage, bad_size, failing, unknown, mixed, sound = report.calls
    result = report.done

    assert result["protocol"] == "2025-06-18"
    assert result["server"]["name"] == "Pressroom"
    assert result["server"]["version"] == "1.0.0"
    assert result["capabilities"] == {"tools": {}}
    assert result["instructions"]
    assert sorted(result["tools"]) == sorted(TOOLS)

    (image,) = (block for block in code["content"] if block["type"] == "image")
    (reading,) = read_with_zxing(pixels(base64.b64decode(image["data"])))
    assert reading.text == TEXT
    assert code["structuredContent"]["url"] in texts(code)
    assert not code.get("isError")

    assert usage["structuredContent"]["plan"] == "free"
    assert "Free" in texts(usage)

    assert bad_size["isError"]
    assert "size" in texts(bad_size)
    assert "64" in texts(bad_size)

    assert failing["isError"]
    assert texts(failing) == "This tool intentionally returns an error for testing"

    assert unknown["error"]["code"] == -32602
    assert "no_such_tool" in unknown["error"]["message"]

    assert [block["type"] for block in mixed["content"]] == ["text", "image", "resource"]
    assert mixed["content"][2]["resource"]["text"] == '{"test":"data","value":123}'
    assert base64.b64decode(sound["content"][1]["data"]).startswith(b"RIFF")


def test_a_client_reports_a_revoked_key(
    client: Client, server: McpServer, key: str, browser: ScriptedBrowser, tmp_path: Path
) -> None:
    assert client.run(server.mcp_url, tmp_path / "client", key=key).done
    revoke_newest_connection(server, browser)
    report = client.run(server.mcp_url, tmp_path / "client", key=key)
    assert not report.done
    assert not report.opened
    type_, words = REFUSED[client.name]
    assert report.failed["type"] == type_
    assert words in report.failed["message"]
