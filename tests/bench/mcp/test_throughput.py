"""Requests a second of `tools/list` and `tools/call`, beside FastMCP, the MCP SDK and a bare Sanic handler."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from rich.console import Console
from rich.table import Table
from support.installing import install
from support.mcp_clients.environments import python_environment
from support.mcp_load import CALL, LIST, Peer, listening
from support.mcp_server import McpServer
from support.needs import free_port
from support.server import TESTS

HERE: Final = Path(__file__).parent
ROUNDS: Final = 10
SECONDS: Final = 2
KEY: Final = "a-key-of-the-peer"
CONFIG: Final = """
[plugins.twenty_tools]
[plans.free]
tools = ["add_*"]
[mcp]
concurrency = 100
[logging]
requests = false
"""
"""One key has all 16 connections, and nobody writes an access log."""

US, BARE, FASTMCP, SDK = "Pressroom", "bare Sanic handler", "FastMCP 4.1.6", "MCP SDK 2.3.0"


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Peer]]:
    """All servers with twenty tools and an API key, one process each."""
    folder = tmp_path_factory.mktemp("ours")
    install(folder / "site", "pressroom-twenty-tools", {}, {"twenty_tools": "support.twenty_tools"})
    pythons = {
        # The registry may not have the certifi that this release asks for; a server without TLS needs none.
        FASTMCP: (python_environment("fastmcp==4.1.6", overrides=["certifi"]), HERE / "fastmcp_server.py"),
        SDK: (python_environment("mcp==2.3.0"), HERE / "sdk_server.py"),
    }
    with McpServer(folder, CONFIG) as ours, ExitStack() as stack:
        ours.add_account()
        found = [Peer(US, ours.mcp_url, ours.create_key())]
        for name, (python, script) in pythons.items():
            port = free_port()
            stack.enter_context(listening([str(python), str(script), str(port), KEY], port))
            found.append(Peer(name, f"http://127.0.0.1:{port}/mcp", KEY))
        yield found


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("message", "times_fastmcp", "part_of_bare"),
    [(LIST, 5, 0.35), (CALL, 3, 0.35)],
    ids=["tools/list", "tools/call"],
)
def test_requests_per_second(
    peers: list[Peer], tmp_path: Path, message: dict[str, Any], times_fastmcp: float, part_of_bare: float
) -> None:
    answers = {peer.name: peer.answer(message) for peer in peers}
    for name, answer in answers.items():
        result = answer.json()["result"]
        assert len(result["tools"]) == 20 if message is LIST else result["structuredContent"] == {"total": 42}, name
    ours = answers[US]
    (tmp_path / "body").write_bytes(ours.content)
    port = free_port()
    bare = [sys.executable, str(TESTS / "support" / "bare_sanic.py"), str(port), str(tmp_path / "body")]
    with listening([*bare, ours.headers["content-type"]], port):
        us, *others = peers
        measured = [us, Peer(BARE, f"http://127.0.0.1:{port}/", KEY), *others]
        figures: dict[str, list[float]] = {peer.name: [] for peer in measured}
        for _ in range(ROUNDS):
            for peer in measured:
                figures[peer.name].append(peer.requests_per_second(message, SECONDS, tmp_path))
    # Of each round by itself: a machine that is shared is not as fast in the next one.
    ratios = {
        name: statistics.median(own / other for own, other in zip(figures[US], rounds, strict=True))
        for name, rounds in figures.items()
    }
    print_table(f"{message['method']}, {len(ours.content):,} bytes from us", ratios, figures)
    assert ratios[FASTMCP] >= times_fastmcp
    assert ratios[BARE] >= part_of_bare


def print_table(title: str, ratios: dict[str, float], figures: dict[str, list[float]]) -> None:
    table = Table(title=title)
    table.add_column("server")
    for column in ("requests/s, median", "we make of its", "rounds"):
        table.add_column(column, justify="right")
    for name, rounds in figures.items():
        shown = " ".join(f"{figure:.0f}" for figure in rounds)
        table.add_row(name, f"{statistics.median(rounds):,.0f}", f"{ratios[name]:.2f}", shown)
    Console(width=130).print("", table)
