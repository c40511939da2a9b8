"""Server restarts during a flow: clients, approvals, codes and tokens survive."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from support.commands import Done, run_command, run_process
from support.needs import free_port
from support.oauth import Flow, csrf_in
from support.server import command_environment, serving

EMAIL, PASSWORD = "ada@example.com", "an unusual pass phrase 47"


def command(folder: Path, *arguments: str, text: str = "", run: Callable[..., Done] = run_command) -> str:
    """Run a command alongside the server, and return its output."""
    result = run(arguments, cwd=folder, env=command_environment(folder), stdin=text)
    assert result.returncode == 0, result.stderr
    return result.stdout


@contextmanager
def running(folder: Path, port: int, flow: Flow | None = None) -> Iterator[Flow]:
    """Run the server on a port, continuing a flow if one is given."""
    with serving(folder, "", port=port) as server:
        if flow is None:
            flow = Flow(server.url, httpx.Client(), httpx.Client())
        with (
            httpx.Client(base_url=server.url, timeout=30) as http,
            httpx.Client(base_url=server.url, timeout=30, cookies=flow.browser.cookies) as browser,
        ):
            flow.http, flow.browser = http, browser
            yield flow
        assert server.terminate() == 0


def sign_in(browser: httpx.Client) -> None:
    form = {"csrf": csrf_in(browser.get("/sign-in").text), "email": EMAIL, "password": PASSWORD}
    assert browser.post("/sign-in", data=form).status_code == 303


@pytest.mark.timeout(300)
def test_a_flow_survives_a_restart_after_each_step(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, port) as flow:
        command(tmp_path, "users", "add", EMAIL, "--password-stdin", text=PASSWORD)
        flow.register(client_name="My editor")
        sign_in(flow.browser)
        keys = flow.http.get("/oauth/jwks.json").json()
    with running(tmp_path, port, flow):
        assert flow.http.get("/oauth/jwks.json").json() == keys
        code = flow.code()
    with running(tmp_path, port, flow):
        response = flow.exchange(code)
        assert response.status_code == 200, response.text
        tokens = response.json()
    with running(tmp_path, port, flow):
        assert flow.call(tokens["access_token"]).status_code == 200
        assert flow.exchange(code).json()["error"] == "invalid_grant"
        assert flow.call(tokens["access_token"]).status_code == 401
        tokens = flow.connect()
    with running(tmp_path, port, flow):
        refreshed = flow.refresh(tokens["refresh_token"])
        assert refreshed.status_code == 200, refreshed.text
        [listed_client] = json.loads(command(tmp_path, "clients", "list", "--json"))["clients"]
        assert (listed_client["client"], listed_client["name"], listed_client["connections"]) == (
            flow.client_id,
            "My editor",
            1,
        )
        head, row = command(tmp_path, "clients", "list").splitlines()
        assert head.endswith("Last approved")
        assert "My editor" in row
        assert listed_client["lastApprovedAt"].startswith(row.split()[-1])
        assert "1 connection ended" in command(tmp_path, "clients", "revoke", flow.client_id, run=run_process)
        assert flow.refresh(refreshed.json()["refresh_token"]).json()["error"] == "invalid_client"
    assert command(tmp_path, "clients", "list") == "No client is registered.\n"
