"""The Inspector's command line with an API key."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.mcp_clients.environments import node, node_packages
from support.mcp_server import TOOLS, McpServer

pytestmark = pytest.mark.timeout(300)


def inspect(server: McpServer, key: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the Inspector's command with the arguments of a method; its state is kept in `folder`."""
    launcher = node_packages() / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    options = ["--transport", "http", "--header", f"Authorization: Bearer {key}", "--format", "json", "--quiet"]
    command = [node(), str(launcher), "--cli", server.mcp_url, *options, "--stored-auth-only", *arguments]
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90, check=False)


def result(completed: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert completed.returncode == 0, completed.stdout + completed.stderr
    document: dict[str, Any] = json.loads(completed.stdout)
    body: dict[str, Any] = document.get("result", document)
    return body


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_it_lists_tools_with_portable_schemas(server: McpServer, key: str, tmp_path: Path, era: str) -> None:
    completed = inspect(server, key, tmp_path, "--method", "tools/list", "--strict", "--protocol-era", era)
    assert {tool["name"] for tool in result(completed)["tools"]} == TOOLS


def test_it_calls_a_tool(server: McpServer, key: str, tmp_path: Path) -> None:
    arguments = ("--method", "tools/call", "--tool-name", "generate_qr_code", "--tool-args-json", '{"text": "hello"}')
    tool_result = result(inspect(server, key, tmp_path, *arguments))
    assert [block["type"] for block in tool_result["content"]] == ["text", "image", "resource_link"]
    usage = result(inspect(server, key, tmp_path, "--method", "tools/call", "--tool-name", "get_account_usage"))
    assert usage["structuredContent"]["plan"] == "free"


def test_it_reports_a_failed_tool(server: McpServer, key: str, tmp_path: Path) -> None:
    completed = inspect(server, key, tmp_path, "--method", "tools/call", "--tool-name", "test_error_handling")
    assert completed.returncode != 0
    assert "intentionally returns an error" in completed.stdout + completed.stderr


def test_it_reports_a_wrong_key(server: McpServer, key: str, tmp_path: Path) -> None:
    completed = inspect(server, key[:-1] + ("a" if key[-1] != "a" else "b"), tmp_path, "--method", "tools/list")
    assert completed.returncode != 0
    assert "auth" in (completed.stdout + completed.stderr).lower()
