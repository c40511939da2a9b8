"""A server with accounts, for MCP clients: the real command in a process, and other commands alongside it."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

from support.commands import run_command
from support.installing import install
from support.scripted_browser import ScriptedBrowser
from support.server import TESTS, command_environment, serving

PASSWORD: Final = "a long enough passphrase 42"
EMAIL: Final = "ada@example.com"

TOOLS: Final = frozenset(
    {
        "generate_qr_code",
        "get_account_usage",
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
    }
)
"""The tools of the plan in `CONFIG`."""

CONFIG: Final = f"""
[plugins.conformance]
[plans.free]
title = "Free"
tools = {json.dumps(sorted(TOOLS))}
"""


class McpServer:
    """A running server, with its data and configuration in `folder`. Use it in a `with` statement."""

    def __init__(self, folder: Path, config: str = CONFIG) -> None:
        self.folder = folder
        self._config = config
        self._running = ExitStack()
        self.url = ""
        self.pid = 0

    def __enter__(self) -> Self:
        self._start(port=0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._running.close()

    @property
    def mcp_url(self) -> str:
        """The URL of the MCP endpoint."""
        return f"{self.url}/api/mcp"

    def restart(self) -> None:
        """Stop the process, and start another one with the same data, at the same URL."""
        port = int(self.url.rpartition(":")[2])
        self._running.close()
        self._start(port)

    def _start(self, port: int) -> None:
        environment = _environment(self.folder)
        server = self._running.enter_context(serving(self.folder, self._config, environment, port=port))
        self.url, self.pid = server.url, server.process.pid

    def command(self, *arguments: str, stdin: str = "") -> dict[str, Any]:
        """Run another command with the same data, and return its JSON output."""
        line = [*arguments, "--json", "--config", str(self.folder / "pressroom.toml")]
        result = run_command(line, cwd=self.folder, env=_environment(self.folder), stdin=stdin)
        assert result.returncode == 0, result.stdout + result.stderr
        document: dict[str, Any] = json.loads(result.stdout)
        return document

    def add_account(self, email: str = EMAIL) -> None:
        """Create an account whose password is `PASSWORD`."""
        self.command("users", "add", email, "--name", "Ada", "--password-stdin", stdin=f"{PASSWORD}\n")

    def create_key(self, email: str = EMAIL, name: str = "A test") -> str:
        """Create an API key and return it."""
        return str(self.command("keys", "create", email, "--name", name)["key"])


def revoke_newest_connection(server: McpServer, browser: ScriptedBrowser) -> None:
    """Revoke the account's newest key or client, through the dashboard."""
    connections = LexborHTMLParser(browser.visit(f"{server.url}/dashboard/connections").text)
    newest = connections.css_first(".row-title a")
    assert newest is not None, connections.text()
    browser.press(urljoin(server.url, newest.attributes["href"]), "Yes, revoke it")


def _environment(folder: Path) -> dict[str, str]:
    site = folder / "site"
    if not site.exists():
        install(site, "pressroom-conformance", {}, {"conformance": "support.conformance_plugin"})
    return command_environment(folder, PYTHONPATH=os.pathsep.join([str(TESTS), str(site)]))
