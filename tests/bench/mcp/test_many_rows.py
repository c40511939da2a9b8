"""Response times do not grow with the number of accounts, keys and calls."""

from __future__ import annotations

import hashlib
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import httpx
from pressroom.storage.database.tables import ActivityRow, ApiKeyRow, ConnectionRow, UserRow
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
"""Maximum growth of a median. A page that read all rows would take many times as long."""

SLACK: Final = 0.003
"""Additional tolerance in seconds: the noise between two medians of the same action."""

USAGE = {**LIST, "method": "tools/call", "params": {"name": "get_account_usage", "arguments": {}}}


Action = Callable[[], httpx.Response]


def test_ten_thousand_rows_do_not_slow_requests_down(tmp_path: Path) -> None:
    with serving(tmp_path / "few") as few, serving(tmp_path / "many", filled=True) as many:
        figures = {name: medians(few[name], many[name]) for name in few}
    table = Table("", "ms", f"ms with {ROWS:,} more users, keys and calls")
    for name, (with_few, with_many) in figures.items():
        table.add_row(name, f"{with_few * 1000:.1f}", f"{with_many * 1000:.1f}")
    Console(width=110).print("", table)
    slower = {name for name, (with_few, with_many) in figures.items() if with_many > SLOWER * with_few + SLACK}
    assert not slower


@contextmanager
def serving(folder: Path, *, filled: bool = False) -> Iterator[dict[str, Action]]:
    """Run a server with one account, or with `ROWS` more if `filled`; yield the actions to measure."""
    # The credential cache is off: every call looks up its key.
    settings = settings_for_test({"auth": {"cache": 0}, "logging": {"level": "error"}}, folder)
    with RunningHost(settings) as server, ScriptedBrowser(EMAIL, PASSWORD) as browser, httpx.Client() as http:
        accounts = server.host.accounts
        user = server.run(accounts.users.add(EMAIL, password=PASSWORD))
        _, key = server.run(accounts.api_keys.create(user.id, "A benchmark"))
        if filled:
            server.run(fill(server, user.id))
        peer = Peer("Pressroom", f"{server.url}/api/mcp", key, os.getpid())
        browser.visit(f"{server.url}/dashboard")

        def page(path: str) -> Action:
            return lambda: browser.get(server.url + path)

        def message(body: dict[str, object]) -> Action:
            return lambda: http.post(peer.url, json=body, headers=peer.headers)

        yield {
            "tools/list": message(LIST),
            "tools/call": message(USAGE),
            "the dashboard": page("/dashboard"),
            "its connections": page("/dashboard/connections"),
            "the account page": page("/dashboard/account"),
        }


def medians(*actions: Action) -> tuple[float, ...]:
    """Return the median duration of each action, in seconds. Actions take turns and must succeed every time."""
    for action in actions:
        action()  # warm-up for one-time work
    figures: list[list[float]] = [[] for _ in actions]
    for _ in range(ROUNDS):
        for action, seconds in zip(actions, figures, strict=True):
            began = time.perf_counter()
            response = action()
            seconds.append(time.perf_counter() - began)
            assert response.status_code == 200, response.text
    return tuple(map(statistics.median, figures))


async def fill(server: RunningHost, user_id: str) -> None:
    """Add accounts with one key each, and calls of the measured account."""
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
