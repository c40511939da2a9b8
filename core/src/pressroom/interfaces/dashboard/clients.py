"""Configuration snippets for AI clients."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.sdk import Branding

PLACEHOLDER: Final = "YOUR_API_KEY"
"""Placeholder for the API key in a configuration."""


@dataclass(frozen=True, slots=True)
class ClientSnippet:
    """A text to copy. `title` says where it goes, such as a file name."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class ClientGuide:
    """Instructions for connecting a client: steps, then snippets, then a note. Backticks mark code."""

    id: str
    title: str
    steps: tuple[str, ...]
    snippets: tuple[ClientSnippet, ...] = ()
    note: str = ""


def client_guides(branding: Branding, key: str = PLACEHOLDER, *, offers_oauth: bool = True) -> list[ClientGuide]:
    """Return the guides for a server's MCP URL, with the API key filled in.

    `offers_oauth` states whether clients can sign in with OAuth instead of a key.
    """
    url, server = branding.mcp_url, server_name(branding)
    return [
        _claude_desktop(url, server, key, branding.name, offers_oauth=offers_oauth),
        _claude_code(url, server, key, offers_oauth=offers_oauth),
        _cursor(url, server, key, offers_oauth=offers_oauth),
        _vs_code(url, server, key, offers_oauth=offers_oauth),
        _chatgpt(url, branding.name, offers_oauth=offers_oauth),
        _curl(url, key),
    ]


def server_name(branding: Branding) -> str:
    """Return the name under which clients list the server: the brand in lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", branding.name.lower()).strip("-") or "pressroom"


def _claude_desktop(url: str, server: str, key: str, name: str, *, offers_oauth: bool) -> ClientGuide:
    # On Windows, the client splits arguments at spaces, so the header value with a space goes through a variable.
    proxy = {
        "command": "npx",
        "args": ["-y", "mcp-remote", url, "--header", "Authorization:${AUTHORIZATION}"],
        "env": {"AUTHORIZATION": f"Bearer {key}"},
    }
    if not _is_public(url):
        proxy["args"] = [*proxy["args"], "--allow-http"]
    file, restart = "claude_desktop_config.json", "Quit Claude Desktop, and start it again."
    config = ClientSnippet(file, _json({"mcpServers": {server: proxy}}))
    if not offers_oauth or key != PLACEHOLDER:
        steps: tuple[str, ...] = (
            f"Open Settings, Developer, Edit Config, and add this to `{file}`. It needs Node.js.",
            restart,
        )
        return ClientGuide("claude-desktop", "Claude Desktop", steps, (config,))
    steps = (
        f"Open Settings, Connectors, Add custom connector, name it {name}, and paste the URL. Then sign in here.",
        f"Or, with a key and Node.js: open Settings, Developer, Edit Config, and add the second text to `{file}`.",
    )
    internet = "Custom connectors need a server with a public https URL."
    return ClientGuide(
        "claude-desktop",
        "Claude Desktop",
        steps,
        (ClientSnippet("URL", url), config),
        note="" if _is_public(url) else internet,
    )


def _claude_code(url: str, server: str, key: str, *, offers_oauth: bool) -> ClientGuide:
    lead = f"claude mcp add --transport http {server} {shlex.quote(url)}"
    return ClientGuide(
        "claude-code",
        "Claude Code",
        ("Run this in a terminal. `/mcp` shows the connection afterwards.",),
        (ClientSnippet("Terminal", f'{lead} \\\n  --header "Authorization: Bearer {key}"'),),
        note="Leave out the second line to sign in with the browser instead, through `/mcp`." if offers_oauth else "",
    )


def _cursor(url: str, server: str, key: str, *, offers_oauth: bool) -> ClientGuide:
    entry = {"url": url, "headers": {"Authorization": f"Bearer {key}"}}
    return ClientGuide(
        "cursor",
        "Cursor",
        ("Add this to `~/.cursor/mcp.json`, or to `.cursor/mcp.json` in one project.",),
        (ClientSnippet("mcp.json", _json({"mcpServers": {server: entry}})),),
        note="Without `headers`, Cursor asks you to sign in with the browser." if offers_oauth else "",
    )


def _vs_code(url: str, server: str, key: str, *, offers_oauth: bool) -> ClientGuide:
    if key == PLACEHOLDER:
        secret = {"type": "promptString", "id": f"{server}-key", "description": "API key", "password": True}
        authorization, inputs = f"Bearer ${{input:{server}-key}}", {"inputs": [secret]}
        step = "Add this to `.vscode/mcp.json`; VS Code asks for the key once, and keeps it out of the file."
    else:
        authorization, inputs = f"Bearer {key}", {}
        step = "Run `MCP: Open User Configuration`, and add this to the file, which is outside your repositories."
    entry = {"type": "http", "url": url, "headers": {"Authorization": authorization}}
    return ClientGuide(
        "vs-code",
        "VS Code",
        (step,),
        (ClientSnippet("mcp.json", _json({**inputs, "servers": {server: entry}})),),
        note="Without `headers`, VS Code asks you to sign in with the browser." if offers_oauth else "",
    )


def _chatgpt(url: str, name: str, *, offers_oauth: bool) -> ClientGuide:
    if not offers_oauth:
        return ClientGuide(
            "chatgpt", "ChatGPT", ("ChatGPT connects by OAuth only, which is switched off on this server.",)
        )
    return ClientGuide(
        "chatgpt",
        "ChatGPT",
        (
            "Open Settings, Apps & Connectors, Advanced settings, and switch on Developer mode.",
            f"Choose Create, name it {name}, paste the URL, and pick OAuth.",
            "When you are sent back here, sign in and allow the connection.",
        ),
        (ClientSnippet("URL", url),),
        note="ChatGPT does not accept API keys."
        + ("" if _is_public(url) else " This server needs a public https URL first."),
    )


def _curl(url: str, key: str) -> ClientGuide:
    return ClientGuide(
        "curl",
        "curl",
        ("Say hello, then list the tools. Every request is one `POST` with a JSON-RPC body.",),
        (
            ClientSnippet("initialize", _curl_command(url, "", _INITIALIZE)),
            ClientSnippet("tools/list", _curl_command(url, key, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})),
        ),
    )


_SHORT_LIST: Final = re.compile(r'\[\n\s+((?:"[^"\n]*"(?:,\n\s+)?)+)\n\s+\]')
_INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "curl", "version": "1"},
    },
}


def _curl_command(url: str, key: str, message: Any) -> str:
    headers = ["Content-Type: application/json", "Accept: application/json, text/event-stream"]
    if key:
        headers += [f"Authorization: Bearer {key}", "MCP-Protocol-Version: 2025-06-18"]
    lines = [f"curl {shlex.quote(url)}", *(f"-H '{header}'" for header in headers)]
    return " \\\n  ".join([*lines, f"-d {shlex.quote(json.dumps(message))}"])


def _json(value: Any) -> str:
    """Return indented JSON with lists of strings on one line."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _SHORT_LIST.sub(lambda match: "[" + re.sub(r",\n\s+", ", ", match[1]) + "]", text)


def _is_public(url: str) -> bool:
    return urlsplit(url).scheme == "https"
