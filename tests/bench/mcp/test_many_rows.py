"""What people and clients wait for does not grow with the number of accounts, keys and calls."""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import httpx
from pressroom.models import ActivityRow, ApiKeyRow, ConnectionRow, UserRow
from pressroom.testing import RunningHost, settings_for_test
from rich.console import Console
from rich.table import Table
from sqlalchemy import insert
from support.mcp_load import LIST, Peer
from support.mcp_server import EMAIL, PASSWORD
from support.scripted_browser import ScriptedBrowser

ROWS: Final = 10_000
ROUNDS: Final = 25
SLOWER: Final = 1.5
"""The most that a median may grow. A page that looked at all rows would take many times as long."""

SLACK: Final = 0.003
"""Seconds that a median may grow besides, which is how far two medians of the same thing lie apart here."""

USAGE = {**LIST, "method": "tools/call", "params": {"name": "get_account_usage", "arguments": {}}}


def test_the_ten_thousandth_row_makes_nothing_slower(tmp_path: Path) -> None:
    # No credential is remembered: every call looks its key up.
    with (
        RunningHost(settings_for_test({"auth": {"cache": 0}}, tmp_path)) as server,
        ScriptedBrowser(EMAIL, PASSWORD) as browser,
        httpx.Client() as http,
    ):
        accounts = server.host.accounts
        user = server.run(accounts.users.add(EMAIL, password=PASSWORD))
        _, key = server.run(accounts.api_keys.create(user.id, "A benchmark"))
        peer = Peer("Pressroom", f"{server.url}/api/mcp", key)
        browser.visit(f"{server.url}/dashboard")

        def page(path: str) -> Callable[[], httpx.Response]:
            return lambda: browser.get(server.url + path)

        def message(body: dict[str, object]) -> Callable[[], httpx.Response]:
            return lambda: http.post(peer.url, json=body, headers=peer.headers)

        actions = {
            "tools/list": message(LIST),
            "tools/call": message(USAGE),
            "the dashboard": page("/dashboard"),
            "its connections": page("/dashboard/connections"),
            "the account page": page("/dashboard/account"),
        }
        before = {name: median(action) for name, action in actions.items()}
        server.run(fill(server, user.id))
        after = {name: median(action) for name, action in actions.items()}
    table = Table("", "ms before", f"ms with {ROWS:,} more users, keys and calls")
    for name in actions:
        table.add_row(name, f"{before[name] * 1000:.1f}", f"{after[name] * 1000:.1f}")
    Console(width=110).print("", table)
    slower = {name for name in actions if after[name] > SLOWER * before[name] + SLACK}
    assert not slower


def median(action: Callable[[], httpx.Response]) -> float:
    """Return the seconds that it takes, which has to work each time."""
    action()  # what is only done once is done then
    figures = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        answer = action()
        figures.append(time.perf_counter() - began)
        assert answer.status_code == 200, answer.text
    return statistics.median(figures)


async def fill(server: RunningHost, user_id: str) -> None:
    """Add accounts with a key each, and calls of the one account that is looked at."""
    now = datetime.now(UTC)
    numbers = range(ROWS)
    users = [
        {"id": f"u_{n}", "email": f"{n}@example.com", "plan": "free", "created_at": now, "name": ""} for n in numbers
    ]
    connections = [
        {"id": f"c_{n}", "user_id": f"u_{n}", "kind": "api_key", "name": "A key", "created_at": now} for n in numbers
    ]
    keys = [
        {"key_hash": hashlib.sha256(str(n).encode()).digest(), "connection_id": f"c_{n}", "hint": "abcd"}
        for n in numbers
    ]
    calls = [
        {
            "user_id": user_id,
            "at": now - timedelta(seconds=n),
            "tool": "get_account_usage",
            "code": "ok",
            "duration": 0.1,
        }
        for n in numbers
    ]
    async with server.host.database.writing() as session:
        for model, rows in ((UserRow, users), (ConnectionRow, connections), (ApiKeyRow, keys), (ActivityRow, calls)):
            await session.execute(insert(model), rows)
